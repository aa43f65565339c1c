/**
 * Copies of a database, and backups made from them.
 *
 * A backup is an SQLite database, so that operators can inspect it without this program. A separate table contains the other
 * files of the data folder. A different application id prevents a server from opening the backup as its database without the key.
 */
import { existsSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import type { Addon } from '../native/native.ts';
import { codeOf, errorOf, present } from '../present.ts';
import { applicationId, openHandle, rejectNewer } from './handle.ts';

/** Marks a backup ("TNRB"). */
const backupId = 0x544e5242;

/** Contents of a backup in addition to the tables of the database. */
export const backupTable = {
  name: 'tenantry_backup',
  sql: 'CREATE TABLE tenantry_backup (made INTEGER NOT NULL, keys TEXT) STRICT',
} as const;

/** Header size of a database in bytes. */
export const databaseHeaderBytes = 100;

/** Returns the size in the header of a database, in bytes (https://www.sqlite.org/fileformat2.html). */
export function sizeInHeader(header: Buffer): number {
  const pageBytes = header.readUInt16BE(16);
  return (pageBytes === 1 ? 65_536 : pageBytes) * header.readUInt32BE(28);
}

/** Returns the size in a backup's header. Throws a readable error for other files. */
export function sizeOfBackup(header: Buffer): number {
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0' || header.readUInt32BE(68) !== backupId)
    throw new Error('The file is not a backup');
  return sizeInHeader(header);
}

/** Contents of a backup other than the database. */
export interface Carried {
  /** Instant at which it was made. */
  readonly made: number;
  /** Text of the key file; null if the keys are in the settings. */
  readonly keys: string | null;
}

/**
 * Writes a snapshot of a database into a new file. A single read transaction keeps it consistent, unaffected by a server's
 * concurrent writes, and never blocks them. Throws a readable error that names the file.
 */
export function takeSnapshot(file: string, copy: string, addon: Addon | undefined): void {
  try {
    // The log may have a hole, which the next serving process repairs (log-repair.ts).
    const options = { readonly: existsSync(`${file}-wal`) };
    using(
      file,
      addon,
      (handle) => {
        if (idOf(handle) !== applicationId) throw new Error('The database belongs to another program');
        handle.prepare('VACUUM INTO ?').run(copy);
      },
      options,
    );
  } catch (error) {
    throw new Error(`${file}: ${errorOf(error).message}`, { cause: error });
  }
}

/** Converts a copy to a backup. Throws a readable error if the copy is damaged. */
export function packBackup(copy: string, { keys, made }: Carried, addon: Addon | undefined): void {
  using(copy, addon, (handle) => {
    handle.exec(backupTable.sql);
    handle.prepare('INSERT INTO tenantry_backup (made, keys) VALUES (?, ?)').run(made, keys);
    handle.pragma(`application_id = ${backupId}`);
    rejectDamaged(handle, 'The database');
  });
}

/** Creates a database from a backup and returns its other files. Throws a readable error if it is invalid, damaged or newer. */
export function unpackBackup(copy: string, newest: number, addon: Addon | undefined): Carried {
  return using(copy, addon, (handle) => {
    if (idOf(handle) !== backupId) throw new Error('The file is not a backup');
    rejectNewer(Number(handle.pragma('user_version', { simple: true })), newest);
    rejectDamaged(handle, 'The backup');
    const carried = present(handle.prepare<[], Carried>('SELECT made, keys FROM tenantry_backup').get());
    // The keys must not remain in the free pages of the database that they protect.
    handle.pragma('secure_delete = ON');
    handle.exec('DROP TABLE tenantry_backup');
    handle.pragma(`application_id = ${applicationId}`);
    return carried;
  });
}

function using<T>(
  file: string,
  addon: Addon | undefined,
  use: (handle: SQLite.Database) => T,
  options?: SQLite.Options,
): T {
  const handle = openHandle(file, addon, { ...options, fileMustExist: true });
  try {
    return use(handle);
  } finally {
    handle.close();
  }
}

function idOf(handle: SQLite.Database): unknown {
  try {
    return handle.pragma('application_id', { simple: true });
  } catch (error) {
    if (codeOf(error) === 'SQLITE_NOTADB') return undefined;
    throw error;
  }
}

function rejectDamaged(handle: SQLite.Database, what: string): void {
  const result = damage(handle);
  if (result !== undefined) throw new Error(`${what} is damaged (${result})`);
}

/** Returns the first fault that SQLite finds, on one line; undefined if there is none. */
function damage(handle: SQLite.Database): string | undefined {
  try {
    const reports = String(handle.pragma('integrity_check(1)', { simple: true }));
    // Its tree is on a separate line, above.
    return reports === 'ok' ? undefined : reports.split('\n').at(-1);
  } catch (error) {
    return errorOf(error).message;
  }
}
