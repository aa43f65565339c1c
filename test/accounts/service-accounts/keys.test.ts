import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('API keys of service accounts (core.md 2.9, 4.7)', {
  api_keys_per_user: 2,
});
const path = '/api/api-keys/';
const forbidden = [403, { detail: 'You do not have permission to perform this action.' }];
const notFound = [404, { detail: 'Not found.' }];
let project: Json;
let account: Json;
let owner: Client;
let manager: Client;

test.before.each(async () => {
  fixture.clock.hold();
  const customer = await fixture.customer('Alice');
  project = await fixture.project('Rocket', customer);
  await fixture.grant(customer, await fixture.user('owner'), 'owner');
  await fixture.grant(project, await fixture.user('manager'), 'manager');
  [owner, manager] = [fixture.as('owner'), fixture.as('manager')];
  account = (await manager.post('/api/service-accounts/', { name: 'Deploy', project: project.url, role: 'admin' }))
    .body;
  fixture.events();
});

const reports = ({ body, status }: { readonly body: Json; readonly status: number }): Json => [status, body];
const keyBody = (fields: Json = {}): Json => ({
  name: 'Pipeline',
  scopes: ['*:read'],
  service_account: account.url,
  ...fields,
});
const create = async (fields: Json = {}, client = manager): Promise<Json> => {
  const { body, status } = await client.post(path, keyBody(fields));
  assert.is(status, 201, JSON.stringify(body));
  return body;
};
const using = ({ key }: Json): Client => new Client(fixture, key);
const userOf = async (name: string): Promise<Json> => (await fixture.staff.get(`/api/users/?username=${name}`)).body[0];

test('belong to the account, act with its role, and name their creator', async () => {
  const key = await create();
  const { user, username, uuid } = account;
  const creator = await userOf('manager');
  assert.equal(
    [key.service_account, key.owner, key.owner_username, key.created_by],
    [account.url, user, username, creator.url],
  );
  const person = (await fixture.staff.get(user)).body;
  assert.equal(fixture.events(), [
    expectedEvent('token_created', `Token has been updated for ${username}`, by(creator), affecting(person)),
  ]);
  const program = using(key);
  assert.equal(
    (await program.get('/api/projects/')).body.map(({ name }: Json) => name),
    ['Rocket'],
  );
  assert.equal(
    (await program.get('/api/users/?current')).body.map((found: Json) => [found.username, 'token' in found]),
    [[username, false]],
  );
  assert.equal(
    (await manager.get(`${path}?service_account=${uuid}`)).body.map(({ name }: Json) => name),
    ['Pipeline'],
  );
  assert.equal((await manager.get(`${path}?service_account=${'0'.repeat(32)}`)).body, []);
  assert.is((await manager.get('/api/user-counters/')).body.api_keys, 0);
});

test('are managed by the users who manage the account, and hidden from others', async () => {
  const key = await create();
  await fixture.user('stranger');
  await fixture.user('support', { is_support: true });
  const admin = await fixture.user('administrator');
  await fixture.grant(project, admin, 'admin');
  for (const client of [owner, fixture.staff, manager]) {
    assert.is((await client.get(key.url)).body.name, 'Pipeline');
    assert.is((await client.patch(key.url, { networks: ['10.0.0.0/8'] })).status, 200);
    assert.match((await client.post(`${key.url}rotate/`, {})).body.key, /^tnt_/);
  }
  for (const name of ['stranger', 'support', 'administrator']) {
    const client = fixture.as(name);
    assert.equal(reports(await client.get(key.url)), notFound, name);
    assert.equal(reports(await client.delete(key.url)), notFound, name);
    assert.equal((await client.get(path)).body, [], name);
    assert.is((await client.post(path, keyBody())).status, name === 'support' ? 403 : 400, name);
  }
  assert.equal(reports(await fixture.as('support').post(path, keyBody())), forbidden);
  assert.equal(reports(await fixture.as('stranger').post(path, keyBody())), [
    400,
    { service_account: ['Invalid hyperlink - Object does not exist.'] },
  ]);
  assert.is((await owner.delete(key.url)).status, 204);
  assert.equal(reports(await using(key).get('/api/')), [401, { detail: 'Invalid token.' }]);
});

test('cannot be moved to another owner, and their names are unique within the account', async () => {
  const key = await create();
  const own = await create({ service_account: null });
  assert.equal(reports(await manager.patch(key.url, { service_account: null })), [
    400,
    { service_account: ['This field cannot be changed.'] },
  ]);
  assert.equal(reports(await manager.patch(own.url, { service_account: account.url })), [
    400,
    { service_account: ['This field cannot be changed.'] },
  ]);
  assert.is((await manager.patch(key.url, { service_account: account.url })).status, 200);
  assert.equal(reports(await manager.post(path, keyBody())), [
    400,
    { name: ['API key with this name already exists.'] },
  ]);
});

test('are limited in number for each account', async () => {
  await create();
  await create({ name: 'Second' });
  assert.equal(reports(await manager.post(path, keyBody({ name: 'Third' }))), [
    409,
    { detail: 'The service account already has 2 API keys.' },
  ]);
  await create({ service_account: null });
});

test('are revoked for good when the account is deactivated, or its project is deleted', async () => {
  const key = await create();
  await manager.patch(account.url, { is_active: false });
  assert.equal(reports(await using(key).get('/api/')), [401, { detail: 'User inactive or deleted.' }]);
  assert.equal(reports(await manager.post(path, keyBody({ name: 'New' }))), [
    409,
    { detail: 'The service account is not active.' },
  ]);
  await manager.patch(account.url, { is_active: true });
  assert.equal(reports(await using(key).get('/api/')), [401, { detail: 'Invalid token.' }]);
  const next = await create();
  assert.is((await using(next).get('/api/')).status, 200);
  assert.is((await owner.delete(project.url)).status, 204);
  assert.equal(reports(await using(next).get('/api/')), [401, { detail: 'User inactive or deleted.' }]);
  assert.equal((await owner.get(path)).body, []);
});

test('end with the account', async () => {
  const key = await create();
  assert.is((await manager.delete(account.url)).status, 204);
  assert.equal(reports(await using(key).get('/api/')), [401, { detail: 'Invalid token.' }]);
  assert.equal((await fixture.staff.get(path)).body, []);
});

test('do not manage service accounts or keys, even with the role of an owner', async () => {
  const { body } = await fixture.staff.post('/api/service-accounts/', {
    name: 'Owner',
    customer: project.customer,
    role: 'owner',
  });
  const program = using(await create({ service_account: body.url, scopes: ['*:write'] }, fixture.staff));
  const closed = [403, { detail: 'API keys cannot be used for this operation.' }];
  assert.equal(
    (await program.get('/api/service-accounts/')).body.map(({ name }: Json) => name),
    ['Deploy'],
  );
  const fresh = { name: 'New', project: project.url, role: 'admin' };
  assert.equal(reports(await program.post('/api/service-accounts/', fresh)), closed);
  assert.equal(reports(await program.patch(account.url, { name: 'Other' })), closed);
  assert.equal(reports(await program.delete(account.url)), closed);
  assert.equal(reports(await program.post(path, keyBody())), closed);
});

test('require a confirmed session', async () => {
  const key = await create();
  fixture.clock.advance(16 * 60);
  const unconfirmed = [403, { detail: 'Confirm your identity first.', methods: [] }];
  assert.equal(reports(await manager.post(path, keyBody({ name: 'New' }))), unconfirmed);
  assert.equal(reports(await manager.post(`${key.url}rotate/`, {})), unconfirmed);
  assert.is((await manager.delete(key.url)).status, 204);
});

test.run();
