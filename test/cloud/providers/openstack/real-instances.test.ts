import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { RealAccount } from './real-cloud.ts';

const test = suite('OpenStack: instances of the real driver and their faults (providers.md 4.8)');
let account: RealAccount;
let tenant: Json;

test.before.each(async () => {
  account = await RealAccount.open();
  const { fixture, service, vendor } = account;
  await fixture.staff.patch(service.settings, { external_network_id: 'outside' });
  tenant = await account.tenant();
  assert.is(tenant.state, 'OK', tenant.error_message);
  vendor.take();
});
test.after.each(() => account.close());

const instance = async (seconds?: number): Promise<Json> => {
  const { fixture, link } = account;
  const first = async (path: string): Promise<Json> => (await fixture.staff.get(`/api/${path}`)).body[0];
  const { url: subnet } = await first(`openstack-subnets/?tenant_uuid=${tenant.uuid}`);
  const body = {
    service_project_link: link.url,
    tenant: tenant.url,
    name: 'web',
    flavor: (await first('openstack-flavors/')).url,
    image: (await first('openstack-images/')).url,
    system_volume_size: 10_240,
    data_volume_size: 1024,
    internal_ips_set: [{ subnet }],
    floating_ips: [{ subnet }],
  };
  return account.made('/api/openstack-instances/', body, seconds);
};

const count = (list: string): number => account.vendor.all(list).length;

test('an instance comes with its volumes, port and floating IP, each made once whatever answer is lost', async () => {
  const { vendor } = account;
  for (const list of ['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'])
    vendor.mishap(`POST ${list}`, 'lost');
  const made = await instance(60);
  assert.equal([made.state, made.runtime_state], ['OK', 'ACTIVE'], made.error_message);
  assert.equal(['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'].map(count), [2, 1, 1, 1]);
  const [{ block_device_mapping_v2: disks, networks }] = vendor.all('compute/servers');
  assert.equal(networks, [{ port: vendor.all('network/ports')[0].id }]);
  assert.equal(
    disks.map(({ boot_index: boot, uuid }: Json) => [uuid, boot]),
    vendor.all('volume/volumes').map(({ id }, i) => [id, i === 0 ? 0 : -1]),
  );
  assert.is(vendor.all('network/floatingips')[0].port_id, vendor.all('network/ports')[0].id);
});

test('a refused server leaves neither port nor floating IP, and its volumes go with it', async () => {
  const { fixture, vendor } = account;
  const message = 'Quota exceeded for instances: Requested 1, but already used 10 of 10 instances';
  vendor.mishap('POST compute/servers', { status: 403, body: { forbidden: { code: 403, message } } });
  const failed = await instance();
  assert.equal([failed.state, failed.error_message, failed.backend_id], ['Erred', message, '']);
  assert.equal(['network/ports', 'network/floatingips', 'volume/volumes'].map(count), [0, 0, 2]);
  const volumes = (await fixture.staff.get(`/api/openstack-volumes/?tenant_uuid=${tenant.uuid}`)).body;
  assert.equal(
    volumes.map(({ error_message, state }: Json) => [state, error_message]),
    [
      ['Erred', message],
      ['Erred', message],
    ],
  );
  await fixture.staff.delete(failed.url);
  await account.pass(10);
  assert.equal((await fixture.staff.get(`/api/openstack-volumes/?tenant_uuid=${tenant.uuid}`)).body, []);
  assert.is(count('volume/volumes'), 0);
});

test('a server that ends in error tells why', async () => {
  const { vendor } = account;
  vendor.births['compute/servers'] = () => ({
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

test('an unknown status of a server is shown while it is waited for', async () => {
  const { vendor } = account;
  vendor.births['compute/servers'] = ({ flavorRef }) => ({ status: 'DREAMING', flavor: { id: flavorRef } });
  const waiting = await instance(20);
  assert.equal([waiting.state, waiting.runtime_state], ['Creating', 'DREAMING']);
  Object.assign(vendor.all('compute/servers')[0], { status: 'ACTIVE' });
  await account.pass(5);
  assert.is((await account.read(waiting)).state, 'OK');
});

test.run();
