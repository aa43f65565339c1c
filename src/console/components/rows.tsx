/** The control of a list: a row of controls for each item, with what is wrong where it is wrong. */
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Item, isItem, problemOf } from '../api/api.ts';
import { type FormField, type Row, rowOf, type Typed } from '../api/fields.ts';
import { t, told } from '../i18n/words.ts';

export function Rows({
  field,
  rows,
  refused,
  describedBy,
  control,
  onInput,
}: {
  readonly field: FormField;
  readonly rows: readonly Row[];
  /** What the server said of each item: messages by member, or of the whole. */
  readonly refused: readonly unknown[];
  readonly describedBy: string | undefined;
  /** Makes the control of a member. */
  readonly control: (
    member: FormField,
    typed: Typed,
    problem: string | undefined,
    onInput: (typed: Typed) => void,
  ) => JSX.Element;
  readonly onInput: (rows: readonly Row[]) => void;
}): JSX.Element {
  const { label, members = [] } = field;
  const list = useRef<HTMLDivElement>(null);
  const count = useRef(rows.length);
  const id = useId();
  useEffect(() => {
    // Who adds an item goes on in it.
    if (rows.length > count.current)
      list.current?.querySelector<HTMLElement>(':scope > :last-child :is(input, select, textarea)')?.focus();
    count.current = rows.length;
  }, [rows.length]);
  return (
    <fieldset aria-describedby={describedBy}>
      <legend>
        {label} {field.isRequired && <span aria-hidden="true">*</span>}
      </legend>
      <div ref={list}>
        {rows.map((row, at) => {
          const messages = messagesOf(refused[at]);
          const title = t('{label} {number}', { label, number: at + 1 });
          return (
            // Its place is all that an item is known by.
            <section key={at} class="item" aria-label={title}>
              {members.map((member) => (
                <div key={member.name} class="member">
                  {control(member, row[member.name] ?? '', messages.members[member.name], (typed) => {
                    if (typeof typed === 'string' || typeof typed === 'boolean')
                      onInput(rows.map((other, index) => (index === at ? { ...row, [member.name]: typed } : other)));
                  })}
                </div>
              ))}
              <div class="remove">
                <button
                  type="button"
                  class="outline secondary"
                  aria-label={t('Remove {title}', { title })}
                  onClick={() => onInput(rows.filter((_, index) => index !== at))}
                >
                  ×
                </button>
              </div>
              {messages.whole !== '' && (
                <small id={`${id}-${at}`} role="alert" class="problem whole">
                  {messages.whole}
                </small>
              )}
            </section>
          );
        })}
      </div>
      <button type="button" class="outline small" onClick={() => onInput([...rows, rowOf(members)])}>
        {t('Add: {label}', { label })}
      </button>
    </fieldset>
  );
}

interface Messages {
  readonly whole: string;
  readonly members: Readonly<Record<string, string>>;
}

function messagesOf(refused: unknown): Messages {
  const textsOf = (value: unknown): string =>
    (Array.isArray(value) ? value : [value])
      .filter((text) => typeof text === 'string')
      .map(told)
      .join(' ');
  if (!isItem(refused)) return { whole: textsOf(refused), members: {} };
  const item: Item = refused;
  return {
    whole: problemOf(item),
    members: Object.fromEntries(Object.entries(item).map(([name, value]) => [name, textsOf(value)])),
  };
}
