import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countQuotas } from '../../../src/activity/quotas/usage.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { change, contextOf, idOf, setQuota } from '../../support/links.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('automatic alerts (events.md 3.6, 3.7)');
let customer: Json;

test.before.each(async () => {
  customer = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
});

const quotaOf = (object: Json, name: string): Json => object.quotas.find((quota: Json) => quota.name === name);
const edit = async (object: Json, name: string, values: Json): Promise<void> =>
  assert.is((await fixture.staff.patch(quotaOf(object, name).url, values)).status, 200);
const alerts = async (query = ''): Promise<Json[]> => (await fixture.staff.get(`/api/alerts/?o=created&${query}`)).body;
/** Returns type, state and reported quota of every alert. */
const states = async (): Promise<string[]> =>
  (await alerts()).map(
    ({ alert_type, closed, context }) =>
      `${alert_type} ${closed === null ? 'open' : 'closed'} ${context.quota_name ?? '-'}`,
  );
const use = (name: string, usage: number): void =>
  setQuota(fixture, 'customer', idOf(fixture, 'customer', customer), name, { usage });
const close = async (alert: Json): Promise<void> =>
  assert.is((await fixture.staff.post(`${alert.url}close/`)).status, 204);

test('raises threshold_exceeded when usage reaches the threshold, as in events.md 6.4', async () => {
  fixture.clock.hold();
  await edit(customer, 'nc_project_count', { limit: 10, threshold: 2 });
  await fixture.project('One', customer);
  assert.equal(await alerts(), []);
  fixture.clock.set('2018-01-05T04:47:04.982Z');
  await fixture.project('Two', customer);
  const [alert] = await alerts();
  assert.equal((await fixture.staff.get('/api/stats/alerts/?opened&severity=Warning')).body, [alert]);
  const quota = quotaOf(customer, 'nc_project_count');
  assert.is(
    JSON.stringify(alert),
    JSON.stringify({
      url: `${fixture.url}/api/alerts/${alert.uuid}/`,
      uuid: alert.uuid,
      alert_type: 'threshold_exceeded',
      message: 'Threshold for Alice is exceeded.',
      severity: 'Warning',
      scope: customer.url,
      created: '2018-01-05T04:47:04.982Z',
      closed: null,
      context: {
        scope_uuid: customer.uuid,
        scope_name: 'Alice',
        scope_abbreviation: 'ALC',
        scope_contact_details: 'Baker Street',
        customer_uuid: customer.uuid,
        customer_name: 'Alice',
        customer_abbreviation: 'ALC',
        customer_contact_details: 'Baker Street',
        quota_uuid: quota.uuid,
        quota_name: 'nc_project_count',
        quota_limit: '10.0',
        quota_usage: '2.0',
      },
      acknowledged: false,
    }),
  );
});

test('setting a threshold raises the alert; threshold 0 or a usage below it closes the alert', async () => {
  const one = await fixture.project('One', customer);
  await edit(customer, 'nc_project_count', { threshold: 1 });
  assert.equal(await states(), ['threshold_exceeded open nc_project_count']);
  fixture.clock.advance(60);
  await edit(customer, 'nc_project_count', { threshold: 1.5 });
  assert.is((await alerts())[0]?.closed, '2018-01-05T04:48:04Z');
  await edit(customer, 'nc_project_count', { threshold: 0.5 });
  assert.equal(await states(), ['threshold_exceeded open nc_project_count']);
  await edit(customer, 'nc_project_count', { threshold: 0 });
  assert.equal(await states(), ['threshold_exceeded closed nc_project_count']);
  await edit(customer, 'nc_project_count', { threshold: 1 });
  await fixture.staff.delete(one.url);
  assert.equal(await states(), ['threshold_exceeded closed nc_project_count'], 'one alert all the time');
});

test('the threshold of an unused quota is not exceeded', async () => {
  await edit(customer, 'nc_project_count', { threshold: 0 });
  await edit(customer, 'nc_vm_count', { threshold: 0.001 });
  assert.equal(await alerts(), []);
});

