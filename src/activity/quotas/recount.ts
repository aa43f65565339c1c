import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { namesOf } from '../../kernel/names.ts';
import { quotaNames } from './names.ts';
import { changeQuota, createQuotas, type QuotaRow } from './usage.ts';

/** A quota whose usage differs from a count from scratch. */
export interface Drift {
  readonly quota: QuotaRow;
  readonly counted: number;
}

/** Queries that count the usage of each quota from scratch: (scope_id, counted) for all scopes of a kind. */
const counts: Readonly<Record<string, Readonly<Record<string, Sql>>>> = {
  customer: {
    nc_project_count: sql`SELECT customer_id AS scope_id, count(*) AS counted FROM project GROUP BY customer_id`,
    nc_user_count: sql`
      SELECT scope_id, count(*) AS counted FROM (
        SELECT customer_id AS scope_id, user_id FROM active_customer_role
        UNION
        SELECT p.customer_id, r.user_id FROM active_project_role r JOIN project p ON p.id = r.project_id)
      GROUP BY scope_id`,
    nc_service_count: sql`SELECT customer_id AS scope_id, count(*) AS counted FROM service GROUP BY customer_id`,
    nc_service_project_link_count: sql`SELECT p.customer_id AS scope_id, count(*) AS counted
      FROM service_project_link l JOIN project p ON p.id = l.project_id GROUP BY p.customer_id`,
  },
  project: {
    nc_service_project_link_count: sql`SELECT project_id AS scope_id, count(*) AS counted FROM service_project_link GROUP BY project_id`,
  },
  global: {
    nc_global_customer_count: sql`SELECT 0 AS scope_id, count(*) AS counted FROM customer`,
    nc_global_project_count: sql`SELECT 0 AS scope_id, count(*) AS counted FROM project`,
  },
};

/** Finds drifted quotas. Skips quotas that count resources. */
export function findDrift({ db }: Pick<App, 'db'>): Drift[] {
  return Object.entries(counts).flatMap(([kind, names]) =>
    Object.entries(names).flatMap(([name, query]) =>
      db
        .all<QuotaRow & { counted: number }>(sql`
        SELECT q.*, ifnull(c.counted, 0) AS counted FROM quota q LEFT JOIN (${query}) c ON c.scope_id = q.scope_id
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
export function findMissing({ db }: Pick<App, 'db'>): Missing[] {
  const owners = {
    customer: raw('SELECT id FROM customer'),
    project: raw('SELECT id FROM project'),
    global: raw('SELECT 0 AS id'),
  };
  return namesOf(quotaNames).flatMap((scope) =>
    db
      .all<{
        id: number;
        name: string;
      }>(sql`SELECT o.id, n.value AS name FROM (${owners[scope]}) o CROSS JOIN json_each(${JSON.stringify(quotaNames[scope])}) n
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
