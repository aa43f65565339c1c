import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Client, type Json, start } from '../../support/fixture.ts';
import { change, idOf, link, settings } from '../../support/links.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('alerts: create or update, acknowledge, close (events.md 3.1 to 3.4)');
let people: Personas;

test.before.each(async () => {
  people = await createPersonas(fixture);
});

const body = (scope: Json, fields: Json = {}): Json => ({
  alert_type: 'disk_full',
  message: 'The disk is full.',
  severity: 'Error',
  scope: scope.url,
  ...fields,
});
const post = (scope: Json, fields: Json = {}, client: Client = fixture.staff) =>
  client.post('/api/alerts/', body(scope, fields));

async function creation(scope: Json, fields: Json = {}): Promise<Json> {
  const response = await post(scope, fields);
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
}

const count = (): number => fixture.server.app.db.value<number>(sql`SELECT count(*) FROM alert`) as number;
const customerKeys = (customer: Json) => ({
  customer_uuid: customer.uuid,
  customer_name: customer.name,
  customer_abbreviation: customer.abbreviation,
  customer_contact_details: customer.contact_details,
});

test('an alert has url, uuid, alert_type, message, severity, scope, created, closed, context, acknowledged, in this order', async () => {
  const response = await post(people.customer);
  const { uuid } = response.body;
  assert.is(response.status, 201);
  assert.is(response.headers.get('location'), `${fixture.url}/api/alerts/${uuid}/`);
  assert.match(uuid, /^[0-9a-f]{32}$/);
  assert.is(
    JSON.stringify(response.body),
    JSON.stringify({
      url: `${fixture.url}/api/alerts/${uuid}/`,
      uuid,
      alert_type: 'disk_full',
      message: 'The disk is full.',
      severity: 'Error',
      scope: people.customer.url,
      created: start,
      closed: null,
      context: {
        scope_uuid: people.customer.uuid,
        scope_name: 'Alice',
        scope_abbreviation: 'ALC',
        scope_contact_details: 'Baker Street',
        ...customerKeys(people.customer),
      },
      acknowledged: false,
    }),
  );
  assert.equal((await fixture.staff.get(response.body.url)).body, response.body);
  assert.equal(fixture.events(), [], 'alerts record no events');
});

