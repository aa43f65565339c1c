import * as v from 'valibot';
import type { Caller } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Config } from '../config/config.ts';
import { controls, controlsInLines, loneSurrogate } from '../control-characters.ts';
import type { Sql, Value } from '../db/sql.ts';
import { kindName } from '../http/body.ts';
import { UploadedFile } from '../http/multipart.ts';
import { bodyListRule } from '../http/query.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Json, notNullText, notNullTime, plainValue } from './representation.ts';

/** Kinds of values in OPTIONS (core.md 1.10). */
export type FieldType =
  | 'field'
  | 'boolean'
  | 'string'
  | 'url'
  | 'email'
  | 'regex'
  | 'integer'
  | 'float'
  | 'datetime'
  | 'choice'
  | 'list'
  | 'file upload'
  | 'image upload'
  | 'nested object';

/** Messages about a field's value. Items of lists may be objects. */
export class FieldError extends Error {
  constructor(readonly messages: readonly unknown[]) {
    super('invalid value');
  }
}

/** Converts a value in a body to a stored value. `inputOf` creates inputs; `wrapInput` derives others. */
export interface Input<T, Required extends boolean = boolean> {
  /** Throws FieldError. `form` is true for values from a form, where everything is text. */
  readonly parse: (value: unknown, request: Request, form: boolean) => T;
  /** The accepted values, for `parse` and the documentation. */
  readonly schema: v.GenericSchema;
  /** JSON Schema of the accepted value, if the documentation says more than `schema` can. */
  readonly shape?: JsonSchema | undefined;
  readonly nullable: boolean;
  readonly required: Required;
  /** Whether PUT may omit it. */
  readonly isIncluded?: boolean;
  /** Whether the body may be just this list, for bodies without other fields. */
  readonly canBeBareList?: boolean;
  /** The message for a missing value. Default: the usual text. */
  readonly missing?: string;
  readonly create: boolean;
  readonly update: boolean | ((caller: Caller) => boolean);
  /** Returns the column for a field with this name; false if the collection stores it elsewhere. */
  readonly column: false | ((name: string) => string);
  /**
   * The column in which the value is unique. `of` returns its stored form. `within` limits uniqueness to rows that meet this
   * condition, which gets the id of the object being changed.
   */
  readonly unique?:
    | {
        readonly column: string;
        of(value: T, request: Request): Value;
        message(value: T): string;
        within?(request: Request, current: number | undefined): Sql;
      }
    | undefined;
}

/** Declares a field: a member of a representation and, unless read-only, of a body. */
export interface Field<T = unknown, Required extends boolean = boolean> {
  readonly type: FieldType;
  readonly label?: string | undefined;
  readonly help?: string | undefined;
  /** Limits and choices for OPTIONS. */
  readonly constraints: Readonly<Record<string, unknown>>;
  /** Constraints that depend on settings. They replace `constraints`. */
  readonly constraintsBy?: ((config: Config) => Readonly<Record<string, unknown>>) | undefined;
  /** The value as JSON. Undefined if it is never shown. */
  readonly json?: ((column: string) => Json) | undefined;
  /** SQL condition for the presence of the key in a response. */
  readonly shownIf?: string | undefined;
  readonly shape: JsonSchema;
  /** The part that audit records mask: the value, or the path of a URL. Text fields named like secrets are always masked. */
  readonly conceals?: 'value' | 'path' | undefined;
  /** The source of a link's choices, in the actions format (services.md 9). */
  readonly select?:
    | (() => { readonly path: string; readonly by?: 'user' | 'settings' | 'tenant'; readonly displayName?: string })
    | undefined;
  readonly input?: Input<T, Required> | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** A field that bodies may contain. */
export interface WritableField<T = unknown, Required extends boolean = boolean> extends Field<T, Required> {
  readonly input: Input<T, Required>;
}

/** The names of writable fields; read-only ones have the type `never`. */
type Writable<F extends Fields> = { [K in keyof F]: F[K] extends Field<never> ? never : K }[keyof F];

/** The names of the fields that creation requires. */
type RequiredFields<F extends Fields> = {
  [K in Writable<F>]: F[K] extends Field<unknown, true> ? K : never;
}[Writable<F>];

type ValueOf<T> = T extends Field<infer V> ? V : never;

/** The values that a body may contain. */
export type Values<F extends Fields> = { -readonly [K in Writable<F>]?: ValueOf<F[K]> };

/** The values in the body of a creation, including every required one. */
export type NewValues<F extends Fields> = Values<F> & { -readonly [K in RequiredFields<F>]: ValueOf<F[K]> };

export interface Writing<T> {
  /** Must be present on creation and on PUT. */
  readonly required?: boolean;
  readonly create?: boolean;
  readonly update?: boolean | ((caller: Caller) => boolean);
  readonly unique?: Input<T>['unique'];
  /** The column, if not the default for this kind of field; false if the collection stores the value elsewhere. */
  readonly storedIn?: string | false;
  readonly shownIf?: string;
  readonly help?: string;
  readonly label?: string;
  /** The default of a boolean, with which forms start. */
  readonly fallback?: boolean;
  /** The example for the documentation. Default: one that fits the kind. */
  readonly example?: unknown;
}

/** Returns the example of a field as part of its schema, if there is one. */
export const exampleShape = ({ example }: Pick<Writing<never>, 'example'>): JsonSchema =>
  example === undefined ? {} : { examples: [example] };

export const messages = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  string: 'Not a valid string.',
  nul: 'Null characters are not allowed.',
  control: 'Enter a valid text without control characters.',
  integer: 'A valid integer is required.',
  number: 'A valid number is required.',
  email: 'Enter a valid email address.',
  url: 'Enter a valid URL.',
  datetime:
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  list: (kind: string) => `Expected a list of items but got type "${kind}".`,
  tooLong: (max: number) => `Ensure this field has no more than ${max} characters.`,
  tooShort: (min: number) => `Ensure this field has at least ${min} characters.`,
  atLeast: (min: number) => `Ensure this value is greater than or equal to ${min}.`,
  atMost: (max: number) => `Ensure this value is less than or equal to ${max}.`,
  boolean: (value: unknown) => `"${printed(value)}" is not a valid boolean.`,
  choice: (value: unknown) => `"${printed(value)}" is not a valid choice.`,
} as const;

