import { statSync } from 'node:fs';
import { StorageError } from './storage-error.ts';

/**
 * Returns a function that checks whether the file of an open database is still the same and has not become shorter, and calls
 * `fail` if not. SQLite continues silently with a file that was removed or replaced, and finds the damage of a truncated one
 * page by page. It never truncates the file itself.
 */
export function watchFile(file: string, fail: (error: StorageError, advice: string) => void): () => void {
  let seen = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    const change =
      now === undefined
        ? 'removed'
        : now.ino !== seen.ino
          ? 'replaced'
          : now.size < seen.size
            ? `cut from ${seen.size} to ${now.size} bytes`
            : undefined;
    if (now === undefined || change !== undefined)
      fail(
        new StorageError('broken', `${file} was ${change} while it was served: restore a backup`),
        'restore a backup',
      );
    else seen = now;
  };
}
