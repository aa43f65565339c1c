import { statSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import { startOf } from '../files.ts';
import type { Addon } from '../native/native.ts';
import { codeOf, errorOf } from '../present.ts';
import { openHandle } from './handle.ts';
import { databaseHeaderBytes, sizeInHeader } from './snapshot.ts';
import { StorageError } from './storage-error.ts';

/**
 * Locks a file for this process and returns the release function. The operating system releases the lock when the process
 * ends for any reason. Throws with the given sentence if another process holds it.
 */
export function takeLock(file: string, held: string, addon?: Addon): () => void {
  let handle: SQLite.Database | undefined;
  try {
    handle = openHandle(file, addon, { timeout: 0 });
    handle.exec('BEGIN EXCLUSIVE');
    return () => handle?.close();
  } catch (error) {
    handle?.close();
    if (codeOf(error) === 'SQLITE_BUSY') throw new Error(held);
    // An invalid descriptor has no holder.
    const advice = codeOf(error) === 'SQLITE_NOTADB' ? ': it is no lock, remove it' : '';
    throw new Error(`${file}: ${errorOf(error).message}${advice}`, { cause: error });
  }
}

/** Returns the size below which a file of a database is incomplete. */
const minimumSize = (file: string): number =>
  Math.max(databaseHeaderBytes, sizeInHeader(startOf(file, databaseHeaderBytes)));

/**
 * Returns a function that calls `fail` if the file of an open database was removed, replaced or truncated. SQLite silently keeps
 * using a removed or replaced file, and notices truncation only page by page. It truncates the file itself only to the size in the
 * header, when the log has lost transactions that had already enlarged the file.
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
          : now.size < seen.size && now.size < minimumSize(file)
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
