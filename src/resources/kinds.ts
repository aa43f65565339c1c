import { Collection } from '../collection/collection.ts';
import type { Fields } from '../collection/field.ts';
import type { Endpoint, Operation } from '../collection/endpoint.ts';
import type { Request } from '../access/request.ts';
import { validate } from '../collection/validate.ts';
import { sql } from '../db/sql.ts';
import { forbidden } from '../http/error.ts';
import { created, document } from '../http/reply.ts';
import { type TypedKind, resourceKinds } from '../providers/registry.ts';
import { actionEndpoints } from './actions.ts';
import { createResource } from './creation.ts';
import { deleteResource, updateResource } from './changes.ts';
import { fieldsOfKind } from './fields.ts';
import { orderingNames, periodOf, resourceFilters, resourcePage } from './listing.ts';
import { describeKind, describeResource } from './metadata.ts';
import type { ResourceRow } from './resource.ts';
import { mayChangeResources, visibleResources } from './rights.ts';

export type KindCollection = Collection<Fields, ResourceRow>;

/** Whether the answer is a detail, which tells related resources. */
const isDetail = (request: Request): number => (request.params.key !== undefined || request.incoming.method === 'POST' ? 1 : 0);

function kindCollection(typed: TypedKind): KindCollection {
  const { kind, name } = typed;
  const fields = fieldsOfKind(typed);
  return new Collection<Fields, ResourceRow>({
    path: kind.path,
    kind: name,
    description: `Resources of type ${name}.`,
    table: 'resource',
    alias: 'r',
    fields,
    visible: (caller) => sql`r.kind = ${name} AND ${visibleResources(caller)}`,
    selectable: true,
    parameters: (request) => ({ period: periodOf(request), detail: isDetail(request) }),
    who: {
      read: 'Everybody who sees the project.',
      create: 'Staff; owners of the customer; managers and administrators of the project.',
      update: 'Staff; owners of the customer; managers and administrators of the project.',
      delete: 'Staff; owners of the customer; managers and administrators of the project.',
    },
    filters: { ...resourceFilters, ...kind.filters },
    orderings: {},
    order: '-r.created',
    update: {
      may: (request, row) => mayChangeResources(request, row.project_id, row.customer_id),
      run: (request, row, values) => updateResource(request, typed, row, values),
    },
    delete: { may: () => true, run: () => undefined },
  });
}

/** The collection of each kind, by its full name. */
export const collectionsByKind = new Map(resourceKinds.map((typed) => [typed.name, kindCollection(typed)]));

/** The collection of a kind. */
export const collectionOf = (kind: string): KindCollection => collectionsByKind.get(kind) as KindCollection;

/** The JSON texts of resources of whatever kinds, in the order of their ids. */
export function representResources(request: Request, ids: readonly number[]): string[] {
  const kinds = new Map(
    request.db.all<{ id: number; kind: string }>(sql`SELECT id, kind FROM resource WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`).map(({ id, kind }) => [id, kind]),
  );
  const texts = new Map<number, string>();
  for (const kind of new Set(kinds.values())) {
    const own = ids.filter((id) => kinds.get(id) === kind);
    collectionOf(kind).listing.represent(request, own).forEach((text, i) => texts.set(own[i] as number, text));
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
    orderings: orderingNames([typed]),
    handle: (request) =>
      resourcePage(request, {
        conditions: [kindObjects.spec.visible(request.caller)],
        filters,
        kinds: [typed],
        represent: (ids) => kindObjects.listing.represent(request, ids),
      }),
  };
  const post: Operation = {
    summary: `Creates a ${typed.name}.`,
    who: kindObjects.spec.who?.create,
    input: { fields: kindObjects.spec.fields, purpose: 'create' },
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
    output: { status: 202, shape: { type: 'object', properties: { detail: { type: 'string' } } } },
    handle: (request) => {
      const row = kindObjects.find(request);
      if (!mayChangeResources(request, row.project_id, row.customer_id)) throw forbidden();
      return deleteResource(request, typed, row);
    },
  };
  const { PATCH, PUT } = detail.operations;
  const updates = typed.kind.isUpdatable === false ? {} : { ...(PUT && { PUT }), ...(PATCH && { PATCH }) };
  return [
    { ...list, operations: { GET: get, ...(typed.kind.isCreatable && { POST: post }) }, metadata: (request) => describeKind(request, typed, kindObjects) },
    {
      ...detail,
      operations: { GET: { ...(detail.operations.GET as Operation), handle: (request) => document(kindObjects.represent(request, kindObjects.find(request).id)) }, ...updates, DELETE: remove },
      metadata: (request) => describeResource(request, typed, kindObjects),
    },
    ...actionEndpoints(typed, kindObjects),
  ];
}

/** Every path of every kind. */
export const kindsEndpoints: readonly Endpoint[] = resourceKinds.flatMap(kindEndpoints);

