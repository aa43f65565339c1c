/** core.md 2.13: sessions in which staff act as a user. */
import * as assert from 'uvu/assert';
import { Client, type Json } from '../../support/fixture.ts';
import { enrol } from '../../support/second-factors.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('impersonation');
const start = '2018-01-05T04:00:00Z';
const forbidden = { detail: 'You do not have permission to perform this action.' };
const closed = [403, { detail: 'This operation cannot be used while impersonating a user.' }];
let alice: Json;
let admin: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice', { email: 'alice@example.com' });
  [admin] = (await fixture.staff.get('/api/users/?current')).body;
});

const at = (seconds: number): void => fixture.clock.set(new Date(Date.parse(start) + seconds * 1000).toISOString());
const ask = async (client: Client, user: Json, body: unknown = { reason: 'Request 4711' }): Promise<unknown[]> => {
  const response = await client.post(`${user.url}impersonate/`, body);
  return [response.status, response.body];
};

/** Creates a staff user with a factor; returns a client, and one that acts as Alice. */
async function impersonation(
  name = 'boss',
): Promise<{ readonly boss: Json; readonly staff: Client; readonly acting: Client }> {
  const boss = await fixture.user(name, { is_staff: true });
  const staff = fixture.as(name);
  await enrol(fixture, staff);
  const { body, status } = await staff.post(`${alice.url}impersonate/`, { reason: 'Request 4711' });
  assert.equal([status, Object.keys(body)], [201, ['token', 'expires']]);
  return { boss, staff, acting: new Client(fixture, body.token) };
}

const statusOf = async (client: Client): Promise<number> => (await client.get('/api/customers/')).status;
const records = async (query: string): Promise<Json[]> => (await fixture.staff.get(`/api/audit/?${query}`)).body;

test('staff with a factor act as a user for an hour, however often the session is used', async () => {
  await enrol(fixture, fixture.staff);
  fixture.events();
  const { body, status } = await fixture.staff.post(`${alice.url}impersonate/`, { reason: 'Request 4711' });
  assert.is(status, 201);
  assert.match(body.token, /^[0-9a-f]{40}$/);
  assert.equal(body, { token: body.token, expires: '2018-01-05T05:00:00Z' });
  assert.equal(
    fixture.events().map(({ context, type }) => [type, context.user_username, context.affected_user_username]),
    [['token_created', 'admin', 'alice']],
  );
  const acting = new Client(fixture, body.token);
  const [current] = (await acting.get('/api/users/?current')).body;
  assert.equal([current.username, current.is_staff], ['alice', undefined]);
  for (const minutes of [20, 40, 59]) {
    at(minutes * 60);
    assert.is(await statusOf(acting), 200);
    assert.is(await statusOf(fixture.staff), 200);
  }
  at(3600);
  assert.equal((await acting.get('/api/customers/')).body, { detail: 'Token has expired.' });
});

test('requires staff with a factor, a confirmed session and an ordinary active user', async () => {
  const staff = fixture.as('admin');
  assert.equal(await ask(staff, alice), [403, { detail: 'Set up a second factor first.' }]);
  const { app } = await enrol(fixture, staff);
  assert.equal(await ask(staff, alice, {}), [400, { reason: ['This field is required.'] }]);
  assert.equal(await ask(staff, alice, { reason: '' }), [400, { reason: ['This field may not be blank.'] }]);
  assert.equal(await ask(staff, alice, { reason: 'x'.repeat(501) }), [
    400,
    { reason: ['Ensure this field has no more than 500 characters.'] },
  ]);
  const customer = await fixture.customer('Alice Ltd');
  const { body: account } = await fixture.staff.post('/api/service-accounts/', {
    name: 'Deploy',
    customer: customer.url,
    role: 'support',
  });
  const helper = await fixture.user('helper', { is_support: true });
  const boss = await fixture.user('boss', { is_staff: true });
  for (const user of [helper, boss, admin, { url: account.user }])
    assert.equal(await ask(staff, user), [403, forbidden], user.url);
  for (const name of ['helper', 'alice']) assert.equal(await ask(fixture.as(name), alice), [403, forbidden]);
  assert.equal(await ask(fixture.as('alice'), boss), [404, { detail: 'Not found.' }]);
  const former = await fixture.user('former', { is_active: false });
  assert.equal(await ask(staff, former), [409, { detail: 'User is not active.' }]);
  at(901);
  const denial = { detail: 'Confirm your identity first.', methods: ['totp', 'recovery_code'] };
  assert.equal(await ask(staff, alice), [403, denial]);
  await staff.post('/api/sessions/confirm/', { code: app.code() });
  assert.is((await ask(staff, alice))[0], 201);
});