test('reports the quota that crossed last; once that is below, the first by name that is still above', async () => {
  for (const name of ['nc_vm_count', 'nc_app_count', 'nc_storage_count']) await edit(customer, name, { threshold: 5 });
  use('nc_vm_count', 5);
  assert.equal(await states(), ['threshold_exceeded open nc_vm_count']);
  use('nc_storage_count', 7);
  use('nc_app_count', 6);
  assert.equal(await states(), ['threshold_exceeded open nc_app_count']);
  use('nc_vm_count', 9);
  assert.equal(await states(), ['threshold_exceeded open nc_app_count'], 'nc_vm_count was over before');
  use('nc_app_count', 8);
  assert.is((await alerts())[0]?.context.quota_usage, '8.0', 'the reported quota is updated');
  use('nc_app_count', 0);
  assert.equal(await states(), ['threshold_exceeded open nc_storage_count']);
  use('nc_vm_count', 1);
  assert.equal(await states(), ['threshold_exceeded open nc_storage_count']);
  await edit(customer, 'nc_storage_count', { threshold: 0 });
  assert.equal(await states(), ['threshold_exceeded closed nc_storage_count']);
});

test('several quotas that cross in one request raise one alert, about the last of them', async () => {
  for (const name of ['nc_project_count', 'nc_user_count', 'nc_service_project_link_count'])
    await edit(customer, name, { threshold: 1 });
  const source = await fixture.customer('Source');
  const project = await fixture.project('Moving', source);
  await fixture.grant(project, await fixture.user('worker'), 'admin');
  await fixture.staff.patch(project.url, { customer: customer.url });
  assert.equal(await states(), ['threshold_exceeded open nc_user_count']);
  await fixture.staff.patch(project.url, { customer: source.url });
  assert.equal(await states(), ['threshold_exceeded closed nc_user_count']);
});

test('a usage that rises and falls within one request leaves no open alert', async () => {
  await edit(customer, 'nc_vm_count', { threshold: 5 });
  const id = idOf(fixture, 'customer', customer);
  const context = contextOf(fixture);
  change(fixture, () => {
    for (const delta of [9, -9]) countQuotas(context, [{ scope: 'customer', id, name: 'nc_vm_count', delta }]);
  });
  assert.equal(await alerts('opened'), []);
});

test('a rejected or failed request raises no alert', async () => {
  await edit(customer, 'nc_project_count', { threshold: 1, limit: 0 });
  assert.is((await fixture.staff.post('/api/projects/', { name: 'x', customer: customer.url })).status, 409);
  assert.equal(await alerts(), []);
});

test('each scope has its own alert; a global quota has none', async () => {
  const project = await fixture.project('Rocket', customer);
  await edit(customer, 'nc_vm_count', { threshold: 1 });
  await edit(project, 'nc_vm_count', { threshold: 1 });
  const global = (await fixture.staff.get('/api/quotas/?name=nc_global_project_count')).body[0];
  await fixture.staff.patch(global.url, { threshold: 1 });
  assert.equal(await alerts(), []);
  setQuota(fixture, 'project', idOf(fixture, 'project', project), 'nc_vm_count', { usage: 1 });
  use('nc_vm_count', 2);
  const [ofProject, ofCustomer] = await alerts();
  assert.equal(
    [ofProject?.scope, ofProject?.message, ofProject?.context.quota_uuid],
    [project.url, 'Threshold for Rocket is exceeded.', quotaOf(project, 'nc_vm_count').uuid],
  );
  assert.equal(
    [ofCustomer?.scope, ofCustomer?.message, ofCustomer?.context.quota_uuid],
    [customer.url, 'Threshold for Alice is exceeded.', quotaOf(customer, 'nc_vm_count').uuid],
  );
});

test('updates message and context of an open alert, and keeps acknowledged', async () => {
  await edit(customer, 'nc_vm_count', { threshold: 1 });
  use('nc_vm_count', 1);
  const [alert] = await alerts();
  await fixture.staff.post(`${alert.url}acknowledge/`);
  await fixture.staff.patch(customer.url, { name: 'Alicia' });
  fixture.clock.advance(60);
  use('nc_vm_count', 2);
  const context = { ...alert.context, scope_name: 'Alicia', customer_name: 'Alicia', quota_usage: '2.0' };
  assert.equal(await alerts(), [
    { ...alert, message: 'Threshold for Alicia is exceeded.', acknowledged: true, context },
  ]);
  await edit(customer, 'nc_vm_count', { limit: 50 });
  assert.equal((await alerts())[0]?.context.quota_limit, '50.0');
});

