import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countryName } from '../accounts/customers/countries.ts';
import { initialPasswordFile } from '../accounts/session/initial-password.ts';
import { keyFile } from '../kernel/access/secrets.ts';
import type { Config } from '../kernel/config/config.ts';
import { Database } from '../kernel/db/database.ts';
import { takeLock } from '../kernel/db/lock.ts';
import { migrate, requireCurrent } from '../kernel/db/migrate.ts';
import type { StorageReport } from '../kernel/db/storage-report.ts';
import type { Log } from '../kernel/log.ts';
import { type Addon, sqliteAddon } from '../kernel/native/native.ts';
import { errorOf } from '../kernel/present.ts';

/** Name of the database in the data folder. */
export const databaseFile = 'tenantry.db';

/** Throws with a sentence when the folder holds no database: a command that only reads one must not make one of a mistyped name. */
export function requireDatabase(folder: string): void {
  if (!existsSync(join(folder, databaseFile))) throw new Error(`there is no database in ${folder}`);
}

/**
 * Throws with a sentence when the database has gone and something of it is left: what a server would make then is not a new
 * installation.
 */
function rejectRemains(folder: string): void {
  const file = join(folder, databaseFile);
  // What is left is looked for first: another command that begins here makes the database before these.
  const remains = [`${file}-wal`, keyFile(folder), initialPasswordFile(folder)].find((path) => sizeOf(path) > 0);
  if (remains === undefined || sizeOf(file) > 0) return;
  const state = existsSync(file) ? 'is empty' : 'is missing';
  throw new Error(
    `The database ${state}, but ${remains} is there: put the database back, or move the rest away to begin anew`,
  );
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Creates the data folder where it is missing; answers the SQLite addon of the one-file build. Throws with a sentence. */
export function prepareFolder(config: Config, folder: string | undefined): Addon | undefined {
  if (folder === undefined) return sqliteAddon(config.native_cache ?? undefined);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`cannot use the data folder ${folder}: ${errorOf(error).message}`, { cause: error });
  }
  return sqliteAddon(config.native_cache ?? join(folder, 'native'));
}

/** Keeps servers out of a prepared folder until the answer is called. Throws with a sentence when one is in it. */
export function lockFolder(folder: string, addon: Addon | undefined): () => void {
  return takeLock(join(folder, 'serve.lock'), `another server uses the data folder ${folder}`, addon);
}

/** Bytes that the write-ahead log and what is moved from it into the file may need at once. */
const neededRoom = 100_000_000;
/** Milliseconds between two lines of the log that say the same. */
const silence = 60_000;

/** Tells the operator what becomes of the storage; that nothing can be stored, once a minute. */
function storageReport(folder: string | undefined, log: Log): StorageReport {
  let told = Number.NEGATIVE_INFINITY;
  return {
    mended: (message) => log.warn(message),
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
    lost: (error) => {
      log.fatal({ err: error }, 'nothing can be stored safely');
      // Nobody catches it: the process ends.
      setImmediate(() => {
        throw error;
      });
    },
  };
}

/** What the data is opened for: to serve it, for a command beside or before that, or to examine it as it is. */
export type Purpose = 'serve' | 'command' | 'examine';

/**
 * Opens the database, for a server behind the lock of its folder; `release` closes both. To be examined it must be there,
 * and nothing of it is brought up to date. Throws with a sentence.
 */
export function openData(
  config: Config,
  folder: string | undefined,
  purpose: Purpose,
  log: Log,
): { db: Database; release: () => void } {
  const addon = prepareFolder(config, folder);
  const serves = purpose === 'serve';
  const unlock = serves && folder !== undefined ? lockFolder(folder, addon) : undefined;
  const file = folder === undefined ? ':memory:' : join(folder, databaseFile);
  try {
    if (folder !== undefined) rejectRemains(folder);
    const db = Database.open(file, addon, storageReport(folder, log));
    db.define('country_name', countryName);
    if (purpose === 'examine') requireCurrent(db);
    else migrate(db);
    if (serves && folder !== undefined)
      db.checkpointInThread(addon, (error) =>
        log.warn({ err: error }, 'no thread moves the write-ahead log: commits do it'),
      );
    const release = (): void => {
      db.close();
      unlock?.();
    };
    return { db, release };
  } catch (error) {
    unlock?.();
    throw new Error(`${file}: ${errorOf(error).message}`, { cause: error });
  }
}
