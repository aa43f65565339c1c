/** The forms of filters that take a text. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Filter } from '../api/document.ts';
import { serverText, t } from '../i18n/words.ts';

/** The form of a filter in its popover. */
export const FilterForm = ({
  onSubmit,
  children,
}: {
  readonly onSubmit: (form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}): JSX.Element => (
  <form
    class="form small-form"
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit(event.currentTarget);
    }}
  >
    {children}
    <div class="form-foot">
      <button type="submit" class="btn primary sm">
        {t('Apply')}
      </button>
    </div>
  </form>
);

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
    <FilterForm onSubmit={() => onChoose(field.current?.value.trim() ?? '')}>
      <div class="field">
        <label for={id}>{label}</label>
        <input ref={field} id={id} class="input" inputMode={filter.type === 'number' ? 'numeric' : undefined} />
        {filter.help && <span class="help">{serverText(filter.help)}</span>}
      </div>
    </FilterForm>
  );
}
