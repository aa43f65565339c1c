import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Item } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { listText, plainLabel } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { Card } from './card.tsx';
import { Conflict, type EditResponse } from './conflict.tsx';
import { Control } from './controls.tsx';
import { type FormState, type Input, useFormState } from './form-state.ts';
import { Icon } from './icons.tsx';

interface FormProps extends SectionOptions {
  readonly fields: readonly FormField[];
  readonly item?: Item;
  /** Initial values of a new object. */
  readonly initialValues?: Item;
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
  readonly onTyped?: (input: Input) => void;
  /** Content above the folded fields and the buttons, or beside the sections if there are any. */
  readonly children?: ComponentChildren;
}

/** How to divide the fields into cards. */
interface SectionOptions {
  /** Returns the card title of a field, for forms with several cards. */
  readonly sectionOf?: ((field: FormField) => string) | undefined;
  /** The order of the cards. Default: the order of their fields. */
  readonly sectionTitles?: readonly string[];
  /** Content above the fields of a card, by card title. */
  readonly sectionNotes?: Readonly<Record<string, ComponentChildren>>;
}

/**
 * A form generated from fields. `send` receives the filled fields or, for an existing object, only the changed ones. Shows the
 * server's error messages beside the fields.
 */
export function Form({
  fields,
  item,
  initialValues = {},
  button,
  isDangerous = false,
  isBlocked = false,
  send,
  cancel = t('Cancel'),
  onCancel,
  onTyped,
  children,
  ...sections
}: FormProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const state = useFormState({ fields, item, initialValues, send, onInput: onTyped });
  const submit = (): void =>
    void state.submit().then((isAccepted) => {
      if (!isAccepted)
        requestAnimationFrame(() =>
          form.current?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')?.focus(),
        );
    });
  const [isWaiting, submitWhenLoaded] = useLoadedSubmit(form);
  const isBusy = state.isSending || isWaiting;
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
        aria-busy={isBusy}
        aria-disabled={isBlocked || undefined}
        disabled={isBusy}
      >
        {button}
      </button>
    </footer>
  );
  return (
    <form
      ref={form}
      class={sections.sectionOf ? undefined : 'form'}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBlocked && !submitWhenLoaded()) submit();
      }}
    >
      <Rejection state={state} fields={fields} form={form} />
      {sections.sectionOf ? (
        <div class="split">
          <Sections {...sections} fields={fields} state={state} />
          <div class="stack">{children}</div>
          {foot}
        </div>
      ) : (
        <>
          <Controls fields={fields.filter(({ isFolded }) => !isFolded)} state={state} />
          {children}
          <FoldedFields fields={fields} state={state} />
          {foot}
        </>
      )}
    </form>
  );
}

/**
 * Postpones sending while choices of a field load, because a required field may get the only choice of its list. Returns whether
 * the form waits, and a function that makes it wait if it must.
 */
function useLoadedSubmit(form: { readonly current: HTMLFormElement | null }): [boolean, () => boolean] {
  const [isWaiting, setWaiting] = useState(false);
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
  return [
    isWaiting,
    () => {
      const mustWait = form.current !== null && isLoading(form.current);
      if (mustWait) setWaiting(true);
      return mustWait;
    },
  ];
}

/** Whether choices of a field are still loading. */
const isLoading = (form: HTMLFormElement): boolean => form.querySelector('.field [aria-busy=true]') !== null;

const loadingPollMs = 50;

interface FieldsProps {
  readonly fields: readonly FormField[];
  readonly state: FormState;
}

/** The controls of these fields. */
const Controls = ({ fields, state }: FieldsProps): JSX.Element => (
  <>
    {fields.map((field) => (
      <Control
        key={field.name}
        field={field}
        typed={state.current(field)}
        problem={state.problems[field.name]}
        rejected={state.details[field.name]}
        onInput={(value) => state.change(field, value)}
      />
    ))}
  </>
);

/** The fields that few users need, folded unless one has an error. */
function FoldedFields({ fields, state }: FieldsProps): JSX.Element | null {
  const folded = fields.filter(({ isFolded }) => isFolded);
  if (folded.length === 0) return null;
  return (
    <details class="fold" open={folded.some(({ name }) => name in state.problems)}>
      <summary>
        <Icon name="next" />
        <span>{t('More options')}</span>
        <span class="muted cut">{listText(folded.map(({ label }) => plainLabel(label)))}</span>
      </summary>
      <div class="form">
        <Controls fields={folded} state={state} />
      </div>
    </details>
  );
}

/** The fields in cards. The folded ones are in the last card. */
function Sections({
  fields,
  state,
  sectionOf = () => '',
  sectionTitles = [],
  sectionNotes = {},
}: FieldsProps & SectionOptions): JSX.Element {
  const visible = fields.filter(({ isFolded }) => !isFolded);
  const place = (title: string): number => sectionTitles.indexOf(title);
  const titles = [...new Set(visible.map(sectionOf))].sort((a, b) => place(a) - place(b));
  const fieldsIn = (title: string): readonly FormField[] => {
    const own = visible.filter((field) => sectionOf(field) === title);
    return own.map((field) => ({ ...field, isTitled: own.length === 1 && field.isShownAsCards === true }));
  };
  return (
    <div class="stack">
      {titles.map((title, index) => (
        <Card key={title} title={title} isFlush>
          <div class="in stack">
            {sectionNotes[title]}
            <div class="fields">
              <Controls fields={fieldsIn(title)} state={state} />
            </div>
          </div>
          {index === titles.length - 1 && <FoldedFields fields={fields} state={state} />}
        </Card>
      ))}
    </div>
  );
}

/** The message of the last response, or the choice between two edits of the same fields. */
function Rejection({
  state: { canRetry, conflicts, initial, input, message, useTheirs },
  fields,
  form,
}: FieldsProps & { readonly form: { readonly current: HTMLFormElement | null } }): JSX.Element | null {
  if (conflicts.length > 0)
    return (
      <Conflict
        fields={fields.filter(({ name }) => conflicts.includes(name))}
        message={message}
        theirs={initial}
        mine={({ name }) => input[name]}
        onUseTheirs={() => {
          useTheirs();
          form.current?.querySelector<HTMLElement>(`[name="${conflicts[0]}"]`)?.focus();
        }}
      />
    );
  if (message === '') return null;
  return (
    <div class="callout bad" role="alert" tabIndex={-1}>
      <Icon name="bad" />
      <p class="words">{message}</p>
      {canRetry && (
        <button type="submit" class="btn sm">
          {t('Try again')}
        </button>
      )}
    </div>
  );
}
