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

/** The list of a provider, and the state of our rows at the start of the listing. */
export interface Listing {
  /** Listed objects by `<Type>.<Kind> <id at the provider>`. */
  readonly listed: ReadonlyMap<string, BackendObject>;
  /** Revisions of the resources by id. */
  readonly revisions: ReadonlyMap<number, number>;
}

type BackendQuotas = Readonly<Record<string, { readonly limit: number; readonly usage: number }>>;

/** Stores reported usages, and the limits of backend quotas. */
export function takeUsages(
  context: Context,
  id: number,
  { ownQuotas }: ResourceKind,
  values: PlainValues,
  listing?: Listing,
): void {
  // Drivers return quotas in this form, which the type of plain values does not express.
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
 * Returns the usages that a provider's figures for a resource, such as a tenant, do not include yet, by quota name: accepted
 * creations missing in its list, and accepted changes listed with old values (events.md 2.2). Without a listing, all operations
 * in progress count as missing.
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
  // Jobs come and go with every synchronisation, but a job with reservations also changes the state of its resource.
  const children = db.versions.unobserved(() => childrenOf(db, parent));
  for (const child of children) {
    const isNewer = !listing || listing.revisions.get(child.id) !== child.revision;
    const isWaiting = child.state === 'Creation Scheduled' || child.state === 'Creating';
    // Most children are unchanged and idle, so their rows are not read.
    if (!isNewer && !isWaiting && child.parameters === null) continue;
    const row = knownResource(db, child.id);
    const listed = row.backend_id === '' ? undefined : listing?.listed.get(`${row.kind} ${row.backend_id}`);
    if (isWaiting || (listing && !listing.revisions.has(row.id))) {
      if (!listed) add(quotaDeltasOf(catalogue, row));
      continue;
    }
    // The row already includes jobs that have ended meanwhile, but the list does not.
    const hasEnded = listing && row.state === 'OK' && isNewer;
    if (hasEnded && listed)
      add([...quotaDeltasOf(catalogue, asListed(row, listed), -1), ...quotaDeltasOf(catalogue, row)]);
    if (!listed || sizes.every((name) => asListed(row, listed)[name] === row[name]))
      add(reservedIn(child.parameters).quotas);
  }
  return sums;
}

/** Returns the children of a parent, with the states and job parameters that decide whether a child counts. */
const childrenOf = (
  db: Database,
  parent: number,
): (Pick<ResourceRow, 'id' | 'revision' | 'state'> & { readonly parameters: string | null })[] =>
  db.all(sql`
    SELECT r.id, r.revision, r.state, j.parameters
    FROM resource r LEFT JOIN job j ON j.resource_id = r.id AND j.parameters LIKE '%"demands"%'
    WHERE r.parent_id = ${parent}`);

/** Returns a row with the sizes from the provider's list. */
function asListed(row: ResourceRow, { values }: BackendObject): ResourceRow {
  const listedSizes = sizes.flatMap((name) => (typeof values[name] === 'number' ? [[name, values[name]]] : []));
  return { ...row, ...Object.fromEntries(listedSizes) };
}
