import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { namesOf } from '../../kernel/present.ts';
import { changeQuota, createQuotas, type QuotaRow, quotaNames } from './usage.ts';

/** A quota whose usage differs from a recount. */
export interface Drift {
  readonly quota: QuotaRow;
  readonly counted: number;
}

/** Finds drifted quotas. Skips quotas that count resources. */
export function findDrift({ db, scopes }: Pick<App, 'db' | 'scopes'>): Drift[] {
  return namesOf(quotaNames).flatMap((kind) =>
    scopes.quotaCounts(kind).flatMap(([name, query]) =>
      db
        .all<QuotaRow & { counted: number }>(sql`
        SELECT q.*, ifnull(c.counted, 0) AS counted FROM quota q LEFT JOIN (${raw(query)}) c ON c.scope_id = q.scope_id
        WHERE q.scope_kind = ${kind} AND q.name = ${name} AND q.usage <> ifnull(c.counted, 0)`)
        .map(({ counted, ...quota }) => ({ quota, counted })),
    ),
  );
}

/** A quota that an object should have but does not. */
interface Missing {
  readonly scope: keyof typeof quotaNames;
  readonly id: number;
  readonly name: string;
}

/** Finds missing quotas. Without its quota, an object is neither counted nor limited. */
export function findMissing({ db, scopes }: Pick<App, 'db' | 'scopes'>): Missing[] {
  const ownersOf = (scope: keyof typeof quotaNames): Sql =>
    raw(scope === 'global' ? 'SELECT 0 AS id' : `SELECT id FROM ${scopes.of(scope).table}`);
  return namesOf(quotaNames).flatMap((scope) =>
    db
      .all<{
        id: number;
        name: string;
      }>(sql`SELECT o.id, n.value AS name FROM (${ownersOf(scope)}) o CROSS JOIN json_each(${JSON.stringify(quotaNames[scope])}) n
      WHERE NOT EXISTS (SELECT 1 FROM quota WHERE scope_kind = ${scope} AND scope_id = o.id AND name = n.value) ORDER BY o.id, n.value`)
      .map(({ id, name }) => ({ scope, id, name })),
  );
}

/** Creates missing quotas with usage 0. */
export function createMissing(app: App, missing: readonly Missing[]): void {
  const context = systemContext(app);
  app.db.write(() => {
    for (const { id, name, scope } of missing) createQuotas(context, scope, id, [name]);
  });
}

/** Corrects drifted usages with `changeQuota`. */
export function repairDrift(app: App, drifts: readonly Drift[]): void {
  const context: Context = systemContext(app);
  app.db.write(() => {
    for (const { counted, quota } of drifts) changeQuota(context, quota, { usage: counted });
  });
}
