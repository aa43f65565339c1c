import { randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../files.ts';

/* Folders for code: a user who can write there runs code in the server. */

/** A folder of this user for what all deployments of theirs share. */
export const folderOfUser = (): string => join(tmpdir(), `tenantry-native-${process.getuid?.() ?? 'user'}`);

/** Makes a folder that this user alone writes to, if there is none. */
export const makePrivateFolder = (path: string): void => void makeFolder(path);

/** Who else could write to a folder: its user, by id, or others; undefined if no other user can. */
export function foreignWriter(path: string): { readonly uid: number } | 'others' | undefined {
  if (!process.getuid) return undefined;
  const { uid, mode } = lstatSync(realpathSync(path));
  if (uid !== process.getuid() && uid !== 0) return { uid };
  return mode & 0o022 ? 'others' : undefined;
}

/** Puts a file in its place as a whole, for several processes at once, too. */
export function writeAtomically(file: string, bytes: Uint8Array): void {
  const temporary = `${file}.${randomUUID()}`;
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