test('ends with the session that created it', async () => {
  const ends: Readonly<Record<string, (staff: Client, boss: Json) => Promise<unknown>>> = {
    logout: (staff) => staff.post('/api-auth/logout/'),
    deactivation: (_, { url }) => fixture.staff.patch(url, { is_active: false }),
    others: (_, { username }) => fixture.as(username).post('/api/sessions/end_others/'),
    deletion: (_, { url }) => fixture.staff.delete(url),
    session: async (staff) => {
      const current = (await staff.get('/api/sessions/')).body.find((one: Json) => one.is_current);
      await staff.delete(current.url);
    },
    demotion: (_, { url }) => fixture.staff.patch(url, { is_staff: false }),
    promotion: () => fixture.staff.patch(alice.url, { is_support: true }),
  };
  for (const [name, end] of Object.entries(ends)) {
    const { acting, boss, staff } = await impersonation(name);
    assert.is(await statusOf(acting), 200);
    await end(staff, boss);
    assert.is(await statusOf(acting), 401, name);
  }
  const listed = (await fixture.as('alice').get('/api/sessions/')).body.map(({ method }: Json) => method);
  assert.not(listed.includes('impersonation'));
});

test('ends when the session of staff expires, and its use does not extend that session', async () => {
  const { acting, boss } = await impersonation();
  await fixture.staff.patch(boss.url, { token_lifetime: 600 });
  at(599);
  assert.is(await statusOf(acting), 200);
  at(600);
  assert.equal((await acting.get('/api/customers/')).body, { detail: 'Token has expired.' });
});

test('logging out ends the impersonation alone, and the user sees and ends it', async () => {
  const { acting, staff } = await impersonation();
  assert.is((await acting.post('/api-auth/logout/')).status, 204);
  assert.equal([await statusOf(acting), await statusOf(staff)], [401, 200]);
  const { body } = await staff.post(`${alice.url}impersonate/`, { reason: 'Request 4712' });
  const again = new Client(fixture, body.token);
  const sessions = (await fixture.as('alice').get('/api/sessions/')).body;
  const seen = sessions.find(({ method }: Json) => method === 'impersonation');
  assert.equal([seen.expires, seen.is_current], ['2018-01-05T05:00:00Z', false]);
  fixture.events();
  assert.is((await fixture.as('alice').delete(seen.url)).status, 204);
  assert.equal(
    fixture.events().map(({ context, type }) => [type, context.user_username]),
    [['auth_logged_out', 'alice']],
  );
  assert.equal([await statusOf(again), await statusOf(staff)], [401, 200]);
});

test('has the rights of the user, except operations closed to API keys', async () => {
  const customer = await fixture.customer('Alice Ltd');
  await fixture.grant(customer, alice, 'owner');
  const { acting } = await impersonation();
  assert.is((await acting.post('/api/projects/', { name: 'Web', customer: customer.url })).status, 201);
  assert.is((await acting.patch(alice.url, { job_title: 'Head', agree_with_policy: true })).status, 200);
  assert.is((await acting.get('/api/api-keys/')).status, 200);
  for (const [method, path, body] of [
    ['GET', '/api/sessions/'],
    ['OPTIONS', '/api/sessions/'],
    ['POST', '/api/sessions/confirm/', { password: 'x' }],
    ['GET', '/api/second-factors/'],
    ['POST', '/api/second-factors/totp/'],
    ['POST', '/api/api-keys/', { name: 'CI', scopes: ['users:read'] }],
    ['POST', '/api/api-keys/revoke_all/', {}],
    ['POST', `${alice.url}password/`, { password: 'another-horse-8' }],
    ['POST', `${alice.url}impersonate/`, { reason: 'Again' }],
    ['PATCH', alice.url, { email: 'other@example.com' }],
    ['PATCH', alice.url, { token_lifetime: 900 }],
  ] as const) {
    const response = await acting.send(method, path, body);
    assert.equal([response.status, response.body], closed, `${method} ${path}`);
  }
  assert.is((await acting.send('DELETE', '/api/sessions/')).status, 405);
});

test('records have the staff user as actor and the user in `as`; events name the user', async () => {
  const { acting, boss } = await impersonation();
  const [begun] = await records('operation=impersonateUser');
  assert.equal(
    [begun.actor, begun.via.kind, begun.as, begun.object, begun.private.changes],
    [
      { kind: 'user', uuid: boss.uuid },
      'session',
      null,
      { type: 'users', uuid: alice.uuid },
      [{ field: 'reason', from: null, to: 'Request 4711' }],
    ],
  );
  const own = (await fixture.as('alice').get('/api/sessions/')).body;
  const session = own.find(({ method }: Json) => method === 'impersonation');
  fixture.events();
  await acting.patch(alice.url, { job_title: 'Head', agree_with_policy: true });
  assert.equal(
    fixture.events().map(({ context, type }) => [type, context.user_username]),
    [['user_update_succeeded', 'alice']],
  );
  await acting.post(`${alice.url}password/`, { password: 'another-horse-8' });
  const members = ({ actor, as, operation, outcome, private: hidden, via }: Json): unknown => [
    ...[operation, outcome, actor.uuid, hidden.actor_name, as],
    via,
  ];
  const via = { kind: 'impersonation', uuid: session.uuid };
  assert.equal((await records('page_size=2')).map(members), [
    ['setUserPassword', 'refused', boss.uuid, 'boss', alice.uuid, via],
    ['patchUser', 'done', boss.uuid, 'boss', alice.uuid, via],
  ]);
});

test.run();
