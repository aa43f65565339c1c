import { hasScope } from '../../kernel/access/api-key.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Action } from '../../kernel/collection/action.ts';
import { Collection } from '../../kernel/collection/collection.ts';
import type { Narrowing } from '../../kernel/collection/object-options.ts';
import { sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import { present } from '../../kernel/present.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { kindActions } from './actions.ts';
import { deletionOf, updateOf } from './changes.ts';
import { creationOf, type KindSpec, type NewOfKind } from './creation.ts';
import { fieldsOfKind, type KindFields, parents } from './fields.ts';
import {
  listParameters,
  orderingNames,
  periodEnd,
  periodOf,
  periodParameter,
  resourceFilters,
  resourcePage,
} from './listing.ts';
import { knownResource } from './resource.ts';
import { resourceReaders } from './rights.ts';

type KindCollection = Collection<KindFields, ResourceRow, NewOfKind>;

/** Whether the response is a single object, which includes related resources. */
const isDetail = (request: Request): number =>
  request.params.key !== undefined || request.incoming.method === 'POST' ? 1 : 0;

/** Adds the secrets that the fields allow to a single object. */
const withSecrets =
  (secrets: readonly string[]) =>
  (request: Request, id: number, text: string): string => {
    if (secrets.length === 0) return text;
    const displayed: PlainValues = JSON.parse(text);
    const names = secrets.filter((name) => name in displayed);
    if (names.length === 0) return text;
    const { secrets: sealed, uuid } = knownResource(request.db, id);
    const opened: PlainValues = sealed === null ? {} : JSON.parse(request.app.secrets.open(sealed, uuid));
    return JSON.stringify({ ...displayed, ...Object.fromEntries(names.map((name) => [name, opened[name] ?? ''])) });
  };

/** Whether responses may contain passwords, which an API key for reading does not show (core.md 2.9). */
const showsPasswords = ({ caller: { apiKey } }: Request): boolean => !apiKey || hasScope(apiKey, 'resources', 'write');

/** Returns filters for links in a resource's forms: its settings and its tenant (or the resource itself if it is one). */
function narrowingOf({ db }: Request, row: ResourceRow): Narrowing {
  const settings = db.scalar<string>(sql`SELECT uuid FROM service_settings WHERE id = ${row.settings_id}`);
  const tenant = db.value<string>(
    sql`SELECT uuid FROM resource WHERE id = ${row.kind === 'OpenStack.Tenant' ? row.id : row.parent_id}`,
  );
  return { settings, ...(tenant && { tenant }) };
}

/** Returns a page of a list. All lists of resources share their filters and orderings. */
const pageOfKind = (
  typed: TypedKind,
  visible: KindSpec['visible'],
  filters: KindSpec['filters'],
): NonNullable<KindSpec['page']> => ({
  filters: listParameters,
  orderings: orderingNames([typed]),
  run: (request, listing) =>
    resourcePage(request, {
      conditions: [visible.condition(request.caller, request.config)],
      filters,
      kinds: [typed],
      represent: (ids) => listing.representMany(request, ids),
    }),
});

/** The collection of a kind. */
export const collectionOf = memoised((typed: TypedKind): KindCollection => {
  const { kind, name } = typed;
  const filters = { ...resourceFilters, ...kind.filters };
  const visible: KindSpec['visible'] = {
    ...resourceReaders,
    condition: (...requested) => sql`r.kind = ${name} AND ${resourceReaders.condition(...requested)}`,
  };
  return new Collection<KindFields, ResourceRow, NewOfKind>({
    path: kind.path,
    kind: name,
    description: `Resources of type ${name}.`,
    table: 'resource',
    alias: 'r',
    fields: fieldsOfKind(typed),
    parents,
    visible,
    parameters: (request) => ({
      period: periodOf(request),
      detail: isDetail(request),
      credentials: Number(request.config.tenant_credentials_visible),
      passwords: Number(showsPasswords(request)),
    }),
    examples: {
      ...(kind.examples && { replace: { name: kind.examples.name, description: 'Used by the shop.' } }),
      change: { tags: ['environment:production'] },
    },
    filters,
    orderings: {},
    order: '-r.created',
    page: pageOfKind(typed, visible, filters),
    detail: { filters: { period: periodParameter }, until: periodEnd, complete: withSecrets(kind.shownSecrets ?? []) },
    options: { actions: () => actionsOf(typed), inList: true, narrowing: narrowingOf },
    ...(kind.isCreatable && { create: creationOf(typed) }),
    ...(kind.isUpdatable !== false && { update: updateOf(typed) }),
    delete: deletionOf(typed),
  });
});

/** Returns the actions of a kind, including those of every kind. */
export const actionsOf = memoised((typed: TypedKind): readonly Action<ResourceRow>[] =>
  kindActions(typed, collectionOf(typed), (created) => collectionOf(typed.catalogue.kind(created))),
);

/** Returns the JSON texts of resources of any kinds, in the order of the ids. */
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
    const displayed = collectionOf(request.app.catalogue.kind(kind)).listing.representMany(request, own);
    for (const [i, id] of own.entries()) texts.set(id, present(displayed[i]));
  }
  return ids.flatMap((id) => texts.get(id) ?? []);
}
