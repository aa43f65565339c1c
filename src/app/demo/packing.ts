/** Makes the snapshot of the sample data; runs in the build alone. */
import SQLite from 'better-sqlite3';
import { createFirstUser } from '../../accounts/session/initial-password.ts';
import type { App } from '../../kernel/app.ts';
import { day, settableClock } from '../../kernel/clock.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { openDeployment } from '../compose/composition.ts';
import { encryptedColumns } from '../data/encryption.ts';
import { type Column, rowsOf, type StoredValue, type Table, tablesOf } from '../export/tables.ts';
import { loadConfig } from '../settings.ts';
import { seedByHistory } from './demo.ts';
import { monthOf, parseMonth, sinceMeasured } from './measurements.ts';
import { reference } from './plan.ts';
import { type DemoSnapshot, mark, type StoredColumn, type UuidLine } from './snapshot.ts';

/** Instants of the sample data lie so near to now, past and to come; no other number in it is as large. */
const span = 1500 * day;

const isInstant = (value: unknown): boolean => typeof value === 'number' && Math.abs(value - reference) < span;

/** The text of the snapshot, the same at every build of the same program. Throws where something of it would not move along with now. */
export async function packedDemo(): Promise<string> {
  const clock = settableClock(reference);
  const config = loadConfig({ input: { log_level: 'silent' } });
  const { app, close } = openDeployment(config, { clock, folder: undefined });
  try {
    // Its id stays free for the first user of the database that is filled.
    await createFirstUser(app, undefined);
    const before = contentsOf(app);
    const hash = 'the hash of the password of all people';
    await seedByHistory(app, hash);
    const after = contentsOf(app);
    return textOf({
      schema: Number(app.db.pragma('user_version')),
      tables: after.tables.flatMap(({ columns, name }) => {
        const rows = newRows(name, before.rows.get(name) ?? [], after.rows.get(name) ?? []);
        return rows.length === 0
          ? []
          : [{ name, columns: columns.map((column, n) => packed(app, name, column, columns, n, rows, hash)) }];
      }),
      usages: usagesAdded(before, after),
      sequences: Object.fromEntries((after.rows.get('sqlite_sequence') ?? []).map(([name, last]) => [name, last])),
    } as DemoSnapshot);
  } finally {
    close();
  }
}

interface Contents {
  readonly tables: readonly Table[];
  readonly rows: ReadonlyMap<string, readonly StoredValue[][]>;
}

function contentsOf(app: App): Contents {
  const handle = new SQLite(app.db.serialize());
  try {
    const tables = tablesOf(handle);
    return { tables, rows: new Map(tables.map((table) => [table.name, [...rowsOf(handle, table)]])) };
  } finally {
    handle.close();
  }
}

/** Tables of which rows that exist at the first start change: the quotas of the deployment, and what says which ids were given. */
const changing = new Set(['quota', 'quota_version', 'sqlite_sequence']);

/** The rows that the history has added. Throws where it has changed others. */
function newRows(
  table: string,
  before: readonly StoredValue[][],
  after: readonly StoredValue[][],
): readonly StoredValue[][] {
  if (table === 'sqlite_sequence') return [];
  const known = new Set(before.map((row) => JSON.stringify(row)));
  if (!changing.has(table)) {
    const rows = after.filter((row) => !known.has(JSON.stringify(row)));
    if (after.length - rows.length !== known.size) throw new Error(`the sample data changes rows of ${table}`);
    return rows;
  }
  const keys = new Set(before.map(([key]) => key));
  return after.filter(([key]) => !keys.has(key ?? null));
}

/** By how much the usages of the deployment's quotas have grown. */
function usagesAdded(before: Contents, after: Contents): Record<string, number> {
  const columns = after.tables.find(({ name }) => name === 'quota')?.columns.map(({ name }) => name) ?? [];
  const [name, usage] = [columns.indexOf('name'), columns.indexOf('usage')];
  const later = new Map((after.rows.get('quota') ?? []).map((row) => [row[0], Number(row[usage])]));
  return Object.fromEntries(
    (before.rows.get('quota') ?? []).map((row) => [row[name], (later.get(row[0]) ?? 0) - Number(row[usage])]),
  );
}

