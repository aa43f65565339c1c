import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees and changes projects (core.md 7.3)');
let company: Personas;

test.before(async () => {
  company = await createPersonas(fixture);
});

const statuses = (ask: (client: Client) => Promise<{ status: number }>): Promise<Record<PersonaName, number>> =>
  asEachPersona(company, async (client) => (await ask(client)).status);

const reading = {
  staff: 200,
  support: 200,
  owner: 200,
  helper: 200,
  manager: 200,
  admin: 200,
  observer: 200,
  stranger: 404,
};
const changing = {
  staff: 200,
  support: 403,
  owner: 200,
  helper: 403,
  manager: 403,
  admin: 403,
  observer: 403,
  stranger: 404,
};

test('users with a role in the project or its customer can see it; staff and global support can see all', async () => {
  const sister = await fixture.project('Sister', company.customer);
  const remote = await fixture.project('Foreign', await fixture.customer('Remote'));
  assert.equal(await statuses((client) => client.get(company.project.url)), reading);
  assert.equal(await statuses((client) => client.get(sister.url)), {
    ...reading,
    manager: 404,
    admin: 404,
    observer: 404,
  });
  assert.equal(
    await asEachPersona(company, async (client) =>
      (await client.get('/api/projects/')).body.map((project: Json) => project.name),
    ),
    {
      staff: ['Foreign', 'Rocket', 'Sister'],
      support: ['Foreign', 'Rocket', 'Sister'],
      owner: ['Rocket', 'Sister'],
      helper: ['Rocket', 'Sister'],
      manager: ['Rocket'],
      admin: ['Rocket'],
      observer: ['Rocket'],
      stranger: [],
    },
  );
  await fixture.staff.delete(sister.url);
  await fixture.staff.delete(remote.url);
});

for (const path of ['users/', 'counters/']) {
  test(`users who can see the project can read ${path}`, async () => {
    assert.equal(await statuses((client) => client.get(`${company.project.url}${path}`)), reading);
    assert.is((await fixture.anonymous.get(`${company.project.url}${path}`)).status, 401);
  });
}

test('an invisible project and a missing one have the same response', async () => {
  const missing = company.project.url.replace(company.project.uuid, 'f'.repeat(32));
  for (const [method, tail] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['OPTIONS', ''],
    ['GET', 'users/'],
    ['GET', 'counters/'],
    ['POST', 'update_certifications/'],
  ] as const) {
    for (const url of [missing, company.project.url]) {
      const response = await company.clients.stranger.send(method, url + tail);
      assert.equal([response.status, response.body], [404, { detail: 'Not found.' }], `${method} ${tail}`);
    }
  }
});

test('staff and owners of the customer create projects; other viewers get 403, and for others the link is invalid', async () => {
  const post = (client: Client) => client.post('/api/projects/', { name: 'Made', customer: company.customer.url });
  assert.equal(await statuses(post), {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 400,
  });
  assert.equal((await post(company.clients.stranger)).body, {
    customer: ['Invalid hyperlink - Object does not exist.'],
  });
  assert.equal((await post(company.clients.helper)).body, {
    detail: 'You do not have permission to perform this action.',
  });
  assert.is((await fixture.anonymous.post('/api/projects/', { name: 'Made' })).status, 401);
});

test('creation checks fields first, then the right', async () => {
  const response = await company.clients.helper.post('/api/projects/', { name: '', customer: company.customer.url });
  assert.equal([response.status, response.body], [400, { name: ['This field may not be blank.'] }]);
});

test('staff and owners of the customer change projects; others are rejected before their body is read', async () => {
  const { url } = company.project;
  assert.equal(await statuses((client) => client.patch(url, { description: 'x' })), changing);
  assert.equal(
    await statuses((client) => client.put(url, { name: 'Rocket', customer: company.customer.url })),
    changing,
  );
  assert.equal(await statuses((client) => client.patch(url, { name: '' })), { ...changing, staff: 400, owner: 400 });
});

test('staff and owners of the customer replace certifications', async () => {
  const url = `${company.project.url}update_certifications/`;
  assert.equal(await statuses((client) => client.post(url, { certifications: [] })), changing);
  assert.equal(await statuses((client) => client.post(url, {})), { ...changing, staff: 400, owner: 400 });
});

test('staff and owners of the customer delete projects', async () => {
  const expected = { support: 403, owner: 204, helper: 403, manager: 403, admin: 403, observer: 403, stranger: 404 };
  for (const [part, status] of Object.entries(expected)) {
    const own = part === 'owner' ? await fixture.project('Short-lived', company.customer) : company.project;
    assert.is((await company.clients[part as PersonaName].delete(own.url)).status, status, part);
  }
  const other = await fixture.project('Short-lived', company.customer);
  assert.is((await fixture.staff.delete(other.url)).status, 204);
});

test('an owner whose role has expired cannot create or change projects', async () => {
  const user = await fixture.user('brief');
  const client = fixture.as('brief');
  await fixture.grant(company.customer, user, 'owner', '2018-02-01T00:00:00Z');
  assert.is((await client.patch(company.project.url, { description: 'mine' })).status, 200);
  fixture.clock.set('2018-02-01T00:00:00Z');
  assert.is((await client.patch(company.project.url, { description: 'not mine' })).status, 404);
  assert.is((await client.post('/api/projects/', { name: 'x', customer: company.customer.url })).status, 400);
});

test('an inactive user cannot do anything', async () => {
  await fixture.user('asleep');
  const client = fixture.as('asleep');
  await fixture.staff.patch((await fixture.staff.get('/api/users/?username=asleep')).body[0].url, { is_active: false });
  assert.is((await client.get('/api/projects/')).status, 401);
});

test.run();
