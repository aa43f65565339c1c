/** Builds the snapshot of the sample data. Runs only in the build. */
import { isDeepStrictEqual } from 'node:util';
import { hash } from '@node-rs/argon2';
import SQLite from 'better-sqlite3';
import { createFirstUser } from '../../accounts/session/initial-password.ts';
import type { App } from '../../kernel/app.ts';
import { day, settableClock } from '../../kernel/clock.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { caseFold, raw, sql } from '../../kernel/db/sql.ts';
import { cost } from '../../kernel/security/passwords.ts';
import { openDeployment } from '../compose/composition.ts';
import { encryptedColumns } from '../data/encryption.ts';
import { columnList, quoted, type Table, tablesOf } from '../export/tables.ts';
import { loadConfig } from '../settings.ts';
import { demoPassword, seedByHistory } from './demo.ts';
import { baseMonth, type Contents, fillMarks, joinImage, markOf, markStart, splitImage } from './image.ts';
import { monthIn } from './months.ts';
import { reference } from './plan.ts';

/** A stored value. Integers are bigints, so that they differ from reals. */
type Cell = string | number | bigint | Buffer | null;
type Row = readonly Cell[];
interface Filled extends Table {
  readonly rows: readonly Row[];
}

/** The salt of the sample data's password, which is public, so that its hash is the same in each build. */
const salt = Buffer.from('the sample data!');

/** Returns the image of the snapshot, reproducibly. Throws if a value cannot be shifted to another start time. */
export async function packedDemo(): Promise<Buffer> {
  const config = loadConfig({ input: { log_level: 'silent' } });
  const { app, close } = openDeployment(config, { clock: settableClock(reference), folder: undefined });
  try {
    // Reserve the id of the first user in the database to fill.
    await createFirstUser(app, undefined);
    const before = contentsOf(app);
    const usagesBefore = usagesOf(app);
    await seedByHistory(app, await hash(demoPassword, { ...cost, salt }));
    const tables = contentsOf(app)
      .map((table) => ({ ...table, rows: openSecrets(app, { ...table, rows: newRows(table, before) }) }))
      .filter(({ rows }) => rows.length > 0);
    const { instants, months } = relativeValues(tables);
    const contents: Contents = {
      schema: Number(app.db.pragma('user_version')),
      tables: tables.map(({ name }) => name),
      instants,
      months,
      usages: Object.fromEntries(
        [...usagesOf(app)].map(([name, usage]) => [name, usage - (usagesBefore.get(name) ?? 0)]),
      ),
    };
    const image = joinImage(
      contents,
      databaseOf(
        app,
        tables.map((table) => markTable(table, contents)),
      ),
    );
    requireSame(image, tables);
    return image;
  } finally {
    close();
  }
}

/** The usages of the deployment's quotas by name. */
const usagesOf = ({ db }: App): ReadonlyMap<string, number> =>
  new Map(
    db
      .all<{ name: string; usage: number }>(sql`SELECT name, usage FROM quota WHERE scope_kind = 'global'`)
      .map(({ name, usage }) => [name, usage]),
  );

function contentsOf({ db }: App): readonly Filled[] {
  return withDatabase(db.serialize(), (handle) =>
    tablesOf(handle)
      .filter(({ name }) => name !== 'sqlite_sequence')
      .map((table) => ({ ...table, rows: rowsOf(handle, table) })),
  );
}

/** Opens the bytes of a database, with the functions of its indexes. */
function withDatabase<T>(bytes: Buffer | ':memory:', use: (handle: SQLite.Database) => T): T {
  const handle = new SQLite(bytes);
  const define = (name: string, of: (text: string) => string): void => {
    handle.function(name, { deterministic: true }, (text: unknown) => (typeof text === 'string' ? of(text) : null));
  };
  define('fold', caseFold);
  define('fold_email', foldedEmail);
  try {
    return use(handle);
  } finally {
    handle.close();
  }
}

const rowsOf = (handle: SQLite.Database, { columns, name }: Table): readonly Row[] =>
  handle
    .prepare<[], Cell[]>(`SELECT ${columnList(columns.map((column) => column.name))} FROM ${quoted(name)}`)
    .raw()
    .safeIntegers()
    .all();

/** Tables whose initial rows the history changes: quotas of the deployment. */
const changingTables = new Set(['quota', 'quota_version']);

