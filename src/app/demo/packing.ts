/** Builds the snapshot of the sample data. Runs only in the build. */
import SQLite from 'better-sqlite3';
import { createFirstUser } from '../../accounts/session/initial-password.ts';
import type { App } from '../../kernel/app.ts';
import { settableClock } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { openDeployment } from '../compose/composition.ts';
import { packTable, packText } from '../export/packed-rows.ts';
import { rowsOf, type StoredValue, type Table, tablesOf } from '../export/tables.ts';
import { loadConfig } from '../settings.ts';
import { seedByHistory } from './demo.ts';
import { reference } from './plan.ts';
import { type DemoSnapshot, originAt } from './snapshot.ts';

/** Returns the snapshot as text, reproducibly. Throws if a value cannot be shifted to another start time. */
export async function packedDemo(): Promise<string> {
  const config = loadConfig({ input: { log_level: 'silent' } });
  const { app, close } = openDeployment(config, { clock: settableClock(reference), folder: undefined });
  try {
    // Reserve the id of the first user in the database to fill.
    await createFirstUser(app, undefined);
    const before = contentsOf(app);
    const usagesBefore = new Map(usagesOf(app));
    const origin = originAt(reference, 'the hash of the password of all people');
    await seedByHistory(app, origin.passwordHash);
    const after = contentsOf(app);
    const snapshot: DemoSnapshot = {
      schema: Number(app.db.pragma('user_version')),
      tables: after.tables
        .map((table) => packTable(app, table, newRows(table.name, before.rows, after.rows), origin))
        .filter(({ columns }) => columns.some(({ values }) => values.length > 0)),
      usages: Object.fromEntries(usagesOf(app).map(([name, usage]) => [name, usage - (usagesBefore.get(name) ?? 0)])),
      sequences: Object.fromEntries(after.rows.get('sqlite_sequence') ?? []),
    };
    return packText(snapshot, origin);
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

/** Tables whose initial rows the history changes: quotas of the deployment, and the last ids. */
const changingTables = new Set(['quota', 'quota_version', 'sqlite_sequence']);

/** Returns the rows that the history added. Throws if it changed other rows. */
function newRows(table: string, before: Contents['rows'], after: Contents['rows']): readonly StoredValue[][] {
  if (table === 'sqlite_sequence') return [];
  const keyOf = (row: StoredValue[]): string => JSON.stringify(changingTables.has(table) ? row[0] : row);
  const known = new Set(before.get(table)?.map(keyOf));
  const all = after.get(table) ?? [];
  const rows = all.filter((row) => !known.has(keyOf(row)));
  if (all.length - rows.length !== known.size) throw new Error(`the sample data changes rows of ${table}`);
  return rows;
}

/** The usages of the deployment's quotas by name. */
const usagesOf = ({ db }: App): readonly (readonly [name: string, usage: number])[] =>
  db
    .all<{ name: string; usage: number }>(sql`SELECT name, usage FROM quota WHERE scope_kind = 'global'`)
    .map(({ name, usage }) => [name, usage]);
