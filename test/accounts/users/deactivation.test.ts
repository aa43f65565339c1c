import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import type { Json } from '../../support/fixture.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('deactivated and deleted users (core.md 2.3, 4.3)');
let admin: Json;

test.before(async () => {
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});

const userCount = async (customer: Json) =>
  (await fixture.staff.get(customer.url)).body.quotas.find((quota: Json) => quota.name === 'nc_user_count').usage;

test('deactivation revokes every token at once; reactivation restores none', async () => {
  const user = await fixture.user('sleeper', { is_active: true });
  await fixture.staff.post(`${user.url}password/`, { password: 'secret123' });
  const clients = [fixture.as('sleeper'), fixture.as('sleeper')];
  const login = () => fixture.anonymous.post('/api-auth/password/', { username: 'sleeper', password: 'secret123' });
  fixture.events();
  assert.is((await fixture.staff.patch(user.url, { is_active: false })).body.is_active, false);
  assert.equal(fixture.events(), [
    expectedEvent('user_deactivated', 'User sleeper has been deactivated.', by(admin), affecting(user)),
  ]);
  for (const client of clients) {
    const { status, body } = await client.get('/api/');
    assert.is(status, 401);
    assert.equal(body, { detail: 'User inactive or deleted.' });
  }
  assert.equal((await login()).body, { detail: 'Invalid username/password.' });
  fixture.events();
  await fixture.staff.patch(user.url, { is_active: true });
  assert.equal(fixture.events(), [
    expectedEvent('user_activated', 'User sleeper has been activated.', by(admin), affecting(user)),
  ]);
  for (const client of clients) assert.equal((await client.get('/api/')).body, { detail: 'Invalid token.' });
  assert.is((await login()).status, 200);
});

test('an inactive user keeps their roles and is visible only to staff and global support', async () => {
  const [owner, member] = [await fixture.user('active.owner'), await fixture.user('resting')];
  const customer = await fixture.customer('Resting Ltd');
  await fixture.grant(customer, owner, 'owner');
  const permission = await fixture.grant(customer, member, 'support');
  await fixture.staff.patch(member.url, { is_active: false });
  const client = fixture.as('active.owner');
  assert.is((await client.get(member.url)).status, 404);
  assert.equal((await client.get('/api/users/?username=resting')).body, []);
  assert.is((await client.get(permission.url)).body.user_username, 'resting');
  assert.is((await client.get(customer.url)).body.support_users[0].username, 'resting');
  assert.is(await userCount(customer), 2);
});

test('staff who deactivate themselves get a response, and cannot send another request', async () => {
  const user = await fixture.user('quitter', { is_staff: true });
  const client = fixture.as('quitter');
  assert.is((await client.patch(user.url, { agree_with_policy: true, is_active: false })).status, 200);
  assert.equal((await client.get('/api/')).body, { detail: 'User inactive or deleted.' });
});

test('deleting a user deletes their keys, then their roles, then the user, with an event each; user counts follow', async () => {
  const user = await fixture.user('gone', { full_name: 'Gone Girl' });
  const customer = await fixture.customer('Left behind', { abbreviation: 'LB', contact_details: 'here' });
  const project = await fixture.project('Half done', customer);
  const client = fixture.as('gone');
  const first = (await client.post('/api/keys/', { name: 'first', public_key: publicKeys.ed25519 })).body;
  const second = (await client.post('/api/keys/', { name: 'second', public_key: publicKeys.rsa })).body;
  await fixture.grant(customer, user, 'owner');
  await fixture.grant(project, user, 'manager');
  const past = await fixture.grant(await fixture.project('Done', customer), user, 'admin');
  await fixture.staff.delete(past.url);
  assert.is(await userCount(customer), 1);
  fixture.events();
  assert.is((await fixture.staff.delete(user.url)).status, 204);
  const key = (name: string, { uuid }: Json) =>
    expectedEvent(
      'ssh_key_deletion_succeeded',
      `SSH key ${name} has been deleted for user Gone Girl with username gone.`,
      by(user),
      { ssh_key_uuid: uuid, ssh_key_name: name },
    );
  assert.equal(fixture.events(), [
    key('first', first),
    key('second', second),
    expectedEvent(
      'role_revoked',
      'User gone has lost role of Owner in customer Left behind.',
      by(admin),
      inCustomer(customer),
      affecting(user),
      { structure_type: 'customer', role_name: 'Owner' },
    ),
    expectedEvent(
      'role_revoked',
      'User gone has lost role of Manager in project Half done.',
      by(admin),
      inProject(project, customer),
      affecting(user),
      { structure_type: 'project', role_name: 'Manager' },
    ),
    expectedEvent('user_deletion_succeeded', 'User gone has been deleted.', by(admin), affecting(user)),
  ]);
  assert.is(await userCount(customer), 0);
  assert.equal((await client.get('/api/')).body, { detail: 'Invalid token.' });
  for (const path of [user.url, first.url, past.url.replace('permissions', 'permissions-log')]) {
    assert.is((await fixture.staff.get(path)).status, 404);
  }
  for (const path of [
    'customer-permissions',
    'project-permissions',
    'customer-permissions-log',
    'project-permissions-log',
  ]) {
    assert.equal((await fixture.staff.get(`/api/${path}/?user=${user.uuid}`)).body, []);
  }
  assert.equal((await fixture.staff.get(`/api/keys/?user_uuid=${user.uuid}`)).body, []);
});

test('created_by of roles that a deleted user granted becomes null', async () => {
  const [granting, member] = [await fixture.user('granting', { is_staff: true }), await fixture.user('granted')];
  const customer = await fixture.customer('Granted');
  const { body: role } = await fixture
    .as('granting')
    .post('/api/customer-permissions/', { customer: customer.url, user: member.url, role: 'owner' });
  assert.is(role.created_by, granting.url);
  await fixture.staff.delete(granting.url);
  assert.equal((await fixture.staff.get(role.url)).body, { ...role, created_by: null });
});

test('deleting a user without keys and roles records one event; a second deletion returns 404', async () => {
  const user = await fixture.user('simple');
  fixture.events();
  assert.is((await fixture.staff.delete(user.url)).status, 204);
  assert.equal(fixture.events(), [
    expectedEvent('user_deletion_succeeded', 'User simple has been deleted.', by(admin), affecting(user)),
  ]);
  assert.is((await fixture.staff.delete(user.url)).status, 404);
  assert.equal(fixture.events(), []);
});

test('one of several simultaneous deletions succeeds', async () => {
  const user = await fixture.user('wanted');
  const responses = await Promise.all([1, 2, 3].map(() => fixture.staff.delete(user.url)));
  assert.equal(responses.map(({ status }) => status).sort(), [204, 404, 404]);
});

test.run();
