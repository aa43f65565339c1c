import * as assert from 'uvu/assert';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('list of projects (core.md 7.4)');
let company: Personas;
let bob: Json;

test.before(async () => {
  fixture.clock.hold();
  company = await createPersonas(fixture);
  bob = await fixture.customer('Bob', { native_name: 'Боб', abbreviation: 'xyz' });
  fixture.clock.set('2018-02-01T00:00:00.25Z');
  await fixture.project('apple', bob, { description: 'Fruit_100%' });
  fixture.clock.set('2018-03-01T00:00:00Z');
  await fixture.project('Übung', bob, { description: 'ÜBEN' });
});

const names = async (query: string, client = fixture.staff): Promise<string[]> => {
  const { status, body } = await client.get(`/api/projects/?${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((project: Json) => project.name);
};

test('the default order is by name, ignoring case', async () => {
  assert.equal(await names(''), ['apple', 'Rocket', 'Übung']);
});

test('can_manage selects projects that the caller manages or whose customer they own', async () => {
  const { clients } = company;
  assert.equal(await names('can_manage', clients.owner), ['Rocket']);
  assert.equal(await names('can_manage=', clients.manager), ['Rocket']);
  for (const part of ['staff', 'support', 'helper', 'admin', 'observer', 'stranger'] as const)
    assert.equal(await names('can_manage=1', clients[part]), [], part);
});

test('can_admin selects projects in which the caller is an administrator', async () => {
  const { clients } = company;
  assert.equal(await names('can_admin', clients.admin), ['Rocket']);
  for (const part of ['staff', 'support', 'owner', 'helper', 'manager', 'observer'] as const)
    assert.equal(await names('can_admin', clients[part]), [], part);
});

test('an explicit false clears the flags, any other value sets them', async () => {
  const { clients } = company;
  for (const value of ['false', 'False', '0', 'no', 'off'])
    assert.equal(await names(`can_manage=${value}`, clients.observer), ['Rocket'], value);
  for (const value of ['', 'true', '1', 'whatever'])
    assert.equal(await names(`can_admin=${value}`, clients.observer), [], value);
});

test("both flags count only the caller's own active roles, also for staff and global support", async () => {
  const project = await fixture.project('Owned by support', bob);
  await fixture.grant(project, company.users.support, 'manager', '2018-03-02T00:00:00Z');
  await fixture.grant(bob, company.users.support, 'support');
  assert.equal(await names('can_manage', company.clients.support), ['Owned by support']);
  assert.equal(await names('can_manage&can_admin', company.clients.support), []);
  fixture.clock.set('2018-03-02T00:00:00Z');
  assert.equal(await names('can_manage', company.clients.support), []);
  await fixture.staff.delete(project.url);
});

test('customer matches the uuid of the customer', async () => {
  assert.equal(await names(`customer=${bob.uuid}`), ['apple', 'Übung']);
  assert.equal(await names(`customer=${'0'.repeat(32)}`), []);
  assert.equal(await names(`customer=${bob.uuid}`, company.clients.owner), []);
  const wrong = await fixture.staff.get('/api/projects/?customer=Bob');
  assert.equal([wrong.status, wrong.body], [400, { customer: ['"Bob" is not a valid UUID.'] }]);
});

test('customer_name, customer_native_name, customer_abbreviation, name and description match substrings, ignoring case', async () => {
  assert.equal(await names('customer_name=LIC'), ['Rocket']);
  assert.equal(await names(`customer_native_name=${encodeURIComponent('БО')}`), ['apple', 'Übung']);
  assert.equal(await names('customer_abbreviation=XY'), ['apple', 'Übung']);
  assert.equal(await names('name=OCK'), ['Rocket']);
  assert.equal(await names(`name=${encodeURIComponent('üB')}`), ['Übung']);
  assert.equal(await names(`description=${encodeURIComponent('über')}`), []);
  assert.equal(await names(`description=${encodeURIComponent('übe')}`), ['Übung']);
  assert.equal(await names('description=T_100%25'), ['apple']);
  assert.equal(await names('customer_name=bob&name=a'), ['apple']);
});

test('created matches the exact datetime in any time zone', async () => {
  for (const instant of [
    '2018-02-01T00:00:00.25Z',
    '2018-02-01 00:00:00.250000',
    '2018-02-01T02:00:00.25%2B02:00',
    '2018-02-01T02:00:00.25+02:00',
  ]) {
    assert.equal(await names(`created=${instant}`), ['apple'], instant);
  }
  assert.equal(await names(`created=${start}`), ['Rocket']);
  assert.equal(await names('created=2018-02-01T00:00:00Z'), []);
  for (const wrong of ['yesterday', '2018-02-30T00:00:00Z', '2018-02-01']) {
    const response = await fixture.staff.get(`/api/projects/?created=${wrong}`);
    assert.equal(
      [response.status, response.body],
      [
        400,
        {
          created: [
            'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
          ],
        },
      ],
    );
  }
});

test('o orders by name, created, customer_name, customer_native_name and customer_abbreviation in both directions', async () => {
  const orders = {
    name: ['apple', 'Rocket', 'Übung'],
    created: ['Rocket', 'apple', 'Übung'],
    customer_name: ['Rocket', 'apple', 'Übung'],
    customer_native_name: ['Rocket', 'apple', 'Übung'],
    customer_abbreviation: ['Rocket', 'apple', 'Übung'],
  };
  for (const [field, expected] of Object.entries(orders)) {
    assert.equal(await names(`o=${field}`), expected, field);
    assert.equal(await names(`o=-${field}`), [...expected].reverse(), `-${field}`);
  }
  assert.equal(await names('o=-customer_name,-name'), ['Übung', 'apple', 'Rocket']);
  const wrong = await fixture.staff.get('/api/projects/?o=name,description');
  assert.equal([wrong.status, wrong.body], [400, { o: ['"description" is not a valid choice.'] }]);
});

test('field selects keys, in the usual order, in lists and details', async () => {
  const { project } = company;
  const chosen = async (query: string) => Object.keys((await fixture.staff.get(`${project.url}?${query}`)).body);
  assert.equal(await chosen('field=name&field=uuid'), ['uuid', 'name']);
  assert.equal(await chosen('fields=quotas&field=services'), ['quotas', 'services']);
  assert.equal(await chosen('field=secret'), Object.keys(project));
  assert.equal((await fixture.staff.get('/api/projects/?name=Rocket&field=customer_abbreviation&field=name')).body, [
    { name: 'Rocket', customer_abbreviation: 'ALC' },
  ]);
  for (const name of Object.keys(project)) assert.equal(await chosen(`field=${name}`), [name]);
});

test('the list is paginated', async () => {
  const { body, headers } = await fixture.staff.get('/api/projects/?page_size=2&page=last&field=name');
  assert.equal(body, [{ name: 'Übung' }]);
  assert.is(headers.get('x-result-count'), '3');
});

test.run();
