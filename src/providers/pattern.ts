import { RE2JS, RE2JSException } from 're2js';
import { type Field, FieldError } from '../collection/field.ts';
import { text } from '../collection/values.ts';

/*
 * Regular expressions that users write. They run on an engine whose time grows with the text only (the syntax of RE2,
 * without look-around and back-references), so that no expression can hold up the process.
 */

const rule = 'Enter a valid regular expression.';

/** An option that holds a regular expression. */
export function pattern(help: string): Field<string> {
  const field = text({ max: 1000, help });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        const given = input.parse(value, request, form);
        if (compiled(given) === undefined) throw new FieldError([rule]);
        return given;
      },
    },
  };
}

/** Whether the expression matches somewhere in the text; a text that is no expression matches nothing. */
export const matches = (expression: string, text: string): boolean => compiled(expression)?.matcher(text).find() ?? false;

function compiled(expression: string): RE2JS | undefined {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
