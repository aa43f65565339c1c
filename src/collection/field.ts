import * as v from 'valibot';
import type { Request } from '../access/request.ts';
import type { Caller } from '../access/caller.ts';
import type { Config } from '../config.ts';
import type { Value } from '../db/sql.ts';
import { booleanWord } from '../http/query.ts';
import { UploadedFile, kindName } from '../http/body.ts';
import { type Json, booleanValue, linkValue, numberValue, optionalLink, plainValue, textValue, timeValue } from './representation.ts';
import { urlOf } from '../url.ts';

/** The kinds of value that OPTIONS names (core.md 1.10). */
export type FieldType =
  | 'field' | 'boolean' | 'string' | 'url' | 'email' | 'regex' | 'integer' | 'float' | 'datetime' | 'choice' | 'list'
  | 'file upload' | 'image upload' | 'nested object';

/** Messages about one field's value; the items of lists may be objects. */
export class FieldError extends Error {
  constructor(readonly messages: readonly unknown[]) {
    super('invalid value');
  }
}

/** JSON Schema of a value as it stands in answers. */
export type Shape = Readonly<Record<string, unknown>>;

/** How a value in a body becomes a value of the table. */
export interface Input<T> {
  /** Throws FieldError. `form` says that the value came from a form, where everything is text. */
  readonly parse: (value: unknown, request: Request, form: boolean) => T;
  /** JSON Schema source of the accepted value. */
  readonly schema: v.GenericSchema;
  readonly nullable: boolean;
  readonly required: boolean;
  readonly create: boolean;
  readonly update: boolean | ((caller: Caller) => boolean);
  /** No other row has the same value in this column; `of` gives what the column holds of it. */
  readonly unique?: { readonly column: string; of?(value: T): Value; message(value: T): string } | undefined;
}

/** One member of a representation and, unless it is read-only, of a body. The one description of a field. */
export interface Field<T = unknown> {
  readonly type: FieldType;
  readonly label?: string | undefined;
  readonly help?: string | undefined;
  /** Limits and choices as OPTIONS names them. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Those that depend on settings, in place of `facts`. */
  readonly factsBy?: ((config: Config) => Readonly<Record<string, unknown>>) | undefined;
  /** The value as JSON; absent: never shown. */
  readonly json?: ((column: string) => Json) | undefined;
  /** SQL condition under which the key is present in an answer. */
  readonly shown?: string | undefined;
  readonly shape: Shape;
  /** Where the choices of a link come from, in the actions format (services.md 9). */
  readonly select?: (() => { readonly path: string; readonly by?: 'user' | 'settings' | 'tenant'; readonly displayName?: string }) | undefined;
  readonly input?: Input<T> | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** The values a body may bring. */
export type Values<F extends Fields> = { -readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never };

interface Writing<T> {
  /** Must be present on creation and on PUT. */
  readonly required?: boolean;
  readonly create?: boolean;
  readonly update?: boolean | ((caller: Caller) => boolean);
  readonly unique?: Input<T>['unique'];
  readonly shown?: string;
  readonly help?: string;
  readonly label?: string;
}

const messages = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  string: 'Not a valid string.',
  nul: 'Null characters are not allowed.',
  integer: 'A valid integer is required.',
  number: 'A valid number is required.',
  email: 'Enter a valid email address.',
  url: 'Enter a valid URL.',
  datetime: 'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  tooLong: (max: number) => `Ensure this field has no more than ${max} characters.`,
  atLeast: (min: number) => `Ensure this value is greater than or equal to ${min}.`,
  atMost: (max: number) => `Ensure this value is less than or equal to ${max}.`,
  boolean: (value: unknown) => `"${printed(value)}" is not a valid boolean.`,
  choice: (value: unknown) => `"${printed(value)}" is not a valid choice.`,
} as const;

export { messages };

