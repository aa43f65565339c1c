import SQLite from 'better-sqlite3';

/** The peer's database: the usual pragmas, and one transaction per write. */
export function openDatabase(file: string): SQLite.Database {
  const db = new SQLite(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('foreign_keys = ON');
  db.pragma('busy_timeout = 5000');
  db.pragma('cache_size = -65536');
  db.pragma('mmap_size = 1073741824');
  return db;
}

/** A uuid in the format of the API. */
export const newUuid = (): string => crypto.randomUUID().replaceAll('-', '');

/** The current time in microseconds. */
export const now = (): number => Date.now() * 1000;

/** An instant in microseconds in the format of the API. */
export function datetime(microseconds: number): string {
  const seconds = new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, 19);
  const fraction = microseconds % 1_000_000;
  return `${seconds}${fraction === 0 ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`}Z`;
}
