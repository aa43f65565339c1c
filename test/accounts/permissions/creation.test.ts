import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('granting roles (core.md 8.3)');
let people: Personas;
let admin: Json;
let count = 0;

test.before(async () => {
  people = await createPersonas(fixture);
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});

const forbidden = { detail: 'You do not have permission to perform this action.' };
const unknown = ['Invalid hyperlink - Object does not exist.'];
const noMatch = ['Invalid hyperlink - No URL match.'];
const wrongMatch = ['Invalid hyperlink - Incorrect URL match.'];
const required = ['This field is required.'];
const past = ['Expiration time should be greater than current time.'];
const badTime = [
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
];

async function newcomer(): Promise<Json> {
  const user = await fixture.user(`newcomer.${count++}`);
  fixture.events();
  return user;
}
const toCustomer = (body: object, client = fixture.staff) =>
  client.post('/api/customer-permissions/', { customer: people.customer.url, role: 'support', ...body });
const toProject = (body: object, client = fixture.staff) =>
  client.post('/api/project-permissions/', { project: people.project.url, role: 'support', ...body });
const userQuota = async (): Promise<Json> =>
  (await fixture.staff.get(people.customer.url)).body.quotas.find((quota: Json) => quota.name === 'nc_user_count');

test('grants each role of customers and projects, and names it in the event', async () => {
  const { customer, project } = people;
  for (const [role, role_name] of [
    ['owner', 'Owner'],
    ['support', 'Support'],
  ] as const) {
    const user = await newcomer();
    assert.is((await toCustomer({ user: user.url, role })).body.role, role);
    assert.equal(fixture.events(), [
      expectedEvent(
        'role_granted',
        `User ${user.username} has gained role of ${role_name} in customer Alice.`,
        by(admin),
        inCustomer(customer),
        affecting(user),
        { structure_type: 'customer', role_name },
      ),
    ]);
  }
  for (const [role, role_name] of [
    ['admin', 'Administrator'],
    ['manager', 'Manager'],
    ['support', 'Support'],
  ] as const) {
    const user = await newcomer();
    assert.is((await toProject({ user: user.url, role })).body.role, role);
    assert.equal(fixture.events(), [
      expectedEvent(
        'role_granted',
        `User ${user.username} has gained role of ${role_name} in project Rocket.`,
        by(admin),
        inProject(project, customer),
        affecting(user),
        { structure_type: 'project', role_name },
      ),
    ]);
  }
});

test('requires role, user and the customer or project', async () => {
  for (const [structure, body] of [
    ['customer', {}],
    ['project', {}],
    ['customer', undefined],
  ] as const) {
    const response = await fixture.staff.post(`/api/${structure}-permissions/`, body);
    assert.is(response.status, 400);
    assert.equal(response.body, { role: required, [structure]: required, user: required });
  }
});

test('reports a link to an unknown or invisible object, another kind of path or an invalid link on its field', async () => {
  const { customer, project, users, clients } = people;
  const foreign = await fixture.customer('Foreign');
  const [hidden, staff] = [
    await fixture.user('hidden', { is_active: false }),
    await fixture.user('hidden.staff', { is_staff: true }),
  ];
  const none = `${fixture.url}/api/users/${'0'.repeat(32)}/`;
  for (const [user, messages] of [
    [none, unknown],
    ['nonsense', noMatch],
    [`${fixture.url}/api/nothing/${users.owner.uuid}/`, noMatch],
    [`${fixture.url}/api/users/`, wrongMatch],
    [customer.url, wrongMatch],
    [`${users.owner.url}password/`, wrongMatch],
    ['ftp://example.com/api/users/1/', noMatch],
    ['', ['This field may not be null.']],
    [null, ['This field may not be null.']],
    [5, ['Incorrect type. Expected URL string, received int.']],
    [true, ['Incorrect type. Expected URL string, received bool.']],
    [[users.owner.url], ['Incorrect type. Expected URL string, received list.']],
    [{}, ['Incorrect type. Expected URL string, received dict.']],
    [1.5, ['Incorrect type. Expected URL string, received float.']],
  ] as const) {
    assert.equal((await toProject({ user })).body, { user: messages }, String(user));
  }
  for (const user of [hidden, staff])
    assert.equal((await toProject({ user: user.url }, clients.owner)).body, { user: unknown });
  assert.equal(
    (
      await clients.owner.post('/api/customer-permissions/', {
        customer: foreign.url,
        user: users.stranger.url,
        role: 'owner',
      })
    ).body,
    { customer: unknown },
  );
  assert.equal((await toCustomer({ customer: project.url, user: users.stranger.url })).body, { customer: wrongMatch });
  assert.equal((await toProject({ user: users.stranger.url }, clients.stranger)).body, { project: unknown });
});

test('accepts links as paths or with any host, with or without a trailing slash', async () => {
  for (const link of [
    (url: string) => new URL(url).pathname,
    (url: string) => url.replace(fixture.url, 'https://elsewhere.example'),
    (url: string) => ` ${url.slice(0, -1)} `,
  ]) {
    const user = await newcomer();
    const { status, body } = await toCustomer({ customer: link(people.customer.url), user: link(user.url) });
    assert.is(status, 201);
    assert.is(body.user, user.url);
  }
});

