import type { Endpoint, Method } from '../../kernel/collection/endpoint.ts';
import { pluralOf } from '../../kernel/collection/wording.ts';
import { namesOf } from '../../kernel/present.ts';

/** Verbs of operations on objects. */
const verbs: Readonly<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Converts `Service Settings` and `OpenStack.Tenant` to `ServiceSettings` and `OpenStackTenant`. */
const joined = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Converts `JIRAWebhook` to `jiraWebhook` and `EventCount` to `eventCount`. */
const camel = (words: string): string => words.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (capitals) => capitals.toLowerCase());

/** Names of operations with unclear paths. */
const nameOverrides: Readonly<Record<string, string>> = {
  'POST password': 'set_password',
  'GET link': 'importable_resources',
};

/**
 * Returns the operation ids of endpoints, which become function names in generated clients: `listCustomers`, `createCustomer`,
 * `getCustomer`, `changeOpenStackInstanceFlavor`. Throws if two differ only in case.
 */
export function operationIds(endpoints: readonly Endpoint[]): (endpoint: Endpoint, method: Method) => string {
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const ids = new Map(
    endpoints.flatMap((endpoint) =>
      namesOf(endpoint.operations).map((method): [string, string] => [
        `${method} ${endpoint.path}`,
        operationIdOf(endpoint, method, (path) => byPath.get(path)),
      ]),
    ),
  );
  const seen = new Map<string, string>();
  for (const [operation, id] of ids) {
    const other = seen.get(id.toLowerCase());
    if (other !== undefined) throw new Error(`${operation} and ${other} are both called ${id}`);
    seen.set(id.toLowerCase(), operation);
  }
  return ({ path }, method) => ids.get(`${method} ${path}`) ?? '';
}

/** Returns the id of one operation. `endpointAt` returns the endpoint with a path, with `:name` segments. */
export function operationIdOf(
  endpoint: Endpoint,
  method: Method,
  endpointAt: (path: string) => Pick<Endpoint, 'name'> | undefined,
): string {
  /** Returns the name of the objects at a path, prefixed by those of its parents: `WebHookDelivery`. */
  const objectAt = (path: string): string => {
    const named = endpointAt(path)?.name.replace(/ (Instance|List)$/, '') ?? '';
    const below = /^(.+\/:\w+\/)[^:]+\/(:\w+\/)?$/.exec(path)?.[1];
    return `${below === undefined ? '' : objectAt(below)}${joined(named)}`;
  };
  return idOf(endpoint, method, objectAt);
}

function idOf(
  { path, name, operationIdBase, operations }: Endpoint,
  method: Method,
  objectAt: (path: string) => string,
): string {
  const called = operationIdBase ?? name;
  if (/ Instance$/.test(called)) return (method === 'POST' ? 'post' : verbs[method]) + objectAt(path);
  if (/ List$/.test(called))
    return method === 'GET' ? `list${pluralOf(objectAt(path))}` : verbs[method] + objectAt(path);
  const [, parent, action] = /^(.+\/:\w+\/)([^:/]+)\/$/.exec(path) ?? [];
  const object = parent === undefined ? '' : objectAt(parent);
  if (object !== '' && action !== undefined) {
    const words = nameOverrides[`${method} ${action}`] ?? action;
    if (method === 'POST' && !operations.PUT) {
      const [verb = '', ...rest] = words.split('_');
      return verb + object + joined(rest.join(' '));
    }
    return (method === 'GET' && operations.GET?.paginated ? 'list' : verbs[method]) + object + joined(words);
  }
  if (method !== 'POST') return verbs[method] + joined(called);
  return operations.GET ? `post${joined(called)}` : camel(joined(called));
}
