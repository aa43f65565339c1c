import { type Context, type Deployment, newUuid, ownContext } from '../access/deployment.ts';
import { type Json, listValue, numberValue, objectValue, linkValue, plainValue } from '../collection/representation.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { conflict } from '../http/error.ts';

const counted = ['nc_app_count', 'nc_private_cloud_count', 'nc_resource_count', 'nc_service_project_link_count',
  'nc_snapshot_size', 'nc_storage_count', 'nc_vm_count', 'nc_volume_size'] as const;

/** The quotas every object of a kind carries from its creation on (core.md 10.2). */
export const quotaNames = {
  customer: [...counted, 'nc_project_count', 'nc_service_count', 'nc_user_count'],
  project: [...counted, 'nc_snapshot_count', 'nc_volume_count'],
  global: ['nc_global_customer_count', 'nc_global_project_count'],
} as const;

export type ScopeKind = keyof typeof quotaNames;

/** One quota and by how much a change would add to it. */
export interface Demand {
  readonly scope: ScopeKind;
  /** Id of the scope's row; 0 for global quotas. */
  readonly id: number;
  readonly name: string;
  readonly delta: number;
}

/** Creates the quotas of a new object: unlimited, unused. */
export function createQuotas({ deployment, now }: Context, scope: ScopeKind, id: number): void {
  for (const name of quotaNames[scope]) {
    deployment.db.insert('quota', { uuid: newUuid(deployment), scope_kind: scope, scope_id: id, name, created: now });
  }
}

/** Removes the quotas of an object that is deleted. */
export function deleteQuotas(db: Database, scope: ScopeKind, id: number): void {
  db.run(sql`DELETE FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id}`);
}

/** Creates the deployment's own quotas on its first start. */
export function ensureGlobalQuotas(deployment: Deployment): void {
  const { db } = deployment;
  if (db.value(sql`SELECT 1 FROM quota WHERE scope_kind = 'global'`) === undefined) db.write(() => createQuotas(ownContext(deployment), 'global', 0));
}

/** Throws 409 naming every quota that the demands would exceed (core.md 10.3). */
export function requireQuotas(db: Database, demands: readonly Demand[]): void {
  const exceeded = demands
    .filter((demand) => demand.delta > 0)
    .flatMap((demand) => {
      const quota = db.get<{ limit: number; usage: number }>(sql`SELECT "limit", usage FROM quota
        WHERE scope_kind = ${demand.scope} AND scope_id = ${demand.id} AND name = ${demand.name}`);
      if (!quota || quota.limit === -1 || quota.usage + demand.delta <= quota.limit) return [];
      return [{ demand, quota, scope: scopeName(db, demand) }];
    })
    .sort((a, b) => (a.demand.name < b.demand.name ? -1 : a.demand.name > b.demand.name ? 1 : 0));
  if (exceeded.length === 0) return;
  const texts = exceeded.map(({ demand, quota, scope }) =>
    `${demand.name} quota limit: ${decimal(quota.limit)}, requires ${decimal(quota.usage + demand.delta)}${scope}`);
  throw conflict(`One or more quotas were exceeded: ${texts.join('; ')}`);
}

/** Adds to usages in the transaction of the counted change; never below zero. */
export function countQuotas(db: Database, demands: readonly Demand[]): void {
  for (const { scope, id, name, delta } of demands) {
    if (delta !== 0) {
      db.run(sql`UPDATE quota SET usage = max(0, usage + ${delta}) WHERE scope_kind = ${scope} AND scope_id = ${id} AND name = ${name}`);
    }
  }
}

/** Sets a usage that is recounted rather than added to. */
export function setUsage(db: Database, scope: ScopeKind, id: number, name: string, usage: number): void {
  db.run(sql`UPDATE quota SET usage = ${usage} WHERE scope_kind = ${scope} AND scope_id = ${id} AND name = ${name} AND usage <> ${usage}`);
}

/** Usages of an object by name. */
export function usages(db: Database, scope: ScopeKind, id: number): ReadonlyMap<string, number> {
  const rows = db.all<{ name: string; usage: number }>(sql`SELECT name, usage FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id}`);
  return new Map(rows.map((row) => [row.name, row.usage]));
}

function scopeName(db: Database, demand: Demand): string {
  if (demand.scope === 'global') return '';
  const row = demand.scope === 'customer'
    ? db.get<{ name: string; abbreviation: string }>(sql`SELECT name, abbreviation FROM customer WHERE id = ${demand.id}`)
    : db.get<{ name: string; abbreviation: string }>(sql`SELECT name, '' AS abbreviation FROM project WHERE id = ${demand.id}`);
  return ` (${row?.name}${row?.abbreviation ? ` (${row.abbreviation})` : ''})`;
}

/** A number with at least one decimal, as quota messages and contexts write it. */
export const decimal = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

/** The quotas embedded in an object, by name. `idColumn` is the SQL of the object's id. */
export const embeddedQuotas = (scope: ScopeKind, idColumn: string): Json =>
  listValue(
    objectValue({
      url: linkValue('quotas', 'q.uuid'),
      uuid: plainValue('q.uuid'),
      name: plainValue('q.name'),
      limit: numberValue('q."limit"'),
      usage: numberValue('q.usage'),
    }),
    `quota q WHERE q.scope_kind = '${scope}' AND q.scope_id = ${idColumn}`,
    'q.name',
  );
