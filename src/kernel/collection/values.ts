import * as v from 'valibot';
import type { Config } from '../config/config.ts';
import { booleanWord } from '../http/query.ts';
import { urlOf } from '../url.ts';
import {
  check,
  exampleShape,
  type Field,
  FieldError,
  type FieldType,
  type Input,
  inputOf,
  messages,
  type Writing,
} from './field.ts';
import { booleanValue, numberValue, textValue } from './representation.ts';

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
  return v.pipe(
    v.string(messages.string),
    v.check((text) => text.trim() !== '', messages.blank),
    rules as v.GenericSchema<string, string>,
  );
}

/** Numbers are accepted as text and become it (core.md 1.5); a form's repeated text is its last. */
const textOf = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

const bounded = (max: number | undefined): v.GenericSchema =>
  max === undefined ? v.string() : v.pipe(v.string(), v.maxLength(max));

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
    shape: { type: 'string', ...exampleShape(options) },
    input: inputOf(options, { schema: bounded(max), parse: (value) => check(schema, textOf(value)) }),
  };
}

/** Text that may be null; an empty one counts as null. */
export function nullableText(options: TextOptions): Field<string | null> {
  const base = text(options as Omit<TextOptions, 'unique'>);
  const parse = base.input?.parse as Input<string>['parse'];
  return {
    ...base,
    shape: { type: ['string', 'null'], ...exampleShape(options) },
    input: inputOf(options as Writing<string | null>, {
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
  const isNothing = (value: unknown): boolean =>
    value === null || (field.type !== 'string' && typeof value === 'string' && value.trim() === '');
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

const emailPattern =
  /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\\\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;

/** An email address of at most 254 characters, or empty. */
export const email = (options: Writing<string> = {}): Field<string> =>
  text({ ...options, max: 254, type: 'email', pattern: [emailPattern, messages.email] });

/** An http or https URL, or empty. */
export function url(options: Writing<string> & { max: number }): Field<string> {
  const field = text({ ...options, type: 'url' });
  const parse = field.input?.parse as Input<string>['parse'];
  return {
    ...field,
    input: inputOf(options, {
      schema: v.pipe(v.string(), v.maxLength(options.max)),
      parse: (value, request, form) => {
        const address = parse(value, request, form);
        if (address !== '' && !(urlOf(address) && /^https?:\/\/[^/\s]/i.test(address)))
          throw new FieldError([messages.url]);
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
    shape: { type: nullable ? ['integer', 'null'] : 'integer', ...exampleShape(options) },
    input: inputOf<number | null>(options, {
      schema: nullable ? v.nullable(bounded) : bounded,
      nullable,
      parse: (value) => {
        if (value === '' && nullable) return null;
        return check(
          bounded,
          typeof value === 'string' && /^\s*[+-]?\d+(\.0*)?\s*$/.test(value) ? Number(value) : value,
          { abortPipeEarly: true },
        );
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
    shape: { type: 'number', ...exampleShape(options) },
    input: inputOf(options, {
      schema: min === undefined ? v.number() : v.pipe(v.number(), v.minValue(min)),
      parse: (value) => {
        if (value === '') throw new FieldError([messages.null]);
        // A negative zero is zero.
        return (
          check(
            schema,
            typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
              ? Number(value)
              : value,
          ) + 0
        );
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
    shape: { type: 'boolean', ...exampleShape(options) },
    input: inputOf(options, {
      schema: v.boolean(),
      parse: (value) => {
        const word =
          typeof value === 'boolean'
            ? value
            : typeof value === 'string' || typeof value === 'number'
              ? booleanWord(String(value).trim())
              : undefined;
        if (word === undefined) throw new FieldError([messages.boolean(value)]);
        return word;
      },
    }),
  };
}

/** One of a few texts; `choices` gives value and display name. With `blank`, also the empty text. */
export function choice(
  options: Writing<string> & {
    choices: () => readonly (readonly [value: string, name: string])[];
    chosenBy?: (config: Config) => readonly string[];
    blank?: boolean;
  },
): Field<string> {
  return {
    type: 'choice',
    label: options.label,
    help: options.help,
    get facts() {
      return { choices: options.choices().map(([value, name]) => ({ value, display_name: name })) };
    },
    factsBy:
      options.chosenBy &&
      ((config) => ({ choices: options.chosenBy?.(config).map((value) => ({ value, display_name: value })) })),
    json: textValue,
    shown: options.shown,
    get shape() {
      const known = options.chosenBy
        ? {}
        : { enum: [...(options.blank ? [''] : []), ...options.choices().map(([value]) => value)] };
      return { type: 'string', ...known, ...exampleShape(options) };
    },
    input: inputOf(options, {
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
