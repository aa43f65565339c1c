import type { Endpoint, Method } from '../../kernel/collection/endpoint.ts';
import { pluralOf } from '../../kernel/collection/wording.ts';
import { namesOf } from '../../kernel/names.ts';

/** What the operations of an object begin with. */
const verbs: Readonly<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** `Service Settings` and `OpenStack.Tenant` as `ServiceSettings` and `OpenStackTenant`; words of one path begin with capitals. */
const joined = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `JIRAWebhook` as `jiraWebhook`, `EventCount` as `eventCount`: capitals before another word go together. */
const camel = (words: string): string => words.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (capitals) => capitals.toLowerCase());

/** Paths below an object whose name does not tell what the method does. */
const spoken: Readonly<Record<string, string>> = {
  'POST password': 'set_password',
  'GET link': 'importable_resources',
};

/**
 * The ids of the operations of these endpoints, which generators make names of functions from: `listCustomers`,
 * `createCustomer`, `getCustomer`, `changeOpenStackInstanceFlavor`. Throws when two differ by nothing but case.
 */
export function operationIds(endpoints: readonly Endpoint[]): (endpoint: Endpoint, method: Method) => string {
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  /** The objects that a path of an object leads to, with those that it is below: `WebHookDelivery`. */
  const objectAt = (path: string): string => {
    const named = byPath.get(path)?.name.replace(/ (Instance|List)$/, '') ?? '';
    const below = /^(.+\/:\w+\/)[^:]+\/(:\w+\/)?$/.exec(path)?.[1];
    return `${below === undefined ? '' : objectAt(below)}${joined(named)}`;
  };
  const made = new Map(
    endpoints.flatMap((endpoint) =>
      namesOf(endpoint.operations).map((method): [string, string] => [
        `${method} ${endpoint.path}`,
        idOf(endpoint, method, objectAt),
      ]),
    ),
  );
  const seen = new Map<string, string>();
  for (const [operation, id] of made) {
    const other = seen.get(id.toLowerCase());
    if (other !== undefined) throw new Error(`${operation} and ${other} are both called ${id}`);
    seen.set(id.toLowerCase(), operation);
  }
  return ({ path }, method) => made.get(`${method} ${path}`) ?? '';
}

function idOf(
  { path, name, calledInIds, operations }: Endpoint,
  method: Method,
  objectAt: (path: string) => string,
): string {
  const called = calledInIds ?? name;
  if (/ Instance$/.test(called)) return (method === 'POST' ? 'post' : verbs[method]) + objectAt(path);
  if (/ List$/.test(called))
    return method === 'GET' ? `list${pluralOf(objectAt(path))}` : verbs[method] + objectAt(path);
  const [, parent, action] = /^(.+\/:\w+\/)([^:/]+)\/$/.exec(path) ?? [];
  if (parent !== undefined && action !== undefined) {
    const object = objectAt(parent);
    const said = spoken[`${method} ${action}`] ?? action;
    if (method === 'POST' && !operations.PUT) {
      const [verb = '', ...rest] = said.split('_');
      return verb + object + joined(rest.join(' '));
    }
    return (method === 'GET' && operations.GET?.paginated ? 'list' : verbs[method]) + object + joined(said);
  }
  if (method !== 'POST') return verbs[method] + joined(called);
  return operations.GET ? `post${joined(called)}` : camel(joined(called));
}
