import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Filter, type Filters, parameter, requireWords } from '../../kernel/collection/filter.ts';
import { textsOfKinds } from '../../kernel/collection/representation.ts';
import { among, any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { json } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import { present } from '../../kernel/present.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import { collectionOf, representResources } from './kind-collection.ts';
import { listParameters, orderingNames, resourceCondition, resourceFilters, resourcePage } from './listing.ts';
import { visibleResources } from './rights.ts';

/** Kinds in the summary: all except parts. */
const kindsOf = memoised((catalogue: Catalogue) => catalogue.kinds.filter(({ kind }) => !kind.isPart));

/** Fields of resources of all these kinds. */
const memberNames = memoised((catalogue: Catalogue): string[] =>
  kindsOf(catalogue).flatMap((typed) => Object.keys(collectionOf(typed).shape.properties ?? {})),
);

/** Returns the kinds that match the request's resource_type and category. */
function chosenKinds(request: Request): TypedKind[] {
  const { app, query } = request;
  const kinds = kindsOf(app.catalogue);
  requireWords(request, 'resource_type', (type) => kinds.some(({ name }) => name === type));
  for (const name of ['category', 'resource_category'])
    requireWords(request, name, (category) => kinds.some(({ kind }) => kind.category === category));
  const types = query.all('resource_type');
  const categories = ['category', 'resource_category'].flatMap((name) => query.one(name) ?? []);
  return kinds.filter(
    ({ kind, name }) =>
      (types.length === 0 || types.includes(name)) && categories.every((category) => category === kind.category),
  );
}

const ofKinds = ({ app }: Request, chosen: readonly TypedKind[]): Sql =>
  chosen.length === kindsOf(app.catalogue).length
    ? raw('r.is_part = 0')
    : sql`r.kind IN (SELECT value FROM json_each(${JSON.stringify(chosen.map(({ name }) => name))}))`;

const own = {
  resource_type: parameter('string', 'Type of the resource, such as DigitalOcean.Droplet.', true),
  category: parameter('string', 'vms, apps, private_clouds, storages.'),
  resource_category: parameter('string', 'The same.'),
  ...listParameters,
};

/** Filters of individual kinds. Kinds without the field ignore them. */
function kindFilters(kinds: readonly TypedKind[]): Filters {
  const names = new Set(
    kinds
      .flatMap(({ kind }) => Object.keys(kind.filters ?? {}))
      .filter((name) => !Object.hasOwn(resourceFilters, name)),
  );
  return Object.fromEntries([...names].map((name) => [name, kindFilter(kinds, name)]));
}

function kindFilter(kinds: readonly TypedKind[], name: string): Filter {
  const having = kinds.filter(({ kind }) => kind.filters && Object.hasOwn(kind.filters, name));
  return {
    ...present(having[0]?.kind.filters?.[name]),
    condition: (request) => {
      const conditions = having.flatMap((typed) => {
        const condition = typed.kind.filters?.[name]?.condition(request, name);
        return condition ? [sql`r.kind = ${typed.name} AND (${condition})`] : [];
      });
      return conditions.length === 0
        ? undefined
        : any([
            ...conditions,
            sql`NOT (${among(
              'r.kind',
              having.map((typed) => typed.name),
            )})`,
          ]);
    },
  };
}

/** GET /api/resources/ and its count (services.md 7.2). */
export function resourceEndpoints(catalogue: Catalogue): readonly Endpoint[] {
  const summaryFilters: Filters = { ...kindFilters(kindsOf(catalogue)), ...resourceFilters };
  return [listEndpoint(catalogue, summaryFilters), countEndpoint(summaryFilters)];
}

function listEndpoint(catalogue: Catalogue, summaryFilters: Filters): Endpoint {
  const kinds = kindsOf(catalogue);
  return {
    path: '/api/resources/',
    name: 'Resource List',
    description: 'Resources of every type.',
    operations: {
      GET: {
        summary: 'Lists the resources of every type that the caller sees.',
        allowedFor: authenticatedOver('resources').allowedFor,
        filters: { ...own, ...summaryFilters },
        orderings: orderingNames(kinds),
        paginated: true,
        output: {
          status: 200,
          shape: {
            type: 'array',
            items: { title: 'AnyResource', anyOf: kinds.map((typed) => collectionOf(typed).shape) },
          },
        },
        handle: (request) =>
          resourcePage(request, {
            conditions: [ofKinds(request, chosenKinds(request)), visibleResources(request.caller)],
            filters: summaryFilters,
            kinds,
            represent: (ids) =>
              textsOfKinds(
                request,
                () => memberNames(catalogue),
                (requested) => representResources(requested, ids),
              ),
          }),
      },
    },
  };
}

const countEndpoint = (summaryFilters: Filters): Endpoint => ({
  path: '/api/resources/count/',
  name: 'Resource Count',
  description: 'Counts of resources by type.',
  operations: {
    GET: {
      summary: 'Counts the resources the caller sees by type.',
      allowedFor: authenticatedOver('resources').allowedFor,
      filters: { ...own, ...summaryFilters },
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'integer' } } },
      handle: (request) => {
        const chosen = chosenKinds(request);
        const condition = resourceCondition(
          request,
          [ofKinds(request, chosen), visibleResources(request.caller)],
          summaryFilters,
        );
        const counts = new Map(
          request.db
            .all<{ kind: string; count: number }>(
              sql`SELECT r.kind, count(*) AS count FROM resource r WHERE ${condition} GROUP BY r.kind`,
            )
            .map(({ count, kind }) => [kind, count]),
        );
        return json(
          Object.fromEntries(
            chosen
              .map(({ name }) => name)
              .sort()
              .map((name) => [name, counts.get(name) ?? 0]),
          ),
        );
      },
    },
  },
});
