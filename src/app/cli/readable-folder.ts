import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../kernel/config/config.ts';
import { copyDatabase, isReadOnly } from '../../kernel/durability/copy.ts';
import { makeTemporaryFolder } from '../../kernel/plain-reason.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { withScratch } from '../backup/scratch.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';

/**
 * Runs read-only work on a data folder. If the folder is read-only, the work gets a copy of its database and keys in the
 * temporary folder, and its errors name the files of the original.
 */
export async function withReadable<T>(
  config: Config,
  folder: string,
  work: (readable: string) => Promise<T>,
): Promise<T> {
  const file = join(folder, databaseFile);
  if (!isReadOnly(file)) return work(folder);
  const make = (): string => makeTemporaryFolder(join(tmpdir(), 'tenantry-copy-'));
  return withScratch(make, async (scratch) => {
    try {
      await copyDatabase(file, join(scratch, databaseFile), prepareFolder(config, scratch));
      if (existsSync(keyFile(folder))) await copyFile(keyFile(folder), keyFile(scratch));
      return await work(scratch);
    } catch (error) {
      if (error instanceof Error) error.message = error.message.replaceAll(scratch, folder);
      throw error;
    }
  });
}
