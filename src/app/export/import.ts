import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type SQLite from 'better-sqlite3';
import { parseDatetime } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { migrate } from '../../kernel/db/migrate.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { rejectNewer } from '../../kernel/durability/schema-number.ts';
import type { Carried } from '../../kernel/durability/snapshot.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { errorOf } from '../../kernel/present.ts';
import { fillFolder } from '../backup/restore.ts';
import { type Head, valuesIn } from './ndjson.ts';
import { listed, quoted, type Stored, tablesOf } from './tables.ts';

/**
 * Fills an empty or missing data folder from an export in lines of JSON, as a whole or not at all. Answers what it carried.
 * Rejects with a sentence that names the line.
 */
export const importData = (source: string | Readable, folder: string, config: Config): Promise<Carried> =>
  fillFolder(source, 'export', folder, config, readExport);

async function readExport(stream: Readable, copy: string, addon: Addon | undefined): Promise<Carried> {
  let number = 0;
  let filling: Filling | undefined;
  try {
    for await (const line of linesIn(stream)) {
      number++;
      if (filling) filling.add(objectIn(line));
      else filling = new Filling(headIn(line), copy, addon);
    }
    if (!filling) throw new Error('is not there: the file is empty');
    return filling.end();
  } catch (error) {
    filling?.abandon();
    const at = error instanceof UnreadLine ? number + 1 : Math.max(number, 1);
    throw new Error(`line ${at} ${errorOf(error).message}`, { cause: error });
  }
}

/** Bytes of the longest line: more than a row of the largest file that is uploaded has, as base64. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 0x0a;

/** Thrown in place of a line. */
class UnreadLine extends Error {}

/** The lines of a stream in UTF-8, without their ends; an empty one behind the last end is none. Throws UnreadLine for those that would fill the memory, or are no text. */
async function* linesIn(stream: Readable): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size > maxLineBytes) throw new UnreadLine(`is longer than ${maxLineBytes} bytes`);
    parts.push(part);
  };
  const take = (): string => {
    const line = Buffer.concat(parts);
    parts = [];
    size = 0;
    if (!isUtf8(line)) throw new UnreadLine('is not UTF-8');
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
    // What it is does not matter.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is no JSON object');
  return Object.fromEntries(Object.entries(value));
}

function headIn(line: string): Head {
  const { keys, made, schema, tenantry } = objectIn(line);
  if (typeof tenantry !== 'string' || schema === undefined || typeof made !== 'string')
    throw new Error('is not the head of an export');
  if (typeof schema !== 'number' || !Number.isInteger(schema) || schema < 1)
    throw new Error('has a schema that is not a positive integer');
  if (parseDatetime(made) === undefined) throw new Error('has a time in "made" that is not a datetime');
  if (keys !== null && typeof keys !== 'string') throw new Error('has keys that are neither text nor null');
  return { tenantry, schema, made, keys };
}

/** Where SQLite keeps the numbers that no row gets again. */
const counters = 'sqlite_sequence';

/** A database that is being filled, in one transaction. */
class Filling {
  readonly #handle: SQLite.Database;
  readonly #triggers: readonly string[];
  readonly #inserts = new Map<string, (row: Readonly<Record<string, unknown>>) => void>();
  #rows = 0;
  #told: number | undefined;

  constructor(
    private readonly head: Head,
    file: string,
    addon: Addon | undefined,
  ) {
    const { schema } = head;
    rejectNewer(schema, embeddedMigrations().length);
    const db = SqliteDatabase.open(file, addon);
    migrate(db, schema);
    db.close();
    this.#handle = openHandle(file, addon);
    // Rows come in the order of their tables, and what triggers do was done when they were written first.
    this.#handle.pragma('foreign_keys = OFF');
    this.#handle.exec('BEGIN');
    const triggers = this.#handle
      .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      .all();
    for (const { name } of triggers) this.#handle.exec(`DROP TRIGGER ${quoted(name)}`);
    this.#triggers = triggers.map(({ sql }) => sql);
    for (const { columns, name } of tablesOf(this.#handle)) {
      this.#handle.exec(`DELETE FROM ${quoted(name)}`);
      const insert = this.#handle.prepare<Stored[]>(
        `INSERT INTO ${quoted(name)} (${listed(columns.map((column) => column.name))}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
      this.#inserts.set(name, (row) => void insert.run(...valuesIn(row, columns)));
    }
    // Rows with numbers of their own have written it already.
    const counted = this.#inserts.get(counters);
    const forget = this.#handle.prepare<[unknown]>(`DELETE FROM ${counters} WHERE name = ?`);
    if (counted)
      this.#inserts.set(counters, (row) => {
        forget.run(row.name);
        counted(row);
      });
  }

  /** Throws with the end of a sentence. */
  add({ row, rows, table }: Readonly<Record<string, unknown>>): void {
    if (this.#told !== undefined) throw new Error('stands behind the end of the export');
    if (typeof rows === 'number') {
      this.#told = rows;
      return;
    }
    const insert = typeof table === 'string' ? this.#inserts.get(table) : undefined;
    if (!insert) throw new Error(`is of a table ${JSON.stringify(table)}, which there is not`);
    if (typeof row !== 'object' || row === null) throw new Error('has no row');
    insert(Object.fromEntries(Object.entries(row)));
    this.#rows++;
  }

  /** Throws with the end of a sentence when rows are missing, or refer to some that are. */
  end(): Carried {
    const handle = this.#handle;
    if (this.#told !== this.#rows)
      throw new Error(
        this.#told === undefined
          ? 'is the last, and the end is missing'
          : `tells of ${this.#told} rows, but there were ${this.#rows}`,
      );
    const [broken] = handle.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all();
    if (broken)
      throw new Error(
        `ends an export in which a row of ${broken.table} refers to one of ${broken.parent} that is missing`,
      );
    for (const text of this.#triggers) handle.exec(text);
    handle.exec('COMMIT');
    handle.close();
    return { made: parseDatetime(this.head.made) ?? 0, keys: this.head.keys };
  }

  abandon(): void {
    this.#handle.close();
  }
}
