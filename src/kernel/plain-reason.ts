import { getSystemErrorMap } from 'node:util';
import { errorOf } from './present.ts';

/**
 * Returns what went wrong in words for the operator: of an error of the operating system the path and the description, without
 * its code and the name of the system call; of any other its message.
 */
export function plainReason(thrown: unknown): string {
  const error: NodeJS.ErrnoException = errorOf(thrown);
  const [, description] = (error.errno === undefined ? undefined : getSystemErrorMap().get(error.errno)) ?? [];
  if (description === undefined) return error.message;
  const paths = [error.path, 'dest' in error ? error.dest : undefined].filter((path) => path !== undefined);
  return paths.length === 0 ? description : `${paths.join(' and ')}: ${description}`;
}
