/** Details of GitLab's driver: credentials, pages, deletions in the background, and commits. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { GitLabAccount } from '../../../vendors/gitlab/account.ts';

const test = suite('GitLab for real (providers.md 8)');
let account: GitLabAccount;

test.before.each(async () => {
  account = await GitLabAccount.open();
});
test.after.each(() => account.close());

const byPassword = { token: '', username: 'tenantry', password: 'password-of-the-account' };
const commits = async ({ url }: Json): Promise<number> => (await account.read(url)).quotas[0].usage;

test('requires a token, or username and password', async () => {
  const { staff } = account.fixture;
  const missing = { non_field_errors: ['Either token or username and password should be specified'] };
  for (const fields of [{ token: '' }, { token: '', username: 'tenantry' }]) {
    const { body, status } = await staff.post('/api/gitlab/', account.body(fields));
    assert.equal([status, body], [400, missing]);
  }
  const wrong = { non_field_errors: ['Wrong settings: Please check backend URL and credentials.'] };
  for (const fields of [{ token: 'glpat-wrong' }, { ...byPassword, password: 'wrong-password' }]) {
    const { body, status } = await staff.post('/api/gitlab/', account.body(fields));
    assert.equal([status, body], [400, wrong]);
  }
});

test('exchanges a password for a token, and for another one after it expired', async () => {
  await account.close();
  account = await GitLabAccount.open({ isConnected: false });
  await account.connect(byPassword);
  assert.is((await account.settings()).state, 'In Sync');
  account.vendor.server.injectFault('GET /projects', { status: 401, text: '{"error":"invalid_token"}' });
  assert.equal(await account.sync(), ['In Sync', '']);
  const calls = account.calls();
  const at = calls.lastIndexOf('POST /oauth/token');
  assert.equal(calls.slice(at - 1, at + 2), ['GET /projects', 'POST /oauth/token', 'GET /projects']);

  const { url } = await account.orderGroup('rockets');
  assert.equal(await account.collectStates(url), ['Creation Scheduled', 'Creating', 'OK']);
  const seen = account.vendor.server.take();
  assert.ok(seen.length > 0);
  for (const { headers, route } of seen) {
    assert.is(headers['private-token'], undefined);
    if (route !== 'POST /oauth/token') assert.match(headers.authorization ?? '', /^Bearer session-\d+$/);
  }
});

test('reads all pages of groups and projects of which the account is a member', async () => {
  const { account: us, contents: setup } = account.vendor;
  account.vendor.largestPage = 3;
  const names = Array.from({ length: 7 }, (_, n) => `group-${n}`);
  const groups = names.map((name) => setup.addGroup(us, { name, path: name, description: '' }));
  const stranger = setup.addUser({ username: 'stranger', name: 'Stranger', email: 'stranger@example.com' });
  setup.addGroup(stranger, { name: 'foreign', path: 'foreign', description: '' });
  for (const group of groups)
    setup.addProject(group, { name: 'code', description: '', visibility: 'public', features: {} });
  assert.equal(await account.sync(), ['In Sync', '']);
  const items: Json[] = (await account.fixture.staff.get(`${account.service.url}link/?page_size=50`)).body;
  assert.equal(
    items.filter(({ resource_type: type }) => type === 'GitLab.Group').map(({ name }) => name),
    names,
  );
  assert.is(items.length, 14);
});

test('a rejection has the message of GitLab', async () => {
  const { account: us, contents: setup } = account.vendor;
  setup.addGroup(us, { name: 'other', path: 'rockets', description: '' });
  const { url } = await account.orderGroup('rockets');
  await account.collectStates(url);
  const { backend_id: id, error_message: text, state } = await account.read(url);
  assert.equal([state, text, id], ['Erred', 'Failed to save group {:path=>["has already been taken"]}', '']);
  const group = await account.created(await account.orderGroup('ships'));
  setup.addProject(setup.group(group.backend_id), {
    name: 'engine',
    description: '',
    visibility: 'private',
    features: {},
  });
  const project = await account.orderProject('engine', group);
  await account.collectStates(project.url);
  assert.is(
    (await account.read(project.url)).error_message,
    'name has already been taken, path has already been taken',
  );
});

test('does not mistake an existing group with the same path for one whose response was lost', async () => {
  const { account: us, server, contents: setup } = account.vendor;
  setup.addGroup(us, { name: 'other', path: 'rockets', description: '' });
  server.injectFault('POST /groups', 'lost');
  const { url } = await account.orderGroup('rockets');
  await account.collectStates(url);
  assert.is((await account.read(url)).state, 'Erred');
});

test('removes objects that GitLab keeps for some days after deletion', async () => {
  const { contents: setup } = account.vendor;
  setup.marksDeleted = true;
  setup.deletionTime = 7 * 24 * 3600 * 1000;
  const group = await account.created(await account.orderGroup('rockets'));
  assert.equal((await account.remove(group)).at(-1), 'gone');
  const ships = await account.created(await account.orderGroup('ships'));
  setup.group(ships.backend_id).removalTime = setup.now() + setup.deletionTime;
  assert.equal(await account.sync(), ['In Sync', '']);
  assert.equal((await account.fixture.staff.get(`${account.service.url}link/`)).body, []);
  const { error_message: text, state } = await account.read(ships.url);
  assert.equal([state, text], ['Erred', 'Does not exist at backend.']);
});

test('does not repeat a deletion whose response was lost', async () => {
  const group = await account.created(await account.orderGroup('rockets'));
  account.vendor.contents.marksDeleted = true;
  account.vendor.server.injectFault('DELETE /:place/:id', 'lost');
  assert.equal((await account.remove(group)).at(-1), 'gone');
  assert.is(account.calls().filter((route) => route === 'DELETE /:place/:id').length, 1);
});

test('commits are counted once an hour, at pulls, and not at synchronisations', async () => {
  const group = await account.created(await account.orderGroup('rockets'));
  const project = await account.created(await account.orderProject('engine', group));
  const there = account.vendor.contents.project(project.backend_id);
  there.commits = 1234;
  assert.equal(await account.sync(), ['In Sync', '']);
  assert.is(await commits(project), 0);
  assert.equal(await account.sync(), ['In Sync', '']);
  await account.advance(3);
  assert.is(await commits(project), 1234);
  there.commits = 1300;
  await account.act(project, 'pull');
  assert.is(await commits(project), 1300);
  const reports = account.fixture.events().filter(({ type }) => type.startsWith('resource_'));
  assert.equal(reports, []);
});

test('counts commits page by page if GitLab does not report their number', async () => {
  const group = await account.created(await account.orderGroup('rockets'));
  const project = await account.created(await account.orderProject('engine', group));
  const { account: us, contents: setup } = account.vendor;
  setup.group(group.backend_id).members.set(us.id, 20);
  assert.is((await account.act(project, 'pull')).quotas[0].usage, 0);
  setup.project(project.backend_id).commits = 250;
  account.calls();
  assert.is((await account.act(project, 'pull')).quotas[0].usage, 250);
  assert.is(account.calls().filter((route) => route === 'GET /projects/:id/repository/commits').length, 3);
});

test('keeps the count of a project that cannot be counted, and counts the others', async () => {
  const group = await account.created(await account.orderGroup('rockets'));
  const [gone, stored] = [
    await account.created(await account.orderProject('engine', group)),
    await account.created(await account.orderProject('wings', group)),
  ];
  const { server, contents: setup } = account.vendor;
  for (const { backend_id: id } of [gone, stored]) setup.project(id).commits = 10;
  server.injectFault('GET /projects/:id', { status: 403, text: '{"message":"403 Forbidden"}' });
  account.fixture.clock.advance(3600);
  await account.advance(5);
  assert.equal([await commits(gone), await commits(stored)], [0, 10]);
});

test('waits for the rate limit of GitLab', async () => {
  account.vendor.callsPerMinute = 3;
  const { url } = await account.orderGroup('rockets');
  await account.collectStates(url);
  assert.is((await account.read(url)).state, 'OK');
});

test.run();
