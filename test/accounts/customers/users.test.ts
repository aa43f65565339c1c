import * as assert from 'uvu/assert';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type PersonaName, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('users of a customer (core.md 6.5)');
let company: Personas;
let usersUrl: string;

test.before(async () => {
  company = await createPersonas(fixture);
  usersUrl = `${company.customer.url}users/`;
});

const usernames = async (query = '', part: PersonaName = 'staff'): Promise<string[]> => {
  const { status, body } = await company.clients[part].get(`${usersUrl}${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((user: Json) => user.username);
};

test('lists users with an active role in the customer or its projects, without duplicates, by username', async () => {
  const second = await fixture.project('Second', company.customer);
  await fixture.grant(second, company.users.manager, 'admin');
  await fixture.grant(second, company.users.owner, 'manager');
  const remote = await fixture.customer('Remote');
  await fixture.grant(remote, company.users.stranger, 'owner');
  const everyone = ['admin.of.project', 'helper', 'manager', 'observer', 'owner'];
  for (const part of ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer'] as const) {
    assert.equal(await usernames('', part), everyone, part);
  }
  await fixture.staff.delete(second.url);
  await fixture.staff.delete(remote.url);
});

test('an item has the customer role, its permission and end, and the roles in projects', async () => {
  const customer = await fixture.customer('Detailed');
  const [beta, alpha] = [await fixture.project('beta', customer), await fixture.project('Alpha', customer)];
  const both = await fixture.user('both', { full_name: 'Both Ends', email: 'both@example.com' });
  const worker = await fixture.user('worker');
  const owning = await fixture.grant(customer, both, 'owner', '2019-01-01T00:00:00Z');
  const managing = await fixture.grant(beta, both, 'manager');
  const helping = await fixture.grant(alpha, both, 'support', '2018-06-01T12:30:00.5Z');
  const administering = await fixture.grant(beta, worker, 'admin');
  const { body } = await fixture.staff.get(`${customer.url}users/`);
  assert.equal(body, [
    {
      url: both.url,
      uuid: both.uuid,
      username: 'both',
      full_name: 'Both Ends',
      email: 'both@example.com',
      role: 'owner',
      permission: owning.url,
      projects: [
        {
          url: alpha.url,
          uuid: alpha.uuid,
          name: 'Alpha',
          role: 'support',
          permission: helping.url,
          expiration_time: '2018-06-01T12:30:00.5Z',
        },
        {
          url: beta.url,
          uuid: beta.uuid,
          name: 'beta',
          role: 'manager',
          permission: managing.url,
          expiration_time: null,
        },
      ],
      expiration_time: '2019-01-01T00:00:00Z',
    },
    {
      url: worker.url,
      uuid: worker.uuid,
      username: 'worker',
      full_name: '',
      email: '',
      role: null,
      permission: null,
      projects: [
        {
          url: beta.url,
          uuid: beta.uuid,
          name: 'beta',
          role: 'admin',
          permission: administering.url,
          expiration_time: null,
        },
      ],
      expiration_time: null,
    },
  ]);
  assert.equal(Object.keys(body[0]), [
    'url',
    'uuid',
    'username',
    'full_name',
    'email',
    'role',
    'permission',
    'projects',
    'expiration_time',
  ]);
});

test('an item has only roles in projects that the caller can see', async () => {
  const hidden = await fixture.project('Hidden', company.customer);
  await fixture.grant(hidden, company.users.admin, 'manager');
  const projectsOfAdmin = async (part: PersonaName) => {
    const { body } = await company.clients[part].get(`${usersUrl}?username=admin.of`);
    return body[0].projects.map((project: Json) => project.name);
  };
  for (const part of ['staff', 'support', 'owner', 'helper', 'admin'] as const)
    assert.equal(await projectsOfAdmin(part), ['Hidden', 'Rocket'], part);
  for (const part of ['manager', 'observer'] as const) assert.equal(await projectsOfAdmin(part), ['Rocket'], part);
  await fixture.staff.delete(hidden.url);
});

test('excludes revoked and expired roles', async () => {
  const customer = await fixture.customer('Fleeting');
  const user = await fixture.user('fleeting');
  const list = async () => (await fixture.staff.get(`${customer.url}users/`)).body.length;
  await fixture.staff.delete((await fixture.grant(customer, user, 'support')).url);
  assert.is(await list(), 0);
  await fixture.grant(customer, user, 'support', '2018-03-01T00:00:00Z');
  assert.is(await list(), 1);
  fixture.clock.set('2018-03-01T00:00:00Z');
  assert.is(await list(), 0);
  fixture.clock.set(start);
});

test('names and similar fields match substrings, organization exactly, booleans as booleans', async () => {
  const customer = await fixture.customer('Filtered');
  const anna = await fixture.user('anna', {
    full_name: 'Anna Arendt',
    native_name: 'Анна',
    job_title: 'Pilot',
    email: 'anna@sky.example',
    phone_number: '+1 555',
    civil_number: '47101010033',
    organization: 'SKY',
    description: 'tall',
  });
  const bert = await fixture.user('bert', { full_name: 'Bert Brecht', is_active: false });
  await fixture.grant(customer, anna, 'owner');
  await fixture.grant(customer, bert, 'support');
  const matches = async (query: string, client = fixture.staff) =>
    (await client.get(`${customer.url}users/?${query}`)).body.map((user: Json) => user.username);
  for (const query of [
    'full_name=AREN',
    `native_name=${encodeURIComponent('АНН')}`,
    'job_title=pil',
    'email=SKY',
    'username=NN',
    'phone_number=555',
    'civil_number=4710',
    'organization=SKY',
    'is_active=True',
    'description=TALL',
  ]) {
    assert.equal(await matches(query), ['anna'], query);
  }
  for (const query of ['organization=SK', 'organization_approved=true', 'registration_method=saml', 'username=zzz'])
    assert.equal(await matches(query), [], query);
  for (const query of ['registration_method=DEF', 'organization_approved=no', 'unknown=1'])
    assert.equal(await matches(query), ['anna', 'bert'], query);
  assert.equal(await matches('is_active=false'), ['bert']);
  const wrong = await fixture.staff.get(`${customer.url}users/?is_active=perhaps`);
  assert.equal([wrong.status, wrong.body], [400, { is_active: ['"perhaps" is not a valid boolean.'] }]);
  assert.equal(await matches('description=tall', company.clients.support), ['anna']);
  assert.equal(
    await matches('description=nothing', fixture.as('anna')),
    ['anna', 'bert'],
    'description is for staff and global support',
  );
});

test('staff and global support find users by civil number; others find only themselves', async () => {
  const customer = await fixture.customer('Guarded');
  const numbers = { first: '38001010001', second: '38001010002' };
  for (const [username, civil_number] of Object.entries(numbers))
    await fixture.grant(customer, await fixture.user(username, { civil_number }), 'owner');
  const matches = async (query: string, client = fixture.staff) =>
    (await client.get(`${customer.url}users/?${query}`)).body.map((user: Json) => user.username);
  for (const client of [fixture.staff, company.clients.support])
    assert.equal(await matches('civil_number=3800101', client), ['first', 'second']);
  assert.equal(await matches('civil_number=3800101', fixture.as('first')), ['first']);
  assert.equal(await matches(`civil_number=${numbers.second}`, fixture.as('first')), []);
  assert.equal(await matches('civil_number=', fixture.as('first')), ['first', 'second']);
});

test('o=concatenated_name orders by full name, then username', async () => {
  const customer = await fixture.customer('Ordered');
  for (const [username, full_name] of [
    ['a.one', 'Zed'],
    ['b.two', ''],
    ['c.three', 'alma'],
    ['d.four', 'Alma'],
  ] as const) {
    await fixture.grant(customer, await fixture.user(username, { full_name }), 'support');
  }
  const ordered = async (query: string) =>
    (await fixture.staff.get(`${customer.url}users/?${query}`)).body.map((user: Json) => user.username);
  assert.equal(await ordered('o=concatenated_name'), ['c.three', 'd.four', 'b.two', 'a.one']);
  assert.equal(await ordered('o=-concatenated_name'), ['a.one', 'b.two', 'd.four', 'c.three']);
  const wrong = await fixture.staff.get(`${customer.url}users/?o=username`);
  assert.equal([wrong.status, wrong.body], [400, { o: ['"username" is not a valid choice.'] }]);
});

test('the list is paginated', async () => {
  const { body, headers } = await fixture.staff.get(`${usersUrl}?page_size=2&page=2`);
  assert.equal(
    body.map((user: Json) => user.username),
    ['manager', 'observer'],
  );
  assert.is(headers.get('x-result-count'), '5');
  assert.is(
    headers.get('link'),
    [
      `<${usersUrl}?page_size=2>; rel="first"`,
      `<${usersUrl}?page_size=2>; rel="prev"`,
      `<${usersUrl}?page=3&page_size=2>; rel="next"`,
      `<${usersUrl}?page=3&page_size=2>; rel="last"`,
    ].join(', '),
  );
  assert.equal((await fixture.staff.get(`${usersUrl}?page=9`)).body, { detail: 'Invalid page.' });
});

test('the list is read-only', async () => {
  const response = await fixture.staff.post(usersUrl, {});
  assert.equal([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
});

test.run();
