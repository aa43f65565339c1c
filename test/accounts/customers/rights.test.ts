import * as assert from 'uvu/assert';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas, sameExcept } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees and changes customers (core.md 6.3)');
let company: Personas;

test.before(async () => {
  company = await createPersonas(fixture);
});

const statuses = (ask: (client: Client) => Promise<{ status: number }>): Promise<Record<PersonaName, number>> =>
  asEachPersona(company, async (client) => (await ask(client)).status);
const names = (list: Json): string[] => list.map((item: Json) => item.name);

const reading = sameExcept(200, { stranger: 404 });
const changing = { support: 403, owner: 403, helper: 403, manager: 403, admin: 403, observer: 403, stranger: 404 };

test('users with a role in the customer or one of its projects can see it; staff and global support can see all', async () => {
  const other = await fixture.customer('Unconnected');
  assert.equal(await statuses((client) => client.get(company.customer.url)), reading);
  assert.equal(await asEachPersona(company, async (client) => names((await client.get('/api/customers/')).body)), {
    staff: ['Alice', 'Unconnected'],
    support: ['Alice', 'Unconnected'],
    owner: ['Alice'],
    helper: ['Alice'],
    manager: ['Alice'],
    admin: ['Alice'],
    observer: ['Alice'],
    stranger: [],
  });
  assert.equal(await statuses((client) => client.get(other.url)), {
    ...reading,
    owner: 404,
    helper: 404,
    manager: 404,
    admin: 404,
    observer: 404,
  });
  await fixture.staff.delete(other.url);
});

for (const [name, path] of [
  ['users', 'users/'],
  ['counters', 'counters/'],
] as const) {
  test(`users who can see the customer can read ${name}`, async () => {
    assert.equal(await statuses((client) => client.get(`${company.customer.url}${path}`)), reading);
    assert.is((await fixture.anonymous.get(`${company.customer.url}${path}`)).status, 401);
  });
}

test('an invisible customer and a missing one have the same response', async () => {
  const missing = company.customer.url.replace(company.customer.uuid, 'f'.repeat(32));
  for (const [method, tail] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['OPTIONS', ''],
    ['GET', 'users/'],
    ['GET', 'counters/'],
    ['GET', 'image/'],
    ['PUT', 'image/'],
    ['PATCH', 'image/'],
    ['DELETE', 'image/'],
  ] as const) {
    for (const url of [missing, company.customer.url]) {
      const response = await company.clients.stranger.send(method, url + tail);
      assert.equal([response.status, response.body], [404, { detail: 'Not found.' }], `${method} ${tail}`);
    }
  }
});

test('only staff create customers; others are rejected before their body is read', async () => {
  assert.equal(await statuses((client) => client.post('/api/customers/', {})), sameExcept(403, { staff: 400 }));
  const response = await company.clients.owner.post('/api/customers/', { name: 'Mine' });
  assert.equal(response.body, { detail: 'You do not have permission to perform this action.' });
  assert.is((await fixture.anonymous.post('/api/customers/', { name: 'Mine' })).status, 401);
});

test('only staff change and delete customers', async () => {
  const { url } = company.customer;
  assert.equal(await statuses((client) => client.patch(url, { phone_number: '1' })), { staff: 200, ...changing });
  assert.equal(await statuses((client) => client.put(url, { name: 'Alice' })), { staff: 200, ...changing });
  assert.equal(await statuses((client) => client.patch(url, { name: '' })), { staff: 400, ...changing });
  assert.equal(await statuses((client) => client.delete(url)), { staff: 409, ...changing });
});

test('with owners_can_manage_customers, owners change and delete their customers but cannot create any', async () => {
  const open = await Fixture.start({ owners_can_manage_customers: true });
  try {
    const opened = await createPersonas(open);
    const ask = (request: (client: Client) => Promise<{ status: number }>) =>
      asEachPersona(opened, async (client) => (await request(client)).status);
    const { url } = opened.customer;
    assert.equal(await ask((client) => client.patch(url, { phone_number: '1' })), {
      staff: 200,
      ...changing,
      owner: 200,
    });
    assert.equal(await ask((client) => client.put(url, { name: 'Alice' })), { staff: 200, ...changing, owner: 200 });
    assert.equal(await ask((client) => client.delete(url)), { staff: 409, ...changing, owner: 409 });
    assert.is((await opened.clients.owner.post('/api/customers/', { name: 'Mine' })).status, 403);
    await open.staff.delete(opened.project.url);
    assert.is((await opened.clients.owner.delete(url)).status, 204);
  } finally {
    await open.close();
  }
});

test('global support who owns a customer also has the rights of its owner', async () => {
  const customer = await fixture.customer('Doubled');
  await fixture.grant(customer, company.users.support, 'owner');
  const form = () => new URLSearchParams({});
  assert.is((await company.clients.support.send('PATCH', `${customer.url}image/`, form())).status, 200);
  assert.is((await company.clients.support.post('/api/projects/', { name: 'x', customer: customer.url })).status, 201);
  assert.is(
    (await company.clients.support.post('/api/projects/', { name: 'x', customer: company.customer.url })).status,
    403,
  );
});

test('shows in a customer only the projects that the caller can see', async () => {
  const other = await fixture.project('Aside', company.customer);
  const both = ['Aside', 'Rocket'];
  const seen = {
    staff: both,
    support: both,
    owner: both,
    helper: both,
    manager: ['Rocket'],
    admin: ['Rocket'],
    observer: ['Rocket'],
  };
  for (const path of [company.customer.url, '/api/customers/?name=Alice']) {
    for (const [part, expected] of Object.entries(seen)) {
      const { body } = await company.clients[part as PersonaName].get(path);
      assert.equal(names((Array.isArray(body) ? body[0] : body).projects), expected, `${part} ${path}`);
    }
  }
  for (const [part, expected] of Object.entries(seen)) {
    const { body } = await company.clients[part as PersonaName].get(`${company.customer.url}counters/`);
    assert.is(body.projects, expected.length, part);
  }
  await fixture.staff.delete(other.url);
});

test('shows owners and support_users to every viewer', async () => {
  const lists = ({ owners, support_users }: Json) =>
    [owners, support_users].map((list) => list.map((user: Json) => user.username));
  for (const part of ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer'] as const) {
    assert.equal(lists((await company.clients[part].get(company.customer.url)).body), [['owner'], ['helper']], part);
  }
});

test('a role lets its user see the customer until it is revoked or expires', async () => {
  fixture.clock.hold();
  const client = company.clients.stranger;
  const sees = async () =>
    (await client.get(company.customer.url)).status === 200 && (await client.get('/api/customers/')).body.length === 1;
  for (const scope of [company.customer, company.project]) {
    const permission = await fixture.grant(scope, company.users.stranger, 'support');
    assert.ok(await sees());
    await fixture.staff.delete(permission.url);
    assert.not(await sees());
    fixture.clock.set('2018-02-01T00:00:00Z');
    await fixture.grant(scope, company.users.stranger, 'support', '2018-02-01T01:00:00Z');
    fixture.clock.set('2018-02-01T00:59:59.999Z');
    assert.ok(await sees());
    fixture.clock.set('2018-02-01T01:00:00Z');
    assert.not(await sees());
  }
});

test('two viewers of one customer share an ETag only if their responses are equal', async () => {
  const other = await fixture.project('Hidden', company.customer);
  const tags = await asEachPersona(company, async (client) =>
    (await client.get(company.customer.url)).headers.get('etag'),
  );
  assert.is.not(tags.owner, tags.manager);
  assert.is(tags.owner, tags.helper);
  await fixture.staff.delete(other.url);
});

test.run();
