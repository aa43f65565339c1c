/** The backup that is made before this version changes the schema of a database that an older one wrote. */

import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime, systemClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { applicationId, openHandle } from '../../kernel/durability/handle.ts';
import { databaseHeaderBytes } from '../../kernel/durability/snapshot.ts';
import { breakOf, rejectHeadless } from '../../kernel/durability/write-ahead-log.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { makeFolder } from '../../kernel/place.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { codeOf, errorOf } from '../../kernel/present.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';
import { backUp } from './backup.ts';

/** So many of them are kept. */
const kept = 3;
const name = /^before-upgrade-from-\d+-.*Z$/;

/** Where in the data folder they lie. */
export const upgradeBackups = (folder: string): string => join(folder, 'backups');

/**
 * Backs up a data folder whose database has an older schema than this version's, and removes the oldest of such backups.
 * Answers the file; undefined where there is nothing to bring up to date, or the setting says that no backup is wanted.
 * Rejects with a sentence when it cannot be written: then nothing is brought up to date.
 */
export async function backUpBeforeUpgrade(config: Config, folder: string): Promise<string | undefined> {
  if (!config.backup_before_upgrade) return undefined;
  const database = join(folder, databaseFile);
  // What the header says may be older than what the log says, but never newer; to read it takes no time.
  if (!isOlder(headerOf(database))) return undefined;
  // Before SQLite looks at it, which would drop such a log without a word, and the schema in it.
  requireLog(database);
  // Of one that breaks off, the schema may be what is missing; whoever opens the database says so.
  if (breakOf(`${database}-wal`)) return undefined;
  const addon = prepareFolder(config, folder);
  const header = headerInLog(database, addon);
  // A first start that was killed leaves a database without users: nothing in it can be lost.
  if (!isOlder(header) || !header.hasUsers) return undefined;
  const backups = upgradeBackups(folder);
  const instant = isoTime(systemClock.now()).replaceAll(':', '-');
  const file = join(backups, `before-upgrade-from-${header.schema}-${instant}`);
  try {
    makeFolder(backups);
    await backUp(folder, file, addon);
  } catch (error) {
    throw new Error(
      `the database is not brought up to date, for it cannot be backed up before: ${plainReason(error)}; make that possible, or give --backup-before-upgrade false`,
      { cause: error },
    );
  }
  removeOldest(backups);
  return file;
}

interface Header {
  readonly owner: number;
  readonly schema: number;
}

/** Schema 0 is that of a file which nothing was written to. */
const isOlder = ({ owner, schema }: Header): boolean =>
  owner === applicationId && schema > 0 && schema < embeddedMigrations().length;

/** Throws with a sentence when the log of a database would be passed over. */
function requireLog(database: string): void {
  try {
    rejectHeadless(`${database}-wal`);
  } catch (error) {
    throw new Error(`${database}: ${errorOf(error).message}`, { cause: error });
  }
}

/** What the file says without its log; that of no database where there is none, which is told when it is opened. */
function headerOf(file: string): Header {
  const bytes = Buffer.alloc(databaseHeaderBytes);
  try {
    const descriptor = openSync(file, 'r');
    try {
      readSync(descriptor, bytes, 0, bytes.length, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
  return { owner: bytes.readUInt32BE(68), schema: bytes.readUInt32BE(60) };
}

function headerInLog(file: string, addon: Addon | undefined): Header & { readonly hasUsers: boolean } {
  const handle = openHandle(file, addon, { readonly: true });
  try {
    const pragma = (text: string): number => Number(handle.pragma(text, { simple: true }));
    const schema = pragma('user_version');
    // The first migration makes the table.
    const hasUsers = schema > 0 && handle.prepare('SELECT 1 FROM user LIMIT 1').get() !== undefined;
    return { owner: pragma('application_id'), schema, hasUsers };
  } finally {
    handle.close();
  }
}

/** Their names end with the instant. */
function removeOldest(backups: string): void {
  const instantOf = (file: string): string => file.slice(file.indexOf('-', 'before-upgrade-from-'.length) + 1);
  const files = readdirSync(backups)
    .filter((file) => name.test(file))
    .sort((a, b) => (instantOf(a) < instantOf(b) ? 1 : -1));
  for (const file of files.slice(kept)) rmSync(join(backups, file));
}
