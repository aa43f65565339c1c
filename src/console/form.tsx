import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { fieldProblems, type Item, pathOf, problemOf } from './api.ts';
import type { Answer } from './connection.ts';
import { type ControlProperties, type FormField, sentOf, type Typed, typedOf } from './fields.ts';
import { Picker } from './picker.tsx';
import { languageOfTold, t, told } from './words/words.ts';

/**
 * A form made of described fields. `send` gets what was filled in, of an object that is there only what was changed; what
 * it refuses is shown beside the fields, in the server's words.
 */
export function Form({
  fields,
  item,
  given = {},
  button,
  send,
  onCancel,
  onTyped,
  children,
}: {
  readonly fields: readonly FormField[];
  readonly item?: Item;
  /** Of a new object what is filled in already. */
  readonly given?: Item;
  readonly button: string;
  readonly send: (body: Item | FormData) => Promise<Answer<unknown>>;
  readonly onCancel?: () => void;
  /** Told of what has been filled in so far, with every change. */
  readonly onTyped?: (typed: Readonly<Record<string, Typed>>) => void;
  /** What stands above the buttons. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const atFirst = (field: FormField): Typed => typedOf(field, (item ?? given)[field.name]);
  const [typed, setTyped] = useState<Readonly<Record<string, Typed>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const now = (field: FormField): Typed => typed[field.name] ?? atFirst(field);

  async function submit(): Promise<void> {
    const isGiven = (field: FormField): boolean =>
      JSON.stringify(comparable(field, now(field))) !== JSON.stringify(comparable(field, atFirst(field))) ||
      now(field) instanceof File ||
      (item === undefined && (field.isRequired || field.name in given || now(field) === true));
    const sent = fields.filter(isGiven);
    const body = Object.fromEntries(sent.map((field) => [field.name, sentOf(field, now(field))]));
    setSending(true);
    const answer = await send(sent.some((field) => now(field) instanceof File) ? asForm(body) : body);
    setSending(false);
    if (answer.isOk) return;
    const told = answer.status === 400 ? fieldProblems(answer.body) : {};
    const shown = new Set(fields.map(({ name }) => name));
    const others = Object.entries(told).flatMap(([name, text]) => (shown.has(name) ? [] : [`${name}: ${text}`]));
    setProblems(told);
    setProblem([problemOf(answer.body), ...others].filter((text) => text !== '').join(' '));
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')?.focus());
  }

  const folded = fields.filter(({ isFolded }) => isFolded);
  const control = (field: FormField): JSX.Element => (
    <Control
      key={field.name}
      field={field}
      typed={now(field)}
      problem={problems[field.name]}
      onInput={(value) => {
        const next = { ...typed, [field.name]: value };
        setTyped(next);
        onTyped?.(next);
      }}
    />
  );

  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {problem !== '' && (
        <p role="alert" class="problem" tabIndex={-1}>
          {problem}
        </p>
      )}
      {fields.filter(({ isFolded }) => !isFolded).map(control)}
      {folded.length > 0 && (
        <details open={folded.some(({ name }) => name in problems)}>
          <summary>{t('More')}</summary>
          {folded.map(control)}
        </details>
      )}
      {children}
      <footer class="buttons">
        {onCancel && (
          <button type="button" class="secondary" onClick={onCancel}>
            {t('Cancel')}
          </button>
        )}
        <button type="submit" aria-busy={isSending} disabled={isSending}>
          {button}
        </button>
      </footer>
    </form>
  );
}

/** Links are the same whatever base they were written with. */
const comparable = ({ kind }: FormField, typed: Typed): Typed =>
  kind === 'link' && typeof typed === 'string' ? pathOf(typed) : typed;

/** The same body with files in it. */
function asForm(body: Item): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof File) form.set(name, value);
    else if (value !== null) form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return form;
}

function Control({
  field,
  typed,
  problem,
  onInput,
}: {
  readonly field: FormField;
  readonly typed: Typed;
  readonly problem: string | undefined;
  readonly onInput: (value: Typed) => void;
}): JSX.Element {
  const id = useId();
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
        <Boxes field={field} common={common} typed={Array.isArray(typed) ? typed : []} onInput={onInput} />
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
          <option value="">{field.isRequired ? t('Choose…') : '–'}</option>
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
