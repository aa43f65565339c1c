import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('quotas carried by customers and projects (events.md 2.2)');

const conflict = (...texts: string[]) => [409, { detail: `One or more quotas were exceeded: ${texts.join('; ')}` }];

/** Sets the limit of a quota of a customer, or of a global one. */
async function limit(name: string, value: number, customer?: Json): Promise<void> {
  const { body } = await fixture.staff.get(customer === undefined ? `/api/quotas/?name=${name}` : customer.url);
  const { url } = customer === undefined ? body[0] : quotaOf(body, name);
  const response = await fixture.staff.patch(url, { limit: value });
  assert.equal([response.status, response.body.limit], [200, value]);
}

const quotaOf = (object: Json, name: string): Json => object.quotas.find((quota: Json) => quota.name === name);
const usage = async (object: Json, name: string): Promise<number> =>
  quotaOf((await fixture.staff.get(object.url)).body, name).usage;
const globalUsage = (name: string) =>
  fixture.server.app.db.value(sql`SELECT usage FROM quota WHERE scope_kind = 'global' AND name = ${name}`);

test('usage follows projects, users, all customers and all projects', async () => {
  const customer = await fixture.customer('Alice');
  const user = await fixture.user('worker');
  const state = async () => [
    await usage(customer, 'nc_project_count'),
    await usage(customer, 'nc_user_count'),
    globalUsage('nc_global_customer_count'),
    globalUsage('nc_global_project_count'),
  ];
  assert.equal(await state(), [0, 0, 1, 0]);
  const project = await fixture.project('Rocket', customer);
  assert.equal(await state(), [1, 0, 1, 1]);
  const inProject = await fixture.grant(project, user, 'admin');
  assert.equal(await state(), [1, 1, 1, 1]);
  const inCustomer = await fixture.grant(customer, user, 'owner');
  assert.equal(await state(), [1, 1, 1, 1], 'a user counts once');
  await fixture.staff.delete(inProject.url);
  assert.equal(await state(), [1, 1, 1, 1]);
  await fixture.staff.delete(inCustomer.url);
  assert.equal(await state(), [1, 0, 1, 1]);
  await fixture.grant(project, user, 'manager');
  await fixture.staff.delete(project.url);
  assert.equal(await state(), [0, 0, 1, 0]);
  await fixture.staff.delete(customer.url);
  assert.equal([globalUsage('nc_global_customer_count'), globalUsage('nc_global_project_count')], [0, 0]);
});

test('recomputes nc_user_count at the expiry of a role and the deletion of a user; deactivation changes nothing', async () => {
  const customer = await fixture.customer('Alice');
  const [leaving, deleted] = [await fixture.user('leaving'), await fixture.user('deleted')];
  await fixture.grant(customer, leaving, 'support', '2018-02-01T00:00:00Z');
  await fixture.grant(customer, deleted, 'owner');
  assert.is(await usage(customer, 'nc_user_count'), 2);
  await fixture.staff.patch(deleted.url, { is_active: false });
  assert.is(await usage(customer, 'nc_user_count'), 2);
  fixture.clock.set('2018-02-01T00:00:00Z');
  assert.is(await usage(customer, 'nc_user_count'), 1);
  await fixture.staff.delete(deleted.url);
  assert.is(await usage(customer, 'nc_user_count'), 0);
});

test('rejects a customer above nc_global_customer_count, without parentheses in the message', async () => {
  await limit('nc_global_customer_count', 1);
  await fixture.customer('First');
  fixture.events();
  const response = await fixture.staff.post('/api/customers/', { name: 'Second' });
  assert.equal([response.status, response.body], conflict('nc_global_customer_count quota limit: 1.0, requires 2.0'));
  assert.equal(fixture.events(), []);
  assert.is((await fixture.staff.get('/api/customers/')).headers.get('x-result-count'), '1');
  await limit('nc_global_customer_count', 2);
  assert.is((await fixture.staff.post('/api/customers/', { name: 'Second' })).status, 201);
});

test('rejects a project above nc_project_count, and names the customer with its abbreviation', async () => {
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  await limit('nc_project_count', 0, customer);
  fixture.events();
  const response = await fixture.staff.post('/api/projects/', { name: 'Rocket', customer: customer.url });
  assert.equal(
    [response.status, response.body],
    conflict('nc_project_count quota limit: 0.0, requires 1.0 (Alice (ALC))'),
  );
  assert.equal(fixture.events(), []);
  assert.equal((await fixture.staff.get('/api/projects/')).body, []);
  assert.is(await usage(customer, 'nc_project_count'), 0);
});

test('omits an empty abbreviation', async () => {
  const customer = await fixture.customer('Bob');
  await limit('nc_project_count', 0, customer);
  const response = await fixture.staff.post('/api/projects/', { name: 'Rocket', customer: customer.url });
  assert.equal([response.status, response.body], conflict('nc_project_count quota limit: 0.0, requires 1.0 (Bob)'));
});