/** Returns the rows that the history added. Throws if it changed other rows. */
function newRows({ name, rows }: Filled, before: readonly Filled[]): readonly Row[] {
  const keyOf = (row: Row): string => (changingTables.has(name) ? `${row[0]}` : row.join('\n'));
  const known = new Set(before.find((table) => table.name === name)?.rows.map(keyOf));
  const added = rows.filter((row) => !known.has(keyOf(row)));
  if (rows.length - added.length !== known.size) throw new Error(`the sample data changes rows of ${name}`);
  return added;
}

/** Replaces encrypted values by the bytes of their plain text. */
function openSecrets({ db, secrets }: App, { columns, name, rows }: Filled): readonly Row[] {
  const idColumn = columns.findIndex((column) => column.name === 'id');
  const owners = columns.map((column) =>
    encryptedColumns.find((each) => each.table === name && each.column === column.name),
  );
  const open = (sealed: Buffer, uuid: string, id: Cell): Buffer =>
    Buffer.from(
      secrets.open(sealed, db.scalar(sql`SELECT ${raw(uuid)} FROM ${raw(quoted(name))} WHERE id = ${Number(id)}`)),
    );
  return rows.map((row) =>
    row.map((cell, n) => {
      const uuid = owners[n]?.uuid;
      return uuid !== undefined && cell instanceof Buffer ? open(cell, uuid, row[idColumn] ?? null) : cell;
    }),
  );
}

const uuidPattern = /(?<![0-9a-f])[0-9a-f]{12}(?=7[0-9a-f]{3}[89ab][0-9a-f]{15}(?![0-9a-f]))/g;

/** Detects timestamps in texts: ISO 8601, or microseconds. */
const instantPattern = /\b20\d\d-\d\d-\d\dT\d\d|\b1[45]\d{14}\b/;

/** Offers of simulated vendors, whose dates are not shifted. */
const columnsWithFixedDates: ReadonlySet<string> = new Set(['property.details']);

/** Instants are within this distance of the reference, and no other numbers are. */
const maxDistance = 1500 * day;

/** Returns the distance of an instant from the reference in milliseconds; undefined for any other number. */
function distanceOf(instant: number): number | undefined {
  const distance = instant - reference;
  return Math.abs(distance) < maxDistance ? distance / 1000 : undefined;
}

/** Returns the distance of an instant in a number column; undefined for any other value. */
const distanceIn = (cell: Cell): number | undefined =>
  typeof cell === 'bigint' || typeof cell === 'number' ? distanceOf(Number(cell)) : undefined;

/** Returns the distance of the time of a uuid, 12 hexadecimal digits; undefined for uuids that are not of the history. */
const distanceOfDigits = (digits: string): number | undefined => distanceOf(Number.parseInt(digits, 16) * 1000);

const monthDistance = (cell: Cell): number | undefined => {
  const month = monthIn(cell);
  return month === undefined ? undefined : month - baseMonth(reference);
};

/** Lists the distances of all values to shift. */
function relativeValues(tables: readonly Filled[]): Pick<Contents, 'instants' | 'months'> {
  const instants = new Set<number | undefined>();
  const months = new Set<number | undefined>();
  for (const cell of tables.flatMap(({ rows }) => rows.flat())) {
    instants.add(distanceIn(cell));
    if (typeof cell !== 'string') continue;
    for (const [digits] of cell.matchAll(uuidPattern)) instants.add(distanceOfDigits(digits));
    months.add(monthDistance(cell));
  }
  const sorted = (distances: ReadonlySet<number | undefined>): readonly number[] =>
    [...distances].filter((distance) => distance !== undefined).sort((a, b) => a - b);
  return { instants: sorted(instants), months: sorted(months) };
}

