/** core.md 2.7: listing and ending a user's sessions. */
import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { by, expectedEvent, without } from '../../support/expected-event.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('sessions');
const path = '/api/sessions/';
const notFound = [404, { detail: 'Not found.' }];
const password = 'correct-horse-7';
let alice: Json;

test.before.each(async () => {
  alice = await fixture.user('alice', { full_name: 'Alice Lee', token_lifetime: 3600 });
  await fixture.staff.post(`${alice.url}password/`, { password });
});

/** Logs a user in with a program of this name. */
async function logIn(agent = ''): Promise<Client> {
  const response = await fixture.anonymous.send(
    'POST',
    '/api-auth/password/',
    { username: 'alice', password },
    { 'User-Agent': agent },
  );
  return new Client(fixture, response.body.token);
}

const listed = async (client: Client, query = ''): Promise<Json[]> => (await client.get(`${path}${query}`)).body;
const current = async (client: Client): Promise<Json> =>
  (await listed(client)).find(({ is_current }) => is_current) as Json;
const reports = async (promise: Promise<{ status: number; body: Json }>): Promise<unknown[]> => {
  const { body, status } = await promise;
  return [status, body];
};

test('a user sees each active login, the last used first, without its token', async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:00:00Z');
  const laptop = await logIn('Firefox/150 (laptop)');
  fixture.clock.set('2018-01-05T04:30:00Z');
  const script = fixture.as('alice');
  await laptop.get('/api/');
  fixture.clock.set('2018-01-05T04:40:00Z');
  fixture.server.tick();
  await fixture.server.settled();
  await script.get('/api/');
  const [first, second, ...others] = (await listed(script)) as [Json, Json];
  assert.is(others.length, 0);
  const { url, uuid, ...rest } = first;
  assert.is(url, `${fixture.url}${path}${uuid}/`);
  const shared = { user_uuid: alice.uuid, last_use: '2018-01-05T04:30:00Z', expires: '2018-01-05T05:30:00Z' };
  const byHand = { ...shared, method: 'password', user_agent: 'Firefox/150 (laptop)', is_current: false };
  const byOperator = { ...shared, method: 'operator', user_agent: '', is_current: true };
  assert.equal(rest, { ...byOperator, created: '2018-01-05T04:30:00Z' });
  const { url: _, uuid: __, ...theOther } = second;
  assert.equal(theOther, { ...byHand, created: '2018-01-05T04:00:00Z' });
  assert.equal(await reports(laptop.get(first.url)), [200, { ...first, is_current: false }]);
  assert.equal(Object.keys(first), [
    'url',
    'uuid',
    'user_uuid',
    'method',
    'user_agent',
    'is_current',
    'created',
    'last_use',
    'expires',
  ]);
  assert.equal(await listed(script, '?o=created&field=method'), [{ method: 'password' }, { method: 'operator' }]);
});

test('stores at most 200 characters of the name of a program, as text', async () => {
  const client = await logIn(`\t${'<img>é'.repeat(50)}`);
  const { user_agent: agent } = await current(client);
  assert.is(agent.length, 200);
  assert.is(agent, '<img>é'.repeat(50).slice(0, 200));
});

test('ends a session like logout, including the current one', async () => {
  const [one, two] = [await logIn(), await logIn()];
  const { url } = await current(two);
  fixture.events();
  assert.equal(await reports(one.delete(url)), [204, undefined]);
  const loggedOut = expectedEvent('auth_logged_out', 'User alice with full name Alice Lee has logged out.', by(alice));
  assert.equal(fixture.events(), [loggedOut]);
  assert.equal(await reports(two.get('/api/')), [401, { detail: 'Invalid token.' }]);
  assert.equal(await reports(one.get(url)), notFound);
  assert.equal(await reports(one.delete(url)), notFound);
  assert.equal(fixture.events(), []);
  assert.is((await one.delete((await current(one)).url)).status, 204);
  assert.equal(await reports(one.get('/api/')), [401, { detail: 'Invalid token.' }]);
});

test('ends all others at once with one event, or none if there are no others', async () => {
  const clients = [await logIn(), await logIn(), fixture.as('alice')] as const;
  const bob = await fixture.user('bob').then(() => fixture.as('bob'));
  fixture.events();
  assert.equal(await reports(clients[0].post(`${path}end_others/`)), [204, undefined]);
  assert.is(fixture.events().length, 1);
  assert.equal(await Promise.all(clients.map(async (client) => (await client.get('/api/')).status)), [200, 401, 401]);
  assert.is((await bob.get('/api/')).status, 200);
  assert.equal(await reports(clients[0].post(`${path}end_others/`)), [204, undefined]);
  assert.equal(fixture.events(), []);
  assert.is((await listed(clients[0])).length, 1);
});

test('staff list and end the sessions of a user by user_uuid; support and other users cannot', async () => {
  const own = await logIn();
  const session = await current(own);
  await fixture.user('support', { is_support: true });
  await fixture.user('bob');
  for (const name of ['support', 'bob']) {
    const client = fixture.as(name);
    assert.equal(await listed(client, `?user_uuid=${alice.uuid}`), [], name);
    assert.is((await listed(client)).length, 1, name);
    assert.equal(await reports(client.get(session.url)), notFound, name);
    assert.equal(await reports(client.delete(session.url)), notFound, name);
  }
  assert.equal(await listed(fixture.staff, `?user_uuid=${alice.uuid}`), [{ ...session, is_current: false }]);
  assert.ok((await listed(fixture.staff)).every(({ user_uuid }) => user_uuid !== alice.uuid));
  const uuids = { user_uuid: ['"x" is not a valid UUID.'] };
  assert.equal(await reports(fixture.staff.get(`${path}?user_uuid=x`)), [400, uuids]);
  fixture.events();
  assert.is((await fixture.staff.delete(session.url)).status, 204);
  assert.equal(fixture.events(), [
    expectedEvent(
      'auth_logged_out',
      'User alice with full name Alice Lee has logged out.',
      without(by(alice), 'ip_address'),
    ),
  ]);
  assert.is((await own.get('/api/')).status, 401);
});

test('hides expired sessions, and shows used ones although their use is stored late', async () => {
  const [idle, used, lasting] = [await logIn(), await logIn(), await logIn()];
  const { url } = await current(idle);
  fixture.clock.advance(1800);
  await used.get('/api/');
  fixture.clock.advance(1810);
  assert.equal((await listed(used)).map(({ is_current }) => is_current).filter(Boolean), [true], 'before it is stored');
  await lasting.get('/api/').then(({ status }) => assert.is(status, 401));
  await fixture.advance(120);
  assert.is((await listed(used)).length, 1);
  assert.equal(await reports(used.get(url)), notFound);
  fixture.events();
  assert.equal(await reports(used.delete(url)), notFound);
  assert.equal(fixture.events(), []);
  await fixture.staff.patch(alice.url, { token_lifetime: null });
  assert.ok(
    (await listed(used)).every(({ expires }) => expires === null),
    'a lifetime of for ever brings none to an end',
  );
});

test('a session from before login methods were stored has none', async () => {
  const client = await logIn();
  const { db } = fixture.server.app;
  db.write(() => db.run(raw('UPDATE token SET method = NULL')));
  assert.is((await current(client)).method, null);
});

test.run();
