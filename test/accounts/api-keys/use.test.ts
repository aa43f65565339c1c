/** core.md 2.9: requests with an API key, their scopes and rejections. */
import { readFile } from 'node:fs/promises';
import * as assert from 'uvu/assert';
import { describedScopes } from '../../../src/app/scopes/described-scopes.ts';
import { requiredScopes } from '../../../src/app/scopes/required-scopes.ts';
import { catalogue, documented } from '../../support/catalogue.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('requests with an API key', { trusted_proxies: ['127.0.0.1'] });
const closed = { detail: 'API keys cannot be used for this operation.' };
let alice: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:00:00Z');
  alice = await fixture.user('alice');
  await fixture.staff.post(`${alice.url}password/`, { password: 'correct-horse-7' });
});

let count = 0;
async function keyOf(client: Client, scopes: readonly string[], fields: Json = {}): Promise<Client & { url: string }> {
  count += 1;
  const { body, status } = await client.post('/api/api-keys/', { name: `Key ${count}`, scopes, ...fields });
  assert.is(status, 201, JSON.stringify(body));
  return Object.assign(new Client(fixture, body.key), { url: body.url });
}
const reports = async (promise: Promise<{ status: number; body: Json }>): Promise<unknown[]> => {
  const { body, status } = await promise;
  return [status, body];
};

test('rejects keys that are malformed, unknown, expired, of inactive owners, or switched off', async () => {
  const key = await keyOf(fixture.as('alice'), ['*:read'], { expires: '2018-01-05T05:00:00Z' });
  const text = key.token ?? '';
  const wrongChecksum = text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
  const unknown = 'tnt_0000000000000000000000000000000000000000000_2o3Hdm';
  for (const token of [wrongChecksum, unknown, 'tnt_short', text.slice(0, -1)])
    assert.equal(await reports(new Client(fixture, token).get('/api/')), [401, { detail: 'Invalid token.' }], token);
  assert.is((await fixture.anonymous.get('/api/', { Authorization: `Bearer ${text}` })).status, 200);
  await fixture.staff.patch(alice.url, { is_active: false });
  assert.equal(await reports(key.get('/api/')), [401, { detail: 'User inactive or deleted.' }]);
  await fixture.staff.patch(alice.url, { is_active: true });
  assert.equal(await reports(key.get('/api/')), [401, { detail: 'Invalid token.' }], 'deactivation revokes for good');
  assert.equal((await fixture.as('alice').get('/api/api-keys/')).body, []);
  const another = await keyOf(fixture.as('alice'), ['*:read'], { expires: '2018-01-05T05:00:00Z' });
  fixture.clock.set('2018-01-05T05:00:00Z');
  const expired = [401, { detail: 'API key has expired.' }];
  assert.equal(await reports(another.get('/api/')), expired);
  fixture.clock.set('2018-01-05T04:30:00Z');
  assert.equal(await reports(another.get('/api/')), expired, 'also after the clock was set back');
});

test('with the setting api_keys_enabled off, no key works and none can be created', async () => {
  await fixture.open({ api_keys_enabled: false });
  const { body, status } = await fixture.staff.post('/api/api-keys/', { name: 'x', scopes: ['*:read'] });
  assert.equal([status, body], [403, { detail: 'API keys are switched off.' }]);
  assert.equal((await fixture.staff.get('/api/api-keys/')).body, []);
});

test('a key is limited to its current networks', async () => {
  const key = await keyOf(fixture.as('alice'), ['*:read'], { networks: ['192.0.2.0/24', '2001:db8::/48'] });
  const from = async (address: string): Promise<unknown> =>
    (await key.get('/api/customers/', { 'X-Forwarded-For': address })).body.detail ?? 200;
  const denied = 'This API key cannot be used from this address.';
  assert.equal(
    await Promise.all(['192.0.2.9', '2001:db8::7', '::ffff:192.0.2.1', '192.0.3.1', '2001:db9::1'].map(from)),
    [200, 200, 200, denied, denied],
  );
  assert.is((await key.get('/api/customers/')).status, 403);
  await fixture.as('alice').patch(key.url, { networks: [] });
  assert.is(await from('192.0.3.1'), 200);
});

test('a leaked key can be revoked with itself from every address, and nothing else works there', async () => {
  const key = await keyOf(fixture.as('alice'), ['*:read'], { networks: ['192.0.2.0/24'] });
  const elsewhere = new Client(fixture, key.token, { 'X-Forwarded-For': '198.51.100.7' });
  const denied = [403, { detail: 'This API key cannot be used from this address.' }];
  assert.equal(await reports(elsewhere.get('/api/api-keys/current/')), denied);
  assert.equal(await reports(elsewhere.options('/api/api-keys/current/')), denied);
  assert.equal(await reports(elsewhere.delete(key.url)), denied);
  assert.is((await elsewhere.delete('/api/api-keys/current/')).status, 204);
  assert.equal(await reports(elsewhere.delete('/api/api-keys/current/')), [401, { detail: 'Invalid token.' }]);
  assert.equal((await fixture.as('alice').get('/api/api-keys/')).body, []);
});

