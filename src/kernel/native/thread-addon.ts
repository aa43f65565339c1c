import { statSync } from 'node:fs';
import type { Addon } from './native.ts';

/** The file of a loaded addon, as passed to a thread. */
export type AddonFile = Omit<Addon, 'exports'>;

/** The part of an addon that can be sent to a thread; undefined in development. */
export const addonFile = (addon: Addon | undefined): AddonFile | undefined => {
  if (!addon) return undefined;
  const { exports: _, ...file } = addon;
  return file;
};

/**
 * Loads the addon in a thread. It must be the same file: two copies of SQLite in one process do not see each other's locks, and
 * would release them. An embedding program may have deleted the folder of the file, but Linux still reaches it through its
 * descriptor. Throws if the file cannot be reached.
 */
export function loadAgain(addon: AddonFile): Addon {
  const isLoadedFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino === addon.inode;
  const path = [addon.file, `/proc/self/fd/${addon.descriptor}`].find(isLoadedFile);
  if (path === undefined) throw new Error(`${addon.file} differs from the loaded addon`);
  const holder: { exports: object } = { exports: {} };
  process.dlopen(holder, path);
  return { ...addon, exports: holder.exports };
}
