import { type Field, FieldError } from './field.ts';
import { text } from './values.ts';

/** A pattern that a text must match, and what is told when it does not. */
export type TextRule = readonly [RegExp, string];

/** The same field where a value that it accepts must pass a check, too, which answers a message for every broken rule. */
export function checked<T>(field: Field<T>, check: (value: T) => readonly string[]): Field<T> {
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        const given = input.parse(value, request, form);
        const broken = check(given);
        if (broken.length > 0) throw new FieldError(broken);
        return given;
      },
    },
  };
}

/** The same text where it must keep to these rules, unless it is empty; every broken one is told. */
export function keepingTo(rules: readonly TextRule[], field: Field<string>): Field<string> {
  return checked(field, (given) =>
    given === '' ? [] : rules.filter(([rule]) => !rule.test(given)).map(([, message]) => message),
  );
}

/** A text that a parser must understand, which else answers undefined; the rule is told then. */
export function parsedText(parse: (text: string) => unknown, rule: string, help: string): Field<string> {
  return checked(text({ max: 1000, help }), (given) => (parse(given) === undefined ? [rule] : []));
}

/** A name that is not blank (services.md 1 "Names") and keeps to further rules, each with the message of its breach; `example` is one. */
export function properName(example: string | undefined, rules: readonly TextRule[] = []): Field<string> {
  const field = keepingTo(rules, text({ max: 150, required: true, example }));
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        if (typeof value === 'string' && value.trim() === '')
          throw new FieldError(['Ensure that name has at least one non-whitespace character.']);
        return input.parse(value, request, form);
      },
    },
  };
}
