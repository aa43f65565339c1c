/** Roles of users, and when they were last seen (core.md 4.8). */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('statistics of users');
const password = 'correct-horse-7';
let cast: Personas;

test.before(async () => {
  cast = await createPersonas(fixture);
});

const statsOf = async (client: Json, username: string): Promise<Json> =>
  (await client.get(`/api/users/stats/?username_exact=${username}`)).body[0];

test('has an object for each user of the page of the list, with the same filters, order and headers', async () => {
  for (const query of ['', '?page_size=3&page=2', '?o=-date_joined&page_size=4', '?is_active=false', '?username=er']) {
    const list = await fixture.staff.get(`/api/users/${query}`);
    const { body, headers } = await fixture.staff.get(`/api/users/stats/${query}`);
    assert.equal(
      body.map(({ url, uuid }: Json) => [url, uuid]),
      list.body.map(({ url, uuid }: Json) => [url, uuid]),
      query,
    );
    assert.is(headers.get('X-Result-Count'), list.headers.get('X-Result-Count'), query);
  }
  assert.is((await fixture.staff.get('/api/users/stats/?page=9')).status, 404);
  assert.equal((await fixture.staff.get('/api/users/stats/?o=nothing')).body, {
    o: ['"nothing" is not a valid choice.'],
  });
  assert.is((await fixture.anonymous.get('/api/users/stats/')).status, 401);
});

test('lists the first three roles, customers before projects, and counts all', async () => {
  const { customer, project, users } = cast;
  const newcomer = await fixture.user('newcomer');
  await fixture.grant(customer, newcomer, 'support');
  assert.equal(await statsOf(fixture.staff, 'newcomer'), {
    url: newcomer.url,
    uuid: newcomer.uuid,
    last_seen: null,
    role_count: 1,
    roles: [{ scope_type: 'customer', role: 'support', name: 'Alice', scope: customer.url }],
  });
  await fixture.grant(project, users.owner, 'admin');
  for (const name of ['Bob', 'Carol'])
    await fixture.grant(await fixture.customer(name, { contact_details: 'Elsewhere' }), users.owner, 'support');
  const { role_count, roles } = await statsOf(fixture.staff, 'owner');
  assert.is(role_count, 4);
  assert.equal(
    roles.map(({ name, role, scope_type }: Json) => [scope_type, role, name]),
    [
      ['customer', 'owner', 'Alice'],
      ['customer', 'support', 'Bob'],
      ['customer', 'support', 'Carol'],
    ],
  );
  const [{ roles: stranger, role_count: none }] = (await fixture.staff.get('/api/users/stats/?username=stranger')).body;
  assert.equal([stranger, none], [[], 0]);
});

test('shows callers only the roles that they can read', async () => {
  const namesFor = async (client: Json, username: string) =>
    (await statsOf(client, username)).roles.map(({ name }: Json) => name);
  assert.equal(await namesFor(cast.clients.helper, 'owner'), ['Alice'], 'not those in other customers');
  assert.equal(await namesFor(cast.clients.stranger, 'owner'), []);
  assert.equal(await namesFor(cast.clients.owner, 'manager'), ['Rocket']);
  assert.equal(await namesFor(cast.clients.observer, 'manager'), [], 'as in the list of roles of the project');
  assert.equal(await namesFor(cast.clients.support, 'manager'), ['Rocket']);
  // An expired role does not count.
  await fixture.staff.post('/api/project-permissions/', {
    project: cast.project.url,
    user: cast.users.stranger.url,
    role: 'admin',
    expiration_time: new Date(fixture.clock.now() / 1000 + 3600_000).toISOString(),
  });
  assert.equal(await namesFor(fixture.staff, 'stranger'), ['Rocket']);
  await fixture.advance(2 * 3600);
  assert.equal(await namesFor(fixture.staff, 'stranger'), []);
});

test('says when a user last signed in, used a session or caused an event', async () => {
  const quiet = await fixture.user('quiet', { token_lifetime: 3600 });
  await fixture.grant(cast.customer, quiet, 'support');
  await fixture.staff.post(`${quiet.url}password/`, { password });
  assert.is((await statsOf(fixture.staff, 'quiet')).last_seen, null);
  const before = (await fixture.staff.get(quiet.url)).headers.get('ETag');
  const signedIn = new Date(fixture.clock.now() / 1000).toISOString();
  await fixture.anonymous.post('/api-auth/password/', { username: 'quiet', password });
  const { last_seen: seen } = await statsOf(fixture.staff, 'quiet');
  assert.is(seen.slice(0, 19), signedIn.slice(0, 19));
  assert.is((await fixture.staff.get(quiet.url)).headers.get('ETag'), before, 'the user has not changed');
  // Without any session, the events still exist.
  await fixture.advance(60 * 24 * 3600);
  assert.is((await statsOf(fixture.as('admin'), 'quiet')).last_seen, seen);
  assert.is((await statsOf(fixture.as('support'), 'quiet')).last_seen, seen);
  assert.is((await statsOf(fixture.as('owner'), 'quiet')).last_seen, null, 'for others it is hidden');
  const own = fixture.as('quiet');
  await own.patch(quiet.url, { full_name: 'Hal', agree_with_policy: true });
  assert.ok((await statsOf(own, 'quiet')).last_seen > seen);
});

test('does not count what an earlier user with the same username did', async () => {
  const first = await fixture.user('reused');
  await fixture.staff.post(`${first.url}password/`, { password });
  await fixture.anonymous.post('/api-auth/password/', { username: 'reused', password });
  assert.is.not((await statsOf(fixture.staff, 'reused')).last_seen, null);
  await fixture.staff.delete(first.url);
  await fixture.advance(10);
  await fixture.user('reused');
  assert.is((await statsOf(fixture.staff, 'reused')).last_seen, null);
});

test.run();
