import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import SQLite from 'better-sqlite3';
import { syncFolder } from '../files.ts';
import type { Addon } from '../native/native.ts';
import { codeOf } from '../present.ts';

/** The oldest SQLite whose write-ahead log is known not to corrupt under checkpoints. */
const oldestSqlite = [3, 51, 3];
/** Bytes of the log that stay when it restarts, more than it grows to normally: space that a long reader needed is freed. */
const maxLogBytes = 80_000_000;

/** Milliseconds for which a command waits for another process that writes. */
export const busyTimeout = 5000;

/** Opens a file with SQLite, or a database in memory that begins with these bytes; `addon` is that of the one-file build. Nothing in its schema can call functions with side effects, and no SQL can write to the schema or to shadow tables. */
export function openHandle(
  file: string | Buffer,
  addon: Pick<Addon, 'exports'> | undefined,
  options: SQLite.Options = {},
): SQLite.Database {
  // better-sqlite3 takes the loaded addon as well as its path, but its types allow only the path.
  const handle = new SQLite(file, { ...options, ...(addon && { nativeBinding: addon.exports as unknown as string }) });
  // Besides the defensive mode, which better-sqlite3 switches on: a schema may come from elsewhere.
  handle.pragma('trusted_schema = OFF');
  return handle;
}

/** Marks a file as ours ("TNRY"), so that no other program's database is taken for one. */
export const applicationId = 0x544e5259;

/**
 * Opens (and creates) the file of the database, or one in memory, for `:memory:` or initial bytes, set up as
 * this program needs it. Throws when SQLite is too old or the file another program's.
 */
export function openOwnHandle(file: string | Buffer, addon?: Addon): SQLite.Database {
  // What other users of the machine may read is decided here: the log beside the file gets the mode that the file has.
  if (typeof file === 'string' && file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
  const handle = openHandle(file, addon);
  rejectOldSqlite(String(handle.prepare('SELECT sqlite_version()').pluck().get()));
  rejectForeignFile(handle);
  try {
    setUp(handle);
  } catch (error) {
    // A sync of the existing log may have failed: the next process that opens the database repairs it.
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
    // SQLite would not report that the disk has failed: see checkpoints.ts.
    'wal_autocheckpoint = 0',
    `journal_size_limit = ${maxLogBytes}`,
    'synchronous = FULL',
    'foreign_keys = ON',
    `busy_timeout = ${busyTimeout}`,
    'temp_store = MEMORY',
    'cache_size = -65536',
    // Truncating a mapped file would end the process without a message.
    'mmap_size = 0',
  ]) {
    handle.pragma(pragma);
  }
  // SQLite syncs the names of the file and its log, too, but does not report a failure of that.
  if (!handle.memory) syncFolder(dirname(handle.name));
}

/** Closes a handle and leaves the log as it is: SQLite moves it when the last handle is closed, unless that can only read. */
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
 * Has a file use a write-ahead log from now on. Where another process gives the same new file its log at this moment, SQLite
 * does not wait for it: this does, as a writer does.
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

/** Looks before anything is changed: to open with a write-ahead log is a change to the file already. */
function rejectForeignFile(handle: SQLite.Database): void {
  // In this order: meanwhile another process may fill an empty file, and marks it as it does.
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

/** Throws with a sentence when a newer program wrote a database with this `user_version`, or none did. */
export function rejectNewer(version: number, newest: number): void {
  if (version < 0) throw new Error(`The database has schema ${version}, which no version has: it is damaged`);
  if (version > newest)
    throw new Error(`The database has schema ${version}, newer than this version's ${newest}: use a newer Tenantry`);
}
