/** The control of a list: a row of controls with errors for each item. */
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Item, isItem, problemOf } from '../api/api.ts';
import { type FormField, type InputValue, type Row, rowOf } from '../api/fields.ts';
import { plainLabel } from '../format/text.ts';
import { serverText, t } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { Icon } from './icons.tsx';

/** Titles of one item, by list. Functions, because the language may change. */
const itemTitles: Readonly<Record<string, () => string>> = {
  certifications: () => t('Certification'),
  customers: () => t('Customer'),
  floating_ips: () => t('Floating IP'),
  identities: () => t('Identity'),
  internal_ips_set: () => t('Network'),
  networks: () => t('Network'),
  projects: () => t('Project'),
  rules: () => t('Rule'),
  security_groups: () => t('Security group'),
  tags: () => t('Tag'),
};

export function Rows({
  field,
  rows,
  rejected,
  describedBy,
  control,
  onInput,
}: {
  readonly field: FormField;
  readonly rows: readonly Row[];
  /** The errors of each item: messages by member, or one for the whole item. */
  readonly rejected: readonly unknown[];
  readonly describedBy: string | undefined;
  /** Renders the control of a member. */
  readonly control: (
    member: FormField,
    typed: InputValue,
    problem: string | undefined,
    onInput: (typed: InputValue) => void,
  ) => JSX.Element;
  readonly onInput: (rows: readonly Row[]) => void;
}): JSX.Element {
  const { label, members = [] } = field;
  const itemTitle = ownValue(itemTitles, field.name)?.();
  const list = useRef<HTMLDivElement>(null);
  const count = useRef(rows.length);
  const id = useId();
  useEffect(() => {
    // Focus a new item.
    if (rows.length > count.current)
      list.current?.querySelector<HTMLElement>(':scope > :last-child :is(input, select, textarea)')?.focus();
    count.current = rows.length;
  }, [rows.length]);
  return (
    <fieldset class="field" aria-describedby={describedBy}>
      <legend>
        {label} {field.isRequired && <span aria-hidden="true">*</span>}
      </legend>
      <div ref={list} class="stack">
        {rows.map((row, index) => {
          const messages = messagesOf(rejected[index]);
          const title = t('{label} {number}', { label: itemTitle ?? label, number: index + 1 });
          return (
            // Items have no identity but their index.
            <section key={index} class="row-item" aria-label={title}>
              {members.map((member) => (
                <div key={member.name} class="member">
                  {control(member, row[member.name] ?? '', messages.members[member.name], (typed) => {
                    if (typeof typed === 'string' || typeof typed === 'boolean')
                      onInput(rows.map((other, i) => (i === index ? { ...row, [member.name]: typed } : other)));
                  })}
                </div>
              ))}
              <div class="remove">
                <button
                  type="button"
                  class="btn quiet icon-only"
                  aria-label={t('Remove {title}', { title: plainLabel(title) })}
                  onClick={() => onInput(rows.filter((_, i) => i !== index))}
                >
                  <Icon name="dismiss" />
                </button>
              </div>
              {messages.list !== '' && (
                <span id={`${id}-${index}`} role="alert" class="error whole">
                  {messages.list}
                </span>
              )}
            </section>
          );
        })}
      </div>
      <button type="button" class="btn sm" onClick={() => onInput([...rows, rowOf(members)])}>
        <Icon name="create" />
        {itemTitle === undefined ? t('Add') : t('Add {title}', { title: plainLabel(itemTitle) })}
      </button>
    </fieldset>
  );
}

interface Messages {
  readonly list: string;
  readonly members: Readonly<Record<string, string>>;
}

function messagesOf(rejected: unknown): Messages {
  const textsOf = (value: unknown): string =>
    (Array.isArray(value) ? value : [value])
      .filter((text) => typeof text === 'string')
      .map(serverText)
      .join(' ');
  if (!isItem(rejected)) return { list: textsOf(rejected), members: {} };
  const item: Item = rejected;
  return {
    list: problemOf(item),
    members: Object.fromEntries(Object.entries(item).map(([name, value]) => [name, textsOf(value)])),
  };
}
