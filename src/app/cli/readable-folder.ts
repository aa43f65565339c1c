import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headsLogFile } from '../../activity/audit/heads-log.ts';
import type { Config } from '../../kernel/config/config.ts';
import { copyDatabase, isReadOnly } from '../../kernel/durability/copy.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { makeTemporaryFolder, withTemporaryFolder } from '../backup/temporary-folder.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';

/**
 * Runs read-only work on a data folder. If the folder is read-only, the work gets a temporary copy of its database, keys and log
 * of heads, and its errors name the original files.
 */
export async function withReadable<T>(
  config: Config,
  folder: string,
  work: (readable: string) => Promise<T>,
): Promise<T> {
  const file = join(folder, databaseFile);
  if (!isReadOnly(file)) return work(folder);
  const make = (): string => makeTemporaryFolder(join(tmpdir(), 'tenantry-copy-'));
  return withTemporaryFolder(make, async (temporary) => {
    try {
      await copyDatabase(file, join(temporary, databaseFile), prepareFolder(config, temporary));
      for (const fileOf of [keyFile, headsLogFile])
        if (existsSync(fileOf(folder))) await copyFile(fileOf(folder), fileOf(temporary));
      return await work(temporary);
    } catch (error) {
      if (error instanceof Error) error.message = error.message.replaceAll(temporary, folder);
      throw error;
    }
  });
}
