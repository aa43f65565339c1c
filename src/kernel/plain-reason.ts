import { getSystemErrorMap } from 'node:util';
import { errorOf } from './present.ts';

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
