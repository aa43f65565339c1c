import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { credentials, RealAccount } from './real-cloud.ts';

const test = suite('OpenStack: the real driver and its faults (providers.md 4.7, 4.8)');
let account: RealAccount;

test.before.each(async () => {
  account = await RealAccount.open();
});
test.after.each(() => account.close());

const connect = async (fields: Readonly<Record<string, unknown>> = {}): Promise<[number, Json]> => {
  const { fixture, vendor } = account;
  const customer = await fixture.customer('Bob');
  const body = { ...credentials(vendor), customer: customer.url, ...fields };
  const answer = await fixture.staff.post('/api/openstack/', body);
  return [answer.status, answer.body];
};

const names = (list: string): string[] => account.vendor.all(list).map(({ name }) => name);

test('a refused password is told in the words of the cloud, without it', async () => {
  assert.equal(await connect({ password: 'wrong-password' }), [
    400,
    { non_field_errors: ['Wrong settings: The request you have made requires authentication.'] },
  ]);
});

test('ping demands the role admin', async () => {
  account.vendor.roles = ['member'];
  assert.equal((await connect())[1], {
    non_field_errors: ['Wrong settings: Provided credentials are not for admin tenant.'],
  });
  account.vendor.roles = undefined;
  assert.equal((await connect())[1], { non_field_errors: ['Wrong settings: Unable to validate credentials.'] });
});

test('an answer that is no JSON is told as such', async () => {
  account.vendor.mishap('POST identity/auth', 'garbled');
  assert.equal((await connect())[1], { non_field_errors: ['Wrong settings: Unexpected answer of backend.'] });
});

test('a tenant is made in one go, with one log-in a project', async () => {
  const { vendor } = account;
  const tenant = await account.tenant('Lab', 2);
  assert.is(tenant.state, 'OK', tenant.error_message);
  const logins = vendor.take().filter((line) => line === 'POST identity/auth/tokens');
  assert.is(logins.length, 1);
  const second = await account.volume(tenant, 'data', 5);
  assert.is(second.state, 'OK', second.error_message);
  assert.not.ok(vendor.take().includes('POST identity/auth/tokens'));
});

test('a token that is refused is replaced, and the call repeated', async () => {
  const { vendor } = account;
  const tenant = await account.tenant();
  vendor.tokens.clear();
  vendor.take();
  const volume = await account.volume(tenant);
  assert.is(volume.state, 'OK', volume.error_message);
  assert.is(vendor.all('volume/volumes').length, 1);
  assert.is(vendor.take().filter((line) => line === 'POST identity/auth/tokens').length, 1);
});

test('a call that is not allowed is not repeated, and told in the words of the cloud', async () => {
  const { vendor } = account;
  const tenant = await account.tenant();
  vendor.take();
  vendor.mishap('POST volume/volumes', { status: 403, body: { forbidden: { code: 403, message: 'Not for you.' } } });
  const volume = await account.volume(tenant);
  assert.equal([volume.state, volume.error_message], ['Erred', 'Not for you.']);
  assert.is(vendor.take().filter((line) => line === 'POST volume/volumes').length, 1);
});

test('in a project of others the administrator gets its role first', async () => {
  const { vendor } = account;
  const tenant = await account.tenant();
  vendor.closed.add(tenant.backend_id);
  vendor.tokens.clear();
  const volume = await account.volume(tenant);
  assert.is(volume.state, 'OK', volume.error_message);
  assert.is(vendor.closed.size, 0);
});

test('whatever answer is lost, nothing is made twice', async () => {
  const { vendor } = account;
  const lists = ['identity/projects', 'identity/users', 'network/networks', 'network/subnets', 'network/routers'];
  for (const list of [...lists, 'network/security-groups']) vendor.mishap(`POST ${list}`, 'lost');
  const tenant = await account.tenant('Lab', 90);
  assert.is(tenant.state, 'OK', tenant.error_message);
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
  for (const list of lists.slice(1)) assert.is(names(list).length, 1, list);
  assert.equal(names('network/security-groups'), ['allow-all', 'ssh', 'ping', 'rdp', 'web']);
});

test('a call that never arrived is made again', async () => {
  const { vendor } = account;
  const tenant = await account.tenant();
  for (const mishap of ['lost', 'reset'] as const) {
    vendor.mishap('POST volume/volumes', mishap);
    const volume = await account.volume(tenant, `after ${mishap}`);
    assert.is(volume.state, 'OK', volume.error_message);
  }
  assert.equal(names('volume/volumes'), ['after lost', 'after reset']);
});

test('parts that the service gives no mark are told from namesakes by their age', async () => {
  const { fixture, vendor } = account;
  const tenant = await account.tenant();
  const older = new Date(fixture.clock.now() / 1000 - 3_600_000).toISOString();
  const name = 'backend';
  const namesake = vendor.put('network/networks', {
    name,
    description: '',
    project_id: tenant.backend_id,
    created_at: older,
  });
  vendor.mishap('POST network/networks', 'lost');
  const network = await account.made(`${tenant.url}create_network/`, { name });
  assert.is(network.state, 'OK', network.error_message);
  assert.is.not(network.backend_id, namesake.id);
  assert.is(vendor.all('network/networks').filter((one) => one.name === name).length, 2);
});

test('a taken name is told in the words of the cloud, and what others made stays', async () => {
  const { fixture, vendor } = account;
  vendor.put('identity/projects', { id: 'theirs', name: 'Lab', domain_id: 'default', tags: [] });
  const tenant = await account.tenant();
  assert.equal([tenant.state, tenant.backend_id, tenant.error_message], ['Erred', '', 'Lab is there.']);
  assert.is((await fixture.staff.delete(tenant.url)).status, 202);
  await account.pass(5);
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
});

test('unknown states of the cloud are shown', async () => {
  const { fixture, vendor } = account;
  const tenant = await account.tenant();
  const volume = await account.volume(tenant);
  Object.assign(vendor.all('volume/volumes')[0], { status: 'awaiting-transfer' });
  assert.is((await fixture.staff.post(`${account.service.settings}pull/`)).status, 202);
  await account.pass(5);
  const { runtime_state: runtime, state } = await account.read(volume);
  assert.equal([state, runtime, (await account.settings()).state], ['OK', 'awaiting-transfer', 'In Sync']);
});

test('lists are read to their end', async () => {
  const { fixture, vendor } = account;
  for (let n = 1; n <= 7; n++) {
    vendor.put('image/images', { name: `image ${n}`, visibility: 'public' });
    vendor.put('compute/flavors', { name: `flavor ${n}`, vcpus: n, ram: 1024, disk: 1 });
  }
  await fixture.staff.post(`${account.service.settings}pull/`);
  await account.pass(5);
  for (const kind of ['images', 'flavors'])
    assert.is((await fixture.staff.get(`/api/openstack-${kind}/`)).body.length, 8, kind);
});

test('neither password nor token stands in a failure', async () => {
  const { vendor } = account;
  const tenant = await account.tenant();
  const [token] = [...vendor.tokens].find(([, project]) => project === tenant.backend_id) ?? [];
  vendor.mishap('POST volume/volumes', {
    status: 400,
    body: { badRequest: { code: 400, message: `You sent ${token} of right-password` } },
  });
  assert.is((await account.volume(tenant)).error_message, 'You sent *** of ***');
});

test.run();
