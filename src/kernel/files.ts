import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { plainReason } from './plain-reason.ts';
import { codeOf } from './present.ts';

/** Gives a finished file its name. Its content is on disk before the name is, and the name is when this returns. */
export function place(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** The same for a new name: if it cannot be put on disk, it is removed. */
export function placeNew(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  try {
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

/**
 * Creates a folder that only this user may use, with the missing folders above it. Returns the first that it created, or
 * undefined if the folder exists. Not `mkdirSync` with `recursive`, which never returns where the file system, such as /proc,
 * has no folder of that name and does not let it be created.
 */
export function makeFolder(path: string): string | undefined {
  const folder = resolve(path);
  const parent = dirname(folder);
  try {
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !existsSync(parent)) {
      const [first, own] = [makeFolder(parent), makeFolder(folder)];
      return first ?? own;
    }
    if (!existsSync(folder)) throw error;
    if (statSync(folder).isDirectory()) return undefined;
    const details = { code: 'ENOTDIR', errno: -constants.errno.ENOTDIR, path: folder };
    throw Object.assign(new Error(`${folder} is not a directory`), details);
  }
}

/** Returns when the names of the files in a folder are on disk. */
export function syncFolder(folder: string): void {
  // Windows has no such thing as a folder that is opened.
  if (process.platform !== 'win32') sync(folder, 'r');
}

/** Reads a text in UTF-8. Throws with a sentence that names the file, after words such as `the token in `. */
export function readText(file: string, words = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${words}${file}: ${plainReason(error, file)}`, { cause: error });
  }
}

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The name of the user with this id; `#` and the id, which sudo takes as well, where the machine has no name for it. */
function userName(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((text) => text.split(':')[2] === String(uid));
    return line?.split(':')[0] || `'#${uid}'`;
  } catch {
    return `'#${uid}'`;
  }
}

/** Runs as a user other than the owner of these files: a server may be unable to open files of other users. */
export const runAs = (uid: number): string => `run this as that user: sudo -u ${userName(uid)} tenantry …`;
