/**
 * Database rows as text with relative times, so that they can be stored as of another instant. Instants and the times in uuids
 * become offsets from the text's origin, months become numbers, secrets become plain text, and the common password hash is left
 * out. The values of a column determine its form.
 */
import type { App } from '../../kernel/app.ts';
import { day } from '../../kernel/clock.ts';
import { raw, sql, type Value } from '../../kernel/db/sql.ts';
import { encryptedColumns } from '../data/encryption.ts';
import { columnList, quoted, type StoredValue, type Table } from './tables.ts';

/** Base values of relative columns. */
export interface Origin {
  readonly now: number;
  readonly month: number;
  readonly passwordHash: string;
}

/** Values of `steps` and `instants` are differences from the previous row; the first instant is relative to now. */
interface PackedColumn {
  readonly name: string;
  readonly form: 'plain' | 'steps' | 'instants' | 'months' | 'hex' | 'secrets' | 'passwords';
  readonly values: readonly (string | number | null)[];
}

/** Rows of a table in key order. */
export interface PackedTable {
  readonly name: string;
  readonly columns: readonly PackedColumn[];
}

/** The first line of a text. Other lines refer to a uuid by its number between two marks. */
interface Uuids {
  /** Milliseconds since the previous uuid. */
  readonly steps: readonly number[];
  /** The digits after the time. */
  readonly digits: readonly string[];
}

const mark = '\x7f';
const uuidPattern = /(?<![0-9a-f])[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}(?![0-9a-f])/g;
const timeDigits = 12;

/** Instants are within this distance of now, and no other numbers are. */
const maxDistance = 1500 * day;
const isInstant = (value: unknown, { now }: Origin): boolean =>
  typeof value === 'number' && Math.abs(value - now) < maxDistance;

/** Detects timestamps in texts: ISO 8601, or microseconds. */
const instantPattern = /\b20\d\d-\d\d-\d\dT\d\d|\b1[45]\d{14}\b/;

/** Offers of simulated vendors, whose dates are not shifted. */
const columnsWithFixedDates: ReadonlySet<string> = new Set(['property.details']);

/** Packs rows of a table. Throws if a column mixes instants with other numbers, or has instants in texts. */
export function packTable(
  app: App,
  { columns, name }: Table,
  rows: readonly StoredValue[][],
  origin: Origin,
): PackedTable {
  const ids = rows.map((row) => row[columns.findIndex((column) => column.name === 'id')] ?? null);
  const packed = columns.map((column, n) => {
    const cells = rows.map((row) => row[n] ?? null);
    return secretsOf(app, name, column.name, cells, ids) ?? packColumn(name, column.name, cells, origin);
  });
  return { name, columns: packed };
}

function packColumn(table: string, name: string, cells: readonly StoredValue[], origin: Origin): PackedColumn {
  const filled = cells.filter((value) => value !== null);
  const every = (rule: (value: StoredValue) => boolean): boolean => filled.length > 0 && filled.every(rule);
  const packed = (form: PackedColumn['form'], pack: (value: StoredValue) => string | number): PackedColumn => ({
    name,
    form,
    values: cells.map((value) => (value === null ? null : pack(value))),
  });
  const stepsFrom = (start: number): ((value: StoredValue) => number) => {
    let last = start;
    return (value) => {
      const step = Number(value) - last;
      last = Number(value);
      return step;
    };
  };
  if (every((value) => value instanceof Uint8Array)) return packed('hex', (value) => (value as Buffer).toString('hex'));
  if (every((value) => value === origin.passwordHash)) return packed('passwords', () => 1);
  if (every((value) => isInstant(value, origin))) return packed('instants', stepsFrom(origin.now));
  if (filled.some((value) => isInstant(value, origin)))
    throw new Error(`${table}.${name} has instants and other numbers`);
  if (every((value) => monthIn(value) !== undefined))
    return packed('months', (value) => Number(monthIn(value)) - origin.month);
  if (every((value) => Number.isInteger(value))) return packed('steps', stepsFrom(0));
  const hasFixedDates = columnsWithFixedDates.has(`${table}.${name}`);
  const absolute = filled.find((value) => {
    const text = String(value);
    return (instantPattern.test(text) && !hasFixedDates) || text.includes(mark);
  });
  if (absolute !== undefined) throw new Error(`${table}.${name} has a text with an instant: ${absolute}`);
  return { name, form: 'plain', values: cells as (string | number | null)[] };
}

/** Decrypts a column of encrypted values; undefined for any other column. */
function secretsOf(
  app: App,
  table: string,
  name: string,
  cells: readonly StoredValue[],
  ids: readonly StoredValue[],
): PackedColumn | undefined {
  const isEncrypted = encryptedColumns.some((each) => each.table === table && each.column === name);
  if (!isEncrypted || cells.every((value) => value === null)) return undefined;
  const values = cells.map((value, n) =>
    value instanceof Uint8Array ? app.secrets.open(value, ownerOf(app, table, name, Number(ids[n]))) : null,
  );
  return { name, form: 'secrets', values };
}

