/** A searchable list of objects in a popover. Type to search, choose with the arrow keys and Enter. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';

export interface Choice {
  readonly key: string;
  readonly content: ComponentChildren;
  readonly isChosen?: boolean;
  /** Whether it is nested below the previous choice. */
  readonly isNested?: boolean;
}

/** Debounce of the search, in milliseconds. */
const searchDelayMs = 150;

/** Returns the text of a search field and its debounced value. */
export function useSearch(): readonly [text: string, settled: string, setText: (text: string) => void] {
  const [text, setText] = useState('');
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text.trim()), searchDelayMs);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, settled, setText];
}

/** Returns the previous value while the next one is loading, so that choices do not vanish under the pointer. */
export function useLatest<T>(value: T | undefined): T | undefined {
  const latest = useRef(value);
  if (value !== undefined) latest.current = value;
  return latest.current;
}

export function Chooser({
  label,
  placeholder = label,
  text,
  onText,
  choices,
  isLoading = false,
  onChoose,
}: {
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly choices: readonly Choice[];
  readonly isLoading?: boolean;
  readonly onChoose: (key: string) => void;
}): JSX.Element {
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => field.current?.focus(), []);
  const present = at >= 0 ? at : Math.max(0, text === '' ? choices.findIndex(({ isChosen }) => isChosen) : 0);
  const current = choices[Math.min(present, choices.length - 1)];
  useEffect(() => {
    if (current) document.getElementById(`${id}-${current.key}`)?.scrollIntoView({ block: 'nearest' });
  }, [current?.key]);
  return (
    <>
      <div class="search">
        <Icon name="search" />
        <input
          ref={field}
          class="input"
          role="combobox"
          aria-label={label}
          aria-expanded={true}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current && `${id}-${current.key}`}
          placeholder={placeholder}
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setAt(-1);
            onText(event.currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') setAt((present + 1) % Math.max(1, choices.length));
            else if (event.key === 'ArrowUp') setAt((present - 1 + choices.length) % Math.max(1, choices.length));
            else if (event.key === 'Enter' && current) onChoose(current.key);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <div id={id} role="listbox" aria-label={label} class="choices-list">
        {choices.map((choice) => (
          // The focus stays in the field, which references the current choice.
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses it
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          <div
            key={choice.key}
            id={`${id}-${choice.key}`}
            role="option"
            class={`choice${choice.isNested ? ' deep' : ''}${choice === current ? ' current' : ''}`}
            aria-selected={choice.isChosen === true}
            onClick={() => onChoose(choice.key)}
          >
            {choice.content}
            {choice.isChosen && <Icon name="acknowledge" />}
          </div>
        ))}
      </div>
      {choices.length === 0 && (
        <p class="in note" role="status">
          {isLoading ? t('Loading…') : t('Nothing matches.')}
        </p>
      )}
    </>
  );
}
