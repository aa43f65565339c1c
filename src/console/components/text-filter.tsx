/** The form of a text filter. */
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Filter } from '../api/document.ts';
import { serverText, t } from '../i18n/words.ts';

export function TextFilter({
  label,
  filter,
  onChoose,
}: {
  readonly label: string;
  readonly filter: Filter;
  readonly onChoose: (value: string) => void;
}): JSX.Element {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      class="form small-form"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(field.current?.value.trim() ?? '');
      }}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <input ref={field} id={id} class="input" inputMode={filter.type === 'number' ? 'numeric' : undefined} />
        {filter.help && <span class="help">{serverText(filter.help)}</span>}
      </div>
      <div class="form-foot">
        <button type="submit" class="btn primary sm">
          {t('Apply')}
        </button>
      </div>
    </form>
  );
}
