import { FieldError, refine, type WritableField, wrap } from './field.ts';
import { text } from './values.ts';

/** A pattern that a text must match, and the message if it does not. */
export type TextRule = readonly [RegExp, string];

/** Adds rules to a text field. They do not apply to an empty text. Reports every violation. */
export const withRules = <Q extends boolean>(
  rules: readonly TextRule[],
  field: WritableField<string, Q>,
): WritableField<string, Q> =>
  refine(field, (input) => {
    const broken = input === '' ? [] : rules.filter(([rule]) => !rule.test(input)).map(([, message]) => message);
    if (broken.length > 0) throw new FieldError(broken);
  });

/** A text that a parser accepts. If it returns undefined, the rule is the message. */
export const parsedText = (
  parse: (text: string) => unknown,
  rule: string,
  help: string,
): WritableField<string, false> =>
  refine(text({ max: 1000, help }), (input) => {
    if (parse(input) === undefined) throw new FieldError([rule]);
  });

/** A name that is not blank (services.md 1 "Names") and follows further rules, each with its message. */
export const nonBlankName = (
  example: string | undefined,
  rules: readonly TextRule[] = [],
): WritableField<string, true> =>
  wrap(withRules(rules, text({ max: 150, required: true, example })), (parse) => (value, request, form) => {
    if (typeof value === 'string' && value.trim() === '')
      throw new FieldError(['Ensure that name has at least one non-whitespace character.']);
    return parse(value, request, form);
  });