test('the context of an alert has the SCOPE and OWN keys of its scope, as strings', async () => {
  const context = async (scope: Json) => (await creation(scope)).context;
  const { customer, project } = people;
  const name = { full_name: 'Olga Owner', native_name: '' };
  const user = await fixture.user('olga', name);
  const owner = { user_uuid: user.uuid, user_username: 'olga', user_full_name: 'Olga Owner', user_native_name: '' };
  assert.equal(await context(user), {
    scope_uuid: user.uuid,
    scope_name: 'olga',
    scope_username: 'olga',
    scope_full_name: 'Olga Owner',
    scope_native_name: '',
    ...owner,
  });
  const key = (await fixture.as('olga').post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  assert.equal(await context(key), {
    scope_uuid: key.uuid,
    scope_name: 'laptop',
    ssh_key_uuid: key.uuid,
    ssh_key_name: 'laptop',
    ...owner,
  });
  const inProject = {
    scope_uuid: project.uuid,
    scope_name: 'Rocket',
    project_uuid: project.uuid,
    project_name: 'Rocket',
    ...customerKeys(customer),
  };
  assert.equal(await context(project), inProject);
  const quota = project.quotas[0];
  assert.equal(await context(quota), {
    ...inProject,
    quota_uuid: quota.uuid,
    quota_name: quota.name,
    quota_limit: '-1.0',
    quota_usage: '0.0',
  });
  const global = (await fixture.staff.get('/api/quotas/?name=nc_global_customer_count')).body[0];
  assert.equal(await context(global), {
    quota_uuid: global.uuid,
    quota_name: 'nc_global_customer_count',
    quota_limit: '-1.0',
    quota_usage: '1.0',
  });
  const own = settings(fixture, 'Own', customer);
  const settingsUrl = (uuid: string) => ({ url: `/api/service-settings/${uuid}/` });
  const keys = (one: { uuid: string }, called: string) => ({
    scope_uuid: one.uuid,
    scope_name: called,
    settings_uuid: one.uuid,
    settings_name: called,
    service_settings_type: 'OpenStack',
  });
  assert.equal(await context(settingsUrl(own.uuid)), { ...keys(own, 'Own'), ...customerKeys(customer) });
  const shared = settings(fixture, 'Shared');
  assert.equal(await context(settingsUrl(shared.uuid)), keys(shared, 'Shared'));
});

test('a quota number in the context has at least one decimal, however large or small', async () => {
  const quota = people.customer.quotas[0];
  for (const [limit, text] of [
    [131072, '131072.0'],
    [0.1, '0.1'],
    [1e21, '1000000000000000000000.0'],
    [2.5e-7, '0.00000025'],
  ] as const) {
    await fixture.staff.patch(quota.url, { limit });
    assert.is((await post(quota)).body.context.quota_limit, text);
  }
});

test('scope and alert_type identify an alert: 201 if new, 200 with the same uuid if open; acknowledged changes only if posted', async () => {
  const first = await creation(people.customer, { acknowledged: true });
  assert.is(first.acknowledged, true);
  fixture.clock.advance(60);
  await fixture.staff.patch(people.customer.url, { name: 'Alicia' });
  const again = await post(people.customer, { severity: 'Info', message: 'Better.' });
  assert.equal([again.status, again.headers.get('location')], [200, first.url]);
  assert.equal(
    again.body,
    {
      ...first,
      severity: 'Info',
      message: 'Better.',
      context: { ...first.context, scope_name: 'Alicia', customer_name: 'Alicia' },
    },
    'created stays, the context is updated',
  );
  assert.is((await post(people.customer, { acknowledged: 'no' })).body.acknowledged, false);
  assert.is((await post(people.customer)).body.acknowledged, false);
  assert.is((await post(people.project)).status, 201, 'another scope');
  assert.is((await post(people.customer, { alert_type: 'Disk_full' })).status, 201, 'another type: case counts');
  assert.is(count(), 3);
});

test('posting a closed alert returns 200 and reopens it, acknowledged as posted, otherwise false', async () => {
  const alert = await creation(people.customer, { acknowledged: true });
  for (const [fields, acknowledged] of [
    [{}, false],
    [{ acknowledged: true }, true],
  ] as const) {
    assert.is((await fixture.staff.post(`${alert.url}close/`)).status, 204);
    const response = await post(people.customer, { message: 'Again.', ...fields });
    assert.equal([response.status, response.body], [200, { ...alert, message: 'Again.', acknowledged }]);
  }
});

test('parallel requests create one alert', async () => {
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) => post(people.project, { message: `Number ${i}` })),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [...Array(9).fill(200), 201]);
  assert.is(new Set(responses.map(({ body: { uuid } }) => uuid)).size, 1);
  assert.is(count(), 1);
});

test('GET and POST /api/stats/alerts/ equal GET and POST /api/alerts/, including links', async () => {
  const response = await fixture.staff.post('/api/stats/alerts/', body(people.customer));
  assert.equal([response.status, response.headers.get('location')], [201, response.body.url]);
  assert.match(response.body.url, /\/api\/alerts\/[0-9a-f]{32}\/$/);
  assert.is((await fixture.staff.post('/api/stats/alerts/', body(people.customer))).status, 200);
  await creation(people.project, { severity: 'Warning' });
  for (const query of [
    '',
    '?opened&severity=Warning',
    '?o=severity',
    '?page=9',
    '?acknowledged=x',
    '?page_size=1&page=2',
  ]) {
    const [list, stats] = [
      await fixture.staff.get(`/api/alerts/${query}`),
      await fixture.staff.get(`/api/stats/alerts/${query}`),
    ];
    assert.equal(
      [stats.status, stats.body, stats.headers.get('x-result-count')],
      [list.status, list.body, list.headers.get('x-result-count')],
      query,
    );
    assert.is(
      stats.headers.get('link'),
      list.headers.get('link')?.replaceAll('/api/alerts/', '/api/stats/alerts/') ?? null,
    );
  }
  assert.is((await people.clients.owner.post('/api/stats/alerts/', {})).status, 403);
  assert.equal(
    [
      (await fixture.staff.delete('/api/stats/alerts/')).status,
      (await fixture.staff.get(`/api/stats/alerts/${response.body.uuid}/`)).status,
    ],
    [405, 404],
  );
});