export function printed(value: unknown): string {
  if (value instanceof UploadedFile) return value.name;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Runs a valibot schema. Combines all messages, or the first with `abortPipeEarly`, into one FieldError. */
export function check<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  config: v.Config<v.BaseIssue<unknown>> = {},
): T {
  const result = v.safeParse(schema, value, config);
  if (!result.success) throw new FieldError([...new Set(result.issues.map((issue) => issue.message))]);
  return result.output;
}

/** Returns the message about a value that is not a list. */
export const notAList = ({ input }: { readonly input: unknown }): string => messages.list(kindName(input));

/** Throws FieldError for a list with too many items before parsing it (core.md 1.1 "Lists"). */
export function requireShortList(value: unknown): void {
  if (Array.isArray(value) && value.length > bodyListRule.maxValues) throw new FieldError([bodyListRule.message]);
}

/** The declaration from which `inputOf` makes an input. */
interface Acceptance<S extends v.GenericSchema, T> {
  /** The accepted values. The output is the value, unless `resolve` converts it. */
  readonly schema: S;
  readonly shape?: JsonSchema;
  readonly nullable?: boolean;
  /** Normalises alternative spellings (core.md 1.5) to the form that `schema` expects. */
  readonly coerce?: (value: unknown, form: boolean) => unknown;
  /** The column of a field with this name; default: of the same name. */
  readonly columnOf?: (name: string) => string;
  /** Whether the response contains only the first message of the schema. */
  readonly showsFirstMessageOnly?: boolean;
  /** The last step, which may use the request (caller, settings, other objects). Throws FieldError. */
  readonly resolve?: (value: v.InferOutput<S>, request: Request) => T;
}

/** Creates the input of a field. It rejects null unless nullable. Everything else must match the schema. */
export function inputOf<T, S extends v.GenericSchema, const W extends Writing<never> = Writing<never>>(
  writing: W & Pick<Writing<T>, 'unique'>,
  acceptance: Acceptance<S, T>,
): Input<T, IsRequired<W>>;
export function inputOf(writing: Writing<never>, acceptance: Acceptance<v.GenericSchema, unknown>): Input<unknown> {
  const {
    coerce,
    columnOf = (name) => name,
    showsFirstMessageOnly = false,
    nullable = false,
    resolve,
    schema,
    shape,
  } = acceptance;
  const { storedIn } = writing;
  return {
    schema,
    shape,
    nullable,
    required: writing.required ?? false,
    create: writing.create ?? true,
    update: writing.update ?? true,
    column: typeof storedIn === 'string' ? () => storedIn : (storedIn ?? columnOf),
    unique: writing.unique,
    parse: (value, request, form) => {
      const values = coerce ? coerce(value, form) : value;
      requireShortList(values);
      const odd = invalidTextIn(values);
      if (odd) throw new FieldError([messages[odd]]);
      if (values === null) {
        if (nullable) return null;
        throw new FieldError([messages.null]);
      }
      const accepted = check(schema, values, { abortPipeEarly: showsFirstMessageOnly });
      return resolve ? resolve(accepted, request) : accepted;
    },
  };
}