test('staff can close it earlier; the next check that still finds the condition reopens it as not acknowledged', async () => {
  for (const name of ['nc_vm_count', 'nc_app_count']) await edit(customer, name, { threshold: 1 });
  use('nc_app_count', 1);
  use('nc_vm_count', 1);
  const [alert] = await alerts();
  await fixture.staff.post(`${alert.url}acknowledge/`);
  await close(alert);
  await edit(customer, 'nc_vm_count', { limit: 10 });
  assert.equal(await states(), ['threshold_exceeded closed nc_vm_count'], 'a limit is no part of the condition');
  use('nc_app_count', 2);
  const [again] = await alerts();
  assert.equal(
    [again.uuid, again.closed, again.acknowledged, again.context.quota_name],
    [alert.uuid, null, false, 'nc_vm_count'],
    'of the quota that crossed last',
  );
  await close(alert);
  use('nc_vm_count', 0);
  assert.equal(await states(), ['threshold_exceeded open nc_app_count']);
});

test('does not change an alert that staff posted under such a type until a condition becomes false', async () => {
  const post = (type: string) =>
    fixture.staff.post('/api/alerts/', {
      alert_type: type,
      message: 'By hand.',
      severity: 'Error',
      scope: customer.url,
    });
  const types = ['threshold_exceeded', 'customer_project_count_exceeded', 'customer_has_zero_services'];
  for (const type of types) await post(type);
  await fixture.project('One', customer);
  await edit(customer, 'nc_project_count', { limit: 5, threshold: 3 });
  await edit(customer, 'nc_project_count', { limit: -1, threshold: 0 });
  assert.equal(
    (await alerts('opened')).map(({ message, severity }) => [message, severity]),
    types.map(() => ['By hand.', 'Error']),
  );
  await edit(customer, 'nc_project_count', { threshold: 1 });
  assert.equal(
    (await alerts('alert_type=threshold_exceeded')).map(({ message, severity }) => [message, severity]),
    [['Threshold for Alice is exceeded.', 'Warning']],
  );
  await edit(customer, 'nc_project_count', { threshold: 0 });
  assert.equal((await alerts('opened')).length, 2);
});

for (const [name, noun] of [
  ['nc_project_count', 'project'],
  ['nc_service_count', 'service'],
  ['nc_resource_count', 'resource'],
] as const) {
  test(`customer_${noun}_count_exceeded is raised while ${name} is above its limit`, async () => {
    const type = `customer_${noun}_count_exceeded`;
    await edit(customer, name, { limit: 2 });
    use(name, 2);
    assert.equal(await alerts(), [], 'equal is not above');
    use(name, 3);
    const [alert] = await alerts();
    assert.equal(
      [alert.alert_type, alert.severity, alert.message, alert.scope],
      [type, 'Warning', `Customer Alice has exceeded quota ${name}.`, customer.url],
    );
    assert.equal(alert.context, {
      scope_uuid: customer.uuid,
      scope_name: 'Alice',
      scope_abbreviation: 'ALC',
      scope_contact_details: 'Baker Street',
      customer_uuid: customer.uuid,
      customer_name: 'Alice',
      customer_abbreviation: 'ALC',
      customer_contact_details: 'Baker Street',
      quota_uuid: quotaOf(customer, name).uuid,
      quota_name: name,
      quota_limit: '2.0',
      quota_usage: '3.0',
    });
    await close(alert);
    await edit(customer, name, { threshold: 0.5 });
    assert.equal(await alerts(`alert_type=${type}&opened`), [], 'a threshold is no part of this condition');
    use(name, 4);
    assert.equal(
      (await alerts(`alert_type=${type}&opened`)).map(({ context }) => context.quota_usage),
      ['4.0'],
    );
    await edit(customer, name, { limit: 4 });
    assert.equal(await alerts(`alert_type=${type}&opened`), []);
    use(name, 5);
    await edit(customer, name, { limit: -1 });
    assert.equal(await alerts(`alert_type=${type}&opened`), []);
  });
}

test('other quotas above their limit, and those of projects, raise no alert', async () => {
  const project = await fixture.project('Rocket', customer);
  await edit(customer, 'nc_vm_count', { limit: 0 });
  await edit(project, 'nc_resource_count', { limit: 0 });
  use('nc_vm_count', 3);
  setQuota(fixture, 'project', idOf(fixture, 'project', project), 'nc_resource_count', { usage: 3 });
  assert.equal(await alerts(), []);
});

test('deleting a customer deletes alerts about it in the same request', async () => {
  await edit(customer, 'nc_user_count', { threshold: 1 });
  await fixture.grant(customer, await fixture.user('owner'), 'owner');
  assert.equal(await states(), ['threshold_exceeded open nc_user_count']);
  assert.is((await fixture.staff.delete(customer.url)).status, 204);
  assert.equal(await alerts(), []);
});

