/** Parses form fields from both formats of OPTIONS. */

import { parseSize, sizeInput } from '../format/size.ts';
import { choiceText } from '../format/text.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { countryText, serverText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { type Item, isItem, itemsIn, pathOf, textOf } from './api.ts';
import { configuration } from './configuration.ts';
import type { Collection, ItemMember } from './document.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** One field of a form. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  /** URL of a page with more information. */
  readonly page?: string;
  readonly isRequired: boolean;
  readonly kind:
    | 'text'
    | 'long'
    | 'secret'
    | 'number'
    | 'size'
    | 'flag'
    | 'time'
    | 'choice'
    | 'choices'
    | 'link'
    | 'file'
    | 'rows'
    | 'json';
  readonly type: string;
  readonly choices: readonly Choice[];
  /** The list of possible values of a link, and the member with their names. */
  readonly list: string;
  readonly nameMember: string;
  readonly maxLength: number | undefined;
  readonly fallback: unknown;
  /** Members of list items; for plain values, one member without a name. */
  readonly members?: readonly FormField[];
  /** Whether it is in a collapsed section. */
  readonly isFolded?: boolean;
  /** Whether it takes only half the width of a card. */
  readonly isHalf?: boolean;
  /** Whether it takes the whole width, although its kind usually takes half. */
  readonly isWide?: boolean;
  /** Whether a short list of objects is displayed as cards. */
  readonly isShownAsCards?: boolean;
  /** Whether the card title already names it. */
  readonly isTitled?: boolean;
  /** Returns why an object is unavailable. */
  readonly reasonOf?: (item: Item) => string | undefined;
}

/** The props of every control. */
export interface ControlProperties {
  readonly id: string;
  readonly name: string;
  readonly 'aria-invalid': 'true' | undefined;
  readonly 'aria-describedby': string | undefined;
  readonly required: boolean;
}

/** Whether only simulated provider accounts have the field. */
export const isOfSimulator = (name: string): boolean => name.startsWith('simulator_');

const secrets = /^(password|current_password|token|secret|.*_secret|.*_password)$/;
const long = new Set(['description', 'contact_details', 'user_data', 'public_key', 'message']);

/** Returns the writable fields of a member of `actions`. */
export function formFieldsOf(described: unknown, collection: Collection | undefined): readonly FormField[] {
  if (!isItem(described)) return [];
  return Object.entries(described).flatMap(([name, field]) => {
    if (!isItem(field) || field.read_only === true) return [];
    if (name !== 'agree_with_policy') return [formField(name, field, collection)];
    const page = configuration.value?.policy;
    // Without a policy, there is nothing to agree to.
    return page === undefined ? [] : [{ ...formField(name, field, collection), page }];
  });
}

/** Drops help about API fields, units or numeric codes: the console has pickers and units instead. */
const helpOf = (help: string): string => (/\b[a-z]+_[a-z_]+\b|\bMiB\b|^\d/.test(help) ? '' : help);

function formField(name: string, field: Item, collection: Collection | undefined): FormField {
  const type = textOf(field, 'type');
  const child = isItem(field.child) ? field.child : {};
  const choices = itemsIn(field.choices ?? child.choices).map((choice) => ({
    value: textOf(choice, 'value'),
    label: name === 'country' ? countryText(textOf(choice, 'value')) : choiceText(textOf(choice, 'display_name')),
  }));
  const target = collection && ownValue(collection.targets, name);
  const list = textOf(field, 'url') ? pathOf(textOf(field, 'url')) : target ? `/api/${target}/` : '';
  const members =
    type === 'list' && choices.length === 0
      ? collection && ownValue(collection.items, name)?.map(memberField)
      : undefined;
  const kind = members ? 'rows' : kindOf(name, type, choices.length > 0, list !== '');
  return {
    name,
    // `titleOf` prefers the title of a page with the same name.
    label: t(fieldLabel(name)?.label ?? textOf(field, 'label')) || titleOf(name),
    help: helpOf(textOf(field, 'help_text')),
    isRequired: field.required === true,
    kind,
    ...(members && { members }),
    type,
    choices,
    list,
    nameMember: textOf(field, 'display_name_field') || (target === 'users' ? 'username' : 'name'),
    maxLength: typeof field.max_length === 'number' ? field.max_length : undefined,
    fallback: field.default_value,
  };
}

/** Converts a member of list items to a field. */
function memberField({ choices, isRequired, list, name, type }: ItemMember): FormField {
  const label = name === 'url' ? titleOf(list) : name === '' ? t('Value') : titleOf(name);
  return {
    ...plainField(name, label, kindOf(name, type, choices.length > 0, list !== ''), isRequired),
    type,
    list: list === '' ? '' : `/api/${list}/`,
    nameMember: 'name',
    // An empty value means any.
    choices: choices.map((value) => ({ value, label: value === '' ? t('Any') : choiceText(value) })),
  };
}

