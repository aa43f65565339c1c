import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { codeOf, plainReason } from './present.ts';

/** Renames a finished file. Syncs its content before the rename, and the name before returning. */
export function place(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** Does the same for a new name, which is removed if it cannot be synced. */
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
 * Creates a folder that only this user may use, and its missing parents. Returns the first created folder; undefined if the
 * folder exists. Does not use `mkdirSync` with `recursive`, which never returns if the file system, such as /proc, does not allow
 * a missing folder to be created.
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

/** Syncs the names of the files in a folder. */
export function syncFolder(folder: string): void {
  // Windows cannot open folders.
  if (process.platform !== 'win32') sync(folder, 'r');
}

/** Reads UTF-8 text. Throws a readable error that names the file, after words such as `the token in `. */
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

/** Returns the name of the user with this id or, if it has none, `#` and the id, which sudo also accepts. */
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

/** Returns the first bytes of a file; zeros for what it does not have, or if it is unreadable. */
export function startOf(file: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    const descriptor = openSync(file, 'r');
    try {
      readSync(descriptor, bytes, 0, length, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
  return bytes;
}

/** Whether this process runs as a different user than the owner of these files, whose files a server may be unable to open. */
export const runAs = (uid: number): string => `run this as that user: sudo -u ${userName(uid)} tenantry …`;
