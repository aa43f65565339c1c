/** The backup before an upgrade: this version changes the schema of a database that an older version has written. */

import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime, systemClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { applicationId, openHandle } from '../../kernel/durability/handle.ts';
import { databaseHeaderBytes } from '../../kernel/durability/snapshot.ts';
import { findGap, rejectDamagedHeader } from '../../kernel/durability/write-ahead-log.ts';
import { makeFolder } from '../../kernel/files.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { codeOf, errorOf } from '../../kernel/present.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';
import { backUp } from './backup.ts';

/** Number of these backups to keep. */
const maxBackups = 3;
const namePattern = /^before-upgrade-from-\d+-.*Z$/;

/** Returns the folder of all backups that the server makes itself. */
export const backupFolder = (folder: string): string => join(folder, 'backups');

/**
 * Backs up a data folder whose database has an older schema than this version, and removes the oldest of these backups. Returns
 * the file; undefined if the database needs no upgrade, or the setting switches these backups off. Rejects with a sentence if the
 * backup fails; the caller then does not upgrade.
 */
export async function backUpBeforeUpgrade(config: Config, folder: string): Promise<string | undefined> {
  if (!config.backup_before_upgrade) return undefined;
  const database = join(folder, databaseFile);
  // The schema in the header can be older than that in the log, but never newer, and is quick to read.
  if (!isOlder(headerOf(database))) return undefined;
  // Check before SQLite opens the file: it would silently drop such a log with the schema in it.
  requireReadableLog(database);
  // The part that an incomplete log lacks can be the schema. Opening the database reports the problem.
  if (findGap(`${database}-wal`)) return undefined;
  const addon = prepareFolder(config, folder);
  const header = headerInLog(database, addon);
  // A killed first start leaves a database without users, which contains nothing to lose.
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

/** Throws with a sentence if SQLite would ignore the log of a database. */
function requireReadableLog(database: string): void {
  try {
    rejectDamagedHeader(`${database}-wal`);
  } catch (error) {
    throw new Error(`${database}: ${errorOf(error).message}`, { cause: error });
  }
}

/** Reads the header of the file, without its log; zeros if the file is unreadable. Opening it reports the error. */
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
    // The first migration creates the table.
    const hasUsers = schema > 0 && handle.prepare('SELECT 1 FROM user LIMIT 1').get() !== undefined;
    return { owner: pragma('application_id'), schema, hasUsers };
  } finally {
    handle.close();
  }
}

/** Sorts by the instant at the end of the names. */
function removeOldest(backups: string): void {
  const instantOf = (file: string): string => file.slice(file.indexOf('-', 'before-upgrade-from-'.length) + 1);
  const files = readdirSync(backups)
    .filter((file) => namePattern.test(file))
    .sort((a, b) => (instantOf(a) < instantOf(b) ? 1 : -1));
  for (const file of files.slice(maxBackups)) rmSync(join(backups, file));
}
