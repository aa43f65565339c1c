/** The controls of forms, one for each kind of field. */
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { type ControlProperties, type FormField, problemIn, rowsIn, type Typed } from '../api/fields.ts';
import { languageOfTold, t, told } from '../i18n/words.ts';
import { Picker } from './picker.tsx';
import { Rows } from './rows.tsx';

const textsIn = (typed: Typed): readonly string[] =>
  Array.isArray(typed) ? typed.filter((text) => typeof text === 'string') : [];

export function Control({
  field,
  typed,
  problem: said,
  refused,
  onInput,
}: {
  readonly field: FormField;
  readonly typed: Typed;
  /** What the server said of it. */
  readonly problem: string | undefined;
  /** The same as it came, which of a list has an entry for each of its items. */
  readonly refused?: unknown;
  readonly onInput: (value: Typed) => void;
}): JSX.Element {
  const id = useId();
  const areItemsRefused =
    field.kind === 'rows' && Array.isArray(refused) && refused.some((one) => typeof one !== 'string');
  const problem = problemIn(field, typed) || (areItemsRefused ? '' : said);
  const notes = [field.help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const common: ControlProperties = {
    id,
    name: field.name,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': notes || undefined,
    required: field.isRequired,
  };
  const label = field.isRequired ? (
    <>
      {field.label} <span aria-hidden="true">*</span>
    </>
  ) : (
    field.label
  );
  return (
    <div class="field">
      {field.kind === 'choices' ? (
        <Boxes field={field} common={common} typed={textsIn(typed)} onInput={onInput} />
      ) : field.kind === 'rows' ? (
        <Rows
          field={field}
          rows={rowsIn(typed)}
          refused={areItemsRefused && Array.isArray(refused) ? refused : []}
          describedBy={common['aria-describedby']}
          control={(member, value, itemProblem, input) => (
            <Control field={member} typed={value} problem={itemProblem} onInput={input} />
          )}
          onInput={onInput}
        />
      ) : field.kind === 'flag' ? (
        <label for={id}>
          <input
            {...common}
            type="checkbox"
            required={false}
            checked={typed === true}
            onInput={(event) => onInput(event.currentTarget.checked)}
          />
          {field.label}
        </label>
      ) : (
        <>
          <label for={id}>{label}</label>
          <Single field={field} common={common} typed={typeof typed === 'string' ? typed : ''} onInput={onInput} />
        </>
      )}
      {field.page && (
        <small>
          <a href={field.page} target="_blank" rel="noreferrer">
            {t('Read the policy')}
          </a>
        </small>
      )}
      {field.help && (
        <small id={`${id}-help`} lang={languageOfTold(field.help)}>
          {told(field.help)}
        </small>
      )}
      {problem && (
        <small id={`${id}-problem`} class="problem">
          {problem}
        </small>
      )}
    </div>
  );
}

interface SingleProperties {
  readonly field: FormField;
  readonly common: ControlProperties;
  readonly typed: string;
  readonly onInput: (value: Typed) => void;
}

function Single({ field, common, typed, onInput }: SingleProperties): JSX.Element {
  const text = { ...common, value: typed, maxLength: field.maxLength, autoComplete: 'off' };
  const typing = {
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  };
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common} value={typed} onInput={(event) => onInput(event.currentTarget.value)}>
          <option value="">
            {field.choices.find(({ value }) => value === '')?.label || (field.isRequired ? t('Choose…') : '–')}
          </option>
          {field.choices
            .filter(({ value }) => value !== '')
            .map(({ label, value }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
        </select>
      );
    case 'link':
      return <Picker field={field} common={common} value={typed} onInput={onInput} />;
    case 'long':
    case 'json':
      return <textarea {...text} rows={4} onInput={(event) => onInput(event.currentTarget.value)} />;
    case 'file':
      return <input {...common} type="file" onInput={(event) => onInput(event.currentTarget.files?.[0] ?? '')} />;
    case 'secret':
      return <input {...text} {...typing} type="password" autoComplete="new-password" />;
    case 'time':
      return <input {...common} {...typing} value={typed} type="datetime-local" />;
    case 'number':
      return <input {...text} {...typing} inputMode="decimal" />;
    default:
      return <input {...text} {...typing} />;
  }
}

function Boxes({
  field,
  common,
  typed,
  onInput,
}: Omit<SingleProperties, 'typed'> & { readonly typed: readonly string[] }): JSX.Element {
  return (
    <fieldset aria-describedby={common['aria-describedby']} aria-invalid={common['aria-invalid']} tabIndex={-1}>
      <legend>{field.label}</legend>
      <div class="boxes">
        {field.choices.map(({ label, value }) => (
          <label key={value}>
            <input
              type="checkbox"
              name={field.name}
              checked={typed.includes(value)}
              onInput={(event) =>
                onInput(event.currentTarget.checked ? [...typed, value] : typed.filter((other) => other !== value))
              }
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
