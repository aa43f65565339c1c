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
