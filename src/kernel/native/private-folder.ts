import { randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../files.ts';

/* Private folders for code. A user with write access to them could run code in the server. */

/** Returns a folder that all deployments of this user share. */
export const folderOfUser = (): string => join(tmpdir(), `tenantry-native-${process.getuid?.() ?? 'user'}`);

/** Creates a folder that only this user can write to, if it is missing. */
export const makePrivateFolder = (path: string): void => void makeFolder(path);

/** Returns who else could write to a folder: its owner's id, or others; undefined if no other user can. */
export function foreignWriter(path: string): { readonly uid: number } | 'others' | undefined {
  if (!process.getuid) return undefined;
  const { uid, mode } = lstatSync(realpathSync(path));
  if (uid !== process.getuid() && uid !== 0) return { uid };
  return mode & 0o022 ? 'others' : undefined;
}

/** Creates a file atomically, even with concurrent processes. */
export function writeAtomically(file: string, bytes: Uint8Array): void {
  const temporary = `${file}.${randomUUID()}`;
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
