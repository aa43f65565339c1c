import * as assert from 'uvu/assert';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('users of a project (core.md 7.5)');
let company: Personas;

test.before(async () => {
  company = await createPersonas(fixture);
});

const matches = async (project: Json, query = '', client = fixture.staff): Promise<string[]> => {
  const { status, body } = await client.get(`${project.url}users/${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((user: Json) => user.username);
};

test('lists users with an active role in the project itself, by username, without owners of the customer', async () => {
  for (const part of ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer'] as const) {
    assert.equal(
      await matches(company.project, '', company.clients[part]),
      ['admin.of.project', 'manager', 'observer'],
      part,
    );
  }
});

test('an item has the role, its permission and its end', async () => {
  const project = await fixture.project('Detailed', company.customer);
  const user = await fixture.user('worker', { full_name: 'Will Work', email: 'will@work.example' });
  const permission = await fixture.grant(project, user, 'manager', '2018-06-01T00:00:00Z');
  const { body } = await fixture.staff.get(`${project.url}users/`);
  assert.equal(body.map(Object.entries), [
    Object.entries({
      url: user.url,
      uuid: user.uuid,
      username: 'worker',
      full_name: 'Will Work',
      email: 'will@work.example',
      role: 'manager',
      permission: permission.url,
      expiration_time: '2018-06-01T00:00:00Z',
    }),
  ]);
  await fixture.grant(project, company.users.owner, 'admin');
  assert.equal(await matches(project), ['owner', 'worker'], 'an owner with a role in the project is included');
  fixture.clock.set('2018-06-01T00:00:00Z');
  assert.equal(await matches(project), ['owner']);
  fixture.clock.set(start);
});

test('has the filters and orderings of the users of a customer', async () => {
  const project = await fixture.project('Filtered', company.customer);
  const anna = await fixture.user('anna', {
    full_name: 'Anna',
    native_name: 'Анна',
    job_title: 'Pilot',
    email: 'anna@sky.example',
    phone_number: '555',
    civil_number: '4710',
    organization: 'SKY',
    description: 'tall',
  });
  await fixture.grant(project, anna, 'admin');
  await fixture.grant(project, await fixture.user('bert', { full_name: 'anna', is_active: false }), 'support');
  for (const query of [
    'native_name=%D0%90%D0%BD',
    'job_title=pil',
    'email=SKY',
    'username=ANN',
    'phone_number=5',
    'civil_number=71',
    'organization=SKY',
    'is_active=yes',
    'description=TALL',
  ]) {
    assert.equal(await matches(project, `?${query}`), ['anna'], query);
  }
  for (const query of ['organization=sky', 'organization_approved=1', 'registration_method=saml2'])
    assert.equal(await matches(project, `?${query}`), [], query);
  assert.equal(await matches(project, '?o=-concatenated_name'), ['bert', 'anna']);
  assert.equal(await matches(project, '?description=none', company.clients.owner), ['anna', 'bert']);
  assert.equal(
    await matches(project, '?civil_number=4710', company.clients.owner),
    [],
    'by a civil number others than staff and global support find only themselves',
  );
  assert.equal(await matches(project, '?civil_number=4710', fixture.as('anna')), ['anna']);
  assert.is((await fixture.staff.get(`${project.url}users/?o=email`)).status, 400);
});

test('the list is paginated and read-only', async () => {
  const response = await fixture.staff.get(`${company.project.url}users/?page_size=1&page=2`);
  assert.equal(
    response.body.map((user: Json) => user.username),
    ['manager'],
  );
  assert.is(response.headers.get('x-result-count'), '3');
  assert.is(response.headers.get('allow'), 'GET, HEAD, OPTIONS');
});

test.run();
