import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { fieldProblems, type Item, isItem, pathOf, problemOf } from '../api/api.ts';
import type { Answer } from '../api/connection.ts';
import { type FormField, sentOf, type Typed, typedOf } from '../api/fields.ts';
import { t } from '../i18n/words.ts';
import { Control } from './controls.tsx';

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
  const [refused, setRefused] = useState<Item>({});
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
    setRefused(answer.status === 400 && isItem(answer.body) ? answer.body : {});
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
      refused={refused[field.name]}
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
