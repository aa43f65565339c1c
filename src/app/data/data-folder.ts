import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { countryName } from '../../accounts/customers/countries.ts';
import { initialPasswordFile } from '../../accounts/session/initial-password.ts';
import type { Config } from '../../kernel/config/config.ts';
import { emptyDatabase, migrate, requireCurrent } from '../../kernel/db/migrate.ts';
import { requireOwnSchema } from '../../kernel/db/own-schema.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { takeLock, watchFile } from '../../kernel/durability/guards.ts';
import { StorageError, type StorageReport } from '../../kernel/durability/storage-error.ts';
import { findGap, rejectDamagedHeader } from '../../kernel/durability/write-ahead-log.ts';
import { makeFolder, runAs, syncFolder } from '../../kernel/files.ts';
import type { Log } from '../../kernel/log.ts';
import { type Addon, sqliteAddon } from '../../kernel/native/native.ts';
import { codeOf, plainReason } from '../../kernel/present.ts';
import { keyFile } from '../../kernel/security/secrets.ts';

/** File name of the database in the data folder. */
export const databaseFile = 'tenantry.db';

/** The lease state that the folder's server or a command last saw (core.md 14.8). */
export const leaseFile = 'lease.json';

/** The lock of the folder, first, and the journal that SQLite keeps beside it while a process holds it. */
export const lockFiles = ['serve.lock', 'serve.lock-journal'] as const;
export const nativeFolder = 'native';

/** Throws a readable error if the folder is unreadable. */
export function hasDatabase(folder: string): boolean {
  try {
    return statSync(join(folder, databaseFile), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw unusable(folder, error);
  }
}

/**
 * Identifies a data folder on this machine by its inode, which distinguishes the folders `/data` of two containers and copies of
 * a folder. Throws file system errors.
 */
export function instanceOf(folder: string): string {
  const { dev, ino } = statSync(join(folder, '/'), { bigint: true });
  return createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 32);
}

/** The working folder of a restore. A killed restore leaves it behind. */
export const restoringFolder = (folder: string): string => join(folder, 'restoring');

/** Throws a readable error if the folder has no database, so that a mistyped path does not create one. */
export function requireDatabase(folder: string): void {
  if (!hasDatabase(folder)) throw new Error(`there is no database in ${folder}`);
}

/** Throws a readable error if the folder has a database: a follower has only copies of another server's. */
export function requireNoDatabase(folder: string): void {
  if (hasDatabase(folder)) throw new Error(`${folder} already has a database: name another folder with --data`);
}

/**
 * Whether a command must create a database in the folder. Throws a readable error if the folder has no database and is the
 * default or not empty: that is probably a mistake.
 */
export function needsDatabase(folder: string, isNamed: boolean): boolean {
  // List the names first: a concurrent command creates the database before other files.
  const others = namesIn(folder).filter((name) => ![...lockFiles, leaseFile, nativeFolder].includes(name));
  // Opening the folder reports the remains of a database or a restore.
  if (hasDatabase(folder) || remainsOf(folder) !== undefined || existsSync(restoringFolder(folder))) return false;
  const advice = 'name its folder with --data, or an empty one to create a database there';
  if (others.length > 0) throw new Error(`there is no database in ${folder}, which is not empty: ${advice}`);
  if (!isNamed) throw new Error(`there is no database in ${folder}: ${advice}`);
  return true;
}

/** Returns the names in a folder; none if it is missing. Throws a readable error. */
function namesIn(folder: string): string[] {
  try {
    return existsSync(folder) ? readdirSync(folder) : [];
  } catch (error) {
    throw unusable(folder, error);
  }
}

/**
 * Throws a readable error if the database is missing but some of its files remain, so that a server does not start with an empty
 * database.
 */
