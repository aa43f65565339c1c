import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { countryName } from '../accounts/customers/countries.ts';
import type { Config } from '../kernel/config/config.ts';
import { Database } from '../kernel/db/database.ts';
import { takeLock } from '../kernel/db/lock.ts';
import { migrate } from '../kernel/db/migrate.ts';
import type { Log } from '../kernel/log.ts';
import { type Addon, sqliteAddon } from '../kernel/native/native.ts';
import { errorOf } from '../kernel/present.ts';

/** Name of the database in the data folder. */
export const databaseFile = 'tenantry.db';

/** Throws with a sentence when the folder holds no database: a command that only reads one must not make one of a mistyped name. */
export function requireDatabase(folder: string): void {
  if (!existsSync(join(folder, databaseFile))) throw new Error(`there is no database in ${folder}`);
}

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

/** Opens the database, for a server behind the lock of its folder; `release` closes both. Throws with a sentence. */
export function openData(
  config: Config,
  folder: string | undefined,
  serves: boolean,
  log: Log,
): { db: Database; release: () => void } {
  const addon = prepareFolder(config, folder);
  const unlock = serves && folder !== undefined ? lockFolder(folder, addon) : undefined;
  const file = folder === undefined ? ':memory:' : join(folder, databaseFile);
  try {
    const db = Database.open(file, addon, {
      mended: (message) => log.warn(message),
      lost: (error) => {
        log.fatal({ err: error }, 'nothing can be stored safely');
        // Nobody catches it: the process ends.
        setImmediate(() => {
          throw error;
        });
      },
    });
    db.define('country_name', countryName);
    migrate(db);
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
