import { RE2JS, RE2JSException } from 're2js';
import type { WritableField } from '../../kernel/collection/field.ts';
import { parsedText } from '../../kernel/collection/rules.ts';

/*
 * Regular expressions from users. They run on an engine in time linear in the text (RE2 syntax, without look-around and
 * back-references), so that no expression can block the process.
 */

/** An option with a regular expression. */
export const pattern = (help: string): WritableField<string, false> =>
  parsedText(compiled, 'Enter a valid regular expression.', help);

/** Whether the expression matches somewhere in the text. An invalid expression matches nothing. */
export const matches = (expression: string, text: string): boolean =>
  compiled(expression)?.matcher(text).find() ?? false;

/**
 * Returns the literal prefix of all texts that an expression matches, such as `amzn2-` for `^amzn2-.*-gp2$`; empty if it does not
 * start with ^ or has an alternative outside parentheses.
 */
export function literalPrefix(expression: string): string {
  if (!expression.startsWith('^') || hasAlternative(expression)) return '';
  const [, plain = '', next = ''] = /^\^((?:[\w /-]|\\[^\w\\])*)(.?)/s.exec(expression) ?? [];
  const characters = plain.match(/\\.|./gs) ?? [];
  // A quantifier may make the last character optional.
  const certain = '?*{'.includes(next) && next !== '' ? characters.slice(0, -1) : characters;
  return certain.map((character) => character.at(-1)).join('');
}

/** Whether there is a | outside parentheses, or in a place that a simple scan cannot analyse. */
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
