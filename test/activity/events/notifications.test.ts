import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { byStaff, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('custom notifications, POST /api/events/ (events.md 1.3, 4.6)');
let setup: Personas;
let staff: Record<string, string>;

test.before(async () => {
  setup = await createPersonas(fixture);
  staff = await byStaff(fixture);
});
test.before.each(() => {
  fixture.events();
});

const post = (body: unknown) => fixture.staff.post('/api/events/', body);
const level = 'info';
const message = 'Hello';

test('staff post events; other callers get 403 before the body is read', async () => {
  const responses = await asEachPersona(setup, (client) => client.post('/api/events/', { level, message }));
  for (const [part, { status, body }] of Object.entries(responses)) {
    if (part === 'staff') assert.is(status, 201);
    else assert.equal([status, body], [403, { detail: 'You do not have permission to perform this action.' }], part);
  }
  assert.is(
    (await setup.clients.support.send('POST', '/api/events/', '{', { 'Content-Type': 'application/json' })).status,
    403,
  );
  assert.is((await fixture.anonymous.post('/api/events/', { level, message })).status, 401);
});

test('returns 201 with level and message and without Location; the event has no scope', async () => {
  for (const each of ['debug', 'error', 'info', 'warning']) {
    const { status, body, headers } = await post({ level: each, message: '  Water {x} and {user_username}  ' });
    assert.equal(
      [status, Object.entries(body), headers.get('location')],
      [201, Object.entries({ level: each, message: 'Water {x} and {user_username}' }), null],
    );
    assert.equal(fixture.events(), [
      { ...expectedEvent('custom_notification', 'Water {x} and {user_username}', staff), level: each },
    ]);
  }
});

test('null and an empty scope mean none', async () => {
  for (const scope of [null, '']) assert.equal((await post({ level, message, scope })).body, { level, message });
  assert.equal(fixture.events(), [
    expectedEvent('custom_notification', message, staff),
    expectedEvent('custom_notification', message, staff),
  ]);
});

test('a message has no length limit; forms equal JSON; unknown keys are ignored', async () => {
  const long = 'x'.repeat(100_000);
  assert.is((await post({ level, message: long, type: 'role_granted' })).body.message, long);
  const form = await fixture.staff.send('POST', '/api/events/', new URLSearchParams({ level, message }).toString(), {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  assert.equal([form.status, form.body], [201, { level, message }]);
});

test('reports all errors of a body together', async () => {
  const rejection = async (body: unknown, errors: unknown): Promise<void> => {
    const response = await post(body);
    assert.equal([response.status, response.body], [400, errors]);
  };
  await rejection({}, { level: ['This field is required.'], message: ['This field is required.'] });
  await rejection(
    { level: null, message: null },
    { level: ['This field may not be null.'], message: ['This field may not be null.'] },
  );
  await rejection(
    { level: 'INFO', message: ' ', scope: 'nowhere' },
    {
      level: ['"INFO" is not a valid choice.'],
      message: ['This field may not be blank.'],
      scope: ['URL is invalid: nowhere.'],
    },
  );
  await rejection(
    { level: 'critical', message: ['x'] },
    { level: ['"critical" is not a valid choice.'], message: ['Not a valid string.'] },
  );
  await rejection({ level, message, scope: 5 }, { scope: ['Not a valid string.'] });
  assert.equal(fixture.events(), []);
});

test('rejects a scope that is not a link or has no object', async () => {
  const missing = '0'.repeat(32);
  for (const [scope, text] of [
    ['customer', 'URL is invalid: customer.'],
    ['/api/customers/123/', 'URL is invalid: /api/customers/123/.'],
    [`/api/customers/${missing}/`, `Can't restore object from url: /api/customers/${missing}/`],
    [`/api/price-estimates/${missing}/`, `Can't restore object from url: /api/price-estimates/${missing}/`],
    ['/api/nothing/', "Can't restore object from url: /api/nothing/"],
  ]) {
    const response = await post({ level, message, scope });
    assert.equal([response.status, response.body], [400, { scope: [text] }]);
  }
});

test('accepts an absolute URL of any host or a path as scope, with or without a trailing slash; the response has the full link', async () => {
  const { url, uuid } = setup.customer;
  for (const scope of [
    url,
    `http://other.example/api/customers/${uuid}`,
    `/api/customers/${uuid}/`,
    `/api/customers/${uuid.toUpperCase()}`,
    ` ${url} `,
  ]) {
    const { status, body } = await post({ level, message, scope });
    assert.equal([status, body], [201, { level, message, scope: url }]);
  }
});

test('the context has the SCOPE keys and the OWN keys of the scope', async () => {
  const { customer, project, users } = setup;
  const key = (await setup.clients.owner.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  const [quota] = (await fixture.staff.get(`/api/projects/${project.uuid}/`)).body.quotas;
  const globalQuota = (await fixture.staff.get('/api/quotas/?name=global_customer')).body[0];
  const decimals = (of: Json) => ({
    quota_uuid: of.uuid,
    quota_name: of.name,
    quota_limit: `${of.limit}.0`,
    quota_usage: `${of.usage}.0`,
  });
  const owner = { user_uuid: users.owner.uuid, user_username: 'owner', user_full_name: '', user_native_name: '' };
  const cases: [Json, Record<string, string>][] = [
    [
      customer,
      {
        scope_uuid: customer.uuid,
        scope_name: 'Alice',
        scope_abbreviation: 'ALC',
        scope_contact_details: 'Baker Street',
        ...inCustomer(customer),
      },
    ],
    [project, { scope_uuid: project.uuid, scope_name: 'Rocket', ...inProject(project, customer) }],
    [
      users.owner,
      {
        scope_uuid: users.owner.uuid,
        scope_name: 'owner',
        scope_username: 'owner',
        scope_full_name: '',
        scope_native_name: '',
        ...owner,
      },
    ],
    [key, { scope_uuid: key.uuid, scope_name: 'laptop', ssh_key_uuid: key.uuid, ssh_key_name: 'laptop', ...owner }],
    [quota, { scope_uuid: project.uuid, scope_name: 'Rocket', ...decimals(quota), ...inProject(project, customer) }],
    [globalQuota, decimals(globalQuota)],
  ];
  for (const [scope, context] of cases) {
    fixture.events();
    assert.is((await post({ level, message, scope: scope.url })).status, 201);
    assert.equal(fixture.events(), [expectedEvent('custom_notification', message, staff, context)]);
  }
});

test('settings are a scope; shared ones have no customer keys', async () => {
  const { db } = fixture.server.app;
  const customerId = db.value<number>(sql`SELECT id FROM customer WHERE uuid = ${setup.customer.uuid}`) as number;
  db.write(() => {
    db.insert('service_settings', {
      uuid: 'a'.repeat(32),
      name: 'Own',
      type: 'OpenStack',
      customer_id: customerId,
      created: 0,
    });
    db.insert('service_settings', { uuid: 'b'.repeat(32), name: 'Shared', type: 'OpenStack', shared: 1, created: 0 });
  });
  db.commit();
  const named = (uuid: string, name: string) => ({
    scope_uuid: uuid,
    scope_name: name,
    settings_uuid: uuid,
    settings_name: name,
    service_settings_type: 'OpenStack',
  });
  for (const [uuid, name, more] of [
    ['a'.repeat(32), 'Own', inCustomer(setup.customer)],
    ['b'.repeat(32), 'Shared', {}],
  ] as const) {
    fixture.events();
    assert.is((await post({ level, message, scope: `/api/service-settings/${uuid}/` })).status, 201);
    assert.equal(fixture.events(), [expectedEvent('custom_notification', message, staff, named(uuid, name), more)]);
  }
});

test.run();
