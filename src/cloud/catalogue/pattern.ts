import { RE2JS, RE2JSException } from 're2js';
import type { WritableField } from '../../kernel/collection/field.ts';
import { parsedText } from '../../kernel/collection/rules.ts';

/*
 * Regular expressions that users write. They run on an engine whose time grows with the text only (the syntax of RE2,
 * without look-around and back-references), so that no expression can hold up the process.
 */

/** An option that holds a regular expression. */
export const pattern = (help: string): WritableField<string, false> =>
  parsedText(compiled, 'Enter a valid regular expression.', help);

/** Whether the expression matches somewhere in the text; a text that is no expression matches nothing. */
export const matches = (expression: string, text: string): boolean =>
  compiled(expression)?.matcher(text).find() ?? false;

function compiled(expression: string): RE2JS | undefined {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
