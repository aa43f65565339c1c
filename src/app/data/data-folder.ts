import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { countryName } from '../../accounts/customers/countries.ts';
import { initialPasswordFile } from '../../accounts/session/initial-password.ts';
import type { Config } from '../../kernel/config/config.ts';
import { emptyDatabase, migrate, requireCurrent } from '../../kernel/db/migrate.ts';
import { requireOwnSchema } from '../../kernel/db/own-schema.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { watchFile } from '../../kernel/durability/file-watch.ts';
import { takeLock } from '../../kernel/durability/lock.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { StorageReport } from '../../kernel/durability/storage-report.ts';
import { breakOf, rejectHeadless } from '../../kernel/durability/write-ahead-log.ts';
import type { Log } from '../../kernel/log.ts';
import { type Addon, sqliteAddon } from '../../kernel/native/native.ts';
import { runAs } from '../../kernel/owner.ts';
import { makeFolder, syncFolder } from '../../kernel/place.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { codeOf } from '../../kernel/present.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { warnOfRemoteDisk } from './remote-disk.ts';

/** Name of the database in the data folder. */
export const databaseFile = 'tenantry.db';

const lockFile = 'serve.lock';
export const nativeFolder = 'native';

/** Throws with a sentence when the folder does not let itself be looked into. */
function hasDatabase(folder: string): boolean {
  try {
    return statSync(join(folder, databaseFile), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Where a restore works until the database has its name; a restore that was killed leaves it behind. */
export const restoringFolder = (folder: string): string => join(folder, 'restoring');

/** Throws with a sentence when the folder holds no database: a command that only reads one must not make one of a mistyped name. */
export function requireDatabase(folder: string): void {
  if (!hasDatabase(folder)) throw new Error(`there is no database in ${folder}`);
}

/** Throws with a sentence when the folder holds a database: a follower has copies of another's. */
export function requireNoDatabase(folder: string): void {
  if (hasDatabase(folder)) throw new Error(`${folder} has a database of its own: name another folder with --data`);
}

/**
 * Whether a command that makes a database makes one here. Throws with a sentence when there is none and the folder was not
 * named, or holds something else: it is a mistake then.
 */
export function makesDatabase(folder: string, isNamed: boolean): boolean {
  // Listed before the database is looked for, which another command that begins here makes first of all.
  const others = namesIn(folder).filter((name) => name !== lockFile && name !== nativeFolder);
  // What is left of a database, or of a restore, is refused when it is opened.
  if (hasDatabase(folder) || remainsOf(folder) !== undefined || existsSync(restoringFolder(folder))) return false;
  const advice = 'name its folder with --data, or an empty one to make a database there';
  if (others.length > 0) throw new Error(`there is no database in ${folder}, which is not empty: ${advice}`);
  if (!isNamed) throw new Error(`there is no database in ${folder}: ${advice}`);
  return true;
}

/** The names in a folder, none if it is missing. Throws with a sentence. */
function namesIn(folder: string): string[] {
  try {
    return existsSync(folder) ? readdirSync(folder) : [];
  } catch (error) {
    throw unusable(folder, error);
  }
}

/**
 * Throws with a sentence when the database has gone and something of it is left: what a server would make then is not a new
 * installation.
 */
function rejectRemains(folder: string): void {
  const file = join(folder, databaseFile);
  if (sizeOf(file) === 0 && existsSync(restoringFolder(folder)))
    throw new Error(
      `The restore into ${folder} was not finished: give its command again, or remove ${restoringFolder(folder)} to begin anew`,
    );
  // What is left is looked for first: another command that begins here makes the database before these.
  const remains = remainsOf(folder);
  if (remains === undefined || sizeOf(file) > 0) return;
  const state = existsSync(file) ? 'is empty' : 'is missing';
  throw new Error(
    `The database ${state}, but ${remains} is there: put the database back, or move the rest away to begin anew`,
  );
}

/** A file that only a database leaves behind. */
const remainsOf = (folder: string): string | undefined =>
  [`${join(folder, databaseFile)}-wal`, keyFile(folder), initialPasswordFile(folder)].find((path) => sizeOf(path) > 0);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Creates the data folder where it is missing; answers the SQLite addon of the one-file build. Throws with a sentence. */
export function prepareFolder(config: Config, folder: string | undefined): Addon | undefined {
  if (folder === undefined) return sqliteAddon(config.native_cache ?? undefined);
  try {
    const made = makeFolder(folder);
    if (made !== undefined) syncAbove(folder, made);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(folder, error);
  }
  return config.native_cache === null
    ? sqliteAddon(join(folder, nativeFolder), true)
    : sqliteAddon(config.native_cache);
}

function unusable(folder: string, error: unknown): Error {
  const uid = ownerOf(folder);
  const advice = uid === undefined || process.getuid === undefined || uid === process.getuid() ? '' : `: ${runAs(uid)}`;
  // What is not a directory is the folder, or above it, whatever was looked for.
  const named = codeOf(error) === 'ENOTDIR' ? (error as NodeJS.ErrnoException).path : folder;
  return new Error(`cannot use the data folder ${folder}: ${plainReason(error, named)}${advice}`, { cause: error });
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** Returns when the names of the folders are on disk that were made, from the first of them down to the last. */
function syncAbove(last: string, first: string): void {
  for (let folder = resolve(last); ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === resolve(first)) return;
  }
}

/** Keeps servers out of a prepared folder until the answer is called. Throws with a sentence when one is in it. */
export function lockFolder(folder: string, addon: Addon | undefined): () => void {
  return takeLock(join(folder, lockFile), `another server uses the data folder ${folder}`, addon);
}

/** Bytes that the write-ahead log and what is moved from it into the file may need at once. */
export const neededRoom = 100_000_000;
/** Milliseconds between two lines of the log that say the same. */
const silence = 60_000;

/** Logs at most once a minute that nothing can be stored, and stops a server whose disk has failed. */
function storageReport(folder: string | undefined, file: string, log: Log, stop: DataSource['stop']): StorageReport {
  let told = Number.NEGATIVE_INFINITY;
  return {
    failed: (error) => {
      if (performance.now() - told < silence) return;
      told = performance.now();
      const { bavail, bsize } = folder === undefined ? { bavail: 0, bsize: 0 } : statfsSync(folder);
      const room = { folder, free_bytes: bavail * bsize, needed_bytes: neededRoom };
      log.error(
        { err: error, ...(error.reason === 'full' && room) },
        'nothing can be stored: requests that write are refused, deliveries and jobs wait',
      );
    },
    lost: (error, advice) => {
      // A command fails with the error instead.
      if (!stop) return;
      log.fatal({ file, err: error }, `the server stops: ${advice}`);
      stop(error);
    },
  };
}

/** Says what SQLite drops of a log that is damaged in the middle. */
function tellBreak(file: string, log: Log): void {
  const found = breakOf(file);
  if (found)
    log.warn(
      { file, ...found },
      'the write-ahead log breaks off: transactions behind these pages are dropped. After a cut of the power nobody was told of them; else restore a backup',
    );
}

/** Whether it is what SQLite says of a damaged database, which does not tell the name of its file. */
export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(String(codeOf(storageCause(error))));

const storageCause = (error: unknown): unknown => (error instanceof StorageError ? error.cause : error);

/** What the data is opened for: to serve it, for a command beside or before that, or to examine it as it is. */
export type Purpose = 'serve' | 'command' | 'examine';

/** What data is opened: in a folder, or in memory where that is undefined. */
interface DataSource {
  readonly folder: string | undefined;
  /** What one without a folder begins with; default: nothing. */
  readonly memory?: { readonly database: Buffer } | undefined;
  /** Whether the files come from another program: a foreign schema is rejected. */
  readonly isCopy?: boolean;
  /** Stops the server: nothing is stored until the database is opened again. Default: only the writes fail. */
  readonly stop?: (error: StorageError) => void;
}

/** Closes a database that cannot be used; why it cannot is the error to report. */
function closeQuietly(db: SqliteDatabase | undefined): void {
  try {
    db?.close();
  } catch {
    // After a failed write or sync the log stays as it is.
  }
}

/**
 * Opens the database, for a server behind the lock of its folder; `release` closes both, and a server looks after the file
 * with `watch` now and then. To be examined it must be there, and nothing of it is brought up to date. Throws with a sentence.
 */
export function openData(
  config: Config,
  { folder, isCopy, memory, stop }: DataSource,
  purpose: Purpose,
  log: Log,
): { db: SqliteDatabase; watch: () => void; release: () => void } {
  const addon = prepareFolder(config, folder);
  const serves = purpose === 'serve';
  const unlock = serves && folder !== undefined ? lockFolder(folder, addon) : undefined;
  const file = folder === undefined ? ':memory:' : join(folder, databaseFile);
  let opened: SqliteDatabase | undefined;
  try {
    if (folder !== undefined) {
      rejectRemains(folder);
      rejectHeadless(`${file}-wal`);
      if (purpose !== 'command') {
        warnOfRemoteDisk(folder, log);
        tellBreak(`${file}-wal`, log);
      }
    }
    const report = storageReport(folder, file, log, stop);
    const db = SqliteDatabase.open(
      folder === undefined ? (memory?.database ?? emptyDatabase(addon)) : file,
      addon,
      report,
    );
    opened = db;
    if (isCopy) requireOwnSchema(db, addon);
    db.define('country_name', countryName);
    // Two programs that move the log at the same time obstruct each other, and SQLite before 3.51.3, which the other may have, then
    // loses pages. Only the server moves it, because only the program that moves all of it knows what it has not synced.
    if (config.replicated || !serves) db.leaveLog();
    if (purpose === 'examine') requireCurrent(db);
    else if (folder !== undefined) migrate(db);
    if (serves && folder !== undefined)
      db.checkpointInThread(addon, (error) =>
        log.warn({ err: error }, 'no thread moves the write-ahead log: commits do it'),
      );
    const release = (): void => {
      try {
        db.close();
      } finally {
        unlock?.();
      }
    };
    const fail = (error: StorageError, advice: string): void => db.fail(error, advice);
    return { db, watch: serves && folder !== undefined ? watchFile(file, fail) : () => undefined, release };
  } catch (error) {
    closeQuietly(opened);
    unlock?.();
    throw new Error(`${file}: ${plainReason(error, file)}`, { cause: error });
  }
}
