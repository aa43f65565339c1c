import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldProblems, type Item, isItem, pathOf, problemOf } from '../api/api.ts';
import { type FormField, sentOf, type Typed, typedOf } from '../api/fields.ts';
import { listText, plainLabel } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { Card } from './card.tsx';
import { Conflict, type EditResponse } from './conflict.tsx';
import { Control } from './controls.tsx';
import { Icon } from './icons.tsx';

/**
 * A form generated from fields. `send` receives the filled fields or, for an existing object, only the changed ones. Shows the
 * server's error messages beside the fields.
 */
export function Form({
  fields,
  item,
  given = {},
  button,
  isDangerous = false,
  isBlocked = false,
  send,
  cancel = t('Cancel'),
  onCancel,
  onTyped,
  children,
  sectionOf,
  sectionTitles = [],
  sectionNotes = {},
}: {
  readonly fields: readonly FormField[];
  readonly item?: Item;
  /** Initial values of a new object. */
  readonly given?: Item;
  readonly button: string;
  /** Whether it performs a destructive action. */
  readonly isDangerous?: boolean;
  /** Whether something outside the form prevents sending. */
  readonly isBlocked?: boolean;
  readonly send: (body: Item | FormData) => Promise<EditResponse>;
  /** The text of the cancel button. */
  readonly cancel?: string;
  readonly onCancel?: () => void;
  /** Receives all input after every change. */
  readonly onTyped?: (typed: Readonly<Record<string, Typed>>) => void;
  /** Content above the buttons, or beside the sections if there are any. */
  readonly children?: ComponentChildren;
  /** Returns the card title of a field, for forms with several cards. */
  readonly sectionOf?: ((field: FormField) => string) | undefined;
  /** The order of the cards. Default: the order of their fields. */
  readonly sectionTitles?: readonly string[];
  /** Content above the fields of a card, by card title. */
  readonly sectionNotes?: Readonly<Record<string, ComponentChildren>>;
}): JSX.Element {
  const atFirst = (field: FormField): Typed => typedOf(field, (item ?? given)[field.name]);
  const [typed, setTyped] = useState<Readonly<Record<string, Typed>>>({});
  // Controls that choose a value themselves call `change` late, when `typed` is stale.
  const latest = useRef(typed);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [rejected, setRejected] = useState<Item>({});
  const [problem, setProblem] = useState('');
  const [changed, setChanged] = useState<readonly string[]>([]);
  const [isSending, setSending] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const now = (field: FormField): Typed => typed[field.name] ?? atFirst(field);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => {
      if (form.current && !isLoading(form.current)) {
        setWaiting(false);
        form.current.requestSubmit();
      }
    }, loadingPollMs);
    return () => clearInterval(timer);
  }, [isWaiting]);

  async function submit(): Promise<void> {
    const isGiven = (field: FormField): boolean =>
      JSON.stringify(comparable(field, now(field))) !== JSON.stringify(comparable(field, atFirst(field))) ||
      now(field) instanceof File ||
      (item === undefined && (field.isRequired || field.name in given || now(field) === true));
    const sent = fields.filter(isGiven);
    const body = Object.fromEntries(sent.map((field) => [field.name, sentOf(field, now(field))]));
    setSending(true);
    const response = await send(sent.some((field) => now(field) instanceof File) ? asForm(body) : body);
    setSending(false);
    if (response.isOk) return;
    const fieldMessages = response.status === 400 ? fieldProblems(response.body) : {};
    const known = new Set(fields.map(({ name }) => name));
    const others = Object.entries(fieldMessages).flatMap(([name, text]) =>
      known.has(name) ? [] : [`${name}: ${text}`],
    );
    setChanged(response.changed ?? []);
    setProblems(fieldMessages);
    setRejected(response.status === 400 && isItem(response.body) ? response.body : {});
    setProblem([problemOf(response.body), ...others].filter((text) => text !== '').join(' '));
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')?.focus());
  }

  const folded = fields.filter(({ isFolded }) => isFolded);
  const control = (field: FormField): JSX.Element => (
    <Control
      key={field.name}
      field={field}
      typed={now(field)}
      problem={problems[field.name]}
      rejected={rejected[field.name]}
      onInput={(value) => {
        const next = { ...latest.current, [field.name]: value };
        latest.current = next;
        setTyped(next);
        // The error was about the previous value.
        setProblems(without(problems, field.name));
        setRejected(without(rejected, field.name));
        onTyped?.(next);
      }}
    />
  );

  const more = folded.length > 0 && (
    <details class="fold" open={folded.some(({ name }) => name in problems)}>
      <summary>
        <Icon name="next" />
        <span>{t('More options')}</span>
        <span class="muted cut">{listText(folded.map(({ label }) => plainLabel(label)))}</span>
      </summary>
      <div class="form">{folded.map(control)}</div>
    </details>
  );
  const foot = (
    <footer class="form-foot">
      {onCancel && (
        <button type="button" class="btn" onClick={onCancel}>
          {cancel}
        </button>
      )}
      <button
        type="submit"
        class={isDangerous ? 'btn danger' : 'btn primary'}
        aria-busy={isSending || isWaiting}
        aria-disabled={isBlocked || undefined}
        disabled={isSending || isWaiting}
      >
        {button}
      </button>
    </footer>
  );
  const visible = fields.filter(({ isFolded }) => !isFolded);
  const place = (title: string): number => sectionTitles.indexOf(title);
  const sections = sectionOf ? [...new Set(visible.map(sectionOf))].sort((a, b) => place(a) - place(b)) : [];
  const fieldsIn = (title: string): readonly FormField[] => {
    const own = visible.filter((field) => sectionOf?.(field) === title);
    return own.map((field) => ({ ...field, isTitled: own.length === 1 && field.isOfCards === true }));
  };

  return (
    <form
      ref={form}
      class={sectionOf ? undefined : 'form'}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isBlocked) return;
        // A required field may get the only choice of a list that is still loading.
        if (isLoading(event.currentTarget)) setWaiting(true);
        else void submit();
      }}
    >
      {changed.length > 0 ? (
        <Conflict
          fields={fields.filter(({ name }) => changed.includes(name))}
          message={problem}
          theirs={atFirst}
          mine={({ name }) => typed[name]}
          onUseTheirs={() => {
            latest.current = Object.fromEntries(Object.entries(typed).filter(([name]) => !changed.includes(name)));
            setTyped(latest.current);
            setChanged([]);
            setProblem('');
            form.current?.querySelector<HTMLElement>(`[name="${changed[0]}"]`)?.focus();
          }}
        />
      ) : (
        problem !== '' && (
          <div class="callout bad" role="alert" tabIndex={-1}>
            <Icon name="bad" />
            <p class="words">{problem}</p>
          </div>
        )
      )}
      {sectionOf ? (
        <div class="split">
          <div class="stack">
            {sections.map((title, at) => (
              <Card key={title} title={title} isFlush>
                <div class="in stack">
                  {sectionNotes[title]}
                  <div class="fields">{fieldsIn(title).map(control)}</div>
                </div>
                {at === sections.length - 1 && more}
              </Card>
            ))}
          </div>
          <div class="stack">{children}</div>
          {foot}
        </div>
      ) : (
        <>
          {visible.map(control)}
          {more}
          {children}
        </>
      )}
      {!sectionOf && foot}
    </form>
  );
}

/** Whether choices of a field are still loading. */
const isLoading = (form: HTMLFormElement): boolean => form.querySelector('.field [aria-busy=true]') !== null;

const loadingPollMs = 50;

/** Removes a member from an object. */
const without = <T,>(members: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));

/** Normalises a value for comparison. Links are equal if their paths are. */
const comparable = ({ kind }: FormField, typed: Typed): Typed =>
  kind === 'link' && typeof typed === 'string' ? pathOf(typed) : typed;

/** Converts a body with files to form data. */
function asForm(body: Item): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof File) form.set(name, value);
    else if (value !== null) form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return form;
}
