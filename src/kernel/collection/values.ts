import * as v from 'valibot';
import type { Config } from '../config/config.ts';
import { controls, controlsInLines, loneSurrogate } from '../control-characters.ts';
import { booleanWord } from '../http/query.ts';
import { isHostLength, urlOf } from '../url.ts';
import {
  exampleShape,
  type Field,
  FieldError,
  type FieldType,
  type IsRequired,
  inputOf,
  messages,
  refine,
  type WritableField,
  type Writing,
  wrapInput,
} from './field.ts';
import { booleanValue, numberValue, textValue } from './representation.ts';

type TextCheck = v.PipeItem<string, string, v.BaseIssue<unknown>>;

/**
 * Lines and characters of a text (core.md 1.5 "Control characters"): one line, many lines, or any characters, as in passwords and
 * secrets.
 */
type Lines = 'one' | 'many' | 'verbatim';

/** Text checks by allowed lines. */
const lineChecks = (lines: Lines): readonly TextCheck[] =>
  lines === 'verbatim'
    ? []
    : [
        v.transform((text: string) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)),
        v.check((text: string) => !(lines === 'one' ? controls : controlsInLines).test(text), messages.control),
      ];

type TextValidation = v.BaseValidation<string, string, v.BaseIssue<unknown>>;

/**
 * A text check that is documented as a different valibot action, because JSON Schema counts characters and valibot counts UTF-16
 * units.
 */
export const describeSchema = (
  action: 'max_length' | 'min_length' | 'iso_timestamp',
  requirement: unknown,
  rule: TextValidation,
): TextValidation & { readonly requirement: unknown } => ({
  ...rule,
  type: action,
  requirement,
  '~run': (dataset, config) => rule['~run'](dataset, config),
});

/** Whether a text has at most `max` characters, each of one or two UTF-16 units. */
const isWithin = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);

interface TextRules {
  readonly max?: number | undefined;
  readonly blank: boolean;
  readonly normalize?: ((text: string) => string) | undefined;
  readonly pattern?: readonly [RegExp, string] | undefined;
  readonly lines?: Lines | undefined;
}

const isTooLong = (text: string, max: number | undefined): boolean => max !== undefined && !isWithin(text, max);

const isFilled = (text: string): boolean => text.trim() !== '';

/** The schema of text: trimmed, normalized, at most `max` characters after that, then further rules. */
function textSchema({ blank, lines = 'one', max, normalize, pattern }: TextRules): v.GenericSchema<unknown, string> {
  const steps: readonly TextCheck[] = [
    ...(blank ? [] : [describeSchema('min_length', 1, v.check(isFilled, messages.blank))]),
    v.trim(),
    ...lineChecks(lines),
    ...(normalize ? [v.transform(normalize)] : []),
    v.check((text: string) => !text.includes('\0'), messages.nul),
    v.check((text: string) => !loneSurrogate.test(text), messages.string),
    ...(max === undefined
      ? []
      : [
          describeSchema(
            'max_length',
            max,
            v.check((text: string) => isWithin(text, max), messages.tooLong(max)),
          ),
        ]),
    ...(pattern
      ? [v.check((text: string) => text === '' || isTooLong(text, max) || pattern[0].test(text), pattern[1])]
      : []),
  ];
  return v.pipe(v.string(messages.string), ...steps);
}

/** Converts numbers to text (core.md 1.5). */
export const numberAsText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

interface TextOptions extends Writing<string> {
  /** Maximum length in characters. Default: limited only by the body size. */
  readonly max?: number;
  /** A pattern, and the message if it does not match. Does not apply to an empty value. */
  readonly pattern?: readonly [RegExp, string];
  readonly type?: FieldType;
  /** Default: one. */
  readonly lines?: Lines;
  readonly normalize?: (text: string) => string;
}

