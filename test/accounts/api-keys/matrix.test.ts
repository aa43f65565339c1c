/** core.md 2.9: every operation with every scope, and from a wrong network. */
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

const operations = documented.flatMap((endpoint) =>
  [...Object.keys(endpoint.operations), 'OPTIONS'].map((method) => ({
    method,
    path: endpoint.path.replace(/:\w+/g, endpoint.key === 'pk' ? '0' : '0'.repeat(32)),
    isOpen: endpoint.open === true,
    required: requiredScopes(catalogue, endpoint, method),
  })),
);

const keys = new Map<string, Client>();
let requestCount = 0;
let foreign: Client;

test.before(async () => {
  fixture.clock.hold();
  await fixture.user('alice');
  const alice = fixture.as('alice');
  const create = async (name: string, scopes: readonly string[], fields: Json = {}): Promise<Client> => {
    const { body, status } = await alice.post('/api/api-keys/', { name, scopes, ...fields });
    assert.is(status, 201, JSON.stringify(body));
    return new Client(fixture, body.key);
  };
  for (const { scope } of describedScopes) keys.set(scope, await create(scope, [scope]));
  foreign = await create('elsewhere', ['*:write', 'operation:write', 'audit:read'], { networks: ['192.0.2.0/24'] });
});

for (const { isOpen, method, path, required } of operations) {
  // It would revoke the keys.
  if (method === 'DELETE' && path === '/api/api-keys/current/') continue;
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
  });
}

test('every operation was requested with every key', () => {
  const expected = (operations.length - 1) * (keys.size + 1);
  assert.is(requestCount, expected);
  assert.ok(requestCount > 10_000);
});

test.run();
