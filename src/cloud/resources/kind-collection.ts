import type { Request } from '../../kernel/access/request.ts';
import { Collection, type CollectionSpec } from '../../kernel/collection/collection.ts';
import type { Fields } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { updateResource } from './changes.ts';
import { fieldsOfKind } from './fields.ts';
import { periodOf, resourceFilters } from './listing.ts';
import { resourceOf } from './resource.ts';
import { mayChangeResources, visibleResources } from './rights.ts';

export type KindCollection = Collection<Fields, ResourceRow>;

/** Whether the answer is a detail, which tells related resources. */
const isDetail = (request: Request): number =>
  request.params.key !== undefined || request.incoming.method === 'POST' ? 1 : 0;

/** Resources of a kind; details show the secrets that their fields let through. */
class KindObjects extends Collection<Fields, ResourceRow> {
  constructor(
    spec: CollectionSpec<Fields, ResourceRow>,
    private readonly secrets: readonly string[],
  ) {
    super(spec);
  }

  override represent(request: Request, id: number): string {
    const text = super.represent(request, id);
    if (this.secrets.length === 0) return text;
    const shown = JSON.parse(text) as Record<string, unknown>;
    const names = this.secrets.filter((name) => name in shown);
    if (names.length === 0) return text;
    const { secrets, uuid } = resourceOf(request.db, id) as ResourceRow;
    const opened =
      secrets === null ? {} : (JSON.parse(request.deployment.secrets.open(secrets, uuid)) as Record<string, unknown>);
    return JSON.stringify({ ...shown, ...Object.fromEntries(names.map((name) => [name, opened[name] ?? ''])) });
  }
}

/** The collection of a kind. */
export const collectionOf = memoised((typed: TypedKind): KindCollection => {
  const { kind, name } = typed;
  const fields = fieldsOfKind(typed);
  return new KindObjects(
    {
      path: kind.path,
      kind: name,
      description: `Resources of type ${name}.`,
      table: 'resource',
      alias: 'r',
      fields,
      visible: (caller) => sql`r.kind = ${name} AND ${visibleResources(caller)}`,
      selectable: true,
      parameters: (request) => ({
        period: periodOf(request),
        detail: isDetail(request),
        credentials: Number(request.config.tenant_credentials_visible),
      }),
      who: {
        read: 'Everybody who sees the project.',
        create: 'Staff; owners of the customer; managers and administrators of the project.',
        update: 'Staff; owners of the customer; managers and administrators of the project.',
        delete: 'Staff; owners of the customer; managers and administrators of the project.',
      },
      examples: {
        ...(kind.examples && { replace: { name: kind.examples.name, description: 'Used by the shop.' } }),
        change: { tags: ['environment:production'] },
      },
      filters: { ...resourceFilters, ...kind.filters },
      orderings: {},
      order: '-r.created',
      update: {
        may: (request, row) => mayChangeResources(request, row.project_id, row.customer_id),
        run: (request, row, values) => updateResource(request, typed, row, values),
      },
      delete: { may: () => true, run: () => undefined },
    },
    kind.shownSecrets ?? [],
  );
});

/** The JSON texts of resources of whatever kinds, in the order of their ids. */
export function representResources(request: Request, ids: readonly number[]): string[] {
  const kinds = new Map(
    request.db
      .all<{ id: number; kind: string }>(
        sql`SELECT id, kind FROM resource WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      )
      .map(({ id, kind }) => [id, kind]),
  );
  const texts = new Map<number, string>();
  for (const kind of new Set(kinds.values())) {
    const own = ids.filter((id) => kinds.get(id) === kind);
    const { listing } = collectionOf(request.deployment.catalogue.kind(kind));
    for (const [i, text] of listing.represent(request, own).entries()) texts.set(own[i] as number, text);
  }
  return ids.flatMap((id) => texts.get(id) ?? []);
}