/** Text of up to `max` characters. May be empty unless required. Never null. */
export function text<const O extends TextOptions>(options: O): WritableField<string, IsRequired<O>> {
  const { lines, max, normalize, pattern } = options;
  return {
    type: options.type ?? 'string',
    label: options.label,
    help: options.help,
    constraints: max === undefined ? {} : { max_length: max },
    json: textValue,
    shownIf: options.shownIf,
    shape: { type: 'string', ...exampleShape(options) },
    input: inputOf<string, v.GenericSchema<unknown, string>, O>(options, {
      schema: textSchema({ max, blank: !options.required, lines, normalize, pattern }),
      coerce: numberAsText,
    }),
  };
}

/** Text that may be null. An empty text counts as null. */
export function nullableText(options: TextOptions): WritableField<string | null, false> {
  const { input, ...field } = text({ ...options, required: false });
  return {
    ...field,
    shape: { type: ['string', 'null'], ...exampleShape(options) },
    input: {
      ...input,
      schema: v.nullable(input.schema),
      nullable: true,
      parse: (value, request, form) => (value === null ? null : input.parse(value, request, form) || null),
    },
  };
}

/** Makes a field nullable. An empty text counts as null, except in text fields. */
export function orNull<T>(field: WritableField<T>): WritableField<T | null, false> {
  const { input } = field;
  const known = field.shape.enum;
  const isNothing = (value: unknown): boolean =>
    value === null || (field.type !== 'string' && typeof value === 'string' && value.trim() === '');
  return {
    ...field,
    shape: {
      ...field.shape,
      type: [field.shape.type, 'null'],
      ...(Array.isArray(known) && { enum: [...known, null] }),
    },
    input: {
      ...input,
      schema: v.nullable(input.schema),
      nullable: true,
      required: false,
      parse: (value, request, form) => (isNothing(value) ? null : input.parse(value, request, form)),
    },
  };
}

const emailPattern =
  /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\\\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;

/** An email address of at most 254 characters, or empty. */
export function email(): WritableField<string, false>;
export function email<const O extends Writing<string>>(options: O): WritableField<string, IsRequired<O>>;
export function email(options: Writing<string> = {}): WritableField<string> {
  return text({ ...options, max: 254, type: 'email', pattern: [emailPattern, messages.email] });
}

/** An http or https URL, or empty. */
export const url = <const O extends Writing<string> & { max: number }>(
  options: O,
): WritableField<string, IsRequired<O>> =>
  refine(text({ ...options, type: 'url' }), (address) => {
    if (address === '') return;
    const parsed = urlOf(address);
    if (!parsed || !isHostLength(parsed) || !/^https?:\/\/[^/\s]/i.test(address)) throw new FieldError([messages.url]);
  });

interface IntegerOptions extends Writing<never> {
  readonly unique?: Writing<number>['unique'];
  readonly min: number;
  readonly max: number;
}

/** A whole number within bounds. */
export function integer<const O extends IntegerOptions>(options: O): WritableField<number, IsRequired<O>> {
  const { max, min } = options;
  return {
    type: 'integer',
    label: options.label,
    help: options.help,
    constraints: { min_value: min, max_value: max },
    json: numberValue,
    shownIf: options.shownIf,
    shape: { type: 'integer', ...exampleShape(options) },
    input: inputOf<number, v.GenericSchema<unknown, number>, O>(options, {
      schema: v.pipe(
        v.number(messages.integer),
        v.integer(messages.integer),
        v.minValue(min, messages.atLeast(min)),
        v.maxValue(max, messages.atMost(max)),
      ),
      coerce: (value) => (typeof value === 'string' && /^\s*[+-]?\d+(\.0*)?\s*$/.test(value) ? Number(value) : value),
      showsFirstMessageOnly: true,
    }),
  };
}

