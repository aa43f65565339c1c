/** The program as a process that is killed in the middle of flows at OpenStack, over and over. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { KillTest } from '../../../vendors/kill.ts';
import { until } from '../../../vendors/killable-server.ts';
import { OpenStack } from '../../../vendors/openstack/stand-in.ts';

const kill = new KillTest('OpenStack: kill -9 in the middle of flows', OpenStack.start);
const { ask, server, test } = kill;
const lists = ['tenants', 'instances', 'volumes', 'snapshots', 'networks', 'floating-ips', 'security-groups'].map(
  (kind) => `openstack-${kind}`,
);

let link: Json;
let tenant: Json;

test.before(async () => {
  const { password, url } = kill.vendor;
  const credentials = { backend_url: url, username: 'admin', password, external_network_id: 'public-net' };
  [link] = await server.connect('openstack', 1, credentials);
});

const names = (list: string): string[] => kill.vendor.world.all(list).map(({ name }) => name);
const flavor = async (name: string): Promise<string> =>
  (await ask('GET', `/api/openstack-flavors/?name_exact=${name}`))[0].url;
const first = async (list: string): Promise<Json> => (await ask('GET', `/api/openstack-${list}/`))[0];

/** Kills the program when every one of these calls is done and not answered. */
async function killAt(...routes: string[]): Promise<void> {
  kill.forget();
  for (const route of routes) kill.vendor.server.mishap(route, 'silence');
  await until(routes.join(', '), () => routes.every((route) => kill.count(route) > 0));
  await kill.kill();
}

/** Waits for the end of all operations, of which none may have failed. */
async function allIsWell(): Promise<void> {
  await kill.resting(...lists);
  const erred = (await kill.rows(...lists)).filter(({ state }) => state === 'Erred');
  assert.equal(
    erred.map(({ error_message: text, name }) => `${name}: ${text}`),
    [],
  );
}

/** Orders operations of which each makes a call that is done and not answered when the program is killed. */
async function killDuring(orders: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const killed = killAt(...Object.keys(orders));
  for (const order of Object.values(orders)) await order();
  await killed;
  await allIsWell();
}

test('a tenant is made once with all its parts', async () => {
  tenant = await ask('POST', '/api/openstack-tenants/', { service_project_link: link.url, name: 'Lab' });
  for (const list of ['identity/projects', 'network/subnets', 'network/security-groups']) await killAt(`POST /${list}`);
  await allIsWell();
  tenant = await ask('GET', tenant.url);
  const { world } = kill.vendor;
  assert.equal(
    world.all('identity/projects').map(({ id, name }) => [id, name]),
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

test('an instance is made once with volumes, port and floating IP', async () => {
  const { url: subnet } = await first('subnets');
  await ask('POST', '/api/openstack-instances/', {
    service_project_link: link.url,
    tenant: tenant.url,
    name: 'web',
    flavor: await flavor('m1.small'),
    image: (await first('images')).url,
    system_volume_size: 10_240,
    data_volume_size: 1024,
    internal_ips_set: [{ subnet }],
    floating_ips: [{ subnet }],
  });
  for (const list of ['volume/volumes', 'network/ports', 'compute/servers', 'network/floatingips'])
    await killAt(`POST /${list}`);
  await allIsWell();
  assert.equal(names('volume/volumes'), ['web-system', 'web-data']);
  assert.equal(
    ['compute/servers', 'network/floatingips'].map((list) => names(list).length),
    [1, 1],
  );
  const [ip] = kill.vendor.world.all('network/floatingips');
  const [port] = kill.vendor.world.all('network/ports').filter(({ device_owner: owner }) => owner === 'compute:nova');
  assert.is(ip.port_id, port.id);
});

test('volumes and servers are made, changed and deleted once', async () => {
  const web = await first('instances');
  const act =
    ({ url }: Json, action: string, body?: object) =>
    () =>
      ask('POST', `${url}${action}/`, body);
  const order = (name: string) => () =>
    ask('POST', '/api/openstack-volumes/', { service_project_link: link.url, tenant: tenant.url, name, size: 1024 });
  const [joining, growing, kept] = [await order('joining')(), await order('growing')(), await order('kept')()];
  await allIsWell();
  const [attachments, power] = ['/compute/servers/:id/os-volume_attachments', 'POST /compute/servers/:id/action'];
  kill.vendor.world.transitionTime = 10_000;
  await killDuring({
    [`POST ${attachments}`]: act(joining, 'attach', { instance: web.url }),
    'POST /volume/volumes/:id/action': act(growing, 'extend', { disk_size: 2048 }),
    'POST /volume/snapshots': act(kept, 'snapshot', { name: 'copy' }),
    'POST /volume/volumes': order('new'),
  });
  assert.equal(names('volume/snapshots'), ['copy']);
  assert.equal(names('volume/volumes').slice(2), ['joining', 'growing', 'kept', 'new']);
  assert.equal((await ask('GET', growing.url)).size, 2048);
  assert.is((await ask('GET', joining.url)).instance.split('/').at(-2), web.uuid);
  const copy = await first('snapshots');
  await killDuring({
    [power]: act(web, 'stop'),
    'DELETE /volume/snapshots/:id': () => ask('DELETE', copy.url),
    'DELETE /volume/volumes/:id': () => ask('DELETE', growing.url),
  });
  assert.equal([names('volume/snapshots'), names('volume/volumes').includes('growing')], [[], false]);
  await killDuring({ [`DELETE ${attachments}/:volume`]: act(joining, 'detach') });
  await act(web, 'start')();
  await allIsWell();
  await killDuring({ [power]: act(web, 'restart') });
  await act(web, 'stop')();
  await allIsWell();
  await act(web, 'change_flavor', { flavor: await flavor('m1.medium') })();
  // It is ordered, and confirmed.
  for (const _ of [1, 2]) await killAt(power);
  await allIsWell();
  const { cores, runtime_state: state, volumes } = await ask('GET', web.url);
  assert.equal([state, cores, volumes.length], ['SHUTOFF', 2, 2]);
});

test('a tenant goes with all that it holds, and everything was told of once', async () => {
  const { url } = await first('instances');
  kill.vendor.world.transitionTime = 0;
  await killDuring({ 'DELETE /compute/servers/:id': () => ask('DELETE', url) });
  assert.equal(['compute/servers', 'network/floatingips', 'volume/volumes'].map(names), [
    [],
    [],
    ['joining', 'kept', 'new'],
  ]);
  for (const volume of await ask('GET', '/api/openstack-volumes/')) await ask('DELETE', volume.url);
  await until('deletions', async () => (await kill.rows('openstack-volumes')).length === 0);
  await ask('DELETE', tenant.url);
  for (const list of ['network/networks', 'identity/projects']) await killAt(`DELETE /${list}/:id`);
  await allIsWell();
  const left = ['identity/projects', 'identity/users', 'network/networks', 'network/ports', 'network/routers'];
  assert.equal(left.map(names), [['admin'], [], ['public'], [], []]);
  assert.equal([names('network/security-groups'), await kill.rows('openstack-tenants')], [[], []]);
  const told = ['creation_succeeded', 'stop_succeeded', 'start_succeeded', 'restart_succeeded', 'creation_failed'];
  assert.equal(
    await Promise.all(told.map((type) => server.told(`resource_${type}`))),
    // The tenant, an instance with two volumes and a floating IP, four volumes and a snapshot.
    [10, 2, 1, 1, 0],
  );
});

test.run();
