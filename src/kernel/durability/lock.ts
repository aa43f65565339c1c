import type SQLite from 'better-sqlite3';
import type { Addon } from '../native/native.ts';
import { codeOf, errorOf } from '../present.ts';
import { openHandle } from './handle.ts';

/**
 * Takes a lock file for this process and returns its release. The operating system releases it when the process
 * ends, however it ends. Throws, with the sentence given, when another process holds it.
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