/** A number, optionally with a lower bound. `column` is its SQL name if it needs quoting. */
export function number<const O extends Writing<number> & { min?: number; column?: string }>(
  options: O,
): WritableField<number, IsRequired<O>> {
  const { column: named, min } = options;
  const finite = v.pipe(v.number(messages.number), v.finite(messages.number));
  return {
    type: 'float',
    label: options.label,
    help: options.help,
    constraints: min === undefined ? {} : { min_value: min },
    json: (column) => numberValue(named === undefined ? column : column.replace(/[^.]+$/, named)),
    shownIf: options.shownIf,
    shape: { type: 'number', ...exampleShape(options) },
    input: inputOf<number, v.GenericSchema<unknown, number>, O>(options, {
      schema: min === undefined ? finite : v.pipe(finite, v.minValue(min, messages.atLeast(min))),
      coerce: (value) => {
        if (value === '') return null;
        return typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
          ? Number(value)
          : value;
      },
      // Convert negative zero to zero.
      resolve: (value) => value + 0,
    }),
  };
}

/** A boolean in the spellings of core.md 1.5. */
export function boolean(): WritableField<boolean, false>;
export function boolean<const O extends Writing<boolean>>(options: O): WritableField<boolean, IsRequired<O>>;
export function boolean(options: Writing<boolean> = {}): WritableField<boolean> {
  return {
    type: 'boolean',
    label: options.label,
    help: options.help,
    constraints: options.fallback === undefined ? {} : { default_value: options.fallback },
    json: booleanValue,
    shownIf: options.shownIf,
    shape: { type: 'boolean', ...exampleShape(options) },
    input: inputOf<boolean, v.GenericSchema<unknown, boolean>>(options, {
      schema: v.boolean(({ input }) => messages.boolean(input)),
      coerce: (value) =>
        typeof value === 'string' || typeof value === 'number' ? (booleanWord(String(value).trim()) ?? value) : value,
    }),
  };
}

interface ChoiceOptions extends Writing<string> {
  /** Values with their display names. */
  readonly choices: () => readonly (readonly [value: string, name: string])[];
  /** The values, if settings determine them; replaces `choices`. */
  readonly chosenBy?: (config: Config) => readonly string[];
  /** Whether the empty text is also a choice. */
  readonly blank?: boolean;
  /** The message about any other value. */
  readonly message?: string;
}

/** The declared texts of a choice. */
type Chosen<O extends ChoiceOptions> = O extends { readonly chosenBy: unknown }
  ? string
  : ReturnType<O['choices']>[number][0] | (O extends { readonly blank: true } ? '' : never);

/** One of a few texts. */
export function choice<const O extends ChoiceOptions>(options: O): WritableField<Chosen<O>, IsRequired<O>>;
export function choice(options: ChoiceOptions): WritableField<string> {
  const { blank = false, choices, chosenBy } = options;
  const messageOf = (value: unknown): string => options.message ?? messages.choice(value);
  const known = (): readonly string[] => [...(blank ? [''] : []), ...choices().map(([value]) => value)];
  const input = inputOf<string, v.GenericSchema<unknown, string>>(options, {
    schema: v.string(({ input }) => messageOf(input)),
    coerce: (value) => (typeof value === 'string' || typeof value === 'number' ? String(value).trim() : value),
  });
  return {
    type: 'choice',
    label: options.label,
    help: options.help,
    get constraints() {
      return { choices: choices().map(([value, name]) => ({ value, display_name: name })) };
    },
    constraintsBy:
      chosenBy && ((config) => ({ choices: chosenBy(config).map((value) => ({ value, display_name: value })) })),
    json: textValue,
    shownIf: options.shownIf,
    get shape() {
      return { type: 'string', ...(chosenBy ? {} : { enum: known() }), ...exampleShape(options) };
    },
    input: wrapInput(input, (parse) => (value, request, form) => {
      const word = parse(value, request, form);
      const isKnown = chosenBy
        ? (blank && word === '') || chosenBy(request.config).includes(word)
        : known().includes(word);
      if (!isKnown) throw new FieldError([messageOf(value)]);
      return word;
    }),
  };
}

/** Shows a field by an expression other than the column with its name. */
export const withJson = <F extends Field>(field: F, json: NonNullable<Field['json']>): F => ({ ...field, json });
