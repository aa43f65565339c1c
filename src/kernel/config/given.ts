import type { Setting } from './setting.ts';

/**
 * A value that a program gives: a text as the command line has it, or what one would be read as, lengths of time in
 * microseconds. Throws an Error with a sentence that names the rule.
 */
export function readGiven(setting: Setting<unknown>, value: unknown): unknown {
  if (typeof value === 'string') return setting.read(value.trim());
  const rule = givenRules[setting.kind];
  if (value === null ? setting.fallback === null : (rule?.holds(value) ?? typeof value === 'object')) {
    // Numbers have a range, and items of lists a form, that their texts have.
    if (typeof value === 'number' && setting.kind === 'integer') setting.read(String(value));
    if (Array.isArray(value)) for (const item of value) if (typeof item !== 'object') setting.read(String(item));
    return value;
  }
  throw new Error(rule?.sentence ?? 'must be a text');
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const listRule = { holds: Array.isArray, sentence: 'must be a list' };

/** What a value that is no text must be, by the kind of the setting. */
const givenRules: Readonly<Record<string, { holds: (value: unknown) => boolean; sentence: string }>> = {
  integer: { holds: isWhole, sentence: 'must be a whole number' },
  boolean: { holds: (value) => typeof value === 'boolean', sentence: 'must be true or false' },
  duration: { holds: isWhole, sentence: 'must be a duration such as 45s, 30m, 12h or 7d, or a number of microseconds' },
  list: listRule,
  networks: listRule,
  ports: listRule,
  text: { holds: () => false, sentence: 'must be a text' },
  URL: { holds: () => false, sentence: 'must be a text' },
  choice: { holds: () => false, sentence: 'must be a text' },
};