/** Replaces the values to shift by marks. Throws if a column mixes instants with other numbers, or has instants in texts. */
function markTable(table: Filled, { instants, months }: Contents): Filled {
  const numberOfInstant = new Map(instants.map((distance, number) => [distance, number]));
  const numberOfMonth = new Map(months.map((distance, number) => [distance, number]));
  const markInstant = (cell: Cell): Cell => {
    const number = numberOfInstant.get(distanceIn(cell) ?? Number.NaN);
    return number === undefined ? cell : Buffer.from(markOf('instant', number), 'latin1').readBigInt64BE();
  };
  const markMonth = (cell: Cell): Cell => {
    const number = numberOfMonth.get(monthDistance(cell) ?? Number.NaN);
    return number === undefined ? cell : markOf('month', number);
  };
  const markUuids = (cell: Cell): Cell =>
    typeof cell !== 'string'
      ? cell
      : cell.replaceAll(uuidPattern, (digits) => {
          const number = numberOfInstant.get(distanceOfDigits(digits) ?? Number.NaN);
          return number === undefined ? digits : markOf('uuid', number);
        });
  const marks = table.columns.map(({ name }, n) => {
    const column = `${table.name}.${name}`;
    const cells = table.rows.map((row) => row[n] ?? null).filter((cell) => cell !== null);
    if (cells.length > 0 && cells.every((cell) => distanceIn(cell) !== undefined)) return markInstant;
    if (cells.some((cell) => distanceIn(cell) !== undefined))
      throw new Error(`${column} has instants and other numbers`);
    if (cells.length > 0 && cells.every((cell) => monthIn(cell) !== undefined)) return markMonth;
    const absolute = cells.find(
      (cell) =>
        typeof cell === 'string' &&
        ((instantPattern.test(cell) && !columnsWithFixedDates.has(column)) || cell.includes(markStart)),
    );
    if (absolute !== undefined) throw new Error(`${column} has a text with an instant: ${absolute}`);
    return markUuids;
  });
  return { ...table, rows: table.rows.map((row) => row.map((cell, n) => (marks[n] ?? markUuids)(cell))) };
}

/** Pages in which no row and no index entry needs more than one page, so that no mark spans two. */
const pageSize = 8192;

/** Returns the bytes of a database with these rows, the indexes of their tables, and the last ids of all tables of `app`. */
function databaseOf({ db }: App, tables: readonly Filled[]): Buffer {
  return withDatabase(':memory:', (handle) => {
    handle.pragma(`page_size = ${pageSize}`);
    handle.pragma('foreign_keys = OFF');
    // Free space must not contain parts of marks.
    handle.pragma('secure_delete = ON');
    // Marks are longer or larger than some columns allow.
    handle.pragma('ignore_check_constraints = ON');
    for (const { columns, name, rows } of tables) {
      const isOnInsert = sql`type = 'trigger' AND tbl_name = ${name} AND sql LIKE '%INSERT ON%'`;
      // It would run for some rows only: SQLite copies no stored rows into a table with one.
      if (db.value(sql`SELECT 1 FROM sqlite_schema WHERE ${isOnInsert}`)) throw new Error(`${name} has a trigger`);
      const isObject = sql`type IN ('table', 'index') AND tbl_name = ${name} AND sql IS NOT NULL`;
      for (const text of db.values<string>(sql`SELECT sql FROM sqlite_schema WHERE ${isObject} ORDER BY rowid`))
        handle.exec(text);
      const insert = handle.prepare(`INSERT INTO ${quoted(name)} VALUES (${columns.map(() => '?').join(', ')})`);
      for (const row of rows) insert.run(row);
    }
    handle.exec('DELETE FROM sqlite_sequence');
    const sequence = handle.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
    for (const { name, seq } of db.all<{ name: string; seq: number }>(sql`SELECT name, seq FROM sqlite_sequence`))
      sequence.run(name, seq);
    handle.exec('VACUUM');
    return handle.serialize();
  });
}

/** Instants at which the order of all values is tested. From 2004 and 2039, the times of uuids have another leading digit. */
const testedInstants = ['1999-12-31T23:59:59Z', '2005-10-01T06:00:00Z', '2040-06-01T18:30:00Z'].map(
  (text) => Date.parse(text) * 1000,
);

/** Throws unless an image has these rows at the reference, and is sound at any time. */
function requireSame(image: Buffer, tables: readonly Filled[]): void {
  for (const now of [reference, ...testedInstants]) {
    const snapshot = splitImage(Buffer.from(image));
    fillMarks(snapshot, now);
    withDatabase(snapshot.database, (handle) => {
      const result = handle.pragma('integrity_check', { simple: true });
      if (result !== 'ok') throw new Error(`the sample data at ${now} is damaged: ${result}`);
      const different = tables.find(
        (table) => now === reference && !isDeepStrictEqual(rowsOf(handle, table), table.rows),
      );
      if (different) throw new Error(`${different.name} of the sample data differs from the history`);
    });
  }
}