test('a network of IPv4 mapped into IPv6 is that of IPv4', async () => {
  const key = await keyOf(fixture.as('alice'), ['*:read'], { networks: ['::ffff:192.0.2.77/120'] });
  assert.equal((await fixture.as('alice').get(key.url)).body.networks, ['192.0.2.0/24']);
  for (const [address, status] of [
    ['192.0.2.9', 200],
    ['::ffff:192.0.2.9', 200],
    ['192.0.3.9', 403],
  ] as const)
    assert.is((await key.get('/api/', { 'X-Forwarded-For': address })).status, status, address);
});

test('a scope permits the reads or the writes of its group', async () => {
  const customer = await fixture.customer('Acme');
  await fixture.staff.post('/api/customer-permissions/', { role: 'owner', user: alice.url, customer: customer.url });
  const reader = await keyOf(fixture.as('alice'), ['projects:read', 'events:read']);
  const writer = await keyOf(fixture.as('alice'), ['projects:write', 'hooks:write']);
  const body = { name: 'Site', customer: customer.url };
  const lacking = (scope: string) => [403, { detail: `This API key lacks the scope ${scope}.` }];
  assert.equal(await reports(reader.post('/api/projects/', body)), lacking('projects:write'));
  assert.is((await writer.post('/api/projects/', body)).status, 201);
  assert.is((await reader.get('/api/projects/')).body.length, 1);
  assert.is((await writer.options('/api/projects/')).status, 200);
  assert.equal(await reports(writer.get('/api/customers/')), lacking('customers:read'));
  assert.equal(await reports(writer.get(`/api/customers/${'0'.repeat(32)}/`)), lacking('customers:read'));
  assert.is((await reader.put('/api/customers/')).status, 405, 'the method is checked first');
  assert.is((await reader.get('/api/nothing/')).status, 404);
  const hook = { email: 'hooks@example.com', event_types: ['project_creation_succeeded'] };
  assert.equal(await reports(writer.post('/api/hooks-email/', hook)), lacking('events:read'));
  const both = await keyOf(fixture.as('alice'), ['hooks:write', 'events:read']);
  assert.is((await both.post('/api/hooks-email/', hook)).status, 201);
});

test('the wildcard scopes exclude operation and audit', async () => {
  const everything = await keyOf(fixture.staff, ['*:write']);
  assert.is((await everything.get('/api/customers/')).status, 200);
  assert.equal(await reports(everything.get('/api/operation/')), [
    403,
    { detail: 'This API key lacks the scope operation:read.' },
  ]);
  const operator = await keyOf(fixture.staff, ['operation:read']);
  assert.is((await operator.get('/api/operation/')).status, 200);
  assert.is((await operator.get('/api/backups/')).status, 200);
  assert.equal(await reports(operator.get(`/api/backups/${'0'.repeat(32)}/content/`)), [403, closed]);
});

test('operations for people are closed to keys, and so are their OPTIONS', async () => {
  const key = await keyOf(fixture.staff, ['*:write', 'operation:write', 'audit:read']);
  const paths = [
    '/api/sessions/',
    '/api/sessions/confirm/',
    '/api/sessions/confirm/options/',
    `${alice.url}password/`,
    `${key.url}rotate/`,
    '/api/api-keys/revoke_all/',
    `/api/user-invitations/${'0'.repeat(32)}/accept/`,
    '/api/service-accounts/',
    `/api/service-accounts/${'0'.repeat(32)}/`,
  ];
  assert.is((await key.get('/api/service-accounts/')).status, 200);
  for (const path of paths) assert.equal(await reports(key.options(path)), [403, closed], path);
  assert.equal(await reports(key.post('/api/api-keys/', {})), [403, closed]);
  assert.equal(await reports(key.delete(key.url)), [403, closed]);
  assert.is((await key.options('/api/api-keys/')).status, 200);
  assert.is((await key.get(key.url)).status, 200);
});

test('fields of users that give access are closed to keys', async () => {
  const key = await keyOf(fixture.staff, ['users:write']);
  const { body: before } = await key.get(alice.url);
  assert.is((await key.put(alice.url, before)).status, 200, 'unchanged values are accepted');
  assert.is((await key.patch(alice.url, { job_title: 'Engineer' })).body.job_title, 'Engineer');
  for (const change of [{ email: 'x@example.com' }, { token_lifetime: 60 }, { is_staff: true }, { is_support: true }])
    assert.equal(await reports(key.patch(alice.url, change)), [403, closed], JSON.stringify(change));
  assert.equal(await reports(key.post('/api/users/', { username: 'bob', is_support: true })), [403, closed]);
  assert.is((await key.post('/api/users/', { username: 'bob', email: 'bob@example.com' })).status, 201);
});