test('rejects an unknown role', async () => {
  const user = await newcomer();
  for (const [role, printed] of [
    ['admin', 'admin'],
    ['Owner', 'Owner'],
    ['', ''],
    ['constructor', 'constructor'],
    [0, '0'],
    [true, 'true'],
    [['owner'], '["owner"]'],
  ] as const) {
    assert.equal((await toCustomer({ user: user.url, role })).body, { role: [`"${printed}" is not a valid choice.`] });
  }
  assert.equal((await toProject({ user: user.url, role: 'owner' })).body, { role: ['"owner" is not a valid choice.'] });
  assert.equal((await toProject({ user: user.url, role: null })).body, { role: ['This field may not be null.'] });
});

test('an expiration time must be in the future', async () => {
  const user = await newcomer();
  for (const expiration_time of [
    start,
    '2018-01-05T04:47:03.999999Z',
    '2018-01-05T05:47:04+01:00',
    '0001-01-01T00:00:00Z',
  ]) {
    assert.equal((await toCustomer({ user: user.url, expiration_time })).body, { expiration_time: past });
  }
  const { body } = await toCustomer({ user: user.url, expiration_time: '2018-01-05T04:47:04.000001' });
  assert.is(body.expiration_time, '2018-01-05T04:47:04.000001Z');
});

test('an expiration time is a datetime, or null or empty for none', async () => {
  const user = await newcomer();
  for (const expiration_time of [
    'tomorrow',
    '2018-02-30T00:00:00Z',
    '2018-06-01',
    '2018-06-01T24:00:00Z',
    '9999-12-31T23:59:59-01:00',
    1_600_000_000,
    true,
    [],
    {},
  ]) {
    assert.equal(
      (await toCustomer({ user: user.url, expiration_time })).body,
      { expiration_time: badTime },
      String(expiration_time),
    );
  }
  for (const [expiration_time, stored] of [
    [null, null],
    ['', null],
    ['2018-06-01T12:00', '2018-06-01T12:00:00Z'],
    ['2018-06-01 12:00:00.5+03:00', '2018-06-01T09:00:00.5Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999968Z'],
  ]) {
    const { body } = await toCustomer({ user: (await newcomer()).url, expiration_time });
    assert.is(body.expiration_time, stored);
  }
});

test('reports all field errors together before it checks rights', async () => {
  const { status, body } = await people.clients.observer.post('/api/project-permissions/', {
    project: people.customer.url,
    user: 5,
    role: 'owner',
    expiration_time: '2000-01-01T00:00:00Z',
  });
  assert.is(status, 400);
  assert.equal(body, {
    role: ['"owner" is not a valid choice.'],
    expiration_time: past,
    project: wrongMatch,
    user: ['Incorrect type. Expected URL string, received int.'],
  });
});

test('checks the right before the uniqueness of the role', async () => {
  const { status, body } = await toProject({ user: people.users.admin.url }, people.clients.manager);
  assert.is(status, 403);
  assert.equal(body, forbidden);
});

test('a user can have only one active role in a customer or project', async () => {
  const user = await newcomer();
  await toCustomer({ user: user.url });
  await toProject({ user: user.url });
  fixture.events();
  for (const role of ['owner', 'support']) {
    const { status, body } = await toCustomer({ user: user.url, role });
    assert.is(status, 400);
    assert.equal(body, { non_field_errors: ['The fields customer and user must make a unique set.'] });
  }
  for (const role of ['admin', 'manager', 'support']) {
    assert.equal((await toProject({ user: user.url, role })).body, {
      non_field_errors: ['The fields project and user must make a unique set.'],
    });
  }
  assert.equal(fixture.events(), []);
});

test('users with the right can grant a role to themselves', async () => {
  const staff = await fixture.user('self.granting', { is_staff: true });
  const { status, body } = await toCustomer({ user: staff.url, role: 'owner' }, fixture.as('self.granting'));
  assert.is(status, 201);
  assert.is(body.created_by, body.user);
  assert.is((await toProject({ user: people.users.owner.url, role: 'admin' }, people.clients.owner)).status, 201);
});

test('ignores read-only keys', async () => {
  const user = await newcomer();
  const { status, body } = await toCustomer({
    user: user.url,
    pk: 'x',
    url: 5,
    created: 'never',
    created_by: user.url,
    customer_name: [],
    user_email: 7,
    ended: start,
  });
  assert.is(status, 201);
  assert.is(body.created_by, admin.url);
  assert.is(body.created, start);
});

test('counts a new user of the customer in nc_user_count, but not an existing one', async () => {
  const user = await newcomer();
  const before = (await userQuota()).usage;
  await toCustomer({ user: user.url });
  assert.is((await userQuota()).usage, before + 1);
  await toProject({ user: user.url });
  assert.is((await userQuota()).usage, before + 1);
});

test('rejects a new user of the customer when nc_user_count is full', async () => {
  const inside = await newcomer();
  await toProject({ user: inside.url });
  const { url, usage } = await userQuota();
  await fixture.staff.patch(url, { limit: usage });
  const outside = await newcomer();
  for (const grant of [toCustomer, toProject]) {
    const { status, body } = await grant({ user: outside.url });
    assert.is(status, 409);
    assert.equal(body, {
      detail: `One or more quotas were exceeded: nc_user_count quota limit: ${usage}.0, requires ${usage + 1}.0 (Alice (ALC))`,
    });
  }
  assert.equal(fixture.events(), []);
  assert.is((await userQuota()).usage, usage);
  assert.is((await toCustomer({ user: inside.url })).status, 201);
});

test.run();
