import type { Endpoint, Method } from '../../kernel/collection/endpoint.ts';
import { namesOf } from '../../kernel/names.ts';

type Links = Readonly<Record<string, unknown>>;

/** Returns the OpenAPI links of 201 responses, which lead to every operation on the created object. */
export function responseLinks(
  endpoints: readonly Endpoint[],
  idOf: (endpoint: Endpoint, method: Method) => string,
): (endpoint: Endpoint) => Links {
  const byCollection = new Map<string, Record<string, unknown>>();
  for (const endpoint of endpoints) {
    // Operations with a second key need more than the response has.
    const [, collection, rest] = /^([^:]+):key\/([^:]*)$/.exec(endpoint.path) ?? [];
    if (collection === undefined || rest === undefined) continue;
    const links = byCollection.get(collection) ?? {};
    byCollection.set(collection, links);
    const key = `$response.body#/${endpoint.key === 'pk' ? 'pk' : 'uuid'}`;
    for (const method of namesOf(endpoint.operations)) {
      const operationId = idOf(endpoint, method);
      links[operationId] = { operationId, parameters: { key } };
    }
  }
  return ({ path }) => byCollection.get(path) ?? {};
}
