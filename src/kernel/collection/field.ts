import * as v from 'valibot';
import type { Caller } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Config } from '../config/config.ts';
import type { Value } from '../db/sql.ts';
import { UploadedFile } from '../http/body.ts';
import { type Json, knownText, knownTime, plainValue, type Shape } from './representation.ts';

/** The kinds of value that OPTIONS names (core.md 1.10). */
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

/** Messages about one field's value; the items of lists may be objects. */
export class FieldError extends Error {
  constructor(readonly messages: readonly unknown[]) {
    super('invalid value');
  }
}

export type { Shape };

/** How a value in a body becomes a value of the table. */
export interface Input<T> {
  /** Throws FieldError. `form` says that the value came from a form, where everything is text. */
  readonly parse: (value: unknown, request: Request, form: boolean) => T;
  /** JSON Schema source of the accepted value. */
  readonly schema: v.GenericSchema;
  /** JSON Schema of the accepted value, where `schema` does not tell enough. */
  readonly shape?: Shape;
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
  readonly select?:
    | (() => { readonly path: string; readonly by?: 'user' | 'settings' | 'tenant'; readonly displayName?: string })
    | undefined;
  readonly input?: Input<T> | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** The values a body may bring. */
export type Values<F extends Fields> = { -readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never };

export interface Writing<T> {
  /** Must be present on creation and on PUT. */
  readonly required?: boolean;
  readonly create?: boolean;
  readonly update?: boolean | ((caller: Caller) => boolean);
  readonly unique?: Input<T>['unique'];
  readonly shown?: string;
  readonly help?: string;
  readonly label?: string;
  /** A value as the documentation shows it; default: one that its kind suggests. */
  readonly example?: unknown;
}

/** The part of a shape that tells the example of a field, where it has one of its own. */
export const exampleShape = ({ example }: Pick<Writing<never>, 'example'>): Shape =>
  example === undefined ? {} : { examples: [example] };

export const messages = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  string: 'Not a valid string.',
  nul: 'Null characters are not allowed.',
  integer: 'A valid integer is required.',
  number: 'A valid number is required.',
  email: 'Enter a valid email address.',
  url: 'Enter a valid URL.',
  datetime:
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  tooLong: (max: number) => `Ensure this field has no more than ${max} characters.`,
  atLeast: (min: number) => `Ensure this value is greater than or equal to ${min}.`,
  atMost: (max: number) => `Ensure this value is less than or equal to ${max}.`,
  boolean: (value: unknown) => `"${printed(value)}" is not a valid boolean.`,
  choice: (value: unknown) => `"${printed(value)}" is not a valid choice.`,
} as const;

export function printed(value: unknown): string {
  if (value instanceof UploadedFile) return value.name;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Runs a valibot schema; all of its messages, or with `abortPipeEarly` the first, become one FieldError. */
export function check<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  config: v.Config<v.BaseIssue<unknown>> = {},
): T {
  const result = v.safeParse(schema, value, config);
  if (!result.success) throw new FieldError([...new Set(result.issues.map((issue) => issue.message))]);
  return result.output;
}

/** The input of a field: null is refused unless it is nullable; everything else is parsed. */
export function inputOf<T>(
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

/** A read-only member. */
export const shown = (
  type: FieldType,
  shape: Shape,
  json: Json | ((column: string) => Json),
  options: { shown?: string; label?: string; help?: string } = {},
): Field<never> => ({ type, shape, facts: {}, json: typeof json === 'function' ? json : () => json, ...options });

/** The uuid of an object, as answers write it. */
export const uuidShape: Shape = { type: 'string', pattern: '^[0-9a-f]{32}$' };

/** An object with exactly these members. */
export const objectShape = (properties: Readonly<Record<string, Shape>>): Shape => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** `{"detail": …}`: what happened, in words. */
export const messageShape: Shape = { title: 'Message', ...objectShape({ detail: { type: 'string' } }) };

export const uuidField = (): Field<never> => shown('string', uuidShape, plainValue, { label: 'UUID' });

export const shownText = (
  json: Json | ((column: string) => Json) = knownText,
  options: { shown?: string } = {},
): Field<never> => {
  const { shape } = typeof json === 'function' ? json('') : json;
  return shown('string', shape.type === undefined ? { type: ['string', 'null'] } : shape, json, options);
};

export const shownTime = (json: (column: string) => Json = knownTime): Field<never> =>
  shown('datetime', json('').shape, json);

export const shownList = (json: Json): Field<never> => shown('list', json.shape, json);

/** A member that is accepted in a body but never shown. */
export const hidden = <T>(field: Field<T>): Field<T> => ({ ...field, json: undefined });
