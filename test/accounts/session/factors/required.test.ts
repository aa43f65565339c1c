/** core.md 2.11: with second_factor_required, a session without a factor can only set one up. */
import * as assert from 'uvu/assert';
import { EventReader } from '../../../support/event-stream.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { enrol } from '../../../support/second-factors.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('second_factor_required', { second_factor_required: 'all' });
const denied = [403, { detail: 'Set up a second factor first.' }];
const password = 'correct-horse-1';

test.before(() => fixture.clock.hold());

const reports = async (promise: Promise<{ status: number; body: Json }>): Promise<unknown[]> => {
  const { body, status } = await promise;
  return [status, body];
};

async function newcomer(username: string, fields: Json = {}): Promise<{ user: Json; client: Client }> {
  const user = await fixture.user(username, fields);
  await fixture.staff.post(`${user.url}password/`, { password });
  const { body } = await fixture.anonymous.post('/api-auth/password/', { username, password });
  return { user, client: new Client(fixture, body.token) };
}

test('before the enrolment a session reads its own user and factors, confirms, enrols and logs out', async () => {
  const { client, user } = await newcomer('alice');
  const { user: bob } = await newcomer('bob');
  for (const path of [user.url, '/api/users/?current', '/api/second-factors/', '/api/second-factors/?user_uuid='])
    assert.is((await client.get(path)).status, 200, path);
  assert.is((await client.options(user.url)).status, 200);
  assert.equal(
    (await client.get('/api/users/?current')).body.map(({ username }: Json) => username),
    ['alice'],
  );
  const attempts: [string, string, Json?][] = [
    ['GET', '/api/'],
    ['GET', '/api/users/'],
    ['GET', '/api/users/?current=false'],
    ['GET', bob.url],
    ['GET', '/api/customers/'],
    ['OPTIONS', '/api/customers/'],
    ['GET', '/api/sessions/'],
    ['GET', '/api/api-keys/'],
    ['GET', '/api/api-keys/scopes/'],
    ['GET', '/api/events/stream/'],
    ['PATCH', user.url, { job_title: 'x' }],
    ['POST', `${user.url}password/`, { password: 'correct-horse-2' }],
    ['POST', '/api/api-keys/', { name: 'x', scopes: ['*:read'] }],
    ['POST', '/api/sessions/end_others/'],
  ];
  for (const [method, path, body] of attempts)
    assert.equal(await reports(client.send(method, path, body)), denied, `${method} ${path}`);
  assert.is((await client.put('/api/customers/')).status, 405);
  assert.is((await client.get('/api/nothing/')).status, 404);
  assert.is((await fixture.anonymous.get('/api/configuration/')).status, 200);
  fixture.clock.advance(16 * 60);
  assert.is((await client.post('/api/second-factors/totp/')).status, 403, 'not confirmed');
  assert.is((await client.post('/api/sessions/confirm/', { password })).status, 200);
  await enrol(fixture, client);
  assert.is((await client.get('/api/customers/')).status, 200);
  assert.is((await client.get('/api/')).status, 200);
});

test('a session without a factor logs out', async () => {
  const { client } = await newcomer('carl');
  assert.is((await client.post('/api-auth/logout/')).status, 204);
  assert.is((await client.get('/api/users/?current')).status, 401);
});

test('when the last factor is removed, open streams end and other requests are rejected', async () => {
  const { client } = await newcomer('dora');
  const { factor } = await enrol(fixture, client);
  const reader = await EventReader.open(fixture, client);
  assert.ok(await reader.frame());
  assert.is((await client.delete(factor.url)).status, 204);
  fixture.server.tick();
  assert.is(await reader.frame(), undefined);
  assert.equal(await reports(client.get('/api/customers/')), denied);
});

test('API keys, service accounts and tokens of the operator are exempt', async () => {
  const { client } = await newcomer('erin');
  const { factor } = await enrol(fixture, client);
  const { body: key, status } = await client.post('/api/api-keys/', { name: 'x', scopes: ['*:read'] });
  assert.is(status, 201, JSON.stringify(key));
  await client.delete(factor.url);
  assert.equal(await reports(client.get('/api/customers/')), denied);
  assert.is((await new Client(fixture, key.key).get('/api/customers/')).status, 200);
  assert.is((await fixture.as('erin').get('/api/customers/')).status, 200);
  const customer = await fixture.customer('Acme');
  const account = { name: 'Robot', customer: customer.url, role: 'support' };
  const { body: robot } = await fixture.staff.post('/api/service-accounts/', account);
  const body = { name: 'Robot', scopes: ['*:read'], service_account: robot.url };
  const { body: own } = await fixture.as('admin').post('/api/api-keys/', body);
  assert.is((await new Client(fixture, own.key).get(customer.url)).status, 200);
});

test('the setting staff concerns staff and global support', async () => {
  await fixture.open({ second_factor_required: 'staff' });
  fixture.clock.hold();
  for (const [username, fields, expected] of [
    ['stan', { is_staff: true }, 403],
    ['gina', { is_support: true }, 403],
    ['alice', {}, 200],
  ] as const) {
    const { client, user } = await newcomer(username, fields);
    assert.is((await client.get('/api/customers/')).status, expected, username);
    if (username !== 'alice') continue;
    await fixture.staff.patch(user.url, { is_support: true });
    assert.equal(await reports(client.get('/api/customers/')), denied);
    await fixture.staff.patch(user.url, { is_support: false });
    assert.is((await client.get('/api/customers/')).status, 200);
  }
});

test.run();
