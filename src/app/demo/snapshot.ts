/**
 * The sample data as the build stores it in the program: the rows that the history of the default seed leaves, with every instant
 * as its distance from now. Filling a database with them takes a tenth of the time that the history takes, and the result is the
 * same. See src/decisions/snapshots.md.
 */
import { isDeepStrictEqual } from 'node:util';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { SettingName } from '../../kernel/config/config.ts';
import { raw, sql, type Value } from '../../kernel/db/sql.ts';
import { embeddedDemo } from '../../kernel/native/embedded.ts';
import { builtIn } from '../compose/providers.ts';
import { encryptedColumns } from '../data/encryption.ts';
import { columnList, quoted } from '../export/tables.ts';
import { settingNames, settings } from '../settings.ts';
import { monthName, monthOf, sinceMeasured } from './measurements.ts';

/**
 * How the values of a column are stored: as they are; as the difference from the value above; as the difference from the instant
 * of the snapshot, and of that from the value above; as the number of months from its month; in hexadecimal digits; in plain
 * text, where the database holds it encrypted; or not at all, where it is the hash of the password that all people have.
 */
type Form = 'plain' | 'steps' | 'instants' | 'months' | 'hex' | 'sealed' | 'password';

export interface StoredColumn {
  readonly name: string;
  readonly form: Form;
  readonly values: readonly (string | number | null)[];
}

interface StoredTable {
  readonly name: string;
  readonly columns: readonly StoredColumn[];
}

export interface DemoSnapshot {
  /** Number of the schema that the rows are of. */
  readonly schema: number;
  /** Rows of a table in the order of its key. */
  readonly tables: readonly StoredTable[];
  /** By how much the usage of each quota of the deployment grows. */
  readonly usages: Readonly<Record<string, number>>;
  /** The last id that each table has given, where ids are never used twice. */
  readonly sequences: Readonly<Record<string, number>>;
}

/**
 * What stands for a uuid in the text of a snapshot: its number in a list, between these marks. Uuids begin with the time of their
 * object, so that they move along with now.
 */
export const mark = '\x7f';

/** The text of a snapshot: a line with the uuids, as milliseconds after the one before and the other digits; then its JSON. */
export interface UuidLine {
  readonly steps: readonly number[];
  readonly digits: readonly string[];
}

/** Settings that the history of the sample data does not depend on. With another value of any other one, the history itself runs. */
const independent: ReadonlySet<SettingName> = new Set([
  ...(['host', 'port', 'admin_listen', 'tls_cert_file', 'tls_key_file', 'data'] as const),
  ...(['max_body_bytes', 'body_budget_bytes', 'max_connections', 'max_connections_per_address'] as const),
  ...(['keep_alive_timeout', 'memory_budget_bytes', 'trusted_proxies', 'native_name_enabled'] as const),
  ...(['event_stream_heartbeat', 'event_streams_per_user', 'max_event_streams'] as const),
  ...(['hooks_allowed_networks', 'encryption_keys', 'settings_sync_interval', 'console_enabled'] as const),
  ...(['backup_before_upgrade', 'follow_interval', 'litestream_program', 'log_file', 'log_level'] as const),
  ...(['native_cache', 'tenant_credentials_visible'] as const),
]);

/**
 * The snapshot, where its rows are what the history would leave in this database: it has no rows but those of a first start, and
 * nothing is set that the history depends on. Undefined elsewhere, and in development, where the history runs.
 */
export function fittingSnapshot({ catalogue, clock, config, db }: App): DemoSnapshot | undefined {
  if (catalogue !== builtIn) return undefined;
  if (settingNames.some((name) => !independent.has(name) && !isDeepStrictEqual(config[name], settings[name].fallback)))
    return undefined;
  const text = embeddedDemo();
  const snapshot = text === undefined ? undefined : readSnapshot(text, clock.now());
  if (snapshot?.schema !== Number(db.pragma('user_version'))) return undefined;
  const hasOthers = snapshot.tables.some(
    ({ name }) =>
      db.value(sql`SELECT 1 FROM ${raw(quoted(name))} AS t WHERE NOT (${raw(expected[name] ?? 'FALSE')}) LIMIT 1`) !==
      undefined,
  );
  return hasOthers ? undefined : snapshot;
}