/** Whether the declared field is required. */
export type IsRequired<W> = W extends { readonly required: true } ? true : false;

/** Adds a check to a field. The check throws FieldError. */
export const refine = <T, Q extends boolean, F extends WritableField<T, Q>>(
  field: F & WritableField<T, Q>,
  check: (value: T, request: Request) => void,
): F =>
  wrap(field, (parse) => (value, request, form) => {
    const accepted = parse(value, request, form);
    check(accepted, request);
    return accepted;
  });

/** Wraps the parser of a field. */
export const wrap = <T, Q extends boolean, F extends WritableField<T, Q>>(
  field: F & WritableField<T, Q>,
  parseWith: (parse: Input<T>['parse']) => Input<T>['parse'],
): F => ({ ...field, input: wrapInput(field.input, parseWith) });

/** Wraps the parser of an input. */
export const wrapInput = <T, Q extends boolean>(
  input: Input<T, Q>,
  parseWith: (parse: Input<T>['parse']) => Input<T>['parse'],
): Input<T, Q> => ({ ...input, parse: parseWith(input.parse) });

/** Makes a field optional in PUT. `missing` is the message for a creation without it. */
export const requiredOnCreation = <T>(field: WritableField<T, true>, missing: string): WritableField<T, true> => ({
  ...field,
  input: { ...field.input, isIncluded: true, missing },
});

/** Makes a field optional. */
export const optional = <T>(field: WritableField<T>): WritableField<T, false> => ({
  ...field,
  input: { ...field.input, required: false },
});

/** Declares a read-only member. */
export const readOnly = (
  type: FieldType,
  shape: JsonSchema,
  json: Json | ((column: string) => Json),
  options: { shownIf?: string; label?: string; help?: string } = {},
): Field<never> => ({ type, shape, constraints: {}, json: typeof json === 'function' ? json : () => json, ...options });

/** The UUID of an object in responses. */
export const uuidShape: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{32}$' };

/** An object with exactly these members. */
export const objectShape = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** `{"detail": …}` with a message. */
export const messageShape: JsonSchema = { title: 'Message', ...objectShape({ detail: { type: 'string' } }) };

export const uuidField = (): Field<never> => readOnly('string', uuidShape, plainValue, { label: 'UUID' });

export const readOnlyText = (
  json: Json | ((column: string) => Json) = notNullText,
  options: { shownIf?: string } = {},
): Field<never> => {
  const { shape } = typeof json === 'function' ? json('') : json;
  return readOnly('string', shape.type === undefined ? { type: ['string', 'null'] } : shape, json, options);
};

export const readOnlyTime = (json: (column: string) => Json = notNullTime): Field<never> =>
  readOnly('datetime', json('').shape, json);

export const readOnlyList = (json: Json): Field<never> => readOnly('list', json.shape, json);

/** A member that is accepted in a body but never shown. */
export const writeOnly = <F extends Field>(field: F): F => ({ ...field, json: undefined });

/** Masks a field in audit records. */
export const secretField = <F extends Field>(field: F): F => ({ ...field, conceals: 'value' });

const secretName = /password|secret|token/i;
/** Fields that are multi-line in every collection (core.md 1.5 "Control characters"). */
const multiLineNames: ReadonlySet<string> = new Set([
  'description',
  'contact_details',
  'message',
  'user_data',
  'certificate',
]);

/**
 * Returns the error in a text inside a list or object, or in a file name, by the name of its message. Returns undefined if all
 * are valid, and for a text that is the entire value, which values.ts checks. Passwords and secrets may contain any character.
 */
function invalidTextIn(value: unknown, name = ''): 'nul' | 'control' | 'string' | undefined {
  if (value instanceof UploadedFile) return invalidText(value.name, name);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const own = Array.isArray(value) ? name : key;
    const odd = typeof member === 'string' ? invalidText(member.trim(), own) : invalidTextIn(member, own);
    if (odd) return odd;
  }
  return undefined;
}

function invalidText(text: string, name: string): 'nul' | 'control' | 'string' | undefined {
  if (secretName.test(name)) return undefined;
  if (text.includes('\0')) return 'nul';
  if (multiLineNames.has(name) ? controlsInLines.test(text.replaceAll('\r', '')) : controls.test(text))
    return 'control';
  return loneSurrogate.test(text) ? 'string' : undefined;
}

/** Parses a form value as JSON; returns the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The `coerce` of a list: in a form it is JSON text, and the last value of a repeated field counts. */
export function coerceList(value: unknown, isForm: boolean): unknown {
  if (!isForm || value === null) return value;
  const text: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof text !== 'string' || text.trim() === '' ? [] : jsonOrText(text);
}