test('fields that the owner cannot write are ignored, as in a session', async () => {
  const session = fixture.as('alice');
  const key = await keyOf(session, ['users:write']);
  const identities = [{ provider: 'one', subject: '7' }];
  for (const client of [key, session]) {
    const body = { job_title: 'Engineer', is_staff: true, is_support: true, identities };
    const { body: changed, status } = await client.patch(alice.url, { ...body, agree_with_policy: true });
    assert.equal([status, changed.job_title, changed.identities], [200, 'Engineer', []]);
    const { is_staff, is_support } = (await fixture.staff.get(alice.url)).body;
    assert.equal([is_staff, is_support], [false, false]);
  }
});

test('shows no token, and a logout revokes nothing', async () => {
  const key = await keyOf(fixture.as('alice'), ['users:read']);
  fixture.events();
  assert.not.ok('token' in (await key.get(alice.url)).body);
  assert.not.ok('token' in (await key.get('/api/users/?current')).body[0]);
  assert.ok('token' in (await fixture.as('alice').get(alice.url)).body);
  assert.is((await key.post('/api-auth/logout/')).status, 204);
  assert.equal(fixture.events(), []);
  assert.is((await key.get(alice.url)).status, 200);
});

test('every documented operation has scopes or is declared open or closed', async () => {
  const { body } = await fixture.anonymous.get('/docs/?format=openapi');
  for (const endpoint of documented)
    for (const method of Object.keys(endpoint.operations)) {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
      const operation = body.paths[path][method.toLowerCase()];
      const required = requiredScopes(catalogue, endpoint, method);
      assert.is(operation['x-scope'], typeof required === 'string' ? required : required.join(' '), path);
      assert.ok(Array.isArray(operation.security), path);
    }
  const closedPaths = documented
    .filter((endpoint) => !endpoint.open && requiredScopes(catalogue, endpoint, 'GET') === 'closed')
    .map(({ path }) => path);
  assert.equal(closedPaths.sort(), [
    '/api/api-keys/:key/rotate/',
    '/api/api-keys/revoke_all/',
    '/api/audit/export/',
    '/api/backups/:key/content/',
    '/api/second-factors/',
    '/api/second-factors/:key/',
    '/api/second-factors/passkeys/',
    '/api/second-factors/passkeys/options/',
    '/api/second-factors/recovery-codes/',
    '/api/second-factors/totp/',
    '/api/second-factors/totp/confirm/',
    '/api/sessions/',
    '/api/sessions/:key/',
    '/api/sessions/confirm/',
    '/api/sessions/confirm/options/',
    '/api/sessions/end_others/',
    '/api/user-invitations/:key/accept/',
    '/api/users/:key/impersonate/',
    '/api/users/:key/password/',
    '/api/users/:key/reset_second_factors/',
  ]);
});

test('lists every scope with its operations', async () => {
  const { body, status } = await fixture.as('alice').get('/api/api-keys/scopes/');
  assert.is(status, 200);
  const scopes = Object.fromEntries(body.map(({ scope, ...others }: Json) => [scope, others]));
  assert.equal(
    body.filter((scope: Json) => scope.grants_access).map(({ scope }: Json) => scope),
    ['users:write', 'permissions:write', 'invitations:write', 'hooks:write', '*:write'],
  );
  assert.equal(scopes['ssh-keys:write'], {
    description: 'Read and change SSH keys.',
    grants_access: false,
    operations: ['listSSHKeys', 'createSSHKey', 'getSSHKey', 'deleteSSHKey'],
  });
  assert.ok(scopes['*:read'].operations.includes('listCustomers'));
  assert.not.ok(scopes['*:read'].operations.includes('getOperation'));
  assert.is(Object.keys(scopes).length, 32);
  const key = await keyOf(fixture.as('alice'), ['users:read']);
  assert.equal((await key.get('/api/api-keys/scopes/')).body, body);
});

test('sessions and keys with other limits never share a cached response', async () => {
  const customer = await fixture.customer('Acme');
  const session = fixture.as('alice');
  const reader = await keyOf(session, ['customers:read']);
  const other = await keyOf(session, ['users:read']);
  for (let round = 0; round < 3; round++) {
    assert.is((await reader.get('/api/customers/')).status, 200);
    assert.is((await session.get('/api/customers/')).status, 200);
    assert.is((await other.get('/api/customers/')).status, 403);
  }
  assert.ok(customer.url);
});

test('the manual explains every group of scopes', async () => {
  const page = await readFile(new URL('../../../src/manual/api-keys.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| Group \| Covers \|\n(.*?)\n\n/ms.exec(page) ?? [];
  const explained = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  assert.equal(explained.sort(), [...new Set(describedScopes.map(({ group }) => group))].sort());
});

test.run();
