import SQLite from 'better-sqlite3';

/** The SQLite addon of the one-file build: what loading it gave, and the file it came from, for threads that load it again. */
export interface Addon {
  readonly exports: object;
  readonly file: string;
  readonly inode: number;
}

/** Opens a file with SQLite; `addon` is that of the one-file build. */
export function openHandle(file: string, addon: Pick<Addon, 'exports'> | undefined, options: SQLite.Options = {}): SQLite.Database {
  return new SQLite(file, { ...options, ...(addon && { nativeBinding: addon.exports as unknown as string }) });
}
