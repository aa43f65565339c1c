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

/** Properties of the input of a combobox, besides its label, text and `onInput`. */
type ComboboxProperties = JSX.IntrinsicElements['input'];

/**
 * A search field that keeps the focus while the arrow keys move through its choices and Enter chooses the current one. `first` is
 * the index of the current choice after `restart`.
 */
export function useCombobox<C extends { readonly key: string }>(
  choices: readonly C[],
  first: number,
  onChoose: (choice: C) => void,
): {
  readonly listId: string;
  readonly current: C | undefined;
  readonly optionId: (choice: C) => string;
  readonly input: ComboboxProperties;
  readonly restart: () => void;
} {
  const [at, setAt] = useState<number>();
  const listId = useId();
  const optionId = ({ key }: C): string => `${listId}-${key}`;
  const index = Math.min(at ?? first, choices.length - 1);
  const current = choices[index];
  useEffect(() => {
    if (current) document.getElementById(optionId(current))?.scrollIntoView({ block: 'nearest' });
  }, [current?.key]);
  const move = (steps: number): void => setAt((index + steps + choices.length) % Math.max(1, choices.length));
  return {
    listId,
    current,
    optionId,
    restart: () => setAt(undefined),
    input: {
      role: 'combobox',
      'aria-expanded': true,
      'aria-controls': listId,
      'aria-autocomplete': 'list',
      'aria-activedescendant': current && optionId(current),
      autoComplete: 'off',
      spellcheck: false,
      onKeyDown: (event) => {
        if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else if (event.key === 'Enter' && current) onChoose(current);
        else return;
        event.preventDefault();
      },
    },
  };
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
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const first = Math.max(0, text === '' ? choices.findIndex(({ isChosen }) => isChosen) : 0);
  const { current, input, listId, optionId, restart } = useCombobox(choices, first, ({ key }) => onChoose(key));
  return (
    <>
      <div class="search">
        <Icon name="search" />
        <input
          ref={field}
          class="input"
          {...input}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          onInput={(event) => {
            restart();
            onText(event.currentTarget.value);
          }}
        />
      </div>
      <div id={listId} role="listbox" aria-label={label} class="choices-list">
        {choices.map((choice) => (
          // The focus stays in the field, which references the current choice.
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses it
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          <div
            key={choice.key}
            id={optionId(choice)}
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
