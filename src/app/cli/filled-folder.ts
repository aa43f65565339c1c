/** Commands that fill an empty data folder. */
import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { headsLogFile } from '../../activity/audit/heads-log.ts';
import type { Config } from '../../kernel/config/config.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { withCleanup } from '../backup/temporary-folder.ts';
import { hasDatabase, leaseFile, lockFiles, lockFolder, nativeFolder, prepareFolder } from '../data/data-folder.ts';

/**
 * Runs a command that fills the data folder of the settings. If the command fails or a signal ends it, removes the files and
 * folders that it created, so that the folder is as before.
 */
export function fillingFolder<T>(config: Config, work: () => Promise<T>): Promise<T> {
  const folder = resolve(config.data);
  // The lock goes last.
  const names = [basename(keyFile(folder)), basename(headsLogFile(folder)), leaseFile, nativeFolder, ...lockFiles];
  const newFiles = names.map((name) => join(folder, name)).filter((file) => !existsSync(file));
  const newFolders = missingFolders(folder);
  let isFilled = false;
  const clean = (): void => {
    if (!isFilled) removeNew(config, folder, newFiles, newFolders);
  };
  return withCleanup(clean, async () => {
    const result = await work();
    isFilled = true;
    return result;
  });
}

/** Returns a folder and its parents that do not exist, innermost first. */
function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [folder, ...missingFolders(dirname(folder))];
}

/** Never throws: the error of the command is more important. */
function removeNew(config: Config, folder: string, files: readonly string[], folders: readonly string[]): void {
  try {
    if (files.some((file) => existsSync(file))) {
      const unlock = lockFolder(folder, prepareFolder(config, folder));
      try {
        // Another command may have filled the folder meanwhile.
        if (hasDatabase(folder)) return;
        for (const file of files) rmSync(file, { recursive: true, force: true });
      } finally {
        unlock();
      }
    }
    for (const empty of folders) rmdirSync(empty);
  } catch {
    // Another process uses the folder or has put files into it.
  }
}
