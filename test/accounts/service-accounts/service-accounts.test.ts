import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { affecting, by, expectedEvent, inProject } from '../../support/expected-event.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('service accounts (core.md 4.7)', { owners_can_manage_owners: true });
const path = '/api/service-accounts/';
let admin: Json;
let customer: Json;
let project: Json;

test.before(async () => {
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
  customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  project = await fixture.project('Rocket', customer);
  for (const name of ['owner', 'manager']) await fixture.user(name);
  const userOf = async (name: string) => (await fixture.staff.get(`/api/users/?username=${name}`)).body[0];
  await fixture.grant(customer, await userOf('owner'), 'owner');
  await fixture.grant(project, await userOf('manager'), 'manager');
});
test.before.each(() => void fixture.events());

const create = async (values: Json = {}): Promise<Json> => {
  const { body, status } = await fixture.staff.post(path, {
    name: 'Nightly',
    project: project.url,
    role: 'admin',
    ...values,
  });
  assert.is(status, 201, JSON.stringify(body));
  return body;
};

const reports = ({ body, status }: { readonly body: Json; readonly status: number }): Json => [status, body];
const userOf = async (account: Json): Promise<Json> => (await fixture.staff.get(account.user)).body;
const usernamesIn = async (list: string): Promise<string[]> =>
  (await fixture.staff.get(`${list}${list.includes('?') ? '&' : '?'}page_size=300`)).body.map(
    (user: Json) => user.username ?? user.user_username,
  );
const countUsers = async (of: Json): Promise<number> =>
  (await fixture.staff.get(of.url)).body.quotas.find(({ name }: Json) => name === 'nc_user_count').usage;

