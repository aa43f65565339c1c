import SQLite from 'better-sqlite3';

/** Opens a file with SQLite; `addon` is that of the one-file build. */
export function openHandle(file: string, addon: object | undefined, options: SQLite.Options = {}): SQLite.Database {
  return new SQLite(file, { ...options, ...(addon && { nativeBinding: addon as unknown as string }) });
}
