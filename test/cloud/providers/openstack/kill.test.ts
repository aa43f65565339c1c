/** Kills the program's process repeatedly in the middle of flows at OpenStack. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { until } from '../../../vendors/killable-server.ts';
import { OpenStackKill } from '../../../vendors/openstack/kill.ts';

const kill = new OpenStackKill('OpenStack: kill -9 in the middle of flows');
const { act, ask, first, killDuringCalls, killAtEachCall, server, test, namesAtVendor: names } = kill;

let tenant: Json;

test('creates a tenant once with all its parts', async () => {
  const parts = ['identity/projects', 'network/subnets', 'network/security-groups'].map((list) => `POST /${list}`);
  await killAtEachCall(
    async () => {
      tenant = await kill.orderTenant();
    },
    ...parts,
  );
  tenant = await ask('GET', tenant.url);
  const { contents: setup } = kill.vendor;
  assert.equal(
    setup.all('identity/projects').map(({ id, name }) => [id, name]),
    [
      ['admin-project', 'admin'],
      [tenant.backend_id, 'Lab'],
    ],
  );
  assert.equal(names('network/networks'), ['public', 'lab-int-net']);
  assert.equal(
    ['identity/users', 'network/subnets', 'network/routers'].map((list) => names(list).length),
    [1, 1, 1],
  );
  assert.equal(names('network/security-groups'), ['allow-all', 'ssh', 'ping', 'rdp', 'web']);
});

test('creates an instance once with volumes, port and floating IP', async () => {
  const { url: subnet } = await first('subnets');
  const parts = ['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'];
  await killAtEachCall(
    () => kill.orderInstance(tenant, { internal_ips_set: [{ subnet }], floating_ips: [{ subnet }] }),
    ...parts.map((list) => `POST /${list}`),
  );
  assert.equal(names('volume/volumes'), ['web-system', 'web-data']);
  assert.equal(
    ['compute/servers', 'network/floatingips'].map((list) => names(list).length),
    [1, 1],
  );
  const [ip] = kill.vendor.contents.all('network/floatingips');
  const [port] = kill.vendor.contents
    .all('network/ports')
    .filter(({ device_owner: owner }) => owner === 'compute:nova');
  assert.is(ip.port_id, port.id);
});

test('creates, changes and deletes volumes and servers once', async () => {
  const web = await first('instances');
  const order = (name: string) => () =>
    ask('POST', '/api/openstack-volumes/', {
      service_project_link: kill.link.url,
      tenant: tenant.url,
      name,
      size: 1024,
    });
  const [joining, growing, stored] = [await order('joining')(), await order('growing')(), await order('kept')()];
  await kill.waitForSuccess();
  const [attachments, power] = ['/compute/servers/:id/os-volume_attachments', 'POST /compute/servers/:id/action'];
  kill.vendor.contents.transitionMs = 10_000;
  await killDuringCalls({
    [`POST ${attachments}`]: act(joining, 'attach', { instance: web.url }),
    'POST /volume/volumes/:id/action': act(growing, 'extend', { disk_size: 2048 }),
    'POST /volume/snapshots': act(stored, 'snapshot', { name: 'copy' }),
    'POST /volume/volumes': order('new'),
  });
  assert.equal(names('volume/snapshots'), ['copy']);
  assert.equal(names('volume/volumes').slice(2), ['joining', 'growing', 'kept', 'new']);
  assert.equal((await ask('GET', growing.url)).size, 2048);
  assert.is((await ask('GET', joining.url)).instance.split('/').at(-2), web.uuid);
  const copy = await first('snapshots');
  await killDuringCalls({
    [power]: act(web, 'stop'),
    'DELETE /volume/snapshots/:id': () => ask('DELETE', copy.url),
    'DELETE /volume/volumes/:id': () => ask('DELETE', growing.url),
  });
  assert.equal([names('volume/snapshots'), names('volume/volumes').includes('growing')], [[], false]);
  await killDuringCalls({ [`DELETE ${attachments}/:volume`]: act(joining, 'detach') });
  await act(web, 'start')();
  await kill.waitForSuccess();
  await killDuringCalls({ [power]: act(web, 'restart') });
  await act(web, 'stop')();
  await kill.waitForSuccess();
  const flavor = { flavor: await kill.flavor('m1.medium') };
  // The resize is requested, then confirmed.
  await killAtEachCall(act(web, 'change_flavor', flavor), power, power);
  const { cores, runtime_state: state, volumes } = await ask('GET', web.url);
  assert.equal([state, cores, volumes.length], ['SHUTOFF', 2, 2]);
});

test('removes a tenant with its contents and records each removal once', async () => {
  const { url } = await first('instances');
  kill.vendor.contents.transitionMs = 0;
  await killDuringCalls({ 'DELETE /compute/servers/:id': () => ask('DELETE', url) });
  assert.equal(['compute/servers', 'network/floatingips', 'volume/volumes'].map(names), [
    [],
    [],
    ['joining', 'kept', 'new'],
  ]);
  for (const volume of await ask('GET', '/api/openstack-volumes/')) await ask('DELETE', volume.url);
  await until('deletions', async () => (await kill.rows('openstack-volumes')).length === 0);
  const parts = ['network/networks', 'identity/projects'].map((list) => `DELETE /${list}/:id`);
  await killAtEachCall(() => ask('DELETE', tenant.url), ...parts);
  const left = ['identity/projects', 'identity/users', 'network/networks', 'network/ports', 'network/routers'];
  assert.equal(left.map(names), [['admin'], [], ['public'], [], []]);
  assert.equal([names('network/security-groups'), await kill.rows('openstack-tenants')], [[], []]);
  const reports = ['creation_succeeded', 'stop_succeeded', 'start_succeeded', 'restart_succeeded', 'creation_failed'];
  assert.equal(
    await Promise.all(reports.map((type) => server.countEvents(`resource_${type}`))),
    // The tenant, an instance with two volumes and a floating IP, four volumes and a snapshot.
    [10, 2, 1, 1, 0],
  );
});

test.run();