/** A column of a table. Throws where it holds instants and something else, or texts that name instants. */
function packed(
  app: App,
  table: string,
  { name }: Column,
  columns: readonly Column[],
  place: number,
  rows: readonly StoredValue[][],
  hash: string,
): StoredColumn {
  const where = `${table}.${name}`;
  const cells = rows.map((row) => row[place] ?? null);
  const filled = cells.filter((value) => value !== null);
  const every = (rule: (value: StoredValue) => boolean): boolean => filled.length > 0 && filled.every(rule);
  const mapped = (form: StoredColumn['form'], map: (value: StoredValue) => string | number): StoredColumn => ({
    name,
    form,
    values: cells.map((value) => (value === null ? null : map(value))),
  });
  const stepsFrom = (start: number): ((value: StoredValue) => number) => {
    let last = start;
    return (value) => {
      const step = Number(value) - last;
      last = Number(value);
      return step;
    };
  };
  const sealed = encryptedColumns.find((each) => each.table === table && each.column === name);
  if (sealed && filled.length > 0) {
    const ids = columns.findIndex((column) => column.name === 'id');
    const values = rows.map((row) => {
      const value = row[place];
      if (!(value instanceof Uint8Array)) return null;
      return app.secrets.open(
        value,
        app.db.scalar<string>(sql`SELECT ${raw(sealed.uuid)} FROM ${raw(table)} WHERE id = ${Number(row[ids])}`),
      );
    });
    return { name, form: 'sealed', values };
  }
  if (every((value) => value instanceof Uint8Array)) return mapped('hex', (value) => (value as Buffer).toString('hex'));
  if (every((value) => value === hash)) return mapped('password', () => 1);
  if (every(isInstant)) return mapped('instants', stepsFrom(reference));
  if (filled.some(isInstant)) throw new Error(`${where} holds instants and other numbers`);
  if (every((value) => typeof value === 'string' && parseMonth(value) !== undefined))
    return mapped('months', (value) => (parseMonth(String(value)) ?? 0) - monthOf(reference - sinceMeasured));
  if (every((value) => Number.isInteger(value))) return mapped('steps', stepsFrom(0));
  for (const value of filled)
    if (typeof value === 'string' && ((namesInstant.test(value) && !fixed.has(where)) || value.includes(mark)))
      throw new Error(`${where} holds a text that would not move along with now: ${value.slice(0, 200)}`);
  return { name, form: 'plain', values: cells as (string | number | null)[] };
}

/** What simulated vendors offer: the dates in it are theirs, and stay as they are. */
const fixed = new Set(['property.details']);

/** Texts with a time of day of the years of the history, or with microseconds. */
const namesInstant = /\b20\d\d-\d\d-\d\dT\d\d|\b1[45]\d{14}\b/;

const uuidPattern = /(?<![0-9a-f])[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}(?![0-9a-f])/g;
const timeDigits = 12;

function textOf(snapshot: DemoSnapshot): string {
  const start = Math.floor(reference / 1000);
  const numbers = new Map<string, number>();
  const timeOf = (uuid: string): number => Number.parseInt(uuid.slice(0, timeDigits), 16);
  const json = JSON.stringify(snapshot);
  const uuids = [...new Set(json.match(uuidPattern))].filter((uuid) => isInstant(timeOf(uuid) * 1000)).sort();
  for (const uuid of uuids) numbers.set(uuid, numbers.size);
  const line: UuidLine = {
    steps: uuids.map((uuid, n) => timeOf(uuid) - (n === 0 ? start : timeOf(uuids[n - 1] ?? ''))),
    digits: uuids.map((uuid) => uuid.slice(timeDigits)),
  };
  const text = json.replaceAll(uuidPattern, (uuid) => {
    const number = numbers.get(uuid);
    return number === undefined ? uuid : `${mark}${number.toString(36)}${mark}`;
  });
  return `${JSON.stringify(line)}\n${text}`;
}
