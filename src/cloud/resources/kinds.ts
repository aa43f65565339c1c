import type { Request } from '../../kernel/access/request.ts';
import { titleOf } from '../../kernel/collection/actions.ts';
import { Collection, type CollectionSpec } from '../../kernel/collection/collection.ts';
import type { Endpoint, Operation } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { type Fields, messageShape } from '../../kernel/collection/field.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { sql } from '../../kernel/db/sql.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { created, document } from '../../kernel/http/reply.ts';
import { resourceKind, resourceKinds, type TypedKind } from '../catalogue/registry.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { ResourceList } from '../catalogue/type.ts';
import { actionEndpoints } from './actions.ts';
import { deleteResource, updateResource } from './changes.ts';
import { createResource } from './creation.ts';
import { fieldsOfKind } from './fields.ts';
import {
  listParameters,
  orderingNames,
  periodEnd,
  periodOf,
  periodParameter,
  resourceFilters,
  resourcePage,
} from './listing.ts';
import { describeKind, describeResource } from './metadata.ts';
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

function kindCollection(typed: TypedKind): KindCollection {
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
}

/** The collection of each kind, by its full name. */
export const collectionsByKind = new Map(resourceKinds.map((typed) => [typed.name, kindCollection(typed)]));

/** The collection of a kind. */
export const collectionOf = (kind: string): KindCollection => collectionsByKind.get(kind) as KindCollection;

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
    for (const [i, text] of collectionOf(kind).listing.represent(request, own).entries())
      texts.set(own[i] as number, text);
  }
  return ids.flatMap((id) => texts.get(id) ?? []);
}

/** List, detail and actions of one kind. */
function kindEndpoints(typed: TypedKind): Endpoint[] {
  const kindObjects = collectionOf(typed.name);
  const [list, detail] = kindObjects.endpoints() as [Endpoint, Endpoint];
  const filters = kindObjects.spec.filters;
  const get: Operation = {
    ...(list.operations.GET as Operation),
    filters: { ...listParameters, ...filters },
    orderings: orderingNames([typed]),
    handle: (request) =>
      resourcePage(request, {
        conditions: [kindObjects.spec.visible(request.caller)],
        filters,
        kinds: [typed],
        represent: (ids) => kindObjects.listing.represent(request, ids),
      }),
  };
  const { create, name } = typed.kind.examples ?? {};
  const example = create && {
    name,
    service_project_link: exampleLink(`${typed.type.prefix}-service-project-link`),
    ...create,
  };
  const post: Operation = {
    summary: `Creates a ${typed.name}.`,
    who: kindObjects.spec.who?.create,
    input: { fields: kindObjects.spec.fields, purpose: 'create', ...(example && { example }) },
    output: { status: 201, shape: kindObjects.shape },
    handle: (request) => {
      const row = createResource(request, typed, validate(kindObjects.spec.fields, request, 'create'));
      const text = kindObjects.represent(request, row.id);
      return created(text, (JSON.parse(text) as { url: string }).url);
    },
  };
  const remove: Operation = {
    summary: `Deletes a ${typed.name}.`,
    who: kindObjects.spec.who?.delete,
    filters: Object.fromEntries(
      Object.entries(typed.kind.deletionFlags ?? {}).map(([name, fallback]) => [
        name,
        parameter('boolean', `Default: ${fallback}.`),
      ]),
    ),
    output: { status: 202, shape: messageShape },
    handle: (request) => {
      const row = kindObjects.find(request);
      if (!mayChangeResources(request, row.project_id, row.customer_id)) throw forbidden();
      return deleteResource(request, typed, row);
    },
  };
  const { PATCH, PUT } = detail.operations;
  const updates = typed.kind.isUpdatable === false ? {} : { ...(PUT && { PUT }), ...(PATCH && { PATCH }) };
  return [
    {
      ...list,
      operations: { GET: get, ...(typed.kind.isCreatable && { POST: post }) },
      metadata: (request) => describeKind(request, typed, kindObjects),
    },
    {
      ...detail,
      operations: {
        GET: {
          ...(detail.operations.GET as Operation),
          filters: { period: periodParameter },
          handle: (request) =>
            document(kindObjects.represent(request, kindObjects.find(request).id), {}, periodEnd(request)),
        },
        ...updates,
        DELETE: remove,
      },
      metadata: (request) => describeResource(request, typed, kindObjects),
    },
    ...actionEndpoints(typed, kindObjects, collectionOf),
    ...(typed.kind.lists ?? []).map((list) => listEndpoint(typed, kindObjects, list)),
  ];
}

/** GET …/<name>/ of a resource: resources of some kind that it leads to. */
function listEndpoint(typed: TypedKind, objects: KindCollection, { condition, kind, name }: ResourceList): Endpoint {
  const items = collectionOf(kind);
  const summary = `Lists ${name.replaceAll('_', ' ')} of a ${typed.name}.`;
  return {
    path: `/api/${typed.kind.path}/:key/${name}/`,
    name: `${typed.name} ${titleOf(name)}`,
    description: summary,
    actions: (request) => void objects.find(request),
    operations: {
      GET: {
        summary,
        who: objects.spec.who?.read,
        filters: listParameters,
        orderings: orderingNames([resourceKind(kind)]),
        selectable: true,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: items.shape } },
        handle: (request) =>
          resourcePage(request, {
            conditions: [items.spec.visible(request.caller), condition(objects.find(request))],
            filters: {},
            kinds: [resourceKind(kind)],
            represent: (ids) => items.listing.represent(request, ids, { detail: 0 }),
          }),
      },
    },
  };
}

/** Every path of every kind. */
export const kindsEndpoints: readonly Endpoint[] = resourceKinds.flatMap(kindEndpoints);
