import { getSystemErrorMap } from 'node:util';
import { errorOf } from './present.ts';

/**
 * Returns what went wrong in words for the operator: of an error of the operating system the path and the description, without
 * its code and the name of the system call; of any other its message. The path that `named` says is known already.
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

/** What the operating system calls an error; other libraries use the same numbers for theirs. */
function descriptionOf({ code, errno }: NodeJS.ErrnoException): string | undefined {
  const [name, description] = (errno === undefined ? undefined : getSystemErrorMap().get(errno)) ?? [];
  return name === code ? description : undefined;
}
