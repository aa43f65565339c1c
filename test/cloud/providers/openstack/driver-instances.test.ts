import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { OpenStackAccount } from '../../../vendors/openstack/account.ts';
import { OpenStack } from '../../../vendors/openstack/stand-in.ts';

const test = suite('OpenStack: instances of the driver and their faults (providers.md 4.8)');
let account: OpenStackAccount;

test.before.each(async () => {
  account = await OpenStackAccount.open();
  await account.tenant();
});
test.after.each(() => account.close());

/** Orders an instance with two volumes, a port and a floating IP; returns it after this many seconds. */
async function instance(seconds = 30): Promise<Json> {
  const { url } = await account.orderConnected('web');
  await account.advance(seconds);
  return account.read(url);
}

const all = (list: string): Json[] => account.vendor.contents.all(list);
const ports = (): Json[] =>
  all('network/ports').filter(({ device_owner: owner }) => owner !== 'network:router_interface');
const count = (list: string): number => (list === 'network/ports' ? ports() : all(list)).length;

test('creates an instance with volumes, port and floating IP once after any lost response', async () => {
  for (const list of ['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'])
    account.vendor.server.injectFault(`POST /${list}`, 'lost');
  const created = await instance(60);
  assert.equal([created.state, created.runtime_state], ['OK', 'ACTIVE'], created.error_message);
  assert.equal(['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'].map(count), [2, 1, 1, 1]);
  const [{ block_device_mapping_v2: disks, networks }] = all('compute/servers');
  assert.equal(networks, [{ port: ports()[0].id }]);
  assert.equal(
    disks.map(({ boot_index: boot, uuid }: Json) => [uuid, boot]),
    all('volume/volumes').map(({ id }, i) => [id, i === 0 ? 0 : -1]),
  );
  assert.is(all('network/floatingips')[0].port_id, ports()[0].id);
});

test('a rejected server leaves no port, floating IP or volume', async () => {
  const { fixture } = account;
  const { uuid: tenant } = await account.tenant();
  const message = 'Quota exceeded for instances: Requested 1, but already used 10 of 10 instances';
  account.vendor.server.injectFault('POST /compute/servers', OpenStack.denial(403, message));
  const failed = await instance();
  assert.equal([failed.state, failed.error_message, failed.backend_id], ['Erred', message, '']);
  assert.equal(['network/ports', 'network/floatingips', 'volume/volumes'].map(count), [0, 0, 2]);
  const volumes = (await fixture.staff.get(`/api/openstack-volumes/?tenant_uuid=${tenant}`)).body;
  assert.equal(
    volumes.map(({ error_message, state }: Json) => [state, error_message]),
    [
      ['Erred', message],
      ['Erred', message],
    ],
  );
  await fixture.staff.delete(failed.url);
  await account.advance(10);
  assert.equal((await fixture.staff.get(`/api/openstack-volumes/?tenant_uuid=${tenant}`)).body, []);
  assert.is(count('volume/volumes'), 0);
});

test('a server in state ERROR shows the reason', async () => {
  account.vendor.contents.initialValues['compute/servers'] = () => ({
    status: 'ERROR',
    fault: { message: 'No valid host was found. ' },
    'OS-EXT-STS:task_state': null,
  });
  const failed = await instance();
  assert.equal(
    [failed.state, failed.runtime_state, failed.error_message],
    ['Erred', 'ERROR', 'No valid host was found'],
  );
});

test('shows an unknown server status while it waits', async () => {
  account.vendor.contents.initialValues['compute/servers'] = ({ flavorRef }) => ({
    status: 'DREAMING',
    flavor: { id: flavorRef },
  });
  const waiting = await instance(20);
  assert.equal([waiting.state, waiting.runtime_state], ['Creating', 'DREAMING']);
  Object.assign(all('compute/servers')[0], { status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
  await account.advance(5);
  assert.is((await account.read(waiting.url)).state, 'OK');
});

test.run();