test('is created as a user with one role and without a password', async () => {
  const created = await create({ name: 'Déploiement nocturne du site', description: 'Runs at two.' });
  const user = await userOf(created);
  assert.equal(created, {
    url: created.url,
    uuid: created.uuid,
    created: created.created,
    created_by: admin.url,
    user: user.url,
    username: user.username,
    name: 'Déploiement nocturne du site',
    description: 'Runs at two.',
    customer: null,
    project: project.url,
    role: 'admin',
    is_active: true,
  });
  assert.equal(Object.keys(created).slice(0, 6), ['url', 'uuid', 'created', 'created_by', 'user', 'username']);
  assert.match(user.username, /^sa-[0-9a-f]{8}-deploiement-noctur$/);
  assert.equal(
    [user.full_name, user.email, user.is_service_account, user.is_staff, user.is_support],
    ['Déploiement nocturne du site', '', true, false, false],
  );
  const permission = (await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body[0];
  assert.equal([permission.role, permission.expiration_time, permission.created_by], ['admin', null, admin.url]);
  assert.equal(fixture.events(), [
    expectedEvent('user_creation_succeeded', `User ${user.username} has been created.`, by(admin), affecting(user)),
    expectedEvent(
      'role_granted',
      `User ${user.username} has gained role of Administrator in project Rocket.`,
      by(admin),
      inProject(project, customer),
      affecting(user),
      { structure_type: 'project', role_name: 'Administrator' },
    ),
  ]);
  assert.equal(reports(await fixture.staff.get(created.url)), [200, created]);
});

test('gets a username without characters that usernames cannot contain', async () => {
  const username = async (name: string): Promise<string> => (await create({ name })).username.slice(12);
  assert.equal(
    [await username('CI / CD: (main)'), await username('日本'), await username('aaaaaaaaaaaaaaaaa bbb')],
    ['ci-cd-main', 'account', 'aaaaaaaaaaaaaaaaa'],
  );
});

test('is rejected without exactly one customer or project, and with a role that does not exist there', async () => {
  const post = async (values: Json) => reports(await fixture.staff.post(path, { name: 'x', role: 'owner', ...values }));
  const exactlyOne = [400, { non_field_errors: ['Exactly one of customer and project is required.'] }];
  assert.equal(await post({}), exactlyOne);
  assert.equal(await post({ customer: null, project: null }), exactlyOne);
  assert.equal(await post({ customer: customer.url, project: project.url }), exactlyOne);
  assert.equal(await post({ project: project.url }), [400, { role: ['"owner" is not a valid choice.'] }]);
  assert.equal(await post({ customer: customer.url, role: 'admin' }), [
    400,
    { role: ['"admin" is not a valid choice.'] },
  ]);
  assert.equal(reports(await fixture.staff.post(path, {})), [
    400,
    { name: ['This field is required.'], role: ['This field is required.'] },
  ]);
  assert.equal(await post({ name: 'x'.repeat(151), description: 'x'.repeat(501), customer: customer.url }), [
    400,
    {
      name: ['Ensure this field has no more than 150 characters.'],
      description: ['Ensure this field has no more than 500 characters.'],
    },
  ]);
});

test('keeps its customer or project: the same link is ignored, another one rejected', async () => {
  const account = await create();
  const fixed = [400, { project: ['This field cannot be changed.'] }];
  const other = await fixture.project('Other', customer);
  assert.equal(reports(await fixture.staff.patch(account.url, { project: other.url })), fixed);
  assert.equal(reports(await fixture.staff.patch(account.url, { project: null })), fixed);
  assert.equal(reports(await fixture.staff.patch(account.url, { customer: customer.url })), [
    400,
    { customer: ['This field cannot be changed.'] },
  ]);
  const body = { name: 'Same', role: 'admin', customer: null, project: project.url };
  assert.equal(reports(await fixture.staff.put(account.url, body)), [200, { ...account, name: 'Same' }]);
  assert.is((await userOf(account)).full_name, 'Same');
});

test('a change of the role ends the old one and grants the new one', async () => {
  const account = await create();
  const user = await userOf(account);
  fixture.events();
  assert.equal(reports(await fixture.staff.patch(account.url, { role: 'support' })), [
    200,
    { ...account, role: 'support' },
  ]);
  assert.equal(
    fixture.events().map(({ context: { role_name }, type }) => [type, role_name]),
    [
      ['role_revoked', 'Administrator'],
      ['role_granted', 'Support'],
    ],
  );
  const roles = (await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body;
  assert.equal(
    roles.map(({ role }: Json) => role),
    ['support'],
  );
  assert.equal(reports(await fixture.staff.patch(account.url, { role: 'owner' })), [
    400,
    { role: ['"owner" is not a valid choice.'] },
  ]);
  assert.equal(fixture.events(), []);
});

test('a change of the role requires the right to both roles', async () => {
  const account = await create({ role: 'support' });
  const manager = fixture.as('manager');
  assert.is((await manager.patch(account.url, { role: 'manager' })).status, 403);
  assert.is((await manager.patch(account.url, { role: 'admin' })).status, 200);
  assert.is((await fixture.as('owner').patch(account.url, { role: 'manager' })).status, 200);
  assert.is((await manager.patch(account.url, { role: 'admin' })).status, 404);
});

test('users whose own role ends manage no service accounts', async () => {
  const [account, ofCustomer] = [
    await create(),
    await create({ project: null, customer: customer.url, role: 'owner' }),
  ];
  const expires = '2030-01-01T00:00:00Z';
  const leaving = { owner: await fixture.user('leaving.owner'), manager: await fixture.user('leaving.manager') };
  await fixture.grant(customer, leaving.owner, 'owner', expires);
  await fixture.grant(project, leaving.manager, 'manager', expires);
  for (const name of ['leaving.owner', 'leaving.manager']) {
    const client = fixture.as(name);
    for (const { url } of [account, ofCustomer]) assert.is((await client.get(url)).status, 404);
    assert.equal((await client.get(path)).body, []);
    const { status } = await client.post(path, { name: 'x', project: project.url, role: 'support' });
    assert.is(status, 403);
  }
  assert.is((await fixture.as('owner').get(ofCustomer.url)).status, 200);
  assert.is((await fixture.as('manager').get(ofCustomer.url)).status, 404);
});

test('only the list of users omits it', async () => {
  const { role: _, ...account } = await create({ name: 'Listed' });
  const { username } = account;
  const isIn = async (list: string): Promise<boolean> => (await usernamesIn(list)).includes(username);
  assert.not(await isIn('/api/users/'));
  assert.not(await isIn(`/api/users/?username=${username}`));
  assert.not(await isIn('/api/users/?is_service_account=False'));
  assert.not(await isIn(`/api/users/?project_uuid=${project.uuid}`));
  assert.ok(await isIn('/api/users/?is_service_account=True'));
  assert.ok(await isIn(`${project.url}users/`));
  assert.ok(await isIn(`${customer.url}users/`));
  assert.ok(await isIn('/api/project-permissions/'));
  const people = await fixture.staff.get('/api/users/?is_service_account=True&page_size=300');
  assert.ok(people.body.every((user: Json) => user.is_service_account === true));
  assert.not('is_service_account' in admin);
  const ofCustomer = await create({ name: 'Owner', project: null, customer: customer.url, role: 'owner' });
  const { owners } = (await fixture.staff.get(customer.url)).body;
  assert.ok(owners.some((owner: Json) => owner.username === ofCustomer.username));
});

test('counts as a user of its customer until it is deleted', async () => {
  const before = await countUsers(customer);
  const account = await create();
  assert.is(await countUsers(customer), before + 1);
  await fixture.staff.patch(account.url, { role: 'support' });
  assert.is(await countUsers(customer), before + 1);
  const user = await userOf(account);
  fixture.events();
  assert.is((await fixture.staff.delete(account.url)).status, 204);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['role_revoked', 'user_deletion_succeeded'],
  );
  assert.is(await countUsers(customer), before);
  assert.is((await fixture.staff.get(user.url)).status, 404);
  assert.is((await fixture.staff.get(account.url)).status, 404);
});

test('its user and its role cannot be changed otherwise', async () => {
  const account = await create();
  const user = await userOf(account);
  const isAccount = [409, { detail: 'This user is a service account.' }];
  const { staff } = fixture;
  assert.equal(reports(await staff.patch(user.url, { full_name: 'Other' })), isAccount);
  assert.equal(reports(await staff.put(user.url, { full_name: 'Other' })), isAccount);
  assert.equal(reports(await staff.delete(user.url)), isAccount);
  for (const [action, body] of [
    ['password', { password: 'correct-horse-1' }],
    ['claim_organization', { organization: 'ALC' }],
    ['approve_organization', {}],
    ['reject_organization', {}],
    ['remove_organization', {}],
  ] as const)
    assert.equal(reports(await staff.post(`${user.url}${action}/`, body)), isAccount, action);
  const permission = (await staff.get(`/api/project-permissions/?user=${user.uuid}`)).body[0];
  const isItsRole = [409, { detail: 'This role belongs to a service account.' }];
  assert.equal(reports(await staff.patch(permission.url, { expiration_time: '2030-01-01T00:00:00Z' })), isItsRole);
  assert.equal(reports(await staff.put(permission.url, {})), isItsRole);
  assert.equal(reports(await staff.delete(permission.url)), isItsRole);
  const another = [400, { user: ['A service account can have only one role.'] }];
  for (const [structure, scope] of Object.entries({ customer, project }))
    assert.equal(
      reports(
        await staff.post(`/api/${structure}-permissions/`, { [structure]: scope.url, user: user.url, role: 'support' }),
      ),
      another,
    );
  // Rights are checked before the state.
  assert.is((await fixture.as('manager').delete(user.url)).status, 403);
  fixture.events();
  assert.equal(reports(await staff.get(account.url)), [200, account]);
});

test('deactivation and activation emit the events of its user', async () => {
  const account = await create();
  fixture.events();
  assert.equal(reports(await fixture.staff.patch(account.url, { is_active: false })), [
    200,
    { ...account, is_active: false },
  ]);
  assert.is((await fixture.staff.patch(account.url, { is_active: true })).body.is_active, true);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['user_deactivated', 'user_activated'],
  );
  assert.is((await create({ is_active: false })).is_active, false);
});

