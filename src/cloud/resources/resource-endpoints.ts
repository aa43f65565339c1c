import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { titleOf } from '../../kernel/collection/object-options.ts';
import { withArticle } from '../../kernel/collection/wording.ts';
import { type LateEndpoints, late } from '../../kernel/http/router.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceList } from '../catalogue/type.ts';
import { actionsOf, collectionOf } from './kind-collection.ts';
import { listParameters, orderingNames, resourcePage } from './listing.ts';

/** The paths of one kind: list, object, actions and nested lists. */
const kindEndpoints = (catalogue: Catalogue, typed: TypedKind): Endpoint[] => [
  ...collectionOf(typed).endpoints(),
  ...actionsOf(typed).map(({ endpoint }) => endpoint),
  ...(typed.kind.lists ?? []).map((list) => listEndpoint(typed, catalogue.kind(list.kind), list)),
];

/** GET …/<name>/ of a resource: a nested list of resources. */
function listEndpoint(typed: TypedKind, listed: TypedKind, { condition, name }: ResourceList): Endpoint {
  const objects = collectionOf(typed);
  const items = collectionOf(listed);
  const summary = `Lists ${name.replaceAll('_', ' ')} of ${withArticle(objects.noun)}.`;
  return {
    path: `/api/${typed.kind.path}/:key/${name}/`,
    name: `${typed.name} ${titleOf(name)}`,
    description: summary,
    actions: (request) => void objects.find(request),
    operations: {
      GET: {
        summary,
        allowedFor: objects.spec.visible.allowedFor,
        filters: listParameters,
        orderings: orderingNames([listed]),
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: items.shape } },
        handle: (request) =>
          resourcePage(request, {
            conditions: [
              items.spec.visible.condition(request.caller, request.config),
              condition(objects.find(request)),
            ],
            filters: {},
            kinds: [listed],
            represent: (ids) => items.listing.representMany(request, ids, { detail: 0 }),
          }),
      },
    },
  };
}

/** Every path of every kind. */
export const kindsEndpoints = (catalogue: Catalogue): readonly LateEndpoints<Endpoint>[] =>
  catalogue.kinds.map((typed) => late(`/api/${typed.kind.path}/`, () => kindEndpoints(catalogue, typed)));
