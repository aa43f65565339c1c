import type { Addon } from '../native/native.ts';
import { codeOf } from '../present.ts';
import { openHandle } from './handle.ts';

/**
 * Takes a lock file for this process and answers how to give it back. The operating system gives it back when the process
 * ends, however it ends. Throws, with the sentence given, when another process holds it.
 */
export function takeLock(file: string, held: string, addon?: Addon): () => void {
  const handle = openHandle(file, addon, { timeout: 0 });
  try {
    handle.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    handle.close();
    throw codeOf(error) === 'SQLITE_BUSY' ? new Error(held) : error;
  }
  return () => handle.close();
}