test('is deactivated when its project or customer is deleted', async () => {
  const { staff } = fixture;
  const closing = await fixture.customer('Closing');
  const site = await fixture.project('Site', closing);
  const accounts = [
    await create({ project: site.url }),
    await create({ project: null, customer: closing.url, role: 'owner' }),
  ];
  fixture.events();
  assert.is((await staff.delete(site.url)).status, 204);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['role_revoked', 'user_deactivated', 'project_deletion_succeeded'],
  );
  assert.is((await staff.delete(closing.url)).status, 204);
  for (const account of accounts) {
    const ended = { ...account, customer: null, project: null, is_active: false };
    assert.equal(reports(await staff.get(account.url)), [200, ended]);
    assert.equal(reports(await staff.patch(account.url, { is_active: true })), [
      409,
      { detail: 'The customer or project of this service account has been deleted.' },
    ]);
    assert.is((await fixture.as('owner').get(account.url)).status, 404);
    assert.is((await staff.delete(account.url)).status, 204);
  }
});

test('moves with its project, and outlives the user who created it', async () => {
  const { staff } = fixture;
  const founder = await fixture.user('founder');
  const [before, after] = [await fixture.customer('Before'), await fixture.customer('After')];
  for (const scope of [before, after]) await fixture.grant(scope, founder, 'owner');
  const site = await fixture.project('Moving', before);
  const { body: account } = await fixture
    .as('founder')
    .post(path, { name: 'Mover', project: site.url, role: 'manager' });
  assert.is(account.created_by, founder.url);
  await staff.patch(site.url, { customer: after.url });
  assert.equal([await countUsers(before), await countUsers(after)], [1, 2]);
  assert.equal((await staff.get(`${path}?customer=${after.uuid}`)).body, [account]);
  assert.equal((await staff.get(`${path}?customer=${before.uuid}`)).body, []);
  await staff.delete(founder.url);
  assert.equal(reports(await staff.get(account.url)), [200, { ...account, created_by: null }]);
});

