/** The tables of a database, as exports write them and imports fill them. */
import type SQLite from 'better-sqlite3';

export interface Column {
  readonly name: string;
  /** INTEGER, NUMERIC, TEXT, BLOB, or nothing. */
  readonly type: string;
  readonly notnull: number;
  /** Place in the primary key, from 1 on; 0: none. */
  readonly pk: number;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** What SQLite stores. */
export type Stored = string | number | Buffer | null;

/** What an export is made from: a database at one moment. */
export interface Exported {
  readonly handle: SQLite.Database;
  readonly tables: readonly Table[];
  readonly schema: number;
  readonly version: string;
  /** Instant of the moment. */
  readonly made: number;
  /** Text of the key file; null where the keys stand in the settings. */
  readonly keys: string | null;
}

/** A name as SQL writes it, in SQLite and PostgreSQL alike. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Names between commas. */
export const listed = (names: readonly string[]): string => names.map(quoted).join(', ');

/**
 * Every table with data of its own, by name. The index of words is made from the events, and which migrations were applied is
 * noted by those that make the tables; Litestream has tables of its own in what it copies.
 */
export function tablesOf(handle: SQLite.Database): Table[] {
  const names = handle
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name <> 'migration' AND name NOT GLOB 'event_words*' AND name NOT GLOB '_litestream_*'
         AND (name = 'sqlite_sequence' OR name NOT GLOB 'sqlite_*')
       ORDER BY name`,
    )
    .pluck()
    .all();
  const columns = handle.prepare<[string], Column>(
    'SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid',
  );
  return names.map((name) => ({ name, columns: columns.all(name) }));
}

/** The rows of a table in the order in which it stores them, one after the other. */
export const rowsOf = (handle: SQLite.Database, { columns, name }: Table): IterableIterator<Stored[]> =>
  handle
    .prepare<[], Stored[]>(`SELECT ${listed(columns.map((column) => column.name))} FROM ${quoted(name)}`)
    .raw()
    .iterate();
