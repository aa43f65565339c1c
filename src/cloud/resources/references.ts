import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/** Finds the id of the resource of a link with this kind and id at the provider. */
export type ResourceFinder = (link: number, kind: string, backendId: string) => number | undefined;

const finder =
  (db: Database): ResourceFinder =>
  (link, kind, backendId) =>
    db.value<number>(sql`
      SELECT id FROM resource WHERE link_id = ${link} AND kind = ${kind} AND backend_id = ${backendId}`);

/** Caches lookups, for a transaction that does not add, remove or renumber resources. */
export function cachedFinder(db: Database): ResourceFinder {
  const find = finder(db);
  const known = new Map<string, number | undefined>();
  return (link, kind, backendId) => {
    const key = `${link} ${kind} ${backendId}`;
    if (!known.has(key)) known.set(key, find(link, kind, backendId));
    return known.get(key);
  };
}

/** Returns columns derived from values with provider ids of other objects; null for unknown objects. */
export function referredColumns(
  { catalogue, db }: App,
  resource: Pick<ResourceRow, 'kind' | 'link_id'>,
  values: PlainValues,
  find = finder(db),
): Record<string, number | null> {
  const columns: Record<string, number | null> = {};
  for (const [column, { kind, value }] of Object.entries(catalogue.kind(resource.kind).kind.references ?? {})) {
    const backendId = values[value];
    if (typeof backendId !== 'string') continue;
    columns[column] = backendId === '' ? null : (find(resource.link_id, kind, backendId) ?? null);
  }
  return columns;
}