test('filters by name, username, customer, project, role and state', async () => {
  const place = await fixture.customer('Filters');
  const [one, two] = [await fixture.project('One', place), await fixture.project('Two', place)];
  const first = await create({ name: 'First', project: one.url });
  const second = await create({ name: 'Second', project: two.url, role: 'support', is_active: false });
  const third = await create({ name: 'Third', project: null, customer: place.url, role: 'owner' });
  const names = async (query: string) =>
    (await fixture.staff.get(`${path}?customer=${place.uuid}&${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await names(''), ['First', 'Second', 'Third']);
  assert.equal(await names(`project=${one.uuid}`), ['First']);
  assert.equal(await names('role=support'), ['Second']);
  assert.equal(await names('is_active=true'), ['First', 'Third']);
  assert.equal(await names('name=ir'), ['First', 'Third']);
  assert.equal(await names(`username=${third.username}`), ['Third']);
  assert.equal(await names('o=-name'), ['Third', 'Second', 'First']);
  assert.is(first.created <= second.created, true);
});

test('gets no mail about the notifications that it receives', async () => {
  const { db } = fixture.server.app;
  const own = await fixture.customer('Silent');
  await create({ project: null, customer: own.url, role: 'owner' });
  const mails = (): number => db.count(sql`SELECT count(*) FROM notification_mail`);
  const before = mails();
  await fixture.staff.post('/api/alerts/', { scope: own.url, alert_type: 'a', message: 'Look', severity: 'Error' });
  assert.is(mails(), before);
});

test('logs in by no method', async () => {
  const { username } = await create();
  const login = await fixture.anonymous.post('/api-auth/password/', { username, password: 'anything-1' });
  assert.equal(reports(login), [401, { detail: 'Invalid username/password.' }]);
  assert.throws(() => fixture.as(username), /is a service account, which has only API keys/);
});

test.run();

const limited = suiteWithServer('the limit of service accounts (core.md 4.7)', { service_accounts_per_scope: 2 });

limited.test('applies to each customer and project separately', async () => {
  const { staff } = limited.fixture;
  const company = await limited.fixture.customer('Company');
  const site = await limited.fixture.project('Site', company);
  const post = (target: Json) => staff.post(path, { name: 'x', role: 'support', ...target });
  for (const target of [{ customer: company.url }, { project: site.url }]) {
    assert.is((await post(target)).status, 201);
    assert.is((await post(target)).status, 201);
    assert.equal(reports(await post(target)), [409, { detail: 'There are already 2 service accounts here.' }]);
  }
});

limited.test.run();
