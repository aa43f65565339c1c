/** What the program knows to be there, although its type says that it may not be. Throws when it is not. */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error('What must be there is missing');
  return value;
}

/** The code of an error of Node.js or SQLite, such as `ENOENT`; undefined of what has none. */
export const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;

/** A thrown value as an error. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * The names in a record that is written out in the program, in their order. The compiler takes every key for a mere string,
 * as a value may have more members than its type says; such a record has not.
 */
export const namesOf = <K extends string>(record: Readonly<Partial<Record<K, unknown>>>): K[] =>
  Object.keys(record) as K[];
