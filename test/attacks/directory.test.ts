/** Which users can find which others when the directory lists only connected people (core.md 4.3). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('the directory of connected users', { users_visible: 'connected' });
let setup: Personas;
let hidden: Json;

const secrets = { phone_number: '+372 600 0001', organization: 'ALC' };
test.before(async () => {
  setup = await createPersonas(fixture);
  hidden = await fixture.user('Hidden', { email: 'Hidden@example.com', full_name: 'Hidden Person', ...secrets });
  await fixture.user('gone', { is_active: false, email: 'gone@example.com' });
  await fixture.grant(await fixture.customer('Elsewhere', { abbreviation: 'ALC' }), hidden, 'owner');
});

const matches = async (query: string, client = setup.clients.stranger): Promise<string[]> =>
  (await client.get(`/api/users/?page_size=100&${query}`)).body.map((user: Json) => user.username);

const connected = ['admin.of.project', 'helper', 'manager', 'observer', 'owner'];
const all = ['admin', ...connected, 'gone', 'Hidden', 'stranger', 'support'].sort((a, b) =>
  a.toLowerCase().localeCompare(b.toLowerCase()),
);

test('lists the user and the people of the same customers and projects, unless the caller is staff or support', async () => {
  const seen = await asEachPersona(setup, (client) => matches('', client));
  assert.equal(seen, {
    staff: all,
    support: all,
    owner: connected,
    helper: connected,
    manager: connected,
    admin: connected,
    observer: connected,
    stranger: ['stranger'],
  });
  const details = await asEachPersona(setup, async (client) => (await client.get(setup.users.owner.url)).status);
  assert.equal(details, {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  });
});

test('finds no hidden user by a part of a name, an email or any other field', async () => {
  for (const query of [
    'username=hid',
    'email=hidden',
    'full_name=Hidden',
    'phone_number=600',
    'organization=ALC',
    'potential&potential_organization=ALC',
    'username_exact=hid',
    'email_exact=hidden',
    'username_exact=gone',
    'email_exact=gone@example.com',
    'username_exact=admin',
    `customer_uuid=${setup.customer.uuid}`,
  ])
    assert.equal(await matches(query, setup.clients.stranger), [], query);
});

test('finds a hidden user by exact name, without phone number, organization and detail page', async () => {
  for (const query of [
    'username_exact=hIDDEN',
    'email_exact=hidden@EXAMPLE.com',
    'username_exact=hidden&full_name=per',
  ]) {
    const { body, headers } = await setup.clients.stranger.get(`/api/users/?${query}`);
    assert.is(headers.get('X-Result-Count'), '1', query);
    const { civil_number: _, phone_number: __, organization: ___, organization_approved: ____, ...visible } = hidden;
    const { description, has_second_factor, identities, is_active, is_staff, token_lifetime, ...expected } = visible;
    assert.equal([has_second_factor, identities], [false, []]);
    assert.equal([description, is_active, is_staff, token_lifetime], ['', true, false, null]);
    assert.equal(body, [expected], query);
  }
  assert.is((await setup.clients.stranger.get(hidden.url)).status, 404);
  const { body } = await setup.clients.owner.get('/api/users/?username_exact=manager');
  assert.equal([body[0].phone_number, body[0].organization, body[0].organization_approved], ['', '', false]);
});

test('does not reveal hidden fields of a user through filters', async () => {
  for (const query of [
    'phone_number=600',
    'organization=ALC',
    'organization_claimed',
    'potential&potential_organization=ALC',
    'organization_approved=false',
    'civil_number=1',
    `customer_uuid=${setup.customer.uuid}`,
  ])
    assert.equal(await matches(`username_exact=hidden&${query}`), [], query);
});

test('treats a link to a hidden user like a link to a missing user', async () => {
  const none = hidden.url.replace(hidden.uuid, 'f'.repeat(32));
  const responseTo = async (path: string, { url }: Json, client = setup.clients.stranger) => {
    const { body, headers, status } = await client.get(path.replace('?', `?page_size=100&`) + encodeURIComponent(url));
    return [status, headers.get('x-result-count'), JSON.stringify(body).replace(url, '…')];
  };
  for (const path of [
    '/api/events/?scope=',
    '/api/events/count/?scope=',
    '/api/alerts/?scope=',
    '/api/customer-permissions/?user_url=',
    '/api/project-permissions/?user_url=',
    '/api/customer-permissions-log/?user_url=',
    '/api/service-settings/?scope=',
  ])
    for (const part of ['stranger', 'owner'] as const) {
      const client = setup.clients[part];
      assert.equal(await responseTo(path, hidden, client), await responseTo(path, { url: none }, client), path);
    }
  const [status] = await responseTo('/api/events/?scope=', setup.users.owner, setup.clients.manager);
  assert.is(status, 200, 'a connected user is found');
  assert.is((await responseTo('/api/events/?scope=', hidden, fixture.staff))[0], 200);
});

test('grants a role to a user found by exact name, who is connected from then on', async () => {
  const { owner } = setup.clients;
  const response = await owner.post('/api/project-permissions/', {
    project: setup.project.url,
    user: hidden.url,
    role: 'support',
  });
  assert.is(response.status, 201, JSON.stringify(response.body));
  const { body } = await owner.get(hidden.url);
  assert.equal([body.phone_number, body.organization], [secrets.phone_number, secrets.organization]);
  assert.is((await fixture.staff.delete(response.body.url)).status, 204);
  assert.is((await owner.get(hidden.url)).status, 404);
});

test.run();

const usual = suite('the directory with the default settings');

usual('lists all active users but staff to any user, complete, by partial and exact names', async () => {
  const open = await Fixture.start();
  const person = await open.user('Hidden', { email: 'Hidden@example.com', ...secrets });
  await open.user('stranger');
  const stranger = open.as('stranger');
  for (const query of ['username=hid', 'username_exact=HIDDEN', 'email_exact=hidden@example.com', 'phone_number=600']) {
    const { body } = await stranger.get(`/api/users/?${query}`);
    assert.equal(
      body.map(({ phone_number, username }: Json) => [username, phone_number]),
      [['Hidden', secrets.phone_number]],
      query,
    );
  }
  assert.is((await stranger.get(person.url)).status, 200);
  await open.close();
});

usual.run();
