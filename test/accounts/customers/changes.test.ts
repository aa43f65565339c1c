import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { affecting, expectedEvent, inCustomer } from '../../support/expected-event.ts';
import { byStaff, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { customerEvent, whole } from './customer.ts';

const { test, fixture } = suiteWithServer('changing and deleting customers (core.md 6.1, 6.3)');
let actor: Record<string, string>;

test.before(async () => {
  actor = await byStaff(fixture);
});
test.before.each(() => {
  fixture.events();
});

test('an update ignores agreement_number, even an invalid one', async () => {
  const customer = await fixture.customer('Agreed', { agreement_number: 8 });
  for (const agreement_number of [9, null, 42, 'nonsense']) {
    const { status, body } = await fixture.staff.patch(customer.url, { agreement_number });
    assert.equal([status, body], [200, customer]);
  }
});

test('PUT requires only the name and leaves absent fields unchanged', async () => {
  const customer = await fixture.customer('Unchanged', { ...whole, name: 'Unchanged', agreement_number: 100 });
  assert.equal((await fixture.staff.put(customer.url, { abbreviation: 'X' })).body, {
    name: ['This field is required.'],
  });
  fixture.events();
  const { status, body } = await fixture.staff.put(customer.url, { name: 'Still unchanged' });
  assert.equal([status, body], [200, { ...customer, name: 'Still unchanged' }]);
  assert.equal(fixture.events(), [customerEvent(actor, 'customer_update_succeeded', 'updated', body)]);
});

test('PATCH changes one field; every writable field can be changed and cleared', async () => {
  const changed = {
    name: 'Bob',
    native_name: 'Боб',
    abbreviation: 'BOB',
    contact_details: 'x',
    email: 'b@bob.example',
    phone_number: '2',
    registration_code: '3',
    country: 'FI',
    is_company: true,
    vat_code: 'FI12345678',
  };
  let { url, ...customer } = await fixture.customer('Changing');
  for (const [field, value] of Object.entries(changed)) {
    fixture.events();
    const { status, body } = await fixture.staff.patch(url, { [field]: value });
    customer = { ...customer, [field]: value, ...(field === 'country' && { country_name: 'Finland' }) };
    assert.equal([status, body], [200, { url, ...customer }]);
    assert.equal(fixture.events(), [customerEvent(actor, 'customer_update_succeeded', 'updated', body)]);
  }
  const emptied = {
    native_name: '',
    abbreviation: '',
    contact_details: '',
    email: '',
    phone_number: '',
    registration_code: '',
    country: '',
    vat_code: '',
    is_company: false,
  };
  assert.equal((await fixture.staff.patch(url, emptied)).body, { url, ...customer, ...emptied, country_name: '' });
});

test('PUT of the complete representation changes nothing and records no event', async () => {
  const customer = await fixture.customer('Echo', { ...whole, agreement_number: 101 });
  fixture.events();
  assert.equal((await fixture.staff.put(customer.url, customer)).body, customer);
  assert.equal((await fixture.staff.patch(customer.url, {})).body, customer);
  assert.equal(fixture.events(), []);
});

test('a rejected update changes nothing', async () => {
  const customer = await fixture.customer('Firm');
  fixture.events();
  assert.is((await fixture.staff.patch(customer.url, { name: 'Soft', email: 'x' })).status, 400);
  assert.equal((await fixture.staff.get(customer.url)).body, customer);
  assert.equal(fixture.events(), []);
});

test('DELETE returns 204 and removes the customer', async () => {
  const customer = await fixture.customer('Passing', { abbreviation: 'PSS' });
  fixture.events();
  const response = await fixture.staff.delete(customer.url);
  assert.equal([response.status, response.body], [204, undefined]);
  assert.equal(fixture.events(), [customerEvent(actor, 'customer_deletion_succeeded', 'deleted', customer)]);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const { status, body } = await fixture.staff.send(method, customer.url);
    assert.equal([status, body], [404, { detail: 'Not found.' }]);
  }
});

test('rejects the deletion of a customer with projects', async () => {
  const customer = await fixture.customer('Holder');
  const project = await fixture.project('Held', customer);
  fixture.events();
  const response = await fixture.staff.delete(customer.url);
  assert.equal(
    [response.status, response.body],
    [409, { detail: 'Cannot delete organization with existing projects' }],
  );
  assert.equal(fixture.events(), []);
  await fixture.staff.delete(project.url);
  assert.is((await fixture.staff.delete(customer.url)).status, 204);
});

test('deleting a customer deletes its roles, their history, image and quotas, after an event for each active role', async () => {
  const customer = await fixture.customer('Ending', { abbreviation: 'END' });
  const first = await fixture.user('ending.first', { full_name: 'First' });
  const second = await fixture.user('ending.second');
  const past = await fixture.user('ending.past');
  await fixture.grant(customer, first, 'owner');
  await fixture.grant(customer, second, 'support');
  await fixture.staff.delete((await fixture.grant(customer, past, 'owner')).url);
  fixture.events();
  assert.is((await fixture.staff.delete(customer.url)).status, 204);
  const lost = (user: Json, role_name: string) =>
    expectedEvent(
      'role_revoked',
      `User ${user.username} has lost role of ${role_name} in customer Ending.`,
      actor,
      inCustomer(customer),
      affecting(user),
      { structure_type: 'customer', role_name },
    );
  assert.equal(fixture.events(), [
    lost(first, 'Owner'),
    lost(second, 'Support'),
    customerEvent(actor, 'customer_deletion_succeeded', 'deleted', customer),
  ]);
  for (const path of ['customer-permissions', 'customer-permissions-log']) {
    for (const user of [first, second, past])
      assert.equal((await fixture.staff.get(`/api/${path}/?user=${user.uuid}`)).body, []);
  }
  const { db } = fixture.server.app;
  assert.is(
    db.value(
      sql`SELECT count(*) FROM quota WHERE scope_kind = 'customer' AND scope_id NOT IN (SELECT id FROM customer)`,
    ),
    0,
  );
  assert.is(db.value(sql`SELECT count(*) FROM customer_role WHERE customer_id NOT IN (SELECT id FROM customer)`), 0);
});

test.run();
