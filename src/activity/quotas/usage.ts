import { type Context, systemContext } from '../../kernel/access/context.ts';
import { type App, newUuids } from '../../kernel/app.ts';
import {
  type Json,
  linkValue,
  listValue,
  numberValue,
  objectValue,
  plainValue,
} from '../../kernel/collection/representation.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration } from '../../kernel/config/setting.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql, type Value } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import { conflict } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';
import type { ScopeKind } from '../scopes/scope.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof quotaSettings> {}
}

/** The quota settings. */
export const quotaSettings = {
  quota_history_retention: duration<null>(null, 'How long the history of quotas is stored; default: for ever.'),
} satisfies Settings;

const common = [
  'nc_app_count',
  'nc_private_cloud_count',
  'nc_resource_count',
  'nc_service_project_link_count',
  'nc_snapshot_size',
  'nc_storage_count',
  'nc_vm_count',
  'nc_volume_size',
] as const;

/** The quotas of every object of a kind (events.md 2.1). */
export const quotaNames = {
  customer: [...common, 'nc_project_count', 'nc_service_count', 'nc_user_count'],
  project: [...common, 'nc_snapshot_count', 'nc_volume_count'],
  global: ['nc_global_customer_count', 'nc_global_project_count'],
} as const;

/** Kinds of objects that can have quotas. */
type QuotaScope = ScopeKind | 'global';

export interface QuotaRow {
  readonly id: number;
  readonly uuid: string;
  readonly scope_kind: QuotaScope;
  /** Id of the scope's row; 0 for global quotas. */
  readonly scope_id: number;
  readonly name: string;
  readonly limit: number;
  readonly usage: number;
  readonly threshold: number;
  readonly is_backend: number;
  /** The last percentage of the limit that users were notified of; 0 for none. */
  readonly reported_percent: number;
  /** Time of the oldest version in the history. */
  readonly first_at: number;
  readonly first_limit: number;
  readonly first_usage: number;
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    readonly quotaChanged: (context: Context, before: QuotaRow, after: QuotaRow) => void;
  }
}

/** A quota and the amount that a change adds to it. */
export interface QuotaDelta {
  readonly scope: QuotaScope;
  readonly id: number;
  readonly name: string;
  readonly delta: number;
}

/** Creates the quotas of a new object (default: unlimited) in one statement, because they are most of its rows. */
export function createQuotas(
  context: Context,
  scope: QuotaScope,
  id: number,
  names: readonly string[],
  limits: Readonly<Record<string, number>> = {},
  areBackend = false,
): void {
  if (names.length === 0) return;
  const uuids = newUuids(context.app, names.length);
  const values: Value[] = [scope, id, context.now, Number(areBackend)];
  let i = 0;
  for (const name of names) values.push(present(uuids[i++]), name, limits[name] ?? -1);
  const text = insertions.get(names.length) ?? insertionOf(names.length);
  context.app.db.run({ text, values });
}

/** Statement texts by number of quotas. SQLite reads VALUES faster than JSON. */
const insertions = new Map<number, string>();

/** OR FAIL avoids SQLite's statement journal, because the entire transaction is rolled back anyway. */
function insertionOf(count: number): string {
  const text = `INSERT OR FAIL INTO quota (uuid, scope_kind, scope_id, name, "limit", first_at, first_limit, is_backend)
    SELECT column1, scope, id, column2, column3, now, column3, backend
    FROM (SELECT ? AS scope, ? AS id, ? AS now, ? AS backend), (VALUES ${'(?, ?, ?), '.repeat(count - 1)}(?, ?, ?))`;
  insertions.set(count, text);
  return text;
}

/** Creates the global quotas on the first start. */
export function ensureGlobalQuotas(app: App): void {
  const { db } = app;
  const exist = (): boolean => db.value(sql`SELECT 1 FROM quota WHERE scope_kind = 'global'`) !== undefined;
  if (exist()) return;
  // Check again inside the transaction: another process may have created them.
  db.write(() => exist() || createQuotas(systemContext(app), 'global', 0, quotaNames.global));
}