/** Returns the uuid that an encrypted value is bound to. */
function ownerOf({ db }: App, table: string, name: string, id: number): string {
  const uuid = encryptedColumns.find((each) => each.table === table && each.column === name)?.uuid ?? 'NULL';
  return db.scalar<string>(sql`SELECT ${raw(uuid)} FROM ${raw(quoted(table))} WHERE id = ${id}`);
}

/** Serialises a value with packed tables as ASCII, which takes half as long to read as other text. */
export function packText(value: object, origin: Origin): string {
  const json = JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped);
  const timeOf = (uuid: string): number => Number.parseInt(uuid.slice(0, timeDigits), 16);
  const uuids = [...new Set(json.match(uuidPattern))].filter((uuid) => isInstant(timeOf(uuid) * 1000, origin)).sort();
  const numbers = new Map(uuids.map((uuid, n) => [uuid, n]));
  const start = Math.floor(origin.now / 1000);
  const line: Uuids = {
    steps: uuids.map((uuid, n) => timeOf(uuid) - (n === 0 ? start : timeOf(uuids[n - 1] ?? ''))),
    digits: uuids.map((uuid) => uuid.slice(timeDigits)),
  };
  const text = json.replaceAll(uuidPattern, (uuid) => {
    const number = numbers.get(uuid);
    return number === undefined ? uuid : `${mark}${number.toString(36)}${mark}`;
  });
  return `${JSON.stringify(line)}\n${text}`;
}

/** Returns the JSON escape of a character. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Parses a text, with uuids as of an instant. */
export function unpackText(text: string, now: number): unknown {
  const end = text.indexOf('\n');
  const { digits, steps }: Uuids = JSON.parse(text.slice(0, end));
  let time = Math.floor(now / 1000);
  const uuids = steps.map((step, n) => {
    time += step;
    return `${time.toString(16).padStart(timeDigits, '0')}${digits[n]}`;
  });
  const parts = text.slice(end + 1).split(mark);
  for (let n = 1; n < parts.length; n += 2) parts[n] = uuids[Number.parseInt(parts[n] ?? '', 36)] ?? '';
  return JSON.parse(parts.join(''));
}

/** Stores packed rows, and encrypts their secrets with the keys of the deployment. Must run inside a write. */
export function storeTables(app: App, tables: readonly PackedTable[], origin: Origin): void {
  const { db, secrets } = app;
  // Rows of some tables reference each other.
  db.pragma('defer_foreign_keys = ON');
  for (const { columns, name } of tables) {
    const values = columns.map((column) => unpackColumn(column, origin));
    const marks = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${quoted(name)} (${columnList(columns.map((column) => column.name))}) VALUES (${marks})`;
    db.insertAll(text, rowsOf(values));
  }
  for (const { columns, name } of tables) {
    const ids = unpackColumn(
      columns.find((column) => column.name === 'id'),
      origin,
    );
    for (const column of columns.filter(({ form }) => form === 'secrets'))
      for (const [n, secret] of column.values.entries()) {
        const id = Number(ids[n]);
        if (secret === null) continue;
        db.update(name, id, { [column.name]: secrets.seal(String(secret), ownerOf(app, name, column.name, id)) });
      }
  }
}

/** Yields the rows of columns, each in the same array. */
function* rowsOf(columns: readonly (readonly Value[])[]): Generator<readonly Value[]> {
  const row: Value[] = columns.map(() => null);
  for (let n = 0; n < (columns[0]?.length ?? 0); n++) {
    for (let column = 0; column < columns.length; column++) row[column] = columns[column]?.[n] ?? null;
    yield row;
  }
}

/** Returns the stored values of a column, except secrets: encrypting them requires that their objects are stored first. */
function unpackColumn(column: PackedColumn | undefined, { month, now, passwordHash }: Origin): readonly Value[] {
  const { form, values } = column ?? { form: 'plain', values: [] };
  if (form === 'plain') return values;
  let last = form === 'instants' ? now : 0;
  return values.map((value) => {
    if (value === null || form === 'secrets') return null;
    if (form === 'passwords') return passwordHash;
    if (form === 'hex') return Buffer.from(String(value), 'hex');
    if (form === 'months') return monthName(month + Number(value));
    last += Number(value);
    return last;
  });
}

/** Numbers the month of an instant, from January of the year 0. */
export function monthOf(instant: number): number {
  const date = new Date(instant / 1000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Formats a month as `YYYY-MM`. */
export const monthName = (month: number): string =>
  `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;

/** Parses `YYYY-MM` to the number of the month; undefined for any other value. */
function monthIn(value: unknown): number | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(String(value)) ?? [];
  return year === undefined ? undefined : Number(year) * 12 + Number(month) - 1;
}
