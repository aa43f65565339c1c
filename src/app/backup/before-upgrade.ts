/** The backup before an upgrade, which changes the schema of a database from an older version. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime, systemClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { applicationId, openHandle } from '../../kernel/durability/handle.ts';
import { databaseHeaderBytes } from '../../kernel/durability/snapshot.ts';
import { findGap, rejectDamagedHeader } from '../../kernel/durability/write-ahead-log.ts';
import { makeFolder, startOf } from '../../kernel/files.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';
import { backUp } from './backup.ts';

/** Number of these backups to keep. */
const maxBackups = 3;
const namePattern = /^before-upgrade-from-\d+-.*Z$/;

/** Returns the folder for backups that the server makes itself. */
export const backupFolder = (folder: string): string => join(folder, 'backups');

/**
 * Backs up a data folder whose database needs an upgrade, and removes the oldest of these backups. Returns the file; undefined
 * if no upgrade is needed or the setting disables these backups. Rejects with a readable error if the backup fails; the caller
 * must not upgrade then.
 */
export async function backUpBeforeUpgrade(config: Config, folder: string): Promise<string | undefined> {
  if (!config.backup_before_upgrade) return undefined;
  const database = join(folder, databaseFile);
  // Quick check: the schema in the header may be older than the one in the log, but never newer.
  if (!isOlder(headerOf(database))) return undefined;
  // Check before SQLite opens the file: it would silently drop an unreadable log and the schema in it.
  requireReadableLog(database);
  // An incomplete log may lack the schema. Opening the database reports the problem.
  if (findGap(`${database}-wal`)) return undefined;
  const addon = prepareFolder(config, folder);
  const header = headerInLog(database, addon);
  // A first start that was killed leaves a database without users: there is nothing to lose.
  if (!isOlder(header) || !header.hasUsers) return undefined;
  const backups = backupFolder(folder);
  const instant = isoTime(systemClock.now()).replaceAll(':', '-');
  const file = join(backups, `before-upgrade-from-${header.schema}-${instant}`);
  try {
    makeFolder(backups);
    await backUp(folder, file, addon);
  } catch (error) {
    throw new Error(
      `the database was not upgraded, because its backup failed: ${plainReason(error)}; fix this, or use --backup-before-upgrade false`,
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

/** Schema 0 means an empty database. */
const isOlder = ({ owner, schema }: Header): boolean =>
  owner === applicationId && schema > 0 && schema < embeddedMigrations().length;

/** Throws a readable error if SQLite would ignore the log of a database. */
function requireReadableLog(database: string): void {
  try {
    rejectDamagedHeader(`${database}-wal`);
  } catch (error) {
    throw new Error(`${database}: ${errorOf(error).message}`, { cause: error });
  }
}

/** Reads the header of the file, ignoring its log. Returns zeros if the file is unreadable: opening it reports the error. */
function headerOf(file: string): Header {
  const bytes = startOf(file, databaseHeaderBytes);
  return { owner: bytes.readUInt32BE(68), schema: bytes.readUInt32BE(60) };
}

function headerInLog(file: string, addon: Addon | undefined): Header & { readonly hasUsers: boolean } {
  const handle = openHandle(file, addon, { readonly: true });
  try {
    const pragma = (text: string): number => Number(handle.pragma(text, { simple: true }));
    const schema = pragma('user_version');
    // The first migration creates the table `user`.
    const hasUsers = schema > 0 && handle.prepare('SELECT 1 FROM user LIMIT 1').get() !== undefined;
    return { owner: pragma('application_id'), schema, hasUsers };
  } finally {
    handle.close();
  }
}

/** Removes the oldest backups, sorted by the timestamp in their names. */
function removeOldest(backups: string): void {
  const instantOf = (file: string): string => file.slice(file.indexOf('-', 'before-upgrade-from-'.length) + 1);
  const files = readdirSync(backups)
    .filter((file) => namePattern.test(file))
    .sort((a, b) => (instantOf(a) < instantOf(b) ? 1 : -1));
  for (const file of files.slice(maxBackups)) rmSync(join(backups, file));
}