/** Creates a field for a form without OPTIONS, such as those before sign-in. */
export const plainField = (name: string, label: string, kind: FormField['kind'], isRequired = true): FormField => ({
  name,
  label,
  help: '',
  isRequired,
  kind,
  type: 'string',
  choices: [],
  list: '',
  nameMember: '',
  maxLength: undefined,
  fallback: undefined,
});

function kindOf(name: string, type: string, hasChoices: boolean, hasList: boolean): FormField['kind'] {
  if (hasChoices) return type === 'list' ? 'choices' : 'choice';
  if (hasList) return 'link';
  if (type === 'integer' && fieldLabel(name)?.format === 'MiB') return 'size';
  const byType: Readonly<Record<string, FormField['kind']>> = {
    boolean: 'flag',
    integer: 'number',
    float: 'number',
    datetime: 'time',
    'file upload': 'file',
    'image upload': 'file',
    list: 'json',
    'nested object': 'json',
  };
  return (
    ownValue(byType, type) ?? (secrets.test(name) ? 'secret' : long.has(name) || type === 'text' ? 'long' : 'text')
  );
}

/** The control values of a list item, by member. */
export type Row = Readonly<Record<string, string | boolean>>;

/** The value of a control: text, a checkbox, several choices, list items, or a file. */
export type InputValue = string | boolean | readonly string[] | readonly Row[] | File;

/** Returns the items of a list control. */
export const rowsIn = (typed: InputValue): readonly Row[] =>
  Array.isArray(typed) ? typed.filter((row): row is Row => typeof row === 'object') : [];

/** Returns the initial value of a field's control. */
export function inputValueOf(field: FormField, value: unknown): InputValue {
  const { fallback, kind, members = [] } = field;
  const current = value ?? fallback;
  if (kind === 'rows') return (Array.isArray(current) ? current : []).map((item: unknown) => rowOf(members, item));
  if (kind === 'flag') return current === true;
  if (kind === 'choices') return Array.isArray(current) ? current.map(String) : [];
  if (kind === 'json') return current === undefined || current === null ? '' : jsonText(current);
  if (kind === 'time') return typeof current === 'string' ? localTime(current) : '';
  if (kind === 'file' || current === undefined || current === null) return '';
  if (kind === 'size' && typeof current === 'number') return sizeInput(current);
  return String(current);
}

/** Converts a list item to control values, which are empty without an item. */
export const rowOf = (members: readonly FormField[], item?: unknown): Row =>
  Object.fromEntries(
    members.map((member) => {
      const typed = inputValueOf(member, member.name === '' ? item : isItem(item) ? item[member.name] : undefined);
      return [member.name, typeof typed === 'boolean' ? typed : String(typed)];
    }),
  );

/** Validates a value before sending. Returns an error message; empty if it is valid. */
export function problemIn({ kind, type }: FormField, typed: InputValue): string {
  if (kind === 'size' && typeof typed === 'string' && typed.trim() !== '' && parseSize(typed) === undefined)
    return t('Enter a size, such as 20, 500 MiB or 1.5 TiB.');
  if (kind !== 'number' || typeof typed !== 'string' || typed === '') return '';
  if (type === 'integer') return /^-?\d+$/.test(typed.trim()) ? '' : serverText('A valid integer is required.');
  return Number.isNaN(Number(typed)) ? serverText('A valid number is required.') : '';
}

/** Converts a list of texts to lines, and any other value to JSON. */
const jsonText = (value: unknown): string =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.join('\n')
    : JSON.stringify(value, null, 2);

/** Converts an instant to the local time that datetime inputs expect. */
function localTime(instant: string): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the value to send. An invalid number or time is sent as typed, so that the server reports the error. */
export function valueToSend({ kind, members = [], type }: FormField, typed: InputValue): unknown {
  if (kind === 'rows') return rowsIn(typed).map((row) => itemOf(members, row));
  if (typeof typed !== 'string') return typed;
  if (kind === 'number') return typed === '' ? null : Number.isNaN(Number(typed)) ? typed : Number(typed);
  if (kind === 'size') return typed.trim() === '' ? null : (parseSize(typed) ?? typed);
  if (kind === 'time') return typed === '' ? null : new Date(typed).toISOString();
  if (kind === 'link') return typed === '' ? null : typed;
  if (kind !== 'json') return typed;
  if (/^\s*[[{]/.test(typed)) {
    try {
      return JSON.parse(typed);
    } catch {
      return typed;
    }
  }
  return type === 'list' ? typed.split('\n').filter((line) => line.trim() !== '') : typed;
}

/** Converts a list item for sending. Omits empty optional members. */
function itemOf(members: readonly FormField[], row: Row): unknown {
  const entries = members.map((member) => [member, valueToSend(member, row[member.name] ?? '')] as const);
  if (members[0]?.name === '') return entries[0]?.[1];
  return Object.fromEntries(
    entries
      .filter(([{ isRequired }, value]) => isRequired || (value !== null && value !== ''))
      .map(([{ name }, value]) => [name, value]),
  );
}
