import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { OpenStackAccount } from '../../../vendors/openstack/account.ts';
import { OpenStack } from '../../../vendors/openstack/stand-in.ts';

const test = suite('OpenStack: the driver at its stand-in (providers.md 4.7, 4.8)');
let account: OpenStackAccount;

test.before.each(async () => {
  account = await OpenStackAccount.open();
});
test.after.each(() => account.close());

const logIn = 'POST /identity/auth/tokens';
const makeVolume = 'POST /volume/volumes';

const connect = async (fields: Readonly<Record<string, unknown>> = {}): Promise<[number, Json]> => {
  const response = await account.fixture.staff.post('/api/openstack/', account.body({ name: 'Second', ...fields }));
  return [response.status, response.body];
};

const names = (list: string): string[] => account.vendor.contents.all(list).map(({ name }) => name);
const logIns = (): number => account.calls().filter((route) => route === logIn).length;

/** Returns an ordered object after its operation. */
async function ended({ url }: Json): Promise<Json> {
  await account.collectStates(url);
  return account.read(url);
}

test('reports a rejected password with the message of the cloud, without the password', async () => {
  assert.equal(await connect({ password: 'wrong-password' }), [
    400,
    { non_field_errors: ['Wrong settings: The request you have made requires authentication.'] },
  ]);
});

test('ping requires the role admin', async () => {
  account.vendor.roles = ['member'];
  assert.equal((await connect())[1], {
    non_field_errors: ['Wrong settings: Provided credentials are not for admin tenant.'],
  });
  account.vendor.roles = undefined;
  assert.equal((await connect())[1], { non_field_errors: ['Wrong settings: Unable to validate credentials.'] });
});

test('creates a tenant without interruption, with one login per project', async () => {
  const { url } = await account.orderTenant('First');
  await account.advance(2);
  const tenant = await account.read(url);
  assert.is(tenant.state, 'OK', tenant.error_message);
  assert.is(logIns(), 1);
  await account.tenant();
  assert.is((await ended(await account.orderVolume('data'))).state, 'OK');
  assert.is(logIns(), 0, 'the token of its creation serves');
});

test('deletes a tenant with a highly available router', async () => {
  const { staff } = account.fixture;
  assert.is((await staff.patch(account.service.settings, { create_ha_routers: true })).status, 200);
  await account.advance(3);
  const tenant = await account.tenant();
  const { contents: setup } = account.vendor;
  assert.equal(
    setup.all('network/routers').map(({ ha }) => ha),
    [true],
  );
  const network = await account.first('networks');
  assert.is((await account.remove(network)).at(-1), 'gone');
  assert.is((await account.remove(tenant)).at(-1), 'gone');
  assert.equal([names('network/routers'), names('network/networks'), names('network/ports')], [[], ['public'], []]);
});

test('replaces a rejected token of a tenant, and repeats the call', async () => {
  await account.tenant();
  account.vendor.tokens.clear();
  const volume = await ended(await account.orderVolume('data'));
  assert.is(volume.state, 'OK', volume.error_message);
  assert.equal([names('volume/volumes'), logIns()], [['data'], 1]);
});

test('grants the administrator its role before it works in a foreign project', async () => {
  const { tokens, closed } = account.vendor;
  closed.add((await account.tenant()).backend_id);
  tokens.clear();
  const volume = await ended(await account.orderVolume('data'));
  assert.is(volume.state, 'OK', volume.error_message);
  assert.is(closed.size, 0);
});

test('creates nothing twice after any lost response', async () => {
  const lists = ['identity/projects', 'identity/users', 'network/subnets', 'network/routers'];
  for (const list of [...lists, 'network/networks', 'network/security-groups'])
    account.vendor.server.injectFault(`POST /${list}`, 'lost');
  const tenant = await ended(await account.orderTenant());
  assert.is(tenant.state, 'OK', tenant.error_message);
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
  assert.equal(names('network/networks'), ['public', 'lab-int-net']);
  for (const list of lists.slice(1)) assert.is(names(list).length, 1, list);
  assert.equal(names('network/security-groups'), ['allow-all', 'ssh', 'ping', 'rdp', 'web']);
});

test('creates a volume once even if the request or its response is lost', async () => {
  await account.tenant();
  for (const fault of ['lost', 'reset'] as const) {
    account.vendor.server.injectFault(makeVolume, fault);
    const volume = await ended(await account.orderVolume(`after ${fault}`));
    assert.is(volume.state, 'OK', volume.error_message);
  }
  assert.equal(names('volume/volumes'), ['after lost', 'after reset']);
});

test('distinguishes untagged parts from others with the same name by their age', async () => {
  const { fixture, vendor } = account;
  const tenant = await account.tenant();
  const namesake = vendor.contents.put('network/networks', {
    name: 'backend',
    description: '',
    project_id: tenant.backend_id,
    created_at: new Date(fixture.clock.now() / 1000 - 3_600_000).toISOString(),
  });
  vendor.server.injectFault('POST /network/networks', 'lost');
  const { body } = await account.alice.post(`${tenant.url}create_network/`, { name: 'backend' });
  const network = await ended(body);
  assert.is(network.state, 'OK', network.error_message);
  assert.is.not(network.backend_id, namesake.id);
  assert.is(names('network/networks').filter((name) => name === 'backend').length, 2);
});

test('reports a taken name with the message of the cloud, and keeps foreign objects', async () => {
  account.vendor.contents.put('identity/projects', { id: 'theirs', name: 'Lab', domain_id: 'default', tags: [] });
  const tenant = await ended(await account.orderTenant());
  assert.equal([tenant.state, tenant.backend_id, tenant.error_message], ['Erred', '', 'Lab is there.']);
  assert.equal((await account.remove(tenant)).at(-1), 'gone');
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
});

test('shows unknown states of volumes', async () => {
  await account.tenant();
  const volume = await ended(await account.orderVolume('data'));
  Object.assign(account.vendor.contents.all('volume/volumes')[0], { status: 'awaiting-transfer' });
  assert.equal(await account.sync(), ['In Sync', '']);
  const { runtime_state: runtime, state } = await account.read(volume.url);
  assert.equal([state, runtime], ['OK', 'awaiting-transfer']);
});

test('reads all pages of lists', async () => {
  const { fixture, vendor } = account;
  vendor.contents.largestPage = 3;
  for (let n = 1; n <= 7; n++) {
    vendor.contents.put('image/images', { name: `image ${n}`, visibility: 'public', status: 'active' });
    vendor.contents.put('compute/flavors', { name: `flavor ${n}`, vcpus: n, ram: 1024, disk: 1 });
  }
  assert.equal(await account.sync(), ['In Sync', '']);
  const count = async (kind: string): Promise<number> =>
    (await fixture.staff.get(`/api/openstack-${kind}/`)).body.length;
  assert.equal([await count('images'), await count('flavors')], [8, 9]);
});

test('shows neither password nor token in a failure', async () => {
  const { server, tokens } = account.vendor;
  const tenant = await account.tenant();
  const [token] = [...tokens].find(([, project]) => project === tenant.backend_id) ?? [];
  server.injectFault(makeVolume, OpenStack.denial(400, `You sent ${token} of right-password`));
  assert.is((await ended(await account.orderVolume('data'))).error_message, 'You sent *** of ***');
});

test.run();
