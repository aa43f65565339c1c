import { setFlagsFromString } from 'node:v8';
import { type Field, FieldError, text } from '../collection/field.ts';

/*
 * Regular expressions that users write run in V8's engine that needs time in proportion to the text, whatever the
 * expression; what it cannot run so, such as back references, is no valid expression. It must be switched on first.
 */
let isEngineOn = false;

/** Whether a text matches; undefined when the expression is not valid. `(?i)` in front ignores case. */
export function parseExpression(expression: string): ((text: string) => boolean) | undefined {
  if (!isEngineOn) setFlagsFromString('--enable-experimental-regexp-engine');
  isEngineOn = true;
  const ignoresCase = expression.startsWith('(?i)');
  try {
    const compiled = new RegExp(ignoresCase ? expression.slice('(?i)'.length) : expression, ignoresCase ? 'li' : 'l');
    return (text) => compiled.test(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const rule = 'Enter a valid regular expression.';

/** An option that is a regular expression. */
export function expression(help: string): Field<string> {
  const field = text({ max: 255, help, type: 'regex' });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        const given = input.parse(value, request, form);
        if (!parseExpression(given)) throw new FieldError([rule]);
        return given;
      },
    },
  };
}
