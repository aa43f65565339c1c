/** The controls of forms, one for each kind of field. */
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { type ControlProperties, type FormField, type InputValue, problemIn, rowsIn } from '../api/fields.ts';
import { serverText, serverTextLanguage, t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';
import { CardPicker, LinkBoxes, Picker } from './picker.tsx';
import { Rows } from './rows.tsx';

const textsIn = (typed: InputValue): readonly string[] =>
  Array.isArray(typed) ? typed.filter((text) => typeof text === 'string') : [];

/** Whether a field takes only half the width of a card. */
const isNarrow = ({ isHalf = false, isShownAsCards = false, isWide = false, kind }: FormField): boolean =>
  isHalf || (['link', 'size', 'number', 'choice', 'time', 'secret'].includes(kind) && !isShownAsCards && !isWide);

export function Control({
  field,
  typed,
  problem: said,
  rejected,
  onInput,
}: {
  readonly field: FormField;
  readonly typed: InputValue;
  /** The error message from the server. */
  readonly problem: string | undefined;
  /** The unprocessed error; for a list, an entry for each item. */
  readonly rejected?: unknown;
  readonly onInput: (value: InputValue) => void;
}): JSX.Element {
  const id = useId();
  const areItemsRejected =
    field.kind === 'rows' && Array.isArray(rejected) && rejected.some((one) => typeof one !== 'string');
  const problem = problemIn(field, typed) || (areItemsRejected ? '' : said);
  const notes = [field.help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const common: ControlProperties = {
    id,
    name: field.name,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': notes || undefined,
    required: field.isRequired,
  };
  return (
    <div class={isNarrow(field) ? 'field' : field.isTitled ? 'field across titled' : 'field across'}>
      {field.kind === 'choices' ? (
        <Boxes field={field} common={common} typed={textsIn(typed)} onInput={onInput} />
      ) : field.kind === 'rows' ? (
        <LinkBoxes field={field} rows={rowsIn(typed)} describedBy={common['aria-describedby']} onInput={onInput}>
          <Rows
            field={field}
            rows={rowsIn(typed)}
            rejected={areItemsRejected && Array.isArray(rejected) ? rejected : []}
            describedBy={common['aria-describedby']}
            control={(member, value, itemProblem, input) => (
              <Control field={member} typed={value} problem={itemProblem} onInput={input} />
            )}
            onInput={onInput}
          />
        </LinkBoxes>
      ) : field.kind === 'link' && field.isShownAsCards ? (
        <CardPicker
          field={field}
          common={common}
          value={typeof typed === 'string' ? typed : ''}
          problem=""
          onInput={onInput}
        />
      ) : field.kind === 'flag' ? (
        <label class="check" for={id}>
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
          <label for={id}>
            {field.label} {field.isRequired && <span aria-hidden="true">*</span>}
          </label>
          <Single
            field={field}
            common={common}
            typed={typed instanceof File ? typed.name : typeof typed === 'string' ? typed : ''}
            onInput={onInput}
          />
        </>
      )}
      {field.page && (
        <span class="help">
          <a href={field.page} target="_blank" rel="noreferrer">
            {t('Read the policy')}
          </a>
        </span>
      )}
      {field.help && (
        <span id={`${id}-help`} class="help" lang={serverTextLanguage(field.help)}>
          {serverText(field.help)}
        </span>
      )}
      {problem && (
        <span id={`${id}-problem`} class="error">
          <Icon name="bad" />
          {problem}
        </span>
      )}
    </div>
  );
}

interface SingleProperties {
  readonly field: FormField;
  readonly common: ControlProperties;
  readonly typed: string;
  readonly onInput: (value: InputValue) => void;
}

function Single({ field, common, typed, onInput }: SingleProperties): JSX.Element {
  const text = { ...common, class: 'input', value: typed, maxLength: field.maxLength, autoComplete: 'off' };
  const typing = {
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  };
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common} class="select" value={typed} onInput={(event) => onInput(event.currentTarget.value)}>
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
      return (
        <span class="file">
          <input {...common} type="file" onInput={(event) => onInput(event.currentTarget.files?.[0] ?? '')} />
          {/* The input covers them and announces the name of its file. */}
          <span class="btn" aria-hidden="true">
            {t('Choose file…')}
          </span>
          <span class="note" aria-hidden="true">
            {typed}
          </span>
        </span>
      );
    case 'secret':
      return <input {...text} {...typing} type="password" autoComplete="new-password" />;
    case 'time':
      return <input {...common} {...typing} class="input" value={typed} type="datetime-local" />;
    case 'size':
      return <WithUnit input={{ ...text, ...typing }} unit="GiB" isWrong={common['aria-invalid'] === 'true'} />;
    case 'number':
      return <input {...text} {...typing} inputMode="decimal" />;
    default:
      return <input {...text} {...typing} />;
  }
}

/** A field followed by its unit. A size field also accepts a typed unit, such as "500 MiB". */
const WithUnit = ({
  input,
  unit,
  isWrong = false,
}: {
  readonly input: JSX.IntrinsicElements['input'];
  readonly unit: string;
  readonly isWrong?: boolean;
}): JSX.Element => (
  <span class={isWrong ? 'with-unit short wrong' : 'with-unit short'}>
    <input inputMode="decimal" {...input} />
    <span class="unit">{unit}</span>
  </span>
);

function Boxes({
  field,
  common,
  typed,
  onInput,
}: Omit<SingleProperties, 'typed'> & { readonly typed: readonly string[] }): JSX.Element {
  return (
    <fieldset aria-describedby={common['aria-describedby']} aria-invalid={common['aria-invalid']} tabIndex={-1}>
      <legend>{field.label}</legend>
      <div class="choices">
        {field.choices.map(({ label, value }) => (
          <label key={value} class="check">
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
