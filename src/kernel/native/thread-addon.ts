import { statSync } from 'node:fs';
import type { Addon } from './native.ts';

/** What a thread is given of an addon that the process has loaded. */
export type AddonFile = Omit<Addon, 'exports'>;

/** The part of an addon that can be sent to a thread; undefined in development. */
export const addonFile = (addon: Addon | undefined): AddonFile | undefined =>
  addon && { file: addon.file, inode: addon.inode };

/**
 * Loads the addon in a thread. It must be the very same file: two copies of SQLite in one process do not know of each other's
 * locks, and would give up those of the other.
 */
export function loadAgain({ file, inode }: AddonFile): Addon {
  if (statSync(file).ino !== inode) throw new Error(`${file} is not what was loaded before`);
  const holder: { exports: object } = { exports: {} };
  process.dlopen(holder, file);
  return { exports: holder.exports, file, inode };
}
