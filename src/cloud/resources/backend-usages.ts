import { changeQuota, type QuotaDelta, quotasOf, setUsage } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { BackendObject, PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { ResourceKind } from '../catalogue/type.ts';
import { quotaDeltasOf, reservedIn } from './counting.ts';
import { knownResource } from './resource.ts';

/** The list of a provider, and the state of our rows when listing began. */
export interface Listing {
  /** By `<Type>.<Kind> <id at the provider>`. */
  readonly listed: ReadonlyMap<string, BackendObject>;
  /** Revisions of the resources by id. */
  readonly revisions: ReadonlyMap<number, number>;
}

type BackendQuotas = Readonly<Record<string, { readonly limit: number; readonly usage: number }>>;

/** Stores the usages that a provider reports, and the limits of backend quotas. */
export function takeUsages(
  context: Context,
  id: number,
  { ownQuotas }: ResourceKind,
  values: PlainValues,
  listing?: Listing,
): void {
  // Drivers return quotas in this form, which the type of plain values cannot express.
  const backendQuotas = (ownQuotas?.areReported ? values.quotas : undefined) as BackendQuotas | undefined;
  const pending = backendQuotas && pendingUsages(context.app, id, listing);
  const quotas = backendQuotas && quotasOf(context.app.db, 'resource', id);
  for (const [name, { limit, usage }] of Object.entries(backendQuotas ?? {})) {
    const quota = quotas?.get(name);
    if (quota) changeQuota(context, quota, { limit, usage: Math.max(0, usage + (pending?.get(name) ?? 0)) });
  }
  for (const name of ownQuotas?.usages ?? []) {
    const usage = values[name];
    if (typeof usage === 'number') setUsage(context, 'resource', id, name, usage);
  }
}

const sizes = ['cores', 'ram', 'disk', 'size'] as const;

/**
 * Returns the usages of a resource such as a tenant that the figures of its provider do not include yet, by the name of the
 * quota: accepted creations that the provider does not list, and accepted changes that it lists with the old values (events.md
 * 2.2). Without a listing, all operations in progress count as missing.
 */
function pendingUsages(
  app: Pick<App, 'catalogue' | 'db'>,
  parent: number,
  listing: Listing | undefined,
): ReadonlyMap<string, number> {
  const { catalogue, db } = app;
  const sums = new Map<string, number>();
  const add = (deltas: readonly QuotaDelta[]): void => {
    for (const { delta, id, name, scope } of deltas)
      if (scope === 'resource' && id === parent) sums.set(name, (sums.get(name) ?? 0) + delta);
  };
  // Jobs come and go with every synchronisation. One with reservations changes the state of its resource, too.
  const children = db.versions.unobserved(() => childrenOf(db, parent));
  for (const child of children) {
    const isNewer = !listing || listing.revisions.get(child.id) !== child.revision;
    const isWaiting = child.state === 'Creation Scheduled' || child.state === 'Creating';
    // Most children are as they were, with nothing under way: their rows are not read.
    if (!isNewer && !isWaiting && child.parameters === null) continue;
    const row = knownResource(db, child.id);
    const listed = row.backend_id === '' ? undefined : listing?.listed.get(`${row.kind} ${row.backend_id}`);
    if (isWaiting || (listing && !listing.revisions.has(row.id))) {
      if (!listed) add(quotaDeltasOf(catalogue, row));
      continue;
    }
    // Jobs that have ended since are in the row, but not yet in the list.
    const hasEnded = listing && row.state === 'OK' && isNewer;
    if (hasEnded && listed)
      add([...quotaDeltasOf(catalogue, asListed(row, listed), -1), ...quotaDeltasOf(catalogue, row)]);
    if (!listed || sizes.every((name) => asListed(row, listed)[name] === row[name]))
      add(reservedIn(child.parameters).quotas);
  }
  return sums;
}

/** The children of a parent: their states, and the parameters of jobs that have counted quotas, which decide whether a child counts. */
const childrenOf = (
  db: Database,
  parent: number,
): (Pick<ResourceRow, 'id' | 'revision' | 'state'> & { readonly parameters: string | null })[] =>
  db.all(sql`
    SELECT r.id, r.revision, r.state, j.parameters
    FROM resource r LEFT JOIN job j ON j.resource_id = r.id AND j.parameters LIKE '%"demands"%'
    WHERE r.parent_id = ${parent}`);

/** A row with the sizes that its provider has listed. */
function asListed(row: ResourceRow, { values }: BackendObject): ResourceRow {
  const listedSizes = sizes.flatMap((name) => (typeof values[name] === 'number' ? [[name, values[name]]] : []));
  return { ...row, ...Object.fromEntries(listedSizes) };
}