test('reports all field errors together', async () => {
  const required = ['This field is required.'];
  assert.equal((await fixture.staff.post('/api/alerts/', {})).body, {
    alert_type: required,
    message: required,
    severity: required,
    scope: required,
  });
  const response = await fixture.staff.post('/api/alerts/', {
    alert_type: 'x'.repeat(51),
    message: '  ',
    severity: 'error',
    scope: null,
    acknowledged: 'maybe',
  });
  assert.equal(
    [response.status, response.body],
    [
      400,
      {
        alert_type: ['Ensure this field has no more than 50 characters.'],
        message: ['This field may not be blank.'],
        severity: ['"error" is not a valid choice.'],
        scope: ['This field may not be null.'],
        acknowledged: ['"maybe" is not a valid boolean.'],
      },
    ],
  );
  const wrong = await fixture.staff.post('/api/alerts/', {
    alert_type: '',
    message: 'x'.repeat(256),
    severity: null,
    scope: ' ',
    acknowledged: null,
  });
  assert.equal(wrong.body, {
    alert_type: ['This field may not be blank.'],
    message: ['Ensure this field has no more than 255 characters.'],
    severity: ['This field may not be null.'],
    scope: ['This field may not be null.'],
    acknowledged: ['This field may not be null.'],
  });
  assert.equal((await post(people.customer, { message: 'a\0b', scope: 5 })).body, {
    message: ['Null characters are not allowed.'],
    scope: ['Not a valid string.'],
  });
  assert.is(count(), 0);
});

test('alert_type is any text of 50 characters, message any of 255; {x} is not a placeholder', async () => {
  const fields = { alert_type: `${'ä'.repeat(48)}{}`, message: `{scope_name} %s $& ${'𝒙'.repeat(200)}` };
  const response = await post(people.customer, { ...fields, message: `  ${fields.message}  ` });
  assert.equal([response.body.alert_type, response.body.message], [fields.alert_type, fields.message]);
  assert.is(
    (await post(people.customer, { message: '𝒙'.repeat(255) })).status,
    201,
    'characters are counted, not code units',
  );
});