/** Returns a quota by its scope and name. */
export const quotaOf = (db: Database, scope: QuotaScope, id: number, name: string): QuotaRow | undefined =>
  db.get<QuotaRow>(sql`SELECT * FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id} AND name = ${name}`);

/** Returns the quotas of a scope by name. */
export const quotasOf = (db: Database, scope: QuotaScope, id: number): ReadonlyMap<string, QuotaRow> =>
  new Map(
    db
      .all<QuotaRow>(sql`SELECT * FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id}`)
      .map((quota) => [quota.name, quota]),
  );

/** A change to an existing quota. */
interface QuotaChange {
  readonly quota: QuotaRow;
  readonly delta: number;
}

const changesOf = (db: Database, deltas: readonly QuotaDelta[]): QuotaChange[] =>
  sumByQuota(deltas).flatMap(({ delta, id, name, scope }) => {
    const quota = delta === 0 ? undefined : quotaOf(db, scope, id, name);
    return quota ? [{ quota, delta }] : [];
  });

/** Throws 409 with the sorted names of all quotas that the combined changes would exceed (events.md 2.2). */
export const requireQuotas = ({ app }: Pick<Context, 'app'>, deltas: readonly QuotaDelta[]): void =>
  rejectExcess(app, changesOf(app.db, deltas));

/** Checks the limits like `requireQuotas`, then adds the changes to the usages in the same transaction. Throws 409. */
export function spendQuotas(context: Context, deltas: readonly QuotaDelta[]): void {
  const changes = changesOf(context.app.db, deltas);
  rejectExcess(context.app, changes);
  for (const { delta, quota } of changes) addUsage(context, quota, delta);
}

