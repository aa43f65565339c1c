import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Addon } from '../native/native.ts';
import { plainReason } from '../present.ts';
import { openHandle } from './handle.ts';

/* Copies read-only databases, which SQLite cannot even read, because it must create an index of the log beside them. */

/** Whether this process cannot write a database or the files that SQLite creates beside it. */
export const isReadOnly = (file: string): boolean =>
  [dirname(file), file, `${file}-wal`, `${file}-shm`].some((path) => existsSync(path) && !isWritable(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Copies the files of a database, including its log. A server may be writing to them through another mount. If so, both files
 * exist, and a reader pins its snapshot in the log and the file, so that the copies are consistent. Rejects with a readable error
 * if they are unreadable.
 */
export async function copyDatabase(file: string, copy: string, addon: Addon | undefined): Promise<void> {
  const log = `${file}-wal`;
  const reader = existsSync(log) && existsSync(`${file}-shm`) ? openHandle(file, addon, { readonly: true }) : undefined;
  try {
    reader?.exec('BEGIN; SELECT 1 FROM sqlite_schema');
    for (const [from, to] of [
      [file, copy],
      [log, `${copy}-wal`],
    ] as const) {
      if (!existsSync(from)) continue;
      await copyFile(from, to);
      // The copy has the mode of the original.
      await chmod(to, 0o600);
    }
  } catch (error) {
    throw new Error(`${file}: ${plainReason(error, file)}`, { cause: error });
  } finally {
    reader?.close();
  }
}