test('accepts forms; ignores unknown and read-only keys', async () => {
  const form = new URLSearchParams({
    ...body(people.customer),
    acknowledged: 'true',
    uuid: 'x',
    created: '1970-01-01T00:00:00Z',
    closed: '1970-01-01T00:00:00Z',
    context: 'x',
  });
  const response = await fixture.staff.send('POST', '/api/alerts/', form.toString(), {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  assert.equal(
    [response.status, response.body.created, response.body.closed, response.body.acknowledged],
    [201, start, null, true],
  );
});

test('checks in the order 401, 405, 404, 403, 400, 409', async () => {
  const alert = await creation(people.customer);
  assert.is((await fixture.anonymous.post(alert.url, {})).status, 401);
  assert.is((await people.clients.stranger.post(alert.url, {})).status, 404);
  assert.is((await people.clients.owner.post(alert.url, {})).status, 403);
  assert.is((await fixture.staff.post(alert.url, { alert_type: 'other' })).status, 400);
  assert.is((await fixture.staff.post(alert.url, { alert_type: 'other', message: 'x', severity: 'Info' })).status, 409);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const response = await people.clients.stranger.send(method, alert.url, {});
    assert.equal(
      [response.status, response.body, response.headers.get('allow')],
      [405, { detail: `Method "${method}" not allowed.` }, 'GET, POST, HEAD, OPTIONS'],
    );
  }
});

test('POST on the path of an alert has the same body and effect; scope and alert_type default to those of the alert', async () => {
  const alert = await creation(people.customer, { acknowledged: true });
  const response = await fixture.staff.post(alert.url, { message: 'Worse.', severity: 'Warning' });
  assert.equal(
    [response.status, response.headers.get('location'), response.body],
    [200, alert.url, { ...alert, message: 'Worse.', severity: 'Warning' }],
  );
  for (const scope of [
    alert.scope,
    new URL(alert.scope).pathname,
    `https://elsewhere.example${new URL(alert.scope).pathname.slice(0, -1)}`,
  ]) {
    assert.is((await fixture.staff.post(alert.url, body({ url: scope }))).status, 200, scope);
  }
  await fixture.staff.post(`${alert.url}close/`);
  const reopened = await fixture.staff.post(alert.url, body(people.customer));
  assert.equal([reopened.body.closed, reopened.body.acknowledged], [null, false]);
  assert.is(count(), 1);
});

test('POST on the path of an alert returns 409 for another scope or type', async () => {
  const alert = await creation(people.customer);
  await creation(people.project);
  for (const fields of [
    { alert_type: 'other' },
    { scope: people.project.url },
    { alert_type: 'other', scope: people.project.url },
  ]) {
    const response = await fixture.staff.post(alert.url, { ...body(people.customer), message: 'Changed.', ...fields });
    assert.equal(
      [response.status, response.body],
      [409, { detail: 'Scope and alert type of an alert can not be changed.' }],
    );
  }
  assert.equal(
    (await fixture.staff.post(alert.url, { ...body(people.customer), scope: null, alert_type: null })).body,
    { alert_type: ['This field may not be null.'], scope: ['This field may not be null.'] },
  );
  assert.equal((await fixture.staff.get(alert.url)).body, alert);
});

test('acknowledge and cancel_acknowledgment return 200 with an empty body, or 409 if there is nothing to do, also for closed alerts', async () => {
  const alert = await creation(people.customer);
  const call = async (action: string) => {
    const response = await people.clients.observer.post(`${alert.url}${action}/`, { ignored: [] });
    return [response.status, response.body];
  };
  const state = async () => (await fixture.staff.get(alert.url)).body.acknowledged;
  assert.equal(await call('cancel_acknowledgment'), [409, { detail: 'Alert is not acknowledged.' }]);
  assert.equal([await call('acknowledge'), await state()], [[200, undefined], true]);
  assert.equal(await call('acknowledge'), [409, { detail: 'Alert is already acknowledged.' }]);
  await fixture.staff.post(`${alert.url}close/`);
  assert.equal([await call('cancel_acknowledgment'), await state()], [[200, undefined], false]);
  assert.equal([await call('acknowledge'), await state()], [[200, undefined], true]);
  assert.equal((await fixture.staff.get(`${alert.url}acknowledge/`)).status, 405);
});

test('acknowledge, cancel_acknowledgment and close ignore any body', async () => {
  const alert = await creation(people.customer);
  const headers = { 'Content-Type': 'text/csv' };
  const statuses = [];
  for (const action of ['acknowledge', 'cancel_acknowledgment', 'close'])
    statuses.push((await fixture.staff.send('POST', `${alert.url}${action}/`, 'a;b', headers)).status);
  assert.equal(statuses, [200, 200, 204]);
});

test('close returns 204 and sets closed to now; 409 if it is closed', async () => {
  fixture.clock.hold();
  const alert = await creation(people.customer);
  fixture.clock.advance(0.982123);
  assert.equal(
    [(await fixture.staff.post(`${alert.url}close/`)).status, (await fixture.staff.get(alert.url)).body],
    [204, { ...alert, closed: '2018-01-05T04:47:04.982123Z' }],
  );
  const again = await fixture.staff.post(`${alert.url}close/`);
  assert.equal([again.status, again.body], [409, { detail: 'Alert is already closed.' }]);
});

test('staff post and close alerts; any user who can see the alert acknowledges it', async () => {
  const alert = await creation(people.customer);
  const others = { owner: 403, helper: 403, manager: 403, admin: 403, observer: 403 };
  assert.equal(await asEachPersona(people, async (client) => (await post(people.customer, {}, client)).status), {
    staff: 200,
    support: 403,
    ...others,
    stranger: 403,
  });
  assert.equal(
    await asEachPersona(people, async (client) => (await client.post(alert.url, body(people.customer))).status),
    { staff: 200, support: 403, ...others, stranger: 404 },
  );
  assert.equal(await asEachPersona(people, async (client) => (await client.post(`${alert.url}close/`)).status), {
    staff: 204,
    support: 403,
    ...others,
    stranger: 404,
  });
  const seers = {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  };
  for (const action of ['acknowledge', 'cancel_acknowledgment']) {
    assert.equal(
      await asEachPersona(people, async (client) => {
        fixture.server.app.db.write(() =>
          fixture.server.app.db.run(sql`UPDATE alert SET acknowledged = ${Number(action !== 'acknowledge')}`),
        );
        return (await client.post(`${alert.url}${action}/`)).status;
      }),
      seers,
    );
  }
  for (const path of ['/api/alerts/', alert.url, `${alert.url}close/`, `${alert.url}acknowledge/`])
    assert.is((await fixture.anonymous.post(path, {})).status, 401);
  for (const path of ['/api/alerts/', alert.url, '/api/alerts/stats/', '/api/alerts/alert_groups/']) {
    assert.equal(
      [(await fixture.anonymous.get(path)).status, (await people.clients.support.get(path)).status],
      [401, 200],
    );
  }
});

test('users who can read the scope see its alerts: users their own, owners those of keys, readers those of quotas; only staff and support those of shared settings', async () => {
  const { clients, customer, project, users } = people;
  const key = (await clients.manager.post('/api/keys/', { public_key: publicKeys.ed25519 })).body;
  const shared = settings(fixture, 'Shared');
  const own = settings(fixture, 'Own', customer);
  const global = (await fixture.staff.get('/api/quotas/?name=nc_global_customer_count')).body[0];
  const scopes: Record<string, Json> = {
    user: users.manager,
    key,
    customer,
    project,
    quota: project.quotas[0],
    global,
    shared: { url: `/api/service-settings/${shared.uuid}/` },
    own: { url: `/api/service-settings/${own.uuid}/` },
  };
  const kinds = new Map<string, string>();
  for (const [kind, scope] of Object.entries(scopes)) kinds.set((await creation(scope)).url, kind);
  const seen = await asEachPersona(people, async (client) => {
    const urls = (await client.get('/api/alerts/?page_size=300')).body.map(({ url }: Json) => url);
    for (const url of kinds.keys()) assert.is((await client.get(url)).status, urls.includes(url) ? 200 : 404);
    return urls.map((url: string) => kinds.get(url)).sort();
  });
  const connected = ['customer', 'project', 'quota'];
  const all = [...kinds.values()].sort();
  assert.equal(seen, {
    staff: all,
    support: all,
    owner: ['customer', 'own', ...connected.slice(1)],
    helper: ['customer', 'own', ...connected.slice(1)],
    manager: ['customer', 'key', ...connected.slice(1), 'user'],
    admin: connected,
    observer: connected,
    stranger: [],
  });
});

test('a role in another project of the customer does not show the alerts of a project', async () => {
  const sibling = await fixture.project('Sibling', people.customer);
  const alert = await creation(sibling);
  assert.equal(await asEachPersona(people, async (client) => (await client.get(alert.url)).status), {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 404,
    admin: 404,
    observer: 404,
    stranger: 404,
  });
});

test('deleting a scope deletes its alerts and those about its quotas', async () => {
  const { customer, project, users, clients } = people;
  const key = (await clients.manager.post('/api/keys/', { public_key: publicKeys.ed25519 })).body;
  for (const scope of [customer, project, users.manager, key, customer.quotas[0], project.quotas[0]])
    await creation(scope);
  const left = async () =>
    (await fixture.staff.get('/api/alerts/?page_size=300')).body
      .map(({ scope }: Json) => scope.split('/').at(-3))
      .sort();
  assert.equal(await left(), ['customers', 'keys', 'projects', 'quotas', 'quotas', 'users']);
  await fixture.staff.delete(users.manager.url);
  assert.equal(await left(), ['customers', 'projects', 'quotas', 'quotas'], 'the key of a deleted user goes with them');
  await fixture.staff.delete(project.url);
  assert.equal(await left(), ['customers', 'quotas']);
  await fixture.staff.delete(customer.url);
  assert.equal(await left(), []);
  assert.is(count(), 0);
});

test('deleting a project deletes the alerts of its links', async () => {
  const { db } = fixture.server.app;
  const id = link(fixture, people.project, { vcpu: { limit: 5 } });
  const alert = {
    scope_kind: 'link',
    scope_id: id,
    alert_type: 'x',
    message: 'x',
    severity: 30,
    created: 0,
    context: '{}',
  };
  change(fixture, () => db.insert('alert', { uuid: 'x', ...alert }));
  await fixture.staff.delete(people.project.url);
  assert.equal(
    [
      count(),
      db.value(sql`SELECT count(*) FROM quota WHERE scope_kind = 'link'`),
      db.value(sql`SELECT count(*) FROM service_project_link`),
    ],
    [0, 0, 0],
  );
});

test('an hourly timer deletes alerts that have been closed for longer than closed_alerts_lifetime', async () => {
  fixture.clock.hold();
  const [stored, gone] = [await creation(people.project), await creation(people.customer)];
  fixture.server.tick();
  await fixture.staff.post(`${gone.url}close/`);
  fixture.clock.set('2018-01-12T04:47:04Z');
  fixture.server.tick();
  assert.is(count(), 2, 'seven days, not longer');
  fixture.clock.set('2018-01-12T05:47:03Z');
  fixture.server.tick();
  assert.is(count(), 2, 'not yet an hour since the last time');
  fixture.clock.set('2018-01-12T05:47:04Z');
  fixture.server.tick();
  assert.equal([(await fixture.staff.get(gone.url)).status, (await fixture.staff.get(stored.url)).status], [404, 200]);
});

test('deletes closed alerts in small batches', async () => {
  const { db } = fixture.server.app;
  change(fixture, () =>
    db.run(sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO alert (uuid, scope_kind, scope_id, alert_type, message, severity, created, closed, context) SELECT i, 'customer', 0, i, 'x', 30, 0, i, '{}' FROM n`),
  );
  fixture.server.tick();
  assert.is(count(), 480);
  await fixture.server.settled();
  assert.is(count(), 0);
});

test('closed_alerts_lifetime is a setting', async () => {
  await fixture.open({ closed_alerts_lifetime: 0 });
  const alert = await creation(await fixture.customer('Alice'));
  await fixture.staff.post(`${alert.url}close/`);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.is(count(), 0);
});

test('OPTIONS describes the fields only to staff, and returns 404 for an invisible alert', async () => {
  const alert = await creation(people.customer);
  for (const path of ['/api/alerts/', alert.url]) {
    const { actions } = (await fixture.staff.options(path)).body;
    assert.equal(
      Object.entries(actions.POST)
        .filter(([, field]) => !(field as Json).read_only)
        .map(([name]) => name),
      ['alert_type', 'message', 'severity', 'scope', 'acknowledged'],
    );
    assert.is((await people.clients.owner.options(path)).body.actions, undefined);
  }
  assert.is((await people.clients.stranger.options(alert.url)).status, 404);
  assert.is((await people.clients.stranger.options(`${alert.url}acknowledge/`)).status, 404);
});

test('values of the context are text and are never interpreted', async () => {
  const customer = await fixture.customer(`"}'{scope_uuid}$&\\`, { contact_details: '{customer_name}' });
  const { context } = await creation(customer);
  assert.equal([context.scope_name, context.customer_contact_details], [`"}'{scope_uuid}$&\\`, '{customer_name}']);
  const { db } = fixture.server.app;
  assert.is(idOf(fixture, 'customer', customer), db.value(sql`SELECT scope_id FROM alert`));
});

test.run();