function rejectExcess(app: App, changes: readonly QuotaChange[]): void {
  const exceeded = changes.filter(
    ({ delta, quota }) => delta > 0 && quota.limit !== -1 && quota.usage + delta > quota.limit,
  );
  if (exceeded.length === 0) return;
  const texts = exceeded
    .sort(({ quota: a }, { quota: b }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(
      ({ delta, quota }) =>
        `${quota.name} quota limit: ${decimal(quota.limit)}, requires ${decimal(quota.usage + delta)}${scopeName(app, quota)}`,
    );
  throw conflict(`One or more quotas were exceeded: ${texts.join('; ')}`);
}

/** Adds up the changes of each quota. */
function sumByQuota(deltas: readonly QuotaDelta[]): readonly QuotaDelta[] {
  if (deltas.length === 1) return deltas;
  const sums = new Map<string, QuotaDelta>();
  for (const change of deltas) {
    const key = `${change.scope} ${change.id} ${change.name}`;
    sums.set(key, { ...change, delta: change.delta + (sums.get(key)?.delta ?? 0) });
  }
  return [...sums.values()];
}

/** Adds to usages in the same transaction as the counted change. A usage is never negative. */
export function countQuotas(context: Context, deltas: readonly QuotaDelta[]): void {
  for (const { delta, id, name, scope } of deltas) {
    const quota = delta === 0 ? undefined : quotaOf(context.app.db, scope, id, name);
    if (quota) addUsage(context, quota, delta);
  }
}

const addUsage = (context: Context, quota: QuotaRow, delta: number): void =>
  changeQuota(context, quota, { usage: Math.max(0, quota.usage + delta) });

/** Sets a usage to a recounted value. */
export function setUsage(context: Context, scope: QuotaScope, id: number, name: string, usage: number): void {
  const quota = quotaOf(context.app.db, scope, id, name);
  if (quota) changeQuota(context, quota, { usage });
}

/** Changes a quota: updates the row, adds a version to its history and runs the reactions. Every change goes through it. */
export function changeQuota(
  context: Context,
  quota: QuotaRow,
  change: Partial<Pick<QuotaRow, 'limit' | 'usage' | 'threshold'>>,
): void {
  const after: QuotaRow = { ...quota, ...change };
  const hasVersion = after.limit !== quota.limit || after.usage !== quota.usage;
  if (!hasVersion && after.threshold === quota.threshold) return;
  const { db } = context.app;
  db.run(sql`
    UPDATE quota
    SET "limit" = ${after.limit}, usage = ${after.usage}, threshold = ${after.threshold}
    WHERE id = ${quota.id}`);
  if (hasVersion) {
    // Even if the clock was set back, the version must not be earlier than the previous one.
    db.run(sql`
      INSERT INTO quota_version (quota_id, at, "limit", usage)
      VALUES (
        ${quota.id},
        max(${context.now}, ${quota.first_at}, ifnull((SELECT max(at) FROM quota_version WHERE quota_id = ${quota.id}), 0)),
        ${after.limit}, ${after.usage})
      ON CONFLICT DO UPDATE SET "limit" = excluded."limit", usage = excluded.usage`);
  }
  context.app.reactions.quotaChanged(context, quota, after);
}

/**
 * Removes a batch of versions older than quota_history_retention. The newest removed version of a quota becomes the first version
 * of its history. Returns whether more remain.
 */
export function foldOldVersions({ app, now }: Context): boolean {
  const { config, db } = app;
  if (config.quota_history_retention === null) return false;
  const end = now - config.quota_history_retention;
  return removeStep((limit) => {
    const old = db.all<{ quota_id: number; at: number; limit: number; usage: number }>(sql`
      SELECT * FROM quota_version
      WHERE at < ${end}
      ORDER BY at, quota_id
      LIMIT ${limit}`);
    for (const { at, limit, quota_id: quota, usage } of old) {
      db.run(sql`
        UPDATE quota
        SET first_at = ${at}, first_limit = ${limit}, first_usage = ${usage}
        WHERE id = ${quota}`);
      db.run(sql`DELETE FROM quota_version WHERE quota_id = ${quota} AND at = ${at}`);
    }
    return old.length;
  });
}

/** Returns the usages of an object by quota name. */
export function usages(db: Database, scope: QuotaScope, id: number): ReadonlyMap<string, number> {
  const rows = db.all<{ name: string; usage: number }>(
    sql`SELECT name, usage FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id}`,
  );
  return new Map(rows.map((row) => [row.name, row.usage]));
}

/** Formats the scope of a quota for an error message: ` (<name> (<abbreviation>))`. */
function scopeName({ db, scopes }: App, { scope_id: id, scope_kind: kind }: QuotaRow): string {
  if (kind === 'global') return '';
  const { scope_abbreviation: abbreviation, scope_name: name } = scopes.of(kind).scope(db, id);
  return ` (${name}${abbreviation ? ` (${abbreviation})` : ''})`;
}

/** Formats a quota with at least one decimal for messages and contexts. */
export const decimal = (value: number): string => (Number.isSafeInteger(value) ? `${value}.0` : format(value));

let decimals: Intl.NumberFormat | undefined;

/** Formats a number. Creates the formatter lazily: few servers need it, and the first one in a process takes 10 ms. */
function format(value: number): string {
  decimals ??= new Intl.NumberFormat('en-US', {
    useGrouping: false,
    minimumFractionDigits: 1,
    maximumFractionDigits: 20,
  });
  return decimals.format(value);
}

/** The quotas embedded in an object, by name. `idColumn` is SQL for its id. Empty unless the SQL condition `shownIf` holds. */
export const embeddedQuotas = (scope: QuotaScope, idColumn: string, shownIf = 'TRUE'): Json =>
  listValue(
    objectValue({
      url: linkValue('quotas', 'q.uuid'),
      uuid: plainValue('q.uuid'),
      name: plainValue('q.name'),
      limit: numberValue('q."limit"'),
      usage: numberValue('q.usage'),
    }),
    `quota q WHERE q.scope_kind = '${scope}' AND q.scope_id = ${idColumn} AND (${shownIf})`,
    'q.name',
  );
