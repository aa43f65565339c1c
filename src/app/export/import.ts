import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type SQLite from 'better-sqlite3';
import { parseDatetime } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { migrate } from '../../kernel/db/migrate.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { openHandle, rejectNewer } from '../../kernel/durability/handle.ts';
import type { Carried } from '../../kernel/durability/snapshot.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { errorOf } from '../../kernel/present.ts';
import { fillFolder } from '../backup/restore.ts';
import { type Header, valuesIn } from './ndjson.ts';
import { columnList, quoted, type StoredValue, tablesOf } from './tables.ts';

/**
 * Fills an empty or missing data folder from an NDJSON export, completely or not at all. Returns the export's time and keys.
 * Rejects with a readable error that names the line.
 */
export const importData = (source: string | Readable, folder: string, config: Config): Promise<Carried> =>
  fillFolder(source, 'export', folder, config, readExport);

async function readExport(stream: Readable, copy: string, addon: Addon | undefined): Promise<Carried> {
  let number = 0;
  let importer: Importer | undefined;
  try {
    for await (const line of linesIn(stream)) {
      number++;
      if (importer) importer.add(objectIn(line));
      else importer = new Importer(headerIn(line), copy, addon);
    }
    if (!importer) throw new Error('is missing: the file is empty');
    return importer.finish();
  } catch (error) {
    importer?.abandon();
    const lineNumber = error instanceof LineError ? number + 1 : Math.max(number, 1);
    throw new Error(`line ${lineNumber} ${errorOf(error).message}`, { cause: error });
  }
}

/** Exceeds a row with the largest possible upload in base64. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 0x0a;

/** Thrown for a line that cannot be read. */
class LineError extends Error {}

/** Yields the lines of a stream without line breaks. Throws LineError for a line that is too long or not UTF-8. */
async function* linesIn(stream: Readable): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size > maxLineBytes) throw new LineError(`is longer than ${maxLineBytes} bytes`);
    parts.push(part);
  };
  const take = (): string => {
    const line = Buffer.concat(parts);
    parts = [];
    size = 0;
    if (!isUtf8(line)) throw new LineError('is not UTF-8');
    return line.toString().replace(/\r$/, '');
  };
  for await (const chunk of stream) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      add(rest.subarray(0, end));
      yield take();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) add(rest);
  }
  if (size > 0) yield take();
}

function objectIn(line: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The check below rejects it.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is not a JSON object');
  return Object.fromEntries(Object.entries(value));
}

function headerIn(line: string): Header {
  const { keys, made, schema, tenantry } = objectIn(line);
  if (typeof tenantry !== 'string' || schema === undefined || typeof made !== 'string')
    throw new Error('is not the header of an export');
  if (typeof schema !== 'number' || !Number.isInteger(schema) || schema < 1)
    throw new Error('has a schema that is not a positive integer');
  if (parseDatetime(made) === undefined) throw new Error('has a time in "made" that is not a datetime');
  if (keys !== null && typeof keys !== 'string') throw new Error('has keys that are neither text nor null');
  return { tenantry, schema, made, keys };
}

/** The table of SQLite with the last AUTOINCREMENT ids. */
const sequences = 'sqlite_sequence';

/** Fills a new database in one transaction. */
class Importer {
  readonly #handle: SQLite.Database;
  readonly #triggers: readonly string[];
  readonly #inserts = new Map<string, (row: Readonly<Record<string, unknown>>) => void>();
  #rows = 0;
  /** Number of rows according to the last line. */
  #expectedRows: number | undefined;

  constructor(
    private readonly header: Header,
    file: string,
    addon: Addon | undefined,
  ) {
    const { schema } = header;
    rejectNewer(schema, embeddedMigrations().length);
    const db = SqliteDatabase.open(file, addon);
    migrate(db, schema);
    db.close();
    this.#handle = openHandle(file, addon);
    // Rows are sorted by table instead of reference order, and the effects of triggers are part of the data.
    this.#handle.pragma('foreign_keys = OFF');
    this.#handle.exec('BEGIN');
    const triggers = this.#handle
      .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      .all();
    for (const { name } of triggers) this.#handle.exec(`DROP TRIGGER ${quoted(name)}`);
    this.#triggers = triggers.map(({ sql }) => sql);
    for (const { columns, name } of tablesOf(this.#handle)) {
      this.#handle.exec(`DELETE FROM ${quoted(name)}`);
      const insert = this.#handle.prepare<StoredValue[]>(
        `INSERT INTO ${quoted(name)} (${columnList(columns.map((column) => column.name))}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
      this.#inserts.set(name, (row) => void insert.run(...valuesIn(row, columns)));
    }
    // Inserting rows with ids has already filled this table.
    const insertSequence = this.#inserts.get(sequences);
    const removeSequence = this.#handle.prepare<[unknown]>(`DELETE FROM ${sequences} WHERE name = ?`);
    if (insertSequence)
      this.#inserts.set(sequences, (row) => {
        removeSequence.run(row.name);
        insertSequence(row);
      });
  }

  /** Adds a line. Throws an error that ends a sentence about the line. */
  add({ row, rows, table }: Readonly<Record<string, unknown>>): void {
    if (this.#expectedRows !== undefined) throw new Error('follows the end of the export');
    if (typeof rows === 'number') {
      this.#expectedRows = rows;
      return;
    }
    const insert = typeof table === 'string' ? this.#inserts.get(table) : undefined;
    if (!insert) throw new Error(`names an unknown table ${JSON.stringify(table)}`);
    if (typeof row !== 'object' || row === null) throw new Error('has no row');
    insert(Object.fromEntries(Object.entries(row)));
    this.#rows++;
  }

  /** Commits. Throws such an error if rows are missing or refer to missing rows. */
  finish(): Carried {
    const handle = this.#handle;
    if (this.#expectedRows !== this.#rows)
      throw new Error(
        this.#expectedRows === undefined
          ? 'is the last line, but not the end of the export'
          : `expects ${this.#expectedRows} rows, but there were ${this.#rows}`,
      );
    const [broken] = handle.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all();
    if (broken)
      throw new Error(`ends an export in which a row of ${broken.table} refers to a missing row of ${broken.parent}`);
    for (const text of this.#triggers) handle.exec(text);
    handle.exec('COMMIT');
    handle.close();
    return { made: parseDatetime(this.header.made) ?? 0, keys: this.header.keys };
  }

  abandon(): void {
    this.#handle.close();
  }
}
