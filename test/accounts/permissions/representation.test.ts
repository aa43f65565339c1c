import * as assert from 'uvu/assert';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the representation of permissions and their logs (core.md 8.1)');
const end = '2018-06-01T00:00:00.25Z';
let people: Personas;
let admin: Json;
let user: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
  await fixture.staff.patch(people.customer.url, { native_name: 'Алиса' });
  user = await fixture.user('walter', {
    full_name: 'Walter White',
    native_name: 'Вальтер',
    email: 'walter@example.com',
  });
});

const customerKeys = [
  'url',
  'pk',
  'role',
  'created',
  'expiration_time',
  'created_by',
  'customer',
  'customer_uuid',
  'customer_name',
  'customer_native_name',
  'customer_abbreviation',
  'user',
  'user_full_name',
  'user_native_name',
  'user_username',
  'user_uuid',
  'user_email',
  'source',
];
const projectKeys = [
  'url',
  'pk',
  'role',
  'created',
  'expiration_time',
  'created_by',
  'project',
  'project_uuid',
  'project_name',
  'customer_name',
  'user',
  'user_full_name',
  'user_native_name',
  'user_username',
  'user_uuid',
  'user_email',
  'source',
];

const ofUser = () => ({
  user: user.url,
  user_full_name: 'Walter White',
  user_native_name: 'Вальтер',
  user_username: 'walter',
  user_uuid: user.uuid,
  user_email: 'walter@example.com',
  source: null,
});

test('a customer permission has these keys in this order', async () => {
  const { customer } = people;
  const { status, body, headers } = await fixture.staff.post('/api/customer-permissions/', {
    customer: customer.url,
    user: user.url,
    role: 'owner',
    expiration_time: end,
  });
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.ok(Number.isInteger(body.pk));
  assert.equal(Object.keys(body), customerKeys);
  assert.equal(body, {
    url: `${fixture.url}/api/customer-permissions/${body.pk}/`,
    pk: body.pk,
    role: 'owner',
    created: start,
    expiration_time: end,
    created_by: admin.url,
    customer: customer.url,
    customer_uuid: customer.uuid,
    customer_name: 'Alice',
    customer_native_name: 'Алиса',
    customer_abbreviation: 'ALC',
    ...ofUser(),
  });
  assert.equal((await fixture.staff.get(body.url)).body, body);
  assert.equal((await fixture.staff.get(`/api/customer-permissions/?user=${user.uuid}`)).body, [body]);
});

test('a project permission has these keys in this order', async () => {
  const { project } = people;
  const { status, body, headers } = await people.clients.owner.post('/api/project-permissions/', {
    project: project.url,
    user: user.url,
    role: 'admin',
  });
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.equal(Object.keys(body), projectKeys);
  assert.equal(body, {
    url: `${fixture.url}/api/project-permissions/${body.pk}/`,
    pk: body.pk,
    role: 'admin',
    created: start,
    expiration_time: null,
    created_by: people.users.owner.url,
    project: project.url,
    project_uuid: project.uuid,
    project_name: 'Rocket',
    customer_name: 'Alice',
    ...ofUser(),
  });
  assert.equal((await fixture.staff.get(body.url)).body, body);
  assert.equal((await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body, [body]);
});

test('a log record has the same keys; its url points to the log, its expiration_time is the end of the role', async () => {
  for (const [structure, keys] of [
    ['customer', customerKeys],
    ['project', projectKeys],
  ] as const) {
    const {
      body: [role],
    } = await fixture.staff.get(`/api/${structure}-permissions/?user=${user.uuid}`);
    await fixture.staff.delete(role.url);
    const { body } = await fixture.staff.get(`/api/${structure}-permissions-log/${role.pk}/`);
    assert.equal(Object.keys(body), keys);
    assert.equal(body, {
      ...role,
      url: `${fixture.url}/api/${structure}-permissions-log/${role.pk}/`,
      expiration_time: start,
    });
    assert.equal((await fixture.staff.get(`/api/${structure}-permissions-log/?user=${user.uuid}`)).body, [body]);
  }
});

test('a permission is addressed by its decimal pk; any other key returns 404', async () => {
  const {
    body: [role],
  } = await fixture.staff.get('/api/customer-permissions/');
  assert.is((await fixture.staff.get(`/api/customer-permissions/${role.pk}`)).body.pk, role.pk);
  for (const key of [
    '0',
    '999999',
    `${role.pk}x`,
    `-${role.pk}`,
    `${role.pk}.0`,
    '1e0',
    role.user_uuid,
    '9'.repeat(40),
    '%20',
    'null',
  ]) {
    for (const path of [
      'customer-permissions',
      'customer-permissions-log',
      'project-permissions',
      'project-permissions-log',
    ]) {
      const { status, body } = await fixture.staff.get(`/api/${path}/${key}/`);
      assert.is(status, 404, `${path} ${key}`);
      assert.equal(body, { detail: 'Not found.' });
    }
  }
});

test('OPTIONS describes permissions to all callers who may send it, and logs to none', async () => {
  const {
    body: [role],
  } = await fixture.staff.get('/api/customer-permissions/');
  for (const client of [fixture.staff, people.clients.observer]) {
    const { body } = await client.options('/api/customer-permissions/');
    assert.is(body.name, 'Customer Permission List');
    assert.equal(Object.keys(body.actions.POST), customerKeys);
    assert.equal(body.actions.POST.role, {
      type: 'choice',
      required: true,
      read_only: false,
      label: 'Role',
      choices: [
        { value: 'owner', display_name: 'Owner' },
        { value: 'support', display_name: 'Support' },
      ],
    });
    const detail = (await client.options(role.url)).body;
    assert.equal(
      Object.entries(detail.actions.PUT)
        .filter(([, field]) => !(field as Json).read_only)
        .map(([name]) => name),
      ['expiration_time'],
    );
    for (const log of ['customer', 'project']) {
      const response = await client.options(`/api/${log}-permissions-log/`);
      assert.is(response.headers.get('allow'), 'GET, HEAD, OPTIONS');
      assert.not.ok('actions' in response.body);
    }
  }
});

test.run();
