/** Returns a value that the program knows to exist although its type allows null. Throws if it is missing. */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error('What must be there is missing');
  return value;
}

/** Returns the code of an error of Node.js or SQLite, such as `ENOENT`; undefined if it has none. */
export const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;

/** Converts a thrown value to an Error. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Returns the keys of a record literal in order, with their literal types. The compiler widens keys to string,
 * because a value may have more members than its type; a literal has not.
 */
export const namesOf = <K extends string>(record: Readonly<Partial<Record<K, unknown>>>): K[] =>
  Object.keys(record) as K[];
