import { getSystemErrorMap } from 'node:util';

/** Whether a value is an object and no array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a value that the program knows to exist although its type allows null. Throws if it is missing. */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error('A required value is missing');
  return value;
}

/** Returns the code of an error of Node.js or SQLite, such as `ENOENT`; undefined if it has none. */
export const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;

/** Converts a thrown value to an Error. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Describes an error for the operator. For an error of the operating system: the path and the description, without
 * its code and the name of the system call; for any other: its message. The path in `named` is omitted.
 */
export function plainReason(thrown: unknown, named?: string): string {
  const error: NodeJS.ErrnoException = errorOf(thrown);
  const description = descriptionOf(error);
  if (description === undefined) return error.message;
  const paths = [error.path, 'dest' in error ? error.dest : undefined].filter(
    (path) => path !== undefined && path !== named,
  );
  return paths.length === 0 ? description : `${paths.join(' and ')}: ${description}`;
}

/** Returns the operating system's description of an error. Other libraries reuse the same numbers, so the name must match. */
function descriptionOf({ code, errno }: NodeJS.ErrnoException): string | undefined {
  const [name, description] = (errno === undefined ? undefined : getSystemErrorMap().get(errno)) ?? [];
  return name === code ? description : undefined;
}

/**
 * Returns the keys of a record literal in order, with their literal types. The compiler widens keys to string,
 * because a value may have more members than its type; a literal has not.
 */
export const namesOf = <K extends string>(record: Readonly<Partial<Record<K, unknown>>>): K[] =>
  Object.keys(record) as K[];
