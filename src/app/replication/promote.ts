import { renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepareChain } from '../../activity/audit/append.ts';
import { appendReplacement } from '../../activity/audit/heads-log.ts';
import type { Config } from '../../kernel/config/config.ts';
import { migrate } from '../../kernel/db/migrate.ts';
import { requireOwnSchema } from '../../kernel/db/own-schema.ts';
import { sql } from '../../kernel/db/sql.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { syncFolder } from '../../kernel/files.ts';
import { systemRandom } from '../../kernel/random.ts';
import { databaseFile, lockFolder, prepareFolder, requireNoDatabase } from '../data/data-folder.ts';
import { Copies } from './copies.ts';
import { textOf, versionOf } from './version.ts';
import { applyAccess, type WriteAccess } from './writing.ts';

/**
 * Promotes the newest copy in a follower's data folder to its database, in a new epoch (that of the lease, if there is one).
 * Copies the source first, if given. Returns the first version of the database. Rejects with a readable error if a server uses
 * the folder, the source cannot be copied, or there is no copy.
 */
export async function promote(
  config: Config,
  source: string | undefined,
  access: WriteAccess | undefined,
): Promise<string> {
  const folder = resolve(config.data);
  const addon = prepareFolder(config, folder);
  const unlock = lockFolder(folder, addon);
  try {
    requireNoDatabase(folder);
    const copies = new Copies(config, folder);
    if (source !== undefined) await copies.take(source);
    const copy = copies.newest;
    if (copy === undefined) throw new Error(`there is no copy in ${folder}: serve --follow makes one`);
    const file = join(copy, databaseFile);
    const db = SqliteDatabase.open(file, addon);
    try {
      requireOwnSchema(db, addon);
      migrate(db);
      db.write(() => {
        db.run(sql`UPDATE deployment SET epoch = epoch + 1, fenced = NULL`);
        prepareChain(db, systemRandom());
      });
      if (access) applyAccess(db, access);
      db.store();
      // Renaming the file would lose the changes in its log.
      if (!db.truncateLog()) throw new Error(`another program uses ${file}: close it and run the command again`);
      const version = textOf(versionOf(db));
      db.close();
      appendReplacement(folder, 'promote');
      renameSync(file, join(folder, databaseFile));
      syncFolder(folder);
      rmSync(join(folder, 'copies'), { recursive: true });
      return version;
    } finally {
      db.close();
    }
  } finally {
    unlock();
  }
}
