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

/**
 * Returns the literal prefix of all texts that the expression matches, such as `amzn2-` for `^amzn2-.*-gp2$`; empty
 * of expressions that do not start with ^ or have an alternative outside of parentheses.
 */
export function beginningOf(expression: string): string {
  if (!expression.startsWith('^') || hasAlternative(expression)) return '';
  const [, plain = '', next = ''] = /^\^((?:[\w /-]|\\[^\w\\])*)(.?)/s.exec(expression) ?? [];
  const characters = plain.match(/\\.|./gs) ?? [];
  // The last one may be missing in the text when it is followed by a number of times.
  const certain = '?*{'.includes(next) && next !== '' ? characters.slice(0, -1) : characters;
  return certain.map((character) => character.at(-1)).join('');
}

/** Whether there is a | outside of parentheses, or in a place that a scan cannot judge. */
function hasAlternative(expression: string): boolean {
  let depth = 0;
  for (const [sign] of expression.matchAll(/\\.|[()|]/gs)) {
    if (sign === '(') depth++;
    if (sign === ')') depth--;
    if (sign === '|' && depth <= 0) return true;
  }
  return false;
}

function compiled(expression: string): RE2JS | undefined {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
