/** core.md 2.9, 2.10: every operation with every scope, bound to another customer, and from a wrong network. */
import * as assert from 'uvu/assert';
import { describedScopes } from '../../../src/app/scopes/described-scopes.ts';
import { requiredScopes } from '../../../src/app/scopes/required-scopes.ts';
import { hasScope } from '../../../src/kernel/access/api-key.ts';
import { catalogue, documented } from '../../support/catalogue.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('every operation with every scope', { api_keys_per_user: 100 });
const closed = 'API keys cannot be used for this operation.';
const elsewhere = 'This API key cannot be used from this address.';
const lacks = /^This API key lacks the scope [a-z-]+:(read|write)\.$/;

/** A name that only objects outside the key's binding have. */
const marker = 'Marked';

const operations = documented
  .flatMap((endpoint) =>
    [...Object.keys(endpoint.operations), 'OPTIONS'].map((method) => ({
      method,
      route: endpoint.path,
      path: endpoint.path.replace(/:\w+/g, endpoint.key === 'pk' ? '0' : '0'.repeat(32)),
      isOpen: endpoint.open === true,
      required: requiredScopes(catalogue, endpoint, method),
    })),
  )
  // It would revoke the keys.
  .filter(({ method, path }) => !(method === 'DELETE' && path === '/api/api-keys/current/'));
const casesOfOperation = describedScopes.length + 2;

const keys = new Map<string, Client>();
let requestCount = 0;
let foreign: Client;
let bound: Client;
/** A marked object of each list, by the path of the list. */
const marked = new Map<string, string>();

/** Creates objects of many kinds outside the key's binding. The key's owner has all rights there. */
async function createMarked(alice: Json): Promise<void> {
  const { staff } = fixture;
  const customer = await fixture.customer(`${marker} customer`);
  const project = await fixture.project(`${marker} project`, customer);
  await fixture.grant(customer, alice, 'owner');
  const name = `${marker} object`;
  const service = await staff.post('/api/digitalocean/', { name, customer: customer.url });
  const bodies: [string, Json][] = [
    ['digitalocean-service-project-link', { service: service.body.url, project: project.url }],
    ['service-accounts', { name, project: project.url, role: 'admin' }],
    ['alerts', { scope: project.url, alert_type: 'noise', message: 'Loud.', severity: 'Info' }],
    ['events', { level: 'info', message: name, scope: project.url }],
  ];
  for (const [list, body] of bodies) {
    const { status } = await staff.post(`/api/${list}/`, body);
    assert.is(status, 201, list);
  }
  for (const { method, route } of operations) {
    if (method !== 'GET' || !/^\/api\/[a-z-]+\/$/.test(route)) continue;
    const { body } = await fixture.as('alice').get(`${route}?page_size=300`);
    if (!Array.isArray(body)) continue;
    const found = body.find((item) => item.url?.includes(route) && JSON.stringify(item).includes(marker));
    if (found) marked.set(route, found.url.split(route)[1].split('/')[0]);
  }
  assert.ok(marked.size > 8, [...marked.keys()].join(' '));
}

test.before(async () => {
  fixture.clock.hold();
  const user = await fixture.user('alice');
  const elsewhereCustomer = await fixture.customer('Elsewhere');
  await fixture.grant(elsewhereCustomer, user, 'owner');
  await createMarked(user);
  const alice = fixture.as('alice');
  const create = async (name: string, scopes: readonly string[], fields: Json = {}): Promise<Client> => {
    const { body, status } = await alice.post('/api/api-keys/', { name, scopes, ...fields });
    assert.is(status, 201, JSON.stringify(body));
    return new Client(fixture, body.key);
  };
  for (const { scope } of describedScopes) keys.set(scope, await create(scope, [scope]));
  const everything = ['*:write', 'operation:write', 'audit:read'];
  foreign = await create('from elsewhere', everything, { networks: ['192.0.2.0/24'] });
  bound = await create('bound elsewhere', everything, { customers: [elsewhereCustomer.url] });
});

/** Returns the path of an operation on an object outside the key's binding, or on no object. */
function pathElsewhere(route: string, path: string): string {
  const [list = ''] = route.split(':');
  const key = marked.get(list);
  return key === undefined ? path : route.replace(':key', key).replaceAll(/:\w+/g, '0');
}

for (const { isOpen, method, path, required, route } of operations) {
  test(`${method} ${path}`, async () => {
    for (const [scope, client] of keys) {
      const { body, status } = await client.send(method, path, method === 'POST' ? {} : undefined);
      requestCount++;
      const detail = String(body?.detail);
      if (required === 'closed') assert.equal([status, detail], [403, closed], scope);
      else if (required === 'none') assert.not.ok(status === 403 && (lacks.test(detail) || detail === closed), scope);
      else {
        const missing = required.find((name) => {
          const [group = '', level] = name.split(':');
          return !hasScope({ scopes: new Set([scope]) }, group, level === 'read' ? 'read' : 'write');
        });
        if (missing === undefined) assert.not.match(detail, lacks, scope);
        else assert.equal([status, detail], [403, `This API key lacks the scope ${missing}.`], scope);
      }
    }
    const { body, status } = await foreign.send(method, path, method === 'POST' ? {} : undefined);
    requestCount++;
    if (!isOpen) assert.equal([status, body.detail], [403, elsewhere]);
    const response = await bound.send(method, pathElsewhere(route, path), method === 'POST' ? {} : undefined);
    requestCount++;
    assert.not.ok(JSON.stringify(response.body ?? '').includes(marker), route);
    if (route.includes(':') && !isOpen) assert.ok([403, 404, 405].includes(response.status), String(response.status));
  });
}

const size = operations.length * casesOfOperation;
test(`${operations.length} operations × ${casesOfOperation} keys: ${size} requests`, () => {
  assert.is(requestCount, size);
});

test.run();
