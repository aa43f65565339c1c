/** The tables of a database, for exports and imports. */
import type SQLite from 'better-sqlite3';

export interface Column {
  readonly name: string;
  /** INTEGER, NUMERIC, TEXT, BLOB or empty. */
  readonly type: string;
  readonly notnull: number;
  /** Position in the primary key from 1; 0 for other columns. */
  readonly pk: number;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** A value that SQLite stores. */
export type StoredValue = string | number | Buffer | null;

/** The source of an export: a snapshot of a database. */
export interface ExportSource {
  readonly handle: SQLite.Database;
  readonly tables: readonly Table[];
  readonly schema: number;
  readonly version: string;
  /** Instant of the snapshot. */
  readonly made: number;
  /** Text of the key file; null if the settings define the keys. */
  readonly keys: string | null;
}

/** Quotes an identifier for SQLite and PostgreSQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Quotes and joins column names. */
export const columnList = (names: readonly string[]): string => names.map(quoted).join(', ');

/**
 * Returns every table with original data, sorted by name. Excludes the full-text index, which derives from events, the applied
 * migrations, which creating the tables records, and Litestream's own tables.
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

/** Iterates over the rows of a table in storage order. */
export const rowsOf = (handle: SQLite.Database, { columns, name }: Table): IterableIterator<StoredValue[]> =>
  handle
    .prepare<[], StoredValue[]>(`SELECT ${columnList(columns.map((column) => column.name))} FROM ${quoted(name)}`)
    .raw()
    .iterate();
