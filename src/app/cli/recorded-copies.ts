/** Audit records of commands that copy all data (audit.md 2 "Copies"). */
import { join } from 'node:path';
import type { App } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import { requireCurrent } from '../../kernel/db/migrate.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { isReadOnly } from '../../kernel/durability/copy.ts';
import { errorOf } from '../../kernel/present.ts';
import { withDeployment } from '../compose/composition.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';

/**
 * Records a command's copy of a data folder, unless the folder is read-only or its data is from an older version. If the record
 * cannot be stored, such as on a full disk, the copy stays and the reason goes to standard error.
 */
export async function recordCopy(config: Config, folder: string, record: (app: App) => void): Promise<void> {
  if (!isRecordable(config, folder)) return;
  try {
    await withDeployment({ config }, ({ app }) => app.db.write(() => record(app)), 'command', folder);
  } catch (error) {
    process.stderr.write(`tenantry: the audit trail has no record of this copy: ${errorOf(error).message}\n`);
  }
}

/** Whether a folder is writable and its database needs no upgrade. Making a copy must not upgrade it. */
function isRecordable(config: Config, folder: string): boolean {
  const file = join(folder, databaseFile);
  if (isReadOnly(file)) return false;
  const db = SqliteDatabase.open(file, prepareFolder(config, folder));
  try {
    requireCurrent(db);
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}
