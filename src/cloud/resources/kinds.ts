import { titleOf } from '../../kernel/collection/actions.ts';
import type { Endpoint, Operation } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { messageShape } from '../../kernel/collection/field.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { created, document } from '../../kernel/http/reply.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceList } from '../catalogue/type.ts';
import { actionEndpoints } from './actions.ts';
import { deleteResource } from './changes.ts';
import { createResource } from './creation.ts';
import { collectionOf } from './kind-collection.ts';
import { listParameters, orderingNames, periodEnd, periodParameter, resourcePage } from './listing.ts';
import { describeKind, describeResource } from './metadata.ts';
import { mayChangeResources } from './rights.ts';

/** List, detail and actions of one kind. */
function kindEndpoints(catalogue: Catalogue, typed: TypedKind): Endpoint[] {
  const kindObjects = collectionOf(typed);
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
    ...actionEndpoints(catalogue, typed),
    ...(typed.kind.lists ?? []).map((list) => listEndpoint(typed, catalogue.kind(list.kind), list)),
  ];
}

/** GET …/<name>/ of a resource: resources of some kind that it leads to. */
function listEndpoint(typed: TypedKind, listed: TypedKind, { condition, name }: ResourceList): Endpoint {
  const objects = collectionOf(typed);
  const items = collectionOf(listed);
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
        orderings: orderingNames([listed]),
        selectable: true,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: items.shape } },
        handle: (request) =>
          resourcePage(request, {
            conditions: [items.spec.visible(request.caller), condition(objects.find(request))],
            filters: {},
            kinds: [listed],
            represent: (ids) => items.listing.represent(request, ids, { detail: 0 }),
          }),
      },
    },
  };
}

/** Every path of every kind. */
export const kindsEndpoints = (catalogue: Catalogue): readonly Endpoint[] =>
  catalogue.kinds.flatMap((typed) => kindEndpoints(catalogue, typed));