function printed(value: unknown): string {
  if (value instanceof UploadedFile) return value.name;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Runs a valibot schema; all of its messages, or with `abortPipeEarly` the first, become one FieldError. */
export function check<T>(schema: v.GenericSchema<unknown, T>, value: unknown, config: v.Config<v.BaseIssue<unknown>> = {}): T {
  const result = v.safeParse(schema, value, config);
  if (!result.success) throw new FieldError([...new Set(result.issues.map((issue) => issue.message))]);
  return result.output;
}

function input<T>(
  writing: Writing<T>,
  rest: { schema: v.GenericSchema; nullable?: boolean; parse: (value: unknown, request: Request, form: boolean) => T },
): Input<T> {
  const nullable = rest.nullable ?? false;
  return {
    schema: rest.schema,
    nullable,
    required: writing.required ?? false,
    create: writing.create ?? true,
    update: writing.update ?? true,
    unique: writing.unique,
    parse: (value, request, form) => {
      if (value === null) {
        if (nullable) return null as T;
        throw new FieldError([messages.null]);
      }
      return rest.parse(value, request, form);
    },
  };
}

/** Whether a text has at most so many characters, which are never more than its UTF-16 units. */
const isWithin = (text: string, max: number): boolean => text.length <= max || [...text].length <= max;

interface TextRules {
  readonly max?: number | undefined;
  readonly blank: boolean;
  readonly normalize?: ((text: string) => string) | undefined;
  readonly rules?: readonly v.PipeItem<string, string, v.BaseIssue<unknown>>[];
}

/** The schema of text: trimmed, normalized, at most `max` characters as it is then, further rules behind. */
function textSchema(options: TextRules): v.GenericSchema<unknown, string> {
  const { max } = options;
  const steps = [
    v.trim(),
    ...(options.normalize ? [v.transform(options.normalize)] : []),
    v.check((text: string) => !text.includes('\0'), messages.nul),
    // Half of a surrogate pair is no character: UTF-8, and so the database, cannot hold it.
    v.check((text: string) => !/\p{Surrogate}/u.test(text), messages.string),
    ...(max === undefined ? [] : [v.check((text: string) => isWithin(text, max), messages.tooLong(max))]),
    ...(options.rules ?? []),
  ];
  const rules = v.pipe(v.string(messages.string), ...(steps as [v.TrimAction])) as v.GenericSchema<unknown, string>;
  if (options.blank) return rules;
  return v.pipe(v.string(messages.string), v.check((text) => text.trim() !== '', messages.blank), rules as v.GenericSchema<string, string>);
}

/** Numbers are accepted as text and become it (core.md 1.5); a form's repeated text is its last. */
const textOf = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

const bounded = (max: number | undefined): v.GenericSchema => (max === undefined ? v.string() : v.pipe(v.string(), v.maxLength(max)));

interface TextOptions extends Writing<string> {
  /** In characters; absent: only the size of the body limits it. */
  readonly max?: number;
  /** Extra rule: what matches is accepted, else the message. Not applied to an empty value. */
  readonly pattern?: readonly [RegExp, string];
  readonly type?: FieldType;
  readonly normalize?: (text: string) => string;
}

/** Text up to `max` characters; empty unless required. Never null. */
export function text(options: TextOptions): Field<string> {
  const rules: v.PipeItem<string, string, v.BaseIssue<unknown>>[] = [];
  const { max, pattern, normalize } = options;
  if (pattern) rules.push(v.check((value: string) => value === '' || pattern[0].test(value), pattern[1]));
  const schema = textSchema({ max, blank: !options.required, normalize, rules });
  return {
    type: options.type ?? 'string',
    label: options.label,
    help: options.help,
    facts: max === undefined ? {} : { max_length: max },
    json: textValue,
    shown: options.shown,
    shape: { type: 'string' },
    input: input(options, { schema: bounded(max), parse: (value) => check(schema, textOf(value)) }),
  };
}

/** Text that may be null; an empty one counts as null. */
export function nullableText(options: TextOptions): Field<string | null> {
  const base = text(options as Omit<TextOptions, 'unique'>);
  const parse = base.input?.parse as Input<string>['parse'];
  return {
    ...base,
    shape: { type: ['string', 'null'] },
    input: input(options as Writing<string | null>, {
      schema: v.nullable(bounded(options.max)),
      nullable: true,
      parse: (value, request, form) => parse(value, request, form) || null,
    }),
  };
}

/** The same field where null is a value, too: nothing is known. An empty text counts as null, but in a field of text. */
export function orNull<T>(field: Field<T>): Field<T | null> {
  const { parse, ...rest } = field.input as Input<T>;
  const known = field.shape.enum as readonly unknown[] | undefined;
  const isNothing = (value: unknown): boolean => value === null || (field.type !== 'string' && typeof value === 'string' && value.trim() === '');
  return {
    ...field,
    shape: { ...field.shape, type: [field.shape.type, 'null'], ...(known && { enum: [...known, null] }) },
    input: {
      ...(rest as Omit<Input<T | null>, 'parse'>),
      schema: v.nullable(rest.schema),
      nullable: true,
      required: false,
      parse: (value, request, form) => (isNothing(value) ? null : parse(value, request, form)),
    },
  };
}

const emailPattern = /^[^\s@"(),:;<>[\\\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;

/** An email address of at most 254 characters, or empty. */
export const email = (options: Writing<string> = {}): Field<string> =>
  text({ ...options, max: 254, type: 'email', pattern: [emailPattern, messages.email] });

/** An http or https URL, or empty. */
export function url(options: Writing<string> & { max: number }): Field<string> {
  const field = text({ ...options, type: 'url' });
  const parse = field.input?.parse as Input<string>['parse'];
  return {
    ...field,
    input: input(options, {
      schema: v.pipe(v.string(), v.maxLength(options.max)),
      parse: (value, request, form) => {
        const address = parse(value, request, form);
        if (address !== '' && !(urlOf(address) && /^https?:\/\/[^/\s]/i.test(address))) throw new FieldError([messages.url]);
        return address;
      },
    }),
  };
}

/** A whole number within bounds; optionally null. */
export function integer<N extends boolean = false>(
  options: Writing<number | null> & { min: number; max: number; nullable?: N },
): Field<N extends true ? number | null : number> {
  const bounded = v.pipe(
    v.number(messages.integer),
    v.integer(messages.integer),
    v.minValue(options.min, messages.atLeast(options.min)),
    v.maxValue(options.max, messages.atMost(options.max)),
  );
  const nullable = options.nullable ?? false;
  return {
    type: 'integer',
    label: options.label,
    help: options.help,
    facts: { min_value: options.min, max_value: options.max },
    json: numberValue,
    shown: options.shown,
    shape: { type: nullable ? ['integer', 'null'] : 'integer' },
    input: input<number | null>(options, {
      schema: nullable ? v.nullable(bounded) : bounded,
      nullable,
      parse: (value) => {
        if (value === '' && nullable) return null;
        return check(bounded, typeof value === 'string' && /^\s*[+-]?\d+(\.0*)?\s*$/.test(value) ? Number(value) : value, { abortPipeEarly: true });
      },
    }),
  } as unknown as Field<N extends true ? number | null : number>;
}

/** A number, optionally with a lower bound. `column` is its name in SQL where that needs quoting. */
export function number(options: Writing<number> & { min?: number; column?: string }): Field<number> {
  const { min } = options;
  const schema = v.pipe(
    v.number(messages.number),
    v.finite(messages.number),
    v.check((value: number) => min === undefined || value >= min, messages.atLeast(min ?? 0)),
  );
  return {
    type: 'float',
    label: options.label,
    help: options.help,
    facts: min === undefined ? {} : { min_value: min },
    json: (column) => numberValue(options.column === undefined ? column : column.replace(/[^.]+$/, options.column)),
    shown: options.shown,
    shape: { type: 'number' },
    input: input(options, {
      schema: min === undefined ? v.number() : v.pipe(v.number(), v.minValue(min)),
      parse: (value) => {
        if (value === '') throw new FieldError([messages.null]);
        // A negative zero is zero.
        return check(schema, typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : value) + 0;
      },
    }),
  };
}

/** A boolean in the spellings of core.md 1.5. */
export function boolean(options: Writing<boolean> = {}): Field<boolean> {
  return {
    type: 'boolean',
    label: options.label,
    help: options.help,
    facts: {},
    json: booleanValue,
    shown: options.shown,
    shape: { type: 'boolean' },
    input: input(options, {
      schema: v.boolean(),
      parse: (value) => {
        const word = typeof value === 'boolean' ? value : typeof value === 'string' || typeof value === 'number' ? booleanWord(String(value).trim()) : undefined;
        if (word === undefined) throw new FieldError([messages.boolean(value)]);
        return word;
      },
    }),
  };
}

/** One of a few texts; `choices` gives value and display name. With `blank`, also the empty text. */
export function choice(
  options: Writing<string> & { choices: () => readonly (readonly [value: string, name: string])[]; chosenBy?: (config: Config) => readonly string[]; blank?: boolean },
): Field<string> {
  return {
    type: 'choice',
    label: options.label,
    help: options.help,
    get facts() {
      return { choices: options.choices().map(([value, name]) => ({ value, display_name: name })) };
    },
    factsBy: options.chosenBy && ((config) => ({ choices: options.chosenBy?.(config).map((value) => ({ value, display_name: value })) })),
    json: textValue,
    shown: options.shown,
    get shape() {
      return options.chosenBy ? { type: 'string' } : { type: 'string', enum: [...(options.blank ? [''] : []), ...options.choices().map(([value]) => value)] };
    },
    input: input(options, {
      schema: v.string(),
      parse: (value, request) => {
        const word = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : value;
        if (word === '' && options.blank) return '';
        const isKnown = options.chosenBy
          ? options.chosenBy(request.config).includes(word as string)
          : options.choices().some(([known]) => known === word);
        if (typeof word !== 'string' || !isKnown) throw new FieldError([messages.choice(value)]);
        return word;
      },
    }),
  };
}

/** An instant, or null. */
export function datetime(options: Writing<number | null> = {}): Field<number | null> {
  return {
    type: 'datetime',
    label: options.label,
    help: options.help,
    facts: {},
    json: timeValue,
    shown: options.shown,
    shape: { type: ['string', 'null'], format: 'date-time' },
    input: input(options, {
      schema: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
      nullable: true,
      parse: (value) => {
        if (value === '') return null;
        const instant = typeof value === 'string' ? parseDatetime(value.trim()) : undefined;
        if (instant === undefined) throw new FieldError([messages.datetime]);
        return instant;
      },
    }),
  };
}

const datetimePattern = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** The end of the year 9999, as near as a number comes: from 2255 on not every microsecond has one of its own. */
const lastInstant = 253_402_300_799_999_968;

/** An instant in microseconds from a text of core.md 1.4's datetime form; without a zone it is UTC. */
export function parseDatetime(text: string): number | undefined {
  const match = datetimePattern.exec(text);
  if (!match) return undefined;
  const [, year, month, date, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  const parts = [year, month, date, hour, minute, second].map(Number) as [number, number, number, number, number, number];
  const moment = new Date(0);
  moment.setUTCFullYear(parts[0], parts[1] - 1, parts[2]);
  moment.setUTCHours(parts[3], parts[4], parts[5]);
  const exists = moment.getUTCMonth() === parts[1] - 1 && moment.getUTCDate() === parts[2] && parts[3] < 24 && parts[4] < 60 && parts[5] < 60;
  const offset = zoneMinutes(zone);
  if (!exists || offset === undefined) return undefined;
  const instant = moment.getTime() - offset * 60_000;
  // An offset may lead out of the years that an answer can write.
  const utcYear = new Date(instant).getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return undefined;
  return Math.min(instant * 1000 + Number(fraction.padEnd(6, '0')), lastInstant);
}

function zoneMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** What a link field needs to know of the collection it points to. */
export interface LinkTarget {
  readonly path: string;
  /** Id of the object with this uuid, if the caller sees it. */
  readonly visibleId: (request: Request, uuid: string) => number | undefined;
}

/** A link to an object of another collection; its value is the object's id. `key` is the SQL of the shown object's uuid. */
export function link(options: Writing<number> & { to: () => LinkTarget; key: string }): Field<number>;
export function link(options: Writing<number | null> & { to: () => LinkTarget; key: string; nullable: true }): Field<number | null>;
export function link(options: Writing<never> & { to: () => LinkTarget; key: string; nullable?: true }): Field<never> {
  const nullable = options.nullable ?? false;
  return {
    select: () => ({ path: options.to().path }),
    type: 'field',
    label: options.label,
    help: options.help,
    facts: {},
    json: () => (nullable ? optionalLink : linkValue)(options.to().path, options.key),
    shown: options.shown,
    shape: { type: nullable ? ['string', 'null'] : 'string', format: 'uri' },
    input: input<never>(options, {
      schema: v.string(),
      nullable,
      parse: (value, request) => {
        if (value === '' || value === null) {
          if (nullable) return null as never;
          throw new FieldError([messages.null]);
        }
        return resolveLink(value, options.to(), request) as never;
      },
    }),
  };
}

/** The id of the visible object a link points to (core.md 1.4 "link"). Throws FieldError. */
export function resolveLink(value: unknown, target: LinkTarget, request: Request): number {
  if (typeof value !== 'string') throw new FieldError([`Incorrect type. Expected URL string, received ${kindName(value)}.`]);
  const key = linkKey(value, target.path, request);
  const id = target.visibleId(request, key);
  if (id === undefined) throw new FieldError(['Invalid hyperlink - Object does not exist.']);
  return id;
}

/** The uuid in a link to an object of the collection with this path. Throws FieldError when it is no such link. */
export function linkKey(value: string, path: string, request: Request): string {
  const location = linkPath(value.trim(), request);
  const match = location === undefined ? null : /^\/api\/([a-z0-9-]+)\/([0-9a-fA-F]{32})\/$/.exec(location);
  if (match?.[1] === path) return (match[2] as string).toLowerCase();
  const known = location !== undefined && request.deployment.isPath(location);
  throw new FieldError([known ? 'Invalid hyperlink - Incorrect URL match.' : 'Invalid hyperlink - No URL match.']);
}

/** The path of a full URL of any host, or of a bare path; with a trailing slash. Undefined when the text is neither. */
export function linkPath(value: string, request: Request): string | undefined {
  if (!/^(https?:\/\/|\/)/i.test(value) || !urlOf(value, 'http://localhost')) return undefined;
  const prefix = new URL(request.base).pathname.replace(/\/$/, '');
  let path = new URL(value, 'http://localhost').pathname;
  if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
  return path.endsWith('/') ? path : `${path}/`;
}

/** A read-only member. */
export const shown = (
  type: FieldType,
  shape: Shape,
  json: Json | ((column: string) => Json),
  options: { shown?: string; label?: string; help?: string } = {},
): Field<never> => ({
  type,
  shape,
  facts: {},
  json: typeof json === 'function' ? json : () => json,
  ...options,
});

/** The link of the object itself. */
export const selfLink = (path: string, key: string): Field<never> =>
  shown('field', { type: 'string', format: 'uri' }, linkValue(path, key), { label: 'URL' });

export const uuidField = (): Field<never> => shown('string', { type: 'string', pattern: '^[0-9a-f]{32}$' }, plainValue, { label: 'UUID' });

export const shownText = (json: Json | ((column: string) => Json) = textValue, options: { shown?: string } = {}): Field<never> =>
  shown('string', { type: ['string', 'null'] }, json, options);

export const shownTime = (): Field<never> => shown('datetime', { type: ['string', 'null'], format: 'date-time' }, timeValue);

export const shownList = (json: Json, items: Shape = { type: 'object' }): Field<never> => shown('list', { type: 'array', items }, json);

/** A member that is accepted in a body but never shown. */
export const hidden = <T>(field: Field<T>): Field<T> => ({ ...field, json: undefined });
