/** Choices as cards: radio buttons with an explanation. */
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface Option {
  readonly value: string;
  readonly title: ComponentChildren;
  readonly sub?: ComponentChildren;
  /** Why it is unavailable. */
  readonly reason?: string | undefined;
}

export function Options({
  label,
  isRequired = false,
  options,
  value,
  isWide = false,
  problem,
  onInput,
}: {
  readonly label: string;
  readonly isRequired?: boolean;
  readonly options: readonly Option[];
  readonly value: string;
  /** Whether each card is wide enough for a sentence. */
  readonly isWide?: boolean;
  readonly problem?: string | undefined;
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={problem ? `${id}-problem` : undefined}>
      <legend>
        {label} {isRequired && <span aria-hidden="true">*</span>}
      </legend>
      <div class={isWide ? 'options two' : 'options'}>
        {options.map(({ reason, sub, title, value: own }) => (
          <label key={own} class="option">
            <input
              type="radio"
              name={id}
              value={own}
              checked={own === value}
              disabled={reason !== undefined}
              onInput={() => onInput(own)}
            />
            <span class="ring" aria-hidden="true" />
            <span class="words">
              <b>{title}</b>
              {sub !== undefined && <small>{sub}</small>}
              {reason !== undefined && <small class="why">{reason}</small>}
            </span>
          </label>
        ))}
      </div>
      {problem && (
        <span id={`${id}-problem`} class="error">
          {problem}
        </span>
      )}
    </fieldset>
  );
}