/** The rows that a database has from its first start on, and their ids, which the snapshot leaves free. */
const expected: Readonly<Record<string, string>> = {
  quota: "scope_kind = 'global'",
  quota_version: "quota_id IN (SELECT id FROM quota WHERE scope_kind = 'global')",
  user: "id = 1 AND username = 'admin' AND email = ''",
  token: 'id = 1 AND user_id = 1',
};

/** Reads the text of a snapshot, with the uuids that it has at an instant. */
function readSnapshot(text: string, now: number): DemoSnapshot {
  const end = text.indexOf('\n');
  const { digits, steps }: UuidLine = JSON.parse(text.slice(0, end));
  const uuids: string[] = [];
  let time = Math.floor(now / 1000);
  for (const [n, step] of steps.entries()) {
    time += step;
    uuids.push(`${time.toString(16).padStart(12, '0')}${digits[n]}`);
  }
  const parts = text.slice(end + 1).split(mark);
  for (let n = 1; n < parts.length; n += 2) parts[n] = uuids[Number.parseInt(parts[n] ?? '', 36)] ?? '';
  return JSON.parse(parts.join(''));
}

/** Stores the rows of a snapshot as of now; `passwordHash` is that of the password of all people. Must run inside a write. */
export function fillFrom({ sequences, tables, usages }: DemoSnapshot, app: App, passwordHash: string): void {
  const { clock, db } = app;
  const now = clock.now();
  // Rows of some tables name each other.
  db.pragma('defer_foreign_keys = ON');
  for (const { columns, name } of tables) {
    const values = columns.map((column) => valuesOf(column, now, passwordHash));
    const marks = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${quoted(name)} (${columnList(columns.map((column) => column.name))}) VALUES (${marks})`;
    const count = values[0]?.length ?? 0;
    for (let row = 0; row < count; row++) db.run({ text, values: values.map((column) => column[row] ?? null) });
  }
  for (const table of tables) sealSecrets(table, app);
  for (const [name, last] of Object.entries(sequences))
    db.run(sql`UPDATE sqlite_sequence SET seq = ${last} WHERE name = ${name}`);
  const context = systemContext(app);
  for (const [name, growth] of Object.entries(usages)) {
    const quota = quotaOf(db, 'global', 0, name);
    if (quota) changeQuota(context, quota, { usage: quota.usage + growth });
  }
}

/** The values of a column as the database holds them; no secrets, which are encrypted for objects that have to be stored first. */
function valuesOf({ form, values }: StoredColumn, now: number, passwordHash: string): readonly Value[] {
  if (form === 'plain') return values;
  const month = monthOf(now - sinceMeasured);
  let last = form === 'instants' ? now : 0;
  return values.map((value) => {
    if (value === null || form === 'sealed') return null;
    if (form === 'password') return passwordHash;
    if (form === 'hex') return Buffer.from(String(value), 'hex');
    if (form === 'months') return monthName(month + Number(value));
    last += Number(value);
    return last;
  });
}

/** Encrypts the secrets of a table's rows with the keys of the deployment. */
function sealSecrets({ columns, name }: StoredTable, { db, secrets }: App): void {
  const ids = columns.find((column) => column.name === 'id');
  for (const column of columns) {
    const owner =
      column.form === 'sealed' && encryptedColumns.find((each) => each.table === name && each.column === column.name);
    if (!owner || !ids) continue;
    const rows = valuesOf(ids, 0, '');
    for (const [n, secret] of column.values.entries()) {
      const id = rows[n];
      if (secret === null || typeof id !== 'number') continue;
      const uuid = db.scalar<string>(sql`SELECT ${raw(owner.uuid)} FROM ${raw(name)} WHERE id = ${id}`);
      db.update(name, id, { [column.name]: secrets.seal(String(secret), uuid) });
    }
  }
}
