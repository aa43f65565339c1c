/** core.md 2.9: creating, changing, rotating and deleting API keys. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('API keys');
const path = '/api/api-keys/';
const notFound = [404, { detail: 'Not found.' }];
const forbidden = [403, { detail: 'You do not have permission to perform this action.' }];
let alice: Json;
let client: Client;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:00:00Z');
  alice = await fixture.user('alice', { full_name: 'Alice Lee' });
  client = fixture.as('alice');
  fixture.events();
});

const create = async (fields: Json = {}, by = client): Promise<Json> => {
  const { body, status } = await by.post(path, { name: 'Build server', scopes: ['customers:read'], ...fields });
  assert.is(status, 201, JSON.stringify(body));
  return body;
};
const rejection = async (fields: Json, by = client): Promise<unknown[]> => {
  const { body, status } = await by.post(path, { name: 'Build server', scopes: ['customers:read'], ...fields });
  return [status, body];
};
const reports = async (promise: Promise<{ status: number; body: Json }>): Promise<unknown[]> => {
  const { body, status } = await promise;
  return [status, body];
};
const using = ({ key }: Json): Client => new Client(fixture, key);
const status = async (key: Json): Promise<unknown> => (await using(key).get('/api/')).body.detail ?? 200;

test('creates a key with a checksum, stores only its digest, and shows it once', async () => {
  const { body, headers, status } = await client.post(path, {
    name: 'Build server',
    scopes: ['projects:write', 'customers:read', 'projects:write'],
    networks: ['10.1.2.3/8', '2001:DB8::1/32', '::ffff:192.0.2.7', '10.0.0.0/8'],
  });
  assert.is(status, 201);
  assert.is(headers.get('cache-control'), 'no-store');
  assert.is(headers.get('location'), body.url);
  const { key, ...shown } = body;
  assert.match(key, /^tnt_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const checksum = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  assert.is(checksum, crc32(key.slice(0, 47)));
  assert.equal(Object.entries(shown), [
    ['url', `${fixture.url}${path}${body.uuid}/`],
    ['uuid', body.uuid],
    ['created', '2018-01-05T04:00:00Z'],
    ['name', 'Build server'],
    ['scopes', ['customers:read', 'projects:write']],
    ['customers', []],
    ['projects', []],
    ['networks', ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']],
    ['expires', '2019-01-05T04:00:00Z'],
    ['service_account', null],
    ['owner', alice.url],
    ['owner_uuid', alice.uuid],
    ['owner_username', 'alice'],
    ['created_by', alice.url],
    ['prefix', key.slice(0, 8)],
    ['last_used', null],
    ['last_used_address', null],
    ['state', 'active'],
    ['previous_key_expires', null],
  ]);
  assert.equal((await client.get(body.url)).body, shown);
  assert.equal((await client.get(path)).body, [shown]);
  const row = fixture.server.app.db.one<Json>(sql`SELECT * FROM api_key`);
  assert.is(row.digest.toString('hex'), createHash('sha256').update(key).digest('hex'));
  assert.not.ok(JSON.stringify(row).includes(key.slice(9)));
  assert.equal(fixture.events(), [
    expectedEvent('token_created', 'Token has been updated for alice', by(alice), affecting(alice)),
  ]);
});

test('rejects networks that programs read in different ways, that only one machine knows, or with more than IPv4', async () => {
  for (const network of [
    '010.1.1.1',
    '10.0.0.0/08',
    '0x0a.1.1.1',
    '10.1',
    '::1%lo',
    'fe80::1%eth0/64',
    '::ffff:10.0.0.0/8',
  ])
    assert.equal(
      await rejection({ name: 'laptop', scopes: ['customers:read'], networks: [network] }),
      [400, { networks: ['Enter a valid network.'] }],
      network,
    );
});

test('rejects invalid names, scopes, networks and ends, all at once', async () => {
  assert.equal(await rejection({ name: '', scopes: [], networks: ['10'], expires: 'soon' }), [
    400,
    {
      name: ['This field may not be blank.'],
      scopes: ['This list may not be empty.'],
      networks: ['Enter a valid network.'],
      expires: [
        'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
      ],
    },
  ]);
  assert.equal((await client.post(path, {})).body, {
    name: ['This field is required.'],
    scopes: ['This field is required.'],
  });
  assert.equal(await rejection({ scopes: ['customers:read', 'audit:write'] }), [
    400,
    { scopes: ['"audit:write" is not a valid choice.'] },
  ]);
  assert.equal(await rejection({ scopes: 'users:read' }), [
    400,
    { scopes: ['Expected a list of items but got type "str".'] },
  ]);
  for (const network of ['10/8', '10.0.0.0/33', 'localhost', '1.2.3', '::/129', 7])
    assert.is((await rejection({ networks: [network] }))[0], 400, String(network));
  assert.equal(await rejection({ networks: Array(21).fill('10.0.0.0/8') }), [
    400,
    { networks: ['Ensure this field has no more than 20 elements.'] },
  ]);
});

test('an expiry is in the future and at most the maximum lifetime ahead', async () => {
  assert.equal(await rejection({ expires: '2018-01-05T04:00:00Z' }), [
    400,
    { expires: ['Expiration time should be greater than current time.'] },
  ]);
  assert.equal(await rejection({ expires: '2019-01-05T04:00:00.000001Z' }), [
    400,
    { expires: ['Ensure this value is less than or equal to 2019-01-05T04:00:00Z.'] },
  ]);
  assert.equal(await rejection({ expires: null }), [400, { expires: ['This field may not be null.'] }]);
  assert.is((await create({ expires: '2018-02-01T00:00:00Z' })).expires, '2018-02-01T00:00:00Z');
});

test('without a maximum lifetime a key need not expire', async () => {
  await fixture.open({ api_key_lifetime_max: '' });
  await fixture.user('alice');
  client = fixture.as('alice');
  assert.is((await create()).expires, null);
  assert.is((await create({ name: 'Other', expires: null })).expires, null);
  const far = await create({ name: 'Far', expires: '2099-01-01T00:00:00Z' });
  assert.equal(await reports(client.patch(far.url, { expires: null })), [
    400,
    { expires: ['An API key cannot be extended: rotate it.'] },
  ]);
});

test('names are unique for each owner', async () => {
  const first = await create();
  assert.equal(await rejection({}), [400, { name: ['API key with this name already exists.'] }]);
  await create({}, fixture.staff);
  const second = await create({ name: 'Other' });
  assert.equal(await reports(client.patch(second.url, { name: 'Build server' })), [
    400,
    { name: ['API key with this name already exists.'] },
  ]);
  assert.is((await client.patch(first.url, { name: 'Build server' })).status, 200);
  assert.is((await client.patch(first.url, { name: 'Builder' })).body.name, 'Builder');
});

test('scopes never change, and an end only moves to an earlier time', async () => {
  const { key: _, ...before } = await create();
  assert.equal(await reports(client.patch(before.url, { scopes: ['users:read'], expires: '2019-06-01T00:00:00Z' })), [
    400,
    { scopes: ['This field cannot be changed.'], expires: ['An API key cannot be extended: rotate it.'] },
  ]);
  assert.equal(await reports(client.put(before.url, before)), [200, before]);
  const earlier = { expires: '2018-06-01T00:00:00Z', networks: ['127.0.0.1'] };
  assert.equal(await reports(client.patch(before.url, earlier)), [200, { ...before, ...earlier }]);
  assert.is((await client.patch(before.url, { expires: '2018-01-05T03:00:00Z' })).status, 400);
  fixture.clock.set('2018-07-01T00:00:00Z');
  client = fixture.as('alice');
  const { body: expired } = await client.get(before.url);
  assert.is(expired.state, 'expired');
  assert.is((await client.put(before.url, expired)).status, 200);
});

test('only the owner and staff see a key; staff may only delete it', async () => {
  const key = await create();
  await fixture.user('carol', { is_support: true });
  for (const other of [fixture.as('carol'), await newcomer('bob')]) {
    assert.equal(await reports(other.get(key.url)), notFound);
    assert.equal(await reports(other.delete(key.url)), notFound);
    assert.equal(await reports(other.post(`${key.url}rotate/`, {})), notFound);
    assert.equal((await other.get(path)).body, []);
  }
  assert.is((await fixture.staff.get(key.url)).status, 200);
  assert.is((await fixture.staff.get(`${path}?user_uuid=${alice.uuid}`)).body.length, 1);
  assert.equal(await reports(fixture.staff.patch(key.url, { name: 'x' })), forbidden);
  assert.equal(await reports(fixture.staff.post(`${key.url}rotate/`, {})), forbidden);
  fixture.events();
  assert.is((await fixture.staff.delete(key.url)).status, 204);
  assert.equal(fixture.events(), []);
  assert.is(await status(key), 'Invalid token.');
  assert.equal(await reports(client.get(key.url)), notFound);
});

const newcomer = async (name: string): Promise<Client> => {
  await fixture.user(name);
  return fixture.as(name);
};

test('creation, changes and rotation require a confirmed session, deletion does not', async () => {
  const key = await create();
  fixture.clock.set('2018-01-05T04:15:00Z');
  const denied = [403, { detail: 'Confirm your identity first.', methods: [] }];
  assert.equal(await rejection({ name: 'Other' }), denied);
  assert.equal(await reports(client.patch(key.url, { name: 'x' })), denied);
  assert.equal(await reports(client.post(`${key.url}rotate/`, {})), denied);
  assert.is((await client.options(path)).body.actions.POST.name.required, true);
  assert.is((await client.delete(key.url)).status, 204);
});

test('a rotated key and its successor both work during the overlap', async () => {
  const first = await create();
  fixture.events();
  fixture.clock.set('2018-01-05T04:10:00Z');
  const { body: second, status: code } = await client.post(`${first.url}rotate/`, {});
  assert.is(code, 200);
  const { key: _, ...expected } = first;
  assert.equal(second, {
    ...expected,
    prefix: second.key.slice(0, 8),
    expires: '2019-01-05T04:10:00Z',
    state: 'rotating',
    previous_key_expires: '2018-01-06T04:10:00Z',
    key: second.key,
  });
  assert.equal(fixture.events(), [
    expectedEvent('token_created', 'Token has been updated for alice', by(alice), affecting(alice)),
  ]);
  assert.equal([await status(first), await status(second)], [200, 200]);
  const { body: third } = await client.post(`${first.url}rotate/`, { overlap: 60, expires: '2018-02-01T00:00:00Z' });
  assert.equal([await status(first), await status(second), await status(third)], ['Invalid token.', 200, 200]);
  assert.equal([third.expires, third.previous_key_expires], ['2018-02-01T00:00:00Z', '2018-01-05T04:11:00Z']);
  fixture.clock.set('2018-01-05T04:11:00Z');
  assert.equal([await status(second), await status(third)], ['Invalid token.', 200]);
  assert.is((await client.get(first.url)).body.state, 'active');
  const { body: fourth } = await client.post(`${first.url}rotate/`, { overlap: 0 });
  assert.equal([fourth.state, fourth.previous_key_expires], ['active', null]);
  assert.equal([await status(third), await status(fourth)], ['Invalid token.', 200]);
  for (const overlap of [-1, 604_801])
    assert.is((await client.post(`${first.url}rotate/`, { overlap })).status, 400, String(overlap));
});

test('an overlap ends with the old key, and with an earlier end of the new one', async () => {
  const first = await create({ expires: '2018-01-05T05:00:00Z' });
  const { body: second } = await client.post(`${first.url}rotate/`, { expires: '2018-02-01T00:00:00Z' });
  assert.is(second.previous_key_expires, '2018-01-05T05:00:00Z');
  const { body: changed } = await client.patch(first.url, { expires: '2018-01-05T04:30:00Z' });
  assert.equal([changed.expires, changed.previous_key_expires], ['2018-01-05T04:30:00Z', '2018-01-05T04:30:00Z']);
});

test('a key of the request is read and revoked without a scope', async () => {
  const key = await create();
  const { key: _, ...shown } = key;
  assert.equal(await reports(using(key).get(`${path}current/`)), [200, shown]);
  assert.equal(await reports(client.get(`${path}current/`)), notFound);
  assert.equal(await reports(client.delete(`${path}current/`)), notFound);
  const { body: successor } = await client.post(`${key.url}rotate/`, {});
  assert.is((await using(key).delete(`${path}current/`)).status, 204);
  assert.equal([await status(key), await status(successor)], ['Invalid token.', 200]);
  assert.is((await using(successor).delete(`${path}current/`)).status, 204);
  assert.is(await status(successor), 'Invalid token.');
  assert.equal((await client.get(path)).body, []);
});

test('users revoke all of their keys, staff those of any user', async () => {
  const keys = [await create(), await create({ name: 'Other' })];
  const bob = await newcomer('bob');
  const revoke = (by: Client, user_uuid: unknown) => by.post(`${path}revoke_all/`, { user_uuid });
  assert.equal(await reports(revoke(bob, alice.uuid)), forbidden);
  assert.equal(await reports(revoke(client, 'x')), [400, { user_uuid: ['"x" is not a valid UUID.'] }]);
  assert.is((await revoke(client, alice.uuid)).status, 204);
  assert.equal([await status(keys[0]), await status(keys[1])], ['Invalid token.', 'Invalid token.']);
  const another = await create();
  assert.is((await revoke(fixture.staff, alice.uuid)).status, 204);
  assert.is(await status(another), 'Invalid token.');
});

test('a user has at most api_keys_per_user keys that have not expired', async () => {
  await fixture.open({ api_keys_per_user: 2 });
  fixture.clock.set('2018-01-05T04:00:00Z');
  await fixture.user('alice');
  client = fixture.as('alice');
  const first = await create({ expires: '2018-01-05T04:10:00Z' });
  await create({ name: 'Second' });
  assert.equal(await rejection({ name: 'Third' }), [409, { detail: 'You already have 2 API keys.' }]);
  assert.equal((await client.get('/api/user-counters/')).body, { keys: 0, hooks: 0, api_keys: 2 });
  fixture.clock.set('2018-01-05T04:10:00Z');
  await create({ name: 'Third' });
  assert.equal(await reports(client.post(`${first.url}rotate/`, {})), [
    409,
    { detail: 'You already have 2 API keys.' },
  ]);
  assert.equal((await client.get('/api/user-counters/?fields=api_keys')).body, { api_keys: 2 });
});

test('lists filter by name, state and owner, the newest first', async () => {
  await create({ expires: '2018-01-05T04:10:00Z' });
  fixture.clock.set('2018-01-05T04:05:00Z');
  const second = await create({ name: 'Laptop' });
  await client.post(`${second.url}rotate/`, {});
  fixture.clock.set('2018-01-05T04:10:00Z');
  const names = async (query: string): Promise<string[]> =>
    (await client.get(`${path}${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await names(''), ['Laptop', 'Build server']);
  assert.equal(await names('?o=name'), ['Build server', 'Laptop']);
  assert.equal(await names('?name=lap'), ['Laptop']);
  assert.equal(await names('?state=expired'), ['Build server']);
  assert.equal(await names('?state=rotating'), ['Laptop']);
  assert.equal(await names('?state=other'), []);
  assert.equal(await names(`?user_uuid=${alice.uuid}`), ['Laptop', 'Build server']);
});

test('the last use is stored at most once in ten minutes', async () => {
  const key = await create();
  const used = async (): Promise<unknown[]> => {
    await fixture.advance(1);
    const { last_used: at, last_used_address: address } = (await client.get(key.url)).body;
    return [at, address];
  };
  assert.equal(await used(), [null, null]);
  await using(key).get('/api/');
  assert.equal(await used(), ['2018-01-05T04:00:01Z', '127.0.0.1']);
  fixture.clock.set('2018-01-05T04:10:00Z');
  await using(key).get('/api/');
  assert.equal(await used(), ['2018-01-05T04:00:01Z', '127.0.0.1']);
  await using(key).get('/api/');
  assert.equal(await used(), ['2018-01-05T04:10:01Z', '127.0.0.1']);
});

test('expired keys are removed after 90 days', async () => {
  await create({ expires: '2018-01-05T04:10:00Z' });
  const count = (): number => fixture.server.app.db.scalar<number>(sql`SELECT count(*) FROM api_key`);
  await fixture.advance(600 + 90 * 86_400);
  assert.is(count(), 1);
  await fixture.advance(2 * 3600);
  assert.is(count(), 0);
});

test.run();
