/** Members of groups and projects at GitLab follow the roles in the service. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { GitLabAccount } from '../../../vendors/gitlab/account.ts';

const test = suite('GitLab: members (providers.md 8)');
let account: GitLabAccount;
let group: Json;

test.before.each(async () => {
  account = await GitLabAccount.open();
  group = await account.created(await account.orderGroup('rockets'));
});
test.after.each(() => account.close());

const us = 'tenantry 50';
const members = async (of = group, seconds = 12): Promise<string[]> => {
  await account.advance(seconds);
  return account.membersOf(of);
};
const user = (name: string): Promise<Json> => account.fixture.user(name, { email: `${name}@example.com` });
const revoke = async ({ url }: Json): Promise<void> => assert.is((await account.fixture.staff.delete(url)).status, 204);
const usernames = (): string[] => [...account.vendor.contents.users.values()].map(({ username }) => username);

test('adds users with a role in the project and owners of the customer as members after the creation', async () => {
  const { customer, fixture, project } = account;
  await fixture.grant(project, await user('bob'), 'manager');
  await fixture.grant(project, await user('carol'), 'support');
  await fixture.grant(customer, await user('dora'), 'owner');
  await fixture.grant(customer, await user('erik'), 'support');
  await fixture.grant(project, await fixture.user('without-email'), 'admin');
  account.vendor.contents.addUser({ username: 'bobby', name: 'Bob', email: 'BOB@example.com' });
  // Users that GitLab finds by Alice's email.
  account.vendor.contents.addUser({ username: 'alice', name: 'alice@example.com', email: 'other@example.com' });
  const expected = ['alice-ff8d98 30', 'bobby 30', 'carol 30', 'dora 30'];
  assert.equal(await members(), [...expected, us]);
  const created = await account.created(await account.orderProject('engine', group));
  assert.equal(await members(created), expected);
});

test('adds and removes members when roles begin, end or expire', async () => {
  const { fixture, project } = account;
  const bob = await user('bob');
  const expiry = new Date(fixture.clock.now() / 1000 + 60_000).toISOString();
  const role = await fixture.grant(project, bob, 'admin');
  await fixture.grant(project, await user('carol'), 'admin', expiry);
  assert.equal(await members(), ['alice 30', 'bob 30', 'carol 30', us]);
  await revoke(role);
  assert.equal(await members(), ['alice 30', 'carol 30', us]);
  assert.equal(await members(group, 60), ['alice 30', us]);
  await fixture.grant(project, bob, 'manager');
  assert.equal(await members(), ['alice 30', 'bob 30', us]);
  assert.equal(usernames(), ['tenantry', 'alice', 'bob', 'carol']);
});

test('updates members when a user is disabled or gets another address', async () => {
  const { fixture, project } = account;
  const bob = await user('bob');
  await fixture.grant(project, bob, 'admin');
  assert.equal(await members(), ['alice 30', 'bob 30', us]);
  account.vendor.contents.addUser({ username: 'robert', name: 'Robert', email: 'robert@example.com' });
  assert.is((await fixture.staff.patch(bob.url, { email: 'robert@example.com' })).status, 200);
  assert.equal(await members(), ['alice 30', 'robert 30', us]);
  assert.is((await fixture.staff.patch(bob.url, { is_active: false })).status, 200);
  assert.equal(await members(), ['alice 30', us]);
});

test('does not change existing members, and keeps them when a role ends', async () => {
  const { fixture, project } = account;
  const { contents: setup } = account.vendor;
  const bob = setup.addUser({ username: 'bob', name: 'Bob', email: 'bob@example.com' });
  setup.group(group.backend_id).members.set(bob.id, 10);
  const role = await fixture.grant(project, await user('bob'), 'admin');
  assert.equal(await members(), ['alice 30', 'bob 10', us]);
  await revoke(role);
  assert.equal(await members(), ['alice 30', 'bob 10', us]);
});

test('skips users who own the group when it adds members of the project', async () => {
  const { fixture, project } = account;
  const created = await account.created(await account.orderProject('engine', group));
  account.vendor.account.email = 'root@example.com';
  const role = await fixture.grant(project, await user('root'), 'admin');
  assert.equal(await members(created), ['alice 30']);
  account.calls();
  await account.advance(4000);
  assert.equal(
    account.calls().filter((route) => route.startsWith('POST')),
    [],
  );
  await revoke(role);
  assert.equal(await members(), ['alice 30', us]);
});

test('a member whose response was lost counts as ours, and is removed with the role', async () => {
  const { fixture, project } = account;
  await members();
  const role = await fixture.grant(project, await user('bob'), 'admin');
  for (const route of ['POST /users', 'POST /:place/:id/members']) account.vendor.server.injectFault(route, 'lost');
  assert.equal(await members(group, 20), ['alice 30', 'bob 30', us]);
  assert.equal(usernames(), ['tenantry', 'alice', 'bob']);
  account.vendor.server.injectFault('DELETE /:place/:id/members/:user', 'lost');
  await revoke(role);
  assert.equal(await members(group, 20), ['alice 30', us]);
  account.calls();
  await members();
  assert.equal(account.calls(), []);
});

test('a user who cannot be added blocks no other user, causes no Erred state, and is retried in an hour', async () => {
  const { fixture, project, vendor } = account;
  vendor.account.isAdmin = false;
  vendor.contents.addUser({ username: 'bob', name: 'Bob', email: 'bob@example.com' });
  await fixture.grant(project, await user('bob'), 'admin');
  assert.equal(await members(), [us], 'whoever is no administrator is shown no emails');
  vendor.account.isAdmin = true;
  vendor.server.injectFault('POST /users', { status: 403, text: '{"message":"403 Forbidden"}' });
  assert.equal(await members(group, 3670), ['bob 30', us]);
  assert.is((await account.read(group.url)).state, 'OK');
  assert.equal(await members(group, 3680), ['alice 30', 'bob 30', us]);
});

test('retries an unresponsive GitLab after some minutes', async () => {
  await members();
  const role = await account.fixture.grant(account.project, await user('bob'), 'admin');
  await members();
  account.vendor.server.injectFault('DELETE /:place/:id/members/:user', 'reset', 4);
  await revoke(role);
  assert.equal(await members(group, 60), ['alice 30', 'bob 30', us]);
  assert.equal(await members(group, 360), ['alice 30', us]);
});

test('an unlinked object keeps its members, and a deleted user is removed', async () => {
  const { fixture, project } = account;
  const bob = await user('bob');
  await fixture.grant(project, bob, 'admin');
  assert.equal(await members(), ['alice 30', 'bob 30', us]);
  assert.is((await fixture.staff.delete(bob.url)).status, 204);
  assert.equal(await members(), ['alice 30', us]);
  assert.is((await fixture.staff.post(`${group.url}unlink/`)).status, 204);
  assert.equal(await members(), ['alice 30', us]);
});

test.run();
