import * as assert from 'uvu/assert';
import { catalogue } from '../../../src/activity/events/catalogue.ts';
import { affecting, by, expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { byStaff, Client, type Json, type RecordedEvent } from '../../support/fixture.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('what operations record (events.md 4.1, 4.2)');
let staff: Record<string, string>;
let customer: Json;
let project: Json;
/** A user with a full name, one without, and the holder of roles. */
let alice: Json;
let bob: Json;
const seen = new Set<string>();

test.before(async () => {
  staff = await byStaff(fixture);
});

/** Returns the events since the last call, and marks their types as seen. */
function recorded(): RecordedEvent[] {
  const events = fixture.events();
  for (const { type } of events) seen.add(type);
  return events;
}

const role = (structure: 'customer' | 'project', name: string) => ({ structure_type: structure, role_name: name });
const key = (sshKey: Json) => ({ ssh_key_uuid: sshKey.uuid, ssh_key_name: sshKey.name });
const owner = (user: Json) => ({
  user_uuid: user.uuid,
  user_username: user.username,
  user_full_name: user.full_name,
  user_native_name: user.native_name,
});

test('POST /api/users/ records only user_creation_succeeded, whatever the body contains', async () => {
  alice = await fixture.user('alice', {
    full_name: 'Alice Lebowski',
    native_name: 'Алиса',
    organization: 'ALC',
    email: 'alice@example.com',
  });
  bob = await fixture.user('bob', { token_lifetime: 60, is_active: false });
  assert.equal(recorded(), [
    expectedEvent('user_creation_succeeded', 'User alice has been created.', staff, affecting(alice)),
    expectedEvent('user_creation_succeeded', 'User bob has been created.', staff, affecting(bob)),
  ]);
});

test('PATCH of a user records lifetime, activation and update, in this order, each only if it applies', async () => {
  await fixture.staff.patch(bob.url, { token_lifetime: 3600, is_active: true, job_title: 'Engineer' });
  await fixture.staff.patch(bob.url, { is_active: false });
  await fixture.staff.patch(bob.url, { is_active: true, token_lifetime: null });
  await fixture.staff.patch(bob.url, { is_active: true, token_lifetime: null, job_title: 'Engineer' });
  const about = [staff, affecting(bob)];
  assert.equal(recorded(), [
    expectedEvent('user_token_lifetime_updated', 'Token lifetime has been changed for bob to 3600', ...about, {
      affected_user_token_lifetime: '3600',
    }),
    expectedEvent('user_activated', 'User bob has been activated.', ...about),
    expectedEvent('user_update_succeeded', 'User bob has been updated.', ...about),
    expectedEvent('user_deactivated', 'User bob has been deactivated.', ...about),
    expectedEvent('user_token_lifetime_updated', 'Token lifetime has been changed for bob to unlimited', ...about),
    expectedEvent('user_activated', 'User bob has been activated.', ...about),
    expectedEvent('user_update_succeeded', 'User bob has been updated.', ...about),
  ]);
});

test('a password set by staff records user_password_updated', async () => {
  for (const user of [alice, bob]) await fixture.staff.post(`${user.url}password/`, { password: 'correct horse 7' });
  assert.equal(
    recorded(),
    [alice, bob].map((user) =>
      expectedEvent(
        'user_password_updated',
        `Password has been changed for user ${user.username}.`,
        staff,
        affecting(user),
      ),
    ),
  );
});

test('a login records token_created and auth_logged_in_with_username with the user as actor; an empty full name is omitted from the message', async () => {
  const tokens: string[] = [];
  for (const user of [alice, bob]) {
    tokens.push(
      (await fixture.anonymous.post('/api-auth/password/', { username: user.username, password: 'correct horse 7' }))
        .body.token,
    );
  }
  for (const token of tokens) await new Client(fixture, token).post('/api-auth/logout/');
  assert.equal(recorded(), [
    expectedEvent('token_created', 'Token has been updated for alice', by(alice), affecting(alice)),
    expectedEvent(
      'auth_logged_in_with_username',
      'User alice with full name Alice Lebowski authenticated successfully with username and password.',
      by(alice),
    ),
    expectedEvent('token_created', 'Token has been updated for bob', by(bob), affecting(bob)),
    expectedEvent(
      'auth_logged_in_with_username',
      'User bob authenticated successfully with username and password.',
      by(bob),
    ),
    expectedEvent('auth_logged_out', 'User alice with full name Alice Lebowski has logged out.', by(alice)),
    expectedEvent('auth_logged_out', 'User bob has logged out.', by(bob)),
  ]);
});

test('wrong credentials and an inactive user record auth_login_failed_with_username with the sent name, truncated to 150, and no user; missing fields and a locked pair record nothing', async () => {
  const long = `Alice ${'x'.repeat(200)}`;
  await fixture.staff.patch(bob.url, { is_active: false });
  recorded();
  await fixture.anonymous.post('/api-auth/password/', { username: 'Bob', password: 'correct horse 7' });
  await fixture.anonymous.post('/api-auth/password/', { username: 'ALICE', password: 'wrong' });
  await fixture.anonymous.post('/api-auth/password/', { username: long, password: 'wrong' });
  await fixture.anonymous.post('/api-auth/password/', { username: 'alice' });
  const failed = (username: string) =>
    expectedEvent(
      'auth_login_failed_with_username',
      `User ${username} failed to authenticate with username and password.`,
      { ip_address: '127.0.0.1', username },
    );
  assert.equal(recorded(), [failed('Bob'), failed('ALICE'), failed(long.slice(0, 150))]);
  await fixture.staff.patch(bob.url, { is_active: true });
  for (let i = 0; i < 20; i++)
    await fixture.anonymous.post('/api-auth/password/', { username: 'nobody', password: 'wrong' });
  const before = recorded().length;
  assert.ok(before < 20, 'the pair is locked by now');
  await fixture.anonymous.post('/api-auth/password/', { username: 'nobody', password: 'wrong' });
  assert.equal(recorded(), []);
});

test('organization actions record user_update_succeeded if a field changed, then their own event', async () => {
  await fixture.staff.patch(alice.url, { organization: '' });
  recorded();
  const about = [staff, affecting(alice)];
  const updated = expectedEvent('user_update_succeeded', 'User alice has been updated.', ...about);
  const decided = (action: string, message: string, organization: string) =>
    expectedEvent(`user_organization_${action}`, message, ...about, { affected_organization: organization });
  const act = (action: string, body?: object) => fixture.staff.post(`${alice.url}${action}_organization/`, body);
  await act('claim', { organization: 'ALC' });
  await act('approve');
  await act('approve');
  await act('remove');
  await act('claim', { organization: 'BOB' });
  await act('reject');
  assert.equal(recorded(), [
    updated,
    decided('claimed', 'User alice has claimed organization ALC.', 'ALC'),
    updated,
    decided('approved', 'User alice has been approved for organization ALC.', 'ALC'),
    decided('approved', 'User alice has been approved for organization ALC.', 'ALC'),
    updated,
    decided('removed', 'User alice has been removed from organization ALC.', 'ALC'),
    updated,
    decided('claimed', 'User alice has claimed organization BOB.', 'BOB'),
    updated,
    decided('rejected', 'User alice claim for organization BOB has been rejected.', 'BOB'),
  ]);
});

test('customers record their creation and every change of a field, with the new names; a PATCH without change records nothing', async () => {
  const created = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
  await fixture.staff.patch(created.url, { name: 'Alice' });
  customer = (await fixture.staff.patch(created.url, { name: 'Alice & Co' })).body;
  assert.equal(recorded(), [
    expectedEvent('customer_creation_succeeded', 'Customer Alice has been created.', staff, inCustomer(created)),
    expectedEvent('customer_update_succeeded', 'Customer Alice & Co has been updated.', staff, inCustomer(customer)),
  ]);
});

test('projects record their creation; the message of a change lists name, description and customer', async () => {
  const other = await fixture.customer('Other');
  const created = await fixture.project('Rocket', other);
  recorded();
  project = (
    await fixture.staff.patch(created.url, { name: "O'Rocket {name}", description: 'Fast', customer: customer.url })
  ).body;
  await fixture.staff.put(created.url, { name: "O'Rocket {name}" });
  await fixture.staff.patch(created.url, { description: '' });
  assert.equal(recorded(), [
    expectedEvent(
      'project_update_succeeded',
      "Project O'Rocket {name} has been updated. Name has been changed from 'Rocket' to 'O'Rocket {name}'." +
        " Description has been changed from '' to 'Fast'. Customer has been changed from 'Other' to 'Alice & Co'.",
      staff,
      inProject(project, customer),
    ),
    expectedEvent(
      'project_update_succeeded',
      "Project O'Rocket {name} has been updated. Description has been changed from 'Fast' to ''.",
      staff,
      inProject(project, customer),
    ),
  ]);
  const plain = await fixture.project('Plain', customer);
  assert.equal(recorded(), [
    expectedEvent('project_creation_succeeded', 'Project Plain has been created.', staff, inProject(plain, customer)),
  ]);
});

test('roles record role_granted and role_revoked with the names of role and structure; a new expiry records nothing', async () => {
  const support = await fixture.grant(customer, bob, 'support');
  const admin = await fixture.grant(project, bob, 'admin');
  await fixture.staff.patch(admin.url, { expiration_time: '2018-02-01T00:00:00Z' });
  await fixture.staff.delete(support.url);
  fixture.clock.set('2018-02-01T00:00:00Z');
  await fixture.staff.get('/api/events/count/');
  const inProjectAs = [inProject(project, customer), affecting(bob), role('project', 'Administrator')];
  const inCustomerAs = [inCustomer(customer), affecting(bob), role('customer', 'Support')];
  assert.equal(recorded(), [
    expectedEvent(
      'role_granted',
      'User bob has gained role of Support in customer Alice & Co.',
      staff,
      ...inCustomerAs,
    ),
    expectedEvent(
      'role_granted',
      "User bob has gained role of Administrator in project O'Rocket {name}.",
      staff,
      ...inProjectAs,
    ),
    expectedEvent('role_revoked', 'User bob has lost role of Support in customer Alice & Co.', staff, ...inCustomerAs),
    expectedEvent(
      'role_revoked',
      "User bob has lost role of Administrator in project O'Rocket {name}.",
      ...inProjectAs,
    ),
  ]);
});

test('SSH keys record creation and deletion with the owner as user, also if staff delete the key', async () => {
  const own = (await fixture.as('alice').post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  const bobs = (await fixture.as('bob').post('/api/keys/', { name: 'desk', public_key: publicKeys.ed25519 })).body;
  await fixture.as('bob').delete(bobs.url);
  await fixture.staff.delete(own.url);
  const client = { ip_address: '127.0.0.1' };
  assert.equal(recorded(), [
    expectedEvent(
      'ssh_key_creation_succeeded',
      'SSH key laptop has been created for user Alice Lebowski with username alice.',
      client,
      owner(alice),
      key(own),
    ),
    expectedEvent(
      'ssh_key_creation_succeeded',
      'SSH key desk has been created for user with username bob.',
      client,
      owner(bob),
      key(bobs),
    ),
    expectedEvent(
      'ssh_key_deletion_succeeded',
      'SSH key desk has been deleted for user with username bob.',
      client,
      owner(bob),
      key(bobs),
    ),
    expectedEvent(
      'ssh_key_deletion_succeeded',
      'SSH key laptop has been deleted for user Alice Lebowski with username alice.',
      client,
      owner(alice),
      key(own),
    ),
  ]);
});

test('POST /api/events/ records custom_notification with the posted level', async () => {
  await fixture.staff.post('/api/events/', { level: 'error', message: 'Power {failure}' });
  assert.equal(recorded(), [{ ...expectedEvent('custom_notification', 'Power {failure}', staff), level: 'error' }]);
});

test('DELETE of a project or customer records role_revoked for each active role, then the deletion', async () => {
  await fixture.grant(project, alice, 'manager');
  await fixture.grant(customer, bob, 'owner');
  recorded();
  for (const { url } of (await fixture.staff.get(`/api/projects/?customer=${customer.uuid}`)).body)
    await fixture.staff.delete(url);
  await fixture.staff.delete(customer.url);
  const events = recorded();
  assert.equal(
    events.filter(({ type }) => type === 'role_revoked'),
    [
      expectedEvent(
        'role_revoked',
        "User alice has lost role of Manager in project O'Rocket {name}.",
        staff,
        inProject(project, customer),
        affecting(alice),
        role('project', 'Manager'),
      ),
      expectedEvent(
        'role_revoked',
        'User bob has lost role of Owner in customer Alice & Co.',
        staff,
        inCustomer(customer),
        affecting(bob),
        role('customer', 'Owner'),
      ),
    ],
  );
  const deletion = events.findIndex(
    ({ type, message }) => type === 'project_deletion_succeeded' && message.includes('Rocket'),
  );
  assert.is(events[deletion - 1]?.type, 'role_revoked');
  assert.equal(
    events[deletion],
    expectedEvent(
      'project_deletion_succeeded',
      "Project O'Rocket {name} has been deleted.",
      staff,
      inProject(project, customer),
    ),
  );
  assert.equal(
    events.at(-1),
    expectedEvent('customer_deletion_succeeded', 'Customer Alice & Co has been deleted.', staff, inCustomer(customer)),
  );
});

test('DELETE of a user records their keys, their active roles and then the user', async () => {
  const last = await fixture.customer('Last');
  const sshKey = (await fixture.as('alice').post('/api/keys/', { name: 'laptop', public_key: publicKeys.rsa })).body;
  await fixture.grant(last, alice, 'owner');
  recorded();
  await fixture.staff.delete(alice.url);
  assert.equal(recorded(), [
    expectedEvent(
      'ssh_key_deletion_succeeded',
      'SSH key laptop has been deleted for user Alice Lebowski with username alice.',
      { ip_address: '127.0.0.1' },
      owner(alice),
      key(sshKey),
    ),
    expectedEvent(
      'role_revoked',
      'User alice has lost role of Owner in customer Last.',
      staff,
      inCustomer(last),
      affecting(alice),
      role('customer', 'Owner'),
    ),
    expectedEvent('user_deletion_succeeded', 'User alice has been deleted.', staff, affecting(alice)),
  ]);
});

test('a failed request records no event', async () => {
  const parent = await fixture.customer('Parent');
  await fixture.project('Child', parent);
  recorded();
  assert.is((await fixture.staff.delete(parent.url)).status, 409);
  assert.is((await fixture.staff.post('/api/customers/', {})).status, 400);
  assert.equal(recorded(), []);
});

test('every type that does not need a resource has been recorded, except the two that never are', () => {
  const expected = Object.keys(catalogue).filter(
    (type) => !type.startsWith('resource_') && !type.endsWith('_price_limit_updated'),
  );
  assert.equal([...seen].sort(), expected.sort());
});

test.run();