function rejectRemains(folder: string): void {
  const file = join(folder, databaseFile);
  if (sizeOf(file) === 0 && existsSync(restoringFolder(folder)))
    throw new Error(
      `The restore into ${folder} was not finished: run the command again, or remove ${restoringFolder(folder)} to start with an empty folder`,
    );
  // Look for the remains first: a concurrent command creates the database before them.
  const remains = remainsOf(folder);
  if (remains === undefined || sizeOf(file) > 0) return;
  const state = existsSync(file) ? 'is empty' : 'is missing';
  throw new Error(
    `The database ${state}, but ${remains} exists: put the database back, or move the other files away to create a new one`,
  );
}

/** Returns the first file that exists only next to a database. */
const remainsOf = (folder: string): string | undefined =>
  [`${join(folder, databaseFile)}-wal`, keyFile(folder), initialPasswordFile(folder)].find((path) => sizeOf(path) > 0);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Creates the data folder if it is missing. Returns the SQLite addon of the single executable. Throws a readable error. */
export function prepareFolder(config: Config, folder: string | undefined): Addon | undefined {
  if (folder === undefined) return sqliteAddon(config.native_cache ?? undefined);
  try {
    const firstCreated = makeFolder(folder);
    if (firstCreated !== undefined) syncParents(folder, firstCreated);
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
  // ENOTDIR names the file that is in the way.
  const knownPath = codeOf(error) === 'ENOTDIR' ? (error as NodeJS.ErrnoException).path : folder;
  return new Error(`cannot use the data folder ${folder}: ${plainReason(error, knownPath)}${advice}`, { cause: error });
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** Syncs the parents of created folders, so that their names are on disk. */
function syncParents(last: string, first: string): void {
  for (let folder = resolve(last); ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === resolve(first)) return;
  }
}

const maxLockAttempts = 100;

/** Locks a prepared folder against other servers and returns the unlock function. Throws a readable error. */
export function lockFolder(folder: string, addon: Addon | undefined): () => void {
  const file = join(folder, lockFiles[0]);
  for (let attempt = 0; attempt < maxLockAttempts; attempt++) {
    const before = inodeOf(file);
    const unlock = takeLock(file, `another server uses the data folder ${folder}`, addon);
    // A failed command may have removed the file between its opening and its lock. No other file gets its inode while it is open.
    if (before !== undefined && before === inodeOf(file)) return unlock;
    unlock();
  }
  throw new Error(`failed to lock ${file}: other commands keep removing it`);
}

const inodeOf = (file: string): bigint | undefined => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;

/** Bytes that the write-ahead log and a checkpoint together may need. */
export const requiredBytes = 100_000_000;
/** Minimum time between two log lines about the same failure. */
const reportIntervalMs = 60_000;

/** Logs storage failures at most once a minute. Stops a server whose disk has failed. */
function storageReport(folder: string | undefined, file: string, log: Log, stop: DataSource['stop']): StorageReport {
  let lastReport = Number.NEGATIVE_INFINITY;
  return {
    failed: (error) => {
      if (performance.now() - lastReport < reportIntervalMs) return;
      lastReport = performance.now();
      const { bavail, bsize } = folder === undefined ? { bavail: 0, bsize: 0 } : statfsSync(folder);
      const space = { folder, free_bytes: bavail * bsize, needed_bytes: requiredBytes };
      log.error(
        { err: error, ...(error.reason === 'full' && space) },
        'nothing can be stored: writes are rejected, deliveries and jobs wait',
      );
    },
    lost: (error, advice) => {
      // A command just fails with the error.
      if (!stop) return;
      log.fatal({ file, err: error }, `the server stops: ${advice}`);
      stop(error);
    },
  };
}

/** Logs which part of a damaged write-ahead log SQLite drops. */
function reportBreak(file: string, log: Log): void {
  const position = findGap(file);
  if (position)
    log.warn(
      { file, ...position },
      'the write-ahead log is damaged: transactions after these pages are dropped. After a power failure, none of them had been acknowledged; otherwise, restore a backup',
    );
}

/** Whether this is SQLite's error about a damaged database, whose message does not name the file. */
export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(String(codeOf(storageCause(error))));

const storageCause = (error: unknown): unknown => (error instanceof StorageError ? error.cause : error);

/** Why the data is opened: to serve it, to run a command (possibly next to a server), or to examine it without changes. */
export type Purpose = 'serve' | 'command' | 'examine';

/** The data to open. */
interface DataSource {
  /** Undefined for data in memory. */
  readonly folder: string | undefined;
  /** Initial content of data in memory; default: empty. */
  readonly memory?: { readonly database: Buffer } | undefined;
  /** Whether another program wrote the files. If so, a foreign schema is rejected. */
  readonly isCopy?: boolean;
  /** Stops the server after a disk failure. Default: only writes fail. */
  readonly stop?: (error: StorageError) => void;
}

/** Closes an unusable database. Ignores errors: the caller reports the one that made it unusable. */
function closeQuietly(db: SqliteDatabase | undefined): void {
  try {
    db?.close();
  } catch {
    // After a failed write or sync, the log is left unchanged.
  }
}

/**
 * Opens the database. For a server, locks the folder and returns `watch`, which must run regularly to detect a replaced file.
 * `release` closes the database and unlocks the folder. The purpose `examine` requires an existing database with the current
 * schema. Throws a readable error.
 */
export function openData(
  config: Config,
  { folder, isCopy, memory, stop }: DataSource,
  purpose: Purpose,
  log: Log,
): { db: SqliteDatabase; watch: () => void; release: () => void } {
  const addon = prepareFolder(config, folder);
  const isServer = purpose === 'serve';
  const unlock = isServer && folder !== undefined ? lockFolder(folder, addon) : undefined;
  const file = folder === undefined ? ':memory:' : join(folder, databaseFile);
  let opened: SqliteDatabase | undefined;
  try {
    if (folder !== undefined) {
      rejectRemains(folder);
      rejectDamagedHeader(`${file}-wal`);
      if (purpose !== 'command') {
        warnOfRemoteDisk(folder, log);
        reportBreak(`${file}-wal`, log);
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
    // Only the server checkpoints: only the program that copies all pages knows which of them are not yet synced. Two concurrent
    // checkpointers interfere, and SQLite before 3.51.3, which the other program may use, can lose pages.
    if (config.replicated || !isServer) db.leaveLog();
    if (purpose === 'examine') requireCurrent(db);
    else if (folder !== undefined) migrate(db);
    if (isServer && folder !== undefined)
      db.checkpointInThread(addon, (error) =>
        log.warn({ err: error }, 'failed to start the checkpoint thread: commits run checkpoints instead'),
      );
    const release = (): void => {
      try {
        db.close();
      } finally {
        unlock?.();
      }
    };
    const fail = (error: StorageError, advice: string): void => db.fail(error, advice);
    return { db, watch: isServer && folder !== undefined ? watchFile(file, fail) : () => undefined, release };
  } catch (error) {
    closeQuietly(opened);
    unlock?.();
    throw new Error(`${file}: ${plainReason(error, file)}`, { cause: error });
  }
}

/** Linux file systems whose locks and syncs depend on another machine or program, by their type in statfs(2). */
const remoteFileSystems: ReadonlyMap<number, string> = new Map([
  [0x00006969, 'NFS'],
  [0x0000517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'VirtualBox shared folder'],
]);

/** Warns if the data folder is not on a local disk: SQLite relies on file locks and fsync. */
function warnOfRemoteDisk(folder: string, log: Log): void {
  if (process.platform !== 'linux') return;
  // The type has 32 bits and may be signed.
  const fileSystem = remoteFileSystems.get(statfsSync(folder).type >>> 0);
  if (fileSystem !== undefined)
    log.warn(
      { folder, file_system: fileSystem },
      'the data folder is probably not on a local disk: if its file system does not support locks and syncs, data can be lost',
    );
}
