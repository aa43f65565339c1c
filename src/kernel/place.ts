import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Gives a finished file its name. Its content is on disk before the name is, and the name is when this returns. */
export function place(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** The same for a name that was free: where it cannot be put on disk, nobody has it. */
export function placeNew(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  try {
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

/** Returns when the names of the files in a folder are on disk. */
export function syncFolder(folder: string): void {
  // Windows has no such thing as a folder that is opened.
  if (process.platform !== 'win32') sync(folder, 'r');
}

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
