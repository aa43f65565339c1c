import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('list of customers (core.md 6.4)');
let company: Personas;

test.before(async () => {
  company = await createPersonas(fixture);
  await fixture.customer('beta', {
    abbreviation: 'ZZ',
    native_name: 'Бета',
    contact_details: '100% of Main_Road',
    registration_code: '20',
  });
  await fixture.customer('Gamma', {
    abbreviation: 'aa',
    native_name: 'гамма',
    contact_details: 'Cellar',
    registration_code: '100',
  });
  await fixture.customer('Ärger', {
    abbreviation: 'mm',
    native_name: 'ÄRGER',
    contact_details: 'attic',
    registration_code: '3',
  });
});

const names = async (query: string, client = fixture.staff): Promise<string[]> => {
  const { status, body } = await client.get(`/api/customers/?${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((customer: Json) => customer.name);
};

test('the default order is by name, ignoring case', async () => {
  assert.equal(await names(''), ['Alice', 'beta', 'Gamma', 'Ärger']);
});

test('name, native_name, abbreviation and contact_details match substrings, ignoring case', async () => {
  assert.equal(await names('name=A'), ['Alice', 'beta', 'Gamma']);
  assert.equal(await names('name=LIC'), ['Alice']);
  assert.equal(await names(`name=${encodeURIComponent('äR')}`), ['Ärger']);
  assert.equal(await names(`native_name=${encodeURIComponent('ГАМ')}`), ['Gamma']);
  assert.equal(await names(`native_name=${encodeURIComponent('бета')}`), ['beta']);
  assert.equal(await names('abbreviation=lc'), ['Alice']);
  assert.equal(await names('contact_details=street'), ['Alice']);
  assert.equal(await names('name=none'), []);
});

test('matches wildcards of LIKE literally', async () => {
  assert.equal(await names('contact_details=100%25'), ['beta']);
  assert.equal(await names('contact_details=_'), ['beta']);
  assert.equal(await names('contact_details=%5C'), []);
});

test('registration_code matches exactly', async () => {
  assert.equal(await names('registration_code=20'), ['beta']);
  assert.equal(await names('registration_code=2'), []);
});

test('combines filters, ignores empty values and uses the last of repeated ones', async () => {
  assert.equal(await names('name=a&contact_details=e'), ['Alice', 'Gamma']);
  assert.equal(await names('name=&registration_code='), ['Alice', 'beta', 'Gamma', 'Ärger']);
  assert.equal(await names('name=beta&name=gamma'), ['Gamma']);
  assert.equal(await names('unknown=1&uuid=x'), ['Alice', 'beta', 'Gamma', 'Ärger']);
});

test('user_uuid selects, for staff and global support, the customers that the user can see', async () => {
  const { users, clients } = company;
  for (const client of [clients.staff, clients.support]) {
    for (const part of ['owner', 'helper', 'manager', 'admin', 'observer'] as const) {
      assert.equal(await names(`user_uuid=${users[part].uuid}`, client), ['Alice'], part);
    }
    assert.equal(await names(`user_uuid=${users.stranger.uuid}`, client), []);
    assert.equal((await names(`user_uuid=${users.support.uuid}`, client)).length, 4, 'global support sees all');
    assert.equal(await names(`user_uuid=${'0'.repeat(32)}`, client), []);
  }
  const dashed = users.owner.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
  assert.equal(await names(`user_uuid=${dashed}`), ['Alice']);
  const response = await fixture.staff.get('/api/customers/?user_uuid=nobody');
  assert.equal([response.status, response.body], [400, { user_uuid: ['"nobody" is not a valid UUID.'] }]);
});

test('ignores user_uuid of other callers, even a malformed one', async () => {
  const { users, clients } = company;
  for (const value of [users.stranger.uuid, 'nobody']) {
    assert.equal(await names(`user_uuid=${value}`, clients.owner), ['Alice']);
  }
});

test('o orders by name, abbreviation, contact_details, native_name and registration_code in both directions', async () => {
  const orders = {
    name: ['Alice', 'beta', 'Gamma', 'Ärger'],
    abbreviation: ['Gamma', 'Alice', 'Ärger', 'beta'],
    contact_details: ['beta', 'Ärger', 'Alice', 'Gamma'],
    registration_code: ['Alice', 'Gamma', 'beta', 'Ärger'],
  };
  for (const [field, expected] of Object.entries(orders)) {
    assert.equal(await names(`o=${field}`), expected, field);
    assert.equal(await names(`o=-${field}`), [...expected].reverse(), `-${field}`);
  }
  assert.is((await names('o=native_name'))[0], 'Alice');
});

test('rejects an unknown ordering', async () => {
  for (const name of ['created', 'email', '-uuid', 'constructor']) {
    const response = await fixture.staff.get(`/api/customers/?o=${name}`);
    assert.equal([response.status, response.body], [400, { o: [`"${name.replace('-', '')}" is not a valid choice.`] }]);
  }
});

test('pages of customers with equal names neither repeat nor omit one', async () => {
  const created = [];
  for (let index = 0; index < 7; index++)
    created.push((await fixture.customer('Ünïcode', { abbreviation: 'same' })).uuid);
  for (const order of ['name', '-name', 'abbreviation', 'name,-abbreviation']) {
    const seen = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await fixture.staff.get(`/api/customers/?abbreviation=same&page_size=2&page=${page}&o=${order}`);
      seen.push(...body.map((customer: Json) => customer.uuid));
    }
    assert.equal([...seen].sort(), [...created].sort(), order);
  }
  for (const uuid of created) await fixture.staff.delete(`/api/customers/${uuid}/`);
});

test('field selects keys, in the usual order, in lists and details', async () => {
  const { customer } = company;
  const chosen = async (query: string) => Object.keys((await fixture.staff.get(`${customer.url}?${query}`)).body);
  const normal = Object.keys(customer);
  assert.equal(await chosen('field=name&field=uuid'), ['uuid', 'name']);
  assert.equal(await chosen('fields=owners&field=url'), ['url', 'owners']);
  assert.equal(await chosen('field=name&field=name&field=secret'), ['name'], 'unknown names are ignored');
  assert.equal(await chosen('field=secret'), normal, 'no known name: everything');
  assert.equal(await chosen('field='), normal);
  assert.equal((await fixture.staff.get('/api/customers/?name=Alice&field=abbreviation&field=projects')).body, [
    { abbreviation: 'ALC', projects: [{ url: company.project.url, uuid: company.project.uuid, name: 'Rocket' }] },
  ]);
  for (const name of normal) assert.equal(await chosen(`field=${name}`), [name]);
});

test('field does not restrict the responses of writes', async () => {
  const { body } = await fixture.staff.patch(`${company.customer.url}?field=name`, {});
  assert.equal(Object.keys(body), Object.keys(company.customer));
});

test('HEAD returns the headers of the list', async () => {
  const [get, head] = [
    await fixture.staff.get('/api/customers/?page_size=2'),
    await fixture.staff.send('HEAD', '/api/customers/?page_size=2'),
  ];
  assert.is(get.headers.get('x-result-count'), '4');
  for (const name of ['x-result-count', 'link', 'etag', 'content-length', 'allow'])
    assert.is(head.headers.get(name), get.headers.get(name), name);
  assert.is(head.body, undefined);
});

test.run();
