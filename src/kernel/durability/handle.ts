import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import SQLite from 'better-sqlite3';
import { syncFolder } from '../files.ts';
import type { Addon } from '../native/native.ts';
import { codeOf } from '../present.ts';

/** The oldest SQLite version without known corruption of the write-ahead log by checkpoints. */
const oldestSqlite = [3, 51, 3];
/** Size to which a restarting log is truncated. It exceeds the usual size, so that only extra space is freed. */
const maxLogBytes = 80_000_000;

/** How long a command waits for another process that writes. */
export const busyTimeout = 5000;

/** Opens a file with SQLite, or a database in memory that begins with these bytes; `addon` is that of the one-file build. Nothing in its schema can call functions with side effects, and no SQL can write to the schema or to shadow tables. */
export function openHandle(
  file: string | Buffer,
  addon: Pick<Addon, 'exports'> | undefined,
  options: SQLite.Options = {},
): SQLite.Database {
  // better-sqlite3 takes the loaded addon as well as its path, but its types allow only the path.
  const handle = new SQLite(file, { ...options, ...(addon && { nativeBinding: addon.exports as unknown as string }) });
  // In addition to the defensive mode of better-sqlite3, because the schema may come from an untrusted file.
  handle.pragma('trusted_schema = OFF');
  return handle;
}

/** The application id ("TNRY") that distinguishes our databases from those of other programs. */
export const applicationId = 0x544e5259;

/**
 * Opens (and creates) the database file, or a database in memory for `:memory:` or initial bytes, and configures it. Throws if
 * SQLite is too old or the file belongs to another program.
 */
export function openOwnHandle(file: string | Buffer, addon?: Addon): SQLite.Database {
  // The mode decides who on this machine can read the data. The log gets the same mode.
  if (typeof file === 'string' && file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
  const handle = openHandle(file, addon);
  rejectOldSqlite(String(handle.prepare('SELECT sqlite_version()').pluck().get()));
  rejectForeignFile(handle);
  try {
    setUp(handle);
  } catch (error) {
    // A sync of the existing log may have failed. The next process that opens the database repairs it.
    try {
      if (!handle.memory) closeWithoutCheckpoint(handle, addon);
    } catch {
      // The first error is thrown below.
    }
    throw error;
  }
  return handle;
}

function setUp(handle: SQLite.Database): void {
  enterWriteAheadLog(handle);
  for (const pragma of [
    // SQLite would not report a disk failure: see checkpoints.ts.
    'wal_autocheckpoint = 0',
    `journal_size_limit = ${maxLogBytes}`,
    'synchronous = FULL',
    'foreign_keys = ON',
    `busy_timeout = ${busyTimeout}`,
    'temp_store = MEMORY',
    // A commit that has rebalanced an index walks the whole cache. The operating system caches the file as well.
    'cache_size = -16384',
    // Truncating a mapped file would end the process without a message.
    'mmap_size = 0',
  ]) {
    handle.pragma(pragma);
  }
  // SQLite syncs the names of the file and its log, too, but does not report a failure of that.
  if (!handle.memory) syncFolder(dirname(handle.name));
}

/** Closes a handle without a checkpoint. SQLite checkpoints when the last handle is closed, unless it is read-only. */
export function closeWithoutCheckpoint(handle: SQLite.Database, addon: Addon | undefined): void {
  const last = openHandle(handle.name, addon, { readonly: true, fileMustExist: true });
  try {
    last.pragma('user_version');
  } finally {
    handle.close();
    last.close();
  }
}

/**
 * Switches a file to a write-ahead log. SQLite does not wait if another process does the same with a new file, so this function
 * waits like a writer.
 */
export function enterWriteAheadLog(handle: SQLite.Database): void {
  const until = performance.now() + busyTimeout;
  for (;;) {
    try {
      handle.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || performance.now() > until) throw error;
    }
    handle.exec('BEGIN IMMEDIATE; ROLLBACK');
  }
}

/** Checks the file before any change, because switching to a write-ahead log changes it. */
function rejectForeignFile(handle: SQLite.Database): void {
  // The order matters: another process may be creating the same database, and marks it first.
  const isEmpty = handle.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  const owner = handle.pragma('application_id', { simple: true });
  if (owner === applicationId || (owner === 0 && isEmpty)) return;
  handle.close();
  throw new Error('The database belongs to another program');
}

function rejectOldSqlite(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [i, oldest] of oldestSqlite.entries()) {
    const difference = (parts[i] ?? 0) - oldest;
    if (difference > 0) return;
    if (difference < 0) throw new Error(`SQLite ${version} is too old: ${oldestSqlite.join('.')} or newer is needed`);
  }
}

/** Throws a readable error if `user_version` is from a newer program or invalid. */
export function rejectNewer(version: number, newest: number): void {
  if (version < 0) throw new Error(`The database has schema ${version}, which no version has: it is damaged`);
  if (version > newest)
    throw new Error(`The database has schema ${version}, newer than this version's ${newest}: use a newer Tenantry`);
}

/** The file of a loaded addon, as passed to a thread. */
export type AddonFile = Omit<Addon, 'exports'>;

/** The part of an addon that can be sent to a thread; undefined in development. */
export const addonFile = (addon: Addon | undefined): AddonFile | undefined => {
  if (!addon) return undefined;
  const { exports: _, ...file } = addon;
  return file;
};

/**
 * Loads the addon in a thread. It must be the same file: two copies of SQLite in one process do not see each other's locks, and
 * would release them. An embedding program may have deleted the folder of the file, but Linux still reaches it through its
 * descriptor. Throws if the file cannot be reached.
 */
export function loadAgain(addon: AddonFile): Addon {
  const isLoadedFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino === addon.inode;
  const path = [addon.file, `/proc/self/fd/${addon.descriptor}`].find(isLoadedFile);
  if (path === undefined) throw new Error(`${addon.file} differs from the loaded addon`);
  const holder: { exports: object } = { exports: {} };
  process.dlopen(holder, path);
  return { ...addon, exports: holder.exports };
}