test('the expiry of a role closes the threshold alert', async () => {
  await edit(customer, 'nc_user_count', { threshold: 1 });
  await fixture.grant(customer, await fixture.user('guest'), 'support', '2018-02-01T00:00:00Z');
  fixture.clock.set('2018-02-01T00:00:00Z');
  assert.equal(await states(), ['threshold_exceeded closed nc_user_count']);
});

test('truncates a name so that the message has at most 255 characters', async () => {
  const { db } = fixture.server.app;
  change(fixture, () => db.run(sql`UPDATE customer SET name = ${`${'𝒙'.repeat(200)}${'y'.repeat(100)}`}`));
  await edit(customer, 'nc_vm_count', { threshold: 1 });
  await edit(customer, 'nc_project_count', { limit: 0 });
  use('nc_vm_count', 1);
  use('nc_project_count', 1);
  assert.equal(
    (await alerts()).map(({ message }) => message),
    [
      `Threshold for ${'𝒙'.repeat(200)}${'y'.repeat(28)} is exceeded.`,
      `Customer ${'𝒙'.repeat(200)}${'y'.repeat(9)} has exceeded quota nc_project_count.`,
    ],
  );
  for (const { message } of await alerts()) assert.is([...message].length, 255);
});

test('a new customer has no alert', async () => {
  const project = await fixture.project('Rocket', customer);
  await fixture.staff.delete(project.url);
  assert.equal(await alerts(), []);
});

test.run();

const advice = suite('advisory_alerts (events.md 3.7, 7)');

advice.before.each(async () => {
  await fixture.open({ advisory_alerts: true });
  customer = await fixture.customer('Alice');
});
advice.after.each(() => fixture.close());

const zero = {
  nc_project_count: 'customer_has_zero_projects',
  nc_service_count: 'customer_has_zero_services',
  nc_resource_count: 'customer_has_zero_resources',
} as const;

advice('raises alerts about missing projects, services and resources when a customer is created', async () => {
  assert.equal(
    (await alerts('o=created'))
      .map(({ alert_type, message, severity, closed }) => [alert_type, message, severity, closed])
      .sort(),
    [
      ['customer_has_zero_projects', 'Customer Alice does not have any projects.', 'Warning', null],
      ['customer_has_zero_resources', 'Customer Alice does not have any resources.', 'Warning', null],
      ['customer_has_zero_services', 'Customer Alice has zero services configured.', 'Warning', null],
    ],
  );
  const [alert] = await alerts();
  assert.equal(Object.keys(alert.context), [
    'scope_uuid',
    'scope_name',
    'scope_abbreviation',
    'scope_contact_details',
    'customer_uuid',
    'customer_name',
    'customer_abbreviation',
    'customer_contact_details',
  ]);
});

advice(
  'each is closed when there is one, and raised again, not acknowledged, when the count is back to 0',
  async () => {
    for (const [name, type] of Object.entries(zero)) {
      const state = async () =>
        (await alerts(`alert_type=${type}`)).map(({ closed, acknowledged }) => [closed === null, acknowledged]);
      const [alert] = await alerts(`alert_type=${type}`);
      await fixture.staff.post(`${alert.url}acknowledge/`);
      use(name, 1);
      assert.equal(await state(), [[false, true]], type);
      use(name, 2);
      use(name, 1);
      assert.equal(await state(), [[false, true]], type);
      use(name, 0);
      assert.equal(await state(), [[true, false]], type);
    }
  },
);

advice('moving the only project raises the alert for the old customer and closes it for the new one', async () => {
  const project = await fixture.project('Rocket', customer);
  const target = await fixture.customer('Target');
  const open = async (object: Json) =>
    (await alerts(`alert_type=customer_has_zero_projects&opened&scope=${object.url}`)).length;
  assert.equal([await open(customer), await open(target)], [0, 1]);
  await fixture.staff.patch(project.url, { customer: target.url });
  assert.equal([await open(customer), await open(target)], [1, 0]);
});

advice('names are literal: placeholders in them stay, and the message has at most 255 characters', async () => {
  const name = `{customer_uuid} $1 ${'𝒙'.repeat(130)}`;
  const long = await fixture.customer(name);
  const [alert] = await alerts(`alert_type=customer_has_zero_projects&scope=${long.url}`);
  assert.is(alert.message, `Customer ${name} does not have any projects.`);
  assert.ok([...alert.message].length <= 255);
});

advice.run();