test('names several quotas in alphabetical order', async () => {
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  await limit('nc_project_count', 0, customer);
  await limit('nc_global_project_count', 0);
  const response = await fixture.staff.post('/api/projects/', { name: 'Rocket', customer: customer.url });
  assert.equal(
    [response.status, response.body],
    conflict(
      'nc_global_project_count quota limit: 0.0, requires 1.0',
      'nc_project_count quota limit: 0.0, requires 1.0 (Alice (ALC))',
    ),
  );
});

test('checks fields first, then the right, then the quota', async () => {
  const customer = await fixture.customer('Alice');
  await fixture.grant(customer, await fixture.user('helper'), 'support');
  await limit('nc_project_count', 0, customer);
  assert.is((await fixture.staff.post('/api/projects/', { name: '', customer: customer.url })).status, 400);
  assert.is((await fixture.as('helper').post('/api/projects/', { name: 'x', customer: customer.url })).status, 403);
  assert.is((await fixture.staff.post('/api/projects/', { name: 'x', customer: customer.url })).status, 409);
});

test('a limit of -1 is unlimited, and fractions are compared exactly', async () => {
  const customer = await fixture.customer('Alice');
  await fixture.project('One', customer);
  await limit('nc_project_count', 1.5, customer);
  const response = await fixture.staff.post('/api/projects/', { name: 'Two', customer: customer.url });
  assert.equal([response.status, response.body], conflict('nc_project_count quota limit: 1.5, requires 2.0 (Alice)'));
  assert.is(quotaOf((await fixture.staff.get(customer.url)).body, 'nc_project_count').limit, 1.5);
  await limit('nc_project_count', -1, customer);
  assert.is((await fixture.staff.post('/api/projects/', { name: 'Two', customer: customer.url })).status, 201);
});

test('rejects a role for a new user of the customer above nc_user_count, also in its projects', async () => {
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  const project = await fixture.project('Rocket', customer);
  const [inside, outside] = [await fixture.user('inside'), await fixture.user('outside')];
  await fixture.grant(project, inside, 'admin');
  await limit('nc_user_count', 1, customer);
  fixture.events();
  for (const [structure, scope, role] of [
    ['customer', customer, 'owner'],
    ['project', project, 'manager'],
  ] as const) {
    const response = await fixture.staff.post(`/api/${structure}-permissions/`, {
      [structure]: scope.url,
      user: outside.url,
      role,
    });
    assert.equal(
      [response.status, response.body],
      conflict('nc_user_count quota limit: 1.0, requires 2.0 (Alice (ALC))'),
    );
  }
  assert.equal(fixture.events(), []);
  assert.is(
    (await fixture.grant(customer, inside, 'owner')).role,
    'owner',
    'who is in the customer already may get more roles',
  );
  assert.is(await usage(customer, 'nc_user_count'), 1);
});

test('parallel requests cannot exceed a quota', async () => {
  const customer = await fixture.customer('Alice');
  await limit('nc_project_count', 3, customer);
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      fixture.staff.post('/api/projects/', { name: `Project ${index}`, customer: customer.url }),
    ),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [...Array(3).fill(201), ...Array(9).fill(409)]);
  assert.is(await usage(customer, 'nc_project_count'), 3);
});

test('a limit equal to the usage removes nothing; deleting frees capacity', async () => {
  const customer = await fixture.customer('Alice');
  const [one] = [await fixture.project('One', customer), await fixture.project('Two', customer)];
  await limit('nc_project_count', 2, customer);
  assert.is((await fixture.staff.get('/api/projects/')).body.length, 2);
  assert.is((await fixture.staff.patch(one.url, { name: 'Uno' })).status, 200);
  assert.is((await fixture.staff.post('/api/projects/', { name: 'Three', customer: customer.url })).status, 409);
  await fixture.staff.delete(one.url);
  assert.is((await fixture.staff.post('/api/projects/', { name: 'Three', customer: customer.url })).status, 201);
});

test('users who can see an object see its quotas; they are deleted with it', async () => {
  const { db } = fixture.server.app;
  const quotas = () => db.value<number>(sql`SELECT count(*) FROM quota WHERE scope_kind <> 'global'`);
  const customer = await fixture.customer('Alice');
  const project = await fixture.project('Rocket', customer);
  await fixture.grant(project, await fixture.user('observer'), 'support');
  const observer = fixture.as('observer');
  assert.is(quotaOf((await observer.get(customer.url)).body, 'nc_project_count').usage, 1);
  assert.is(quotaOf((await observer.get(project.url)).body, 'nc_vm_count').usage, 0);
  assert.is(quotas(), 21);
  await fixture.staff.delete(project.url);
  assert.is(quotas(), 11);
  await fixture.staff.delete(customer.url);
  assert.is(quotas(), 0);
});

test.run();
