/** Tenants and their parts as users see them, equal with the simulator and the driver (providers.md 4). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { OpenStackAccount } from '../../../vendors/openstack/account.ts';

/** Some members of an object. */
const some = (object: Json, ...names: string[]): Json => Object.fromEntries(names.map((name) => [name, object[name]]));

/** The first state and the last two. How long a resource stays in a state in between does not matter. */
const ends = (states: readonly string[]): string[] => [...states.slice(0, 1), ...states.slice(-2)];

function contract(backend: Backend): void {
  const test = suite(`OpenStack for users, ${backend}`);
  let account: OpenStackAccount;
  let tenant: Json;

  test.before.each(async () => {
    account = await OpenStackAccount.open({ backend });
    account.vendor.contents.transitionMs = 1500;
    tenant = await account.tenant();
  });

  test.after.each(() => account.close());

  const reports = (): string[] => account.fixture.events().map(({ message }) => message);
  const list = async (kind: string): Promise<Json[]> =>
    (await account.fixture.staff.get(`/api/openstack-${kind}/?tenant_uuid=${tenant.uuid}&o=name`)).body;
  const usages = async (...names: string[]): Promise<number[]> => {
    await account.act(tenant, 'pull');
    const { quotas } = await account.read(tenant.url);
    return names.map((name) => quotas.find((quota: Json) => quota.name === name).usage);
  };
  /** Creates an object by an action of another one; returns it when it is ready. */
  const created = async ({ url }: Json, action: string, body?: unknown): Promise<Json> => {
    const response = await account.alice.post(`${url}${action}/`, body);
    assert.is(response.status, 201, JSON.stringify(response.body));
    return account.created(response.body);
  };
  /** Creates a stopped instance; returns it and its boot volume. */
  const stopped = async (name = 'web'): Promise<Json> =>
    account.act(await account.created(await account.orderConnected(name)), 'stop');

  test('creates a tenant with a network, a subnet and five security groups', async () => {
    const { url } = await account.orderTenant('Second', { subnet_cidr: '192.168.7.0/24' });
    assert.is((await account.collectStates(url)).at(-1), 'OK');
    tenant = await account.read(url);
    assert.match(tenant.backend_id, /^[0-9a-f]{8}-/);
    assert.equal(reports(), ['Resource Second creation has been scheduled.', 'Resource Second has been created.']);
    assert.equal(
      (await list('networks')).map((network) => some(network, 'name', 'is_external', 'type', 'state')),
      [{ name: 'second-int-net', is_external: false, type: 'vxlan', state: 'OK' }],
    );
    assert.equal((await list('networks'))[0].backend_id, tenant.internal_network_id);
    assert.equal(
      (await list('subnets')).map((subnet) => some(subnet, 'name', 'cidr', 'gateway_ip', 'enable_dhcp', 'ip_version')),
      [{ name: 'second-sub-net', cidr: '192.168.7.0/24', gateway_ip: '192.168.7.1', enable_dhcp: true, ip_version: 4 }],
    );
    assert.equal(
      (await list('security-groups')).map(({ name, rules }) => [name, rules.length]),
      [
        ['allow-all', 2],
        ['ping', 1],
        ['rdp', 1],
        ['ssh', 1],
        ['web', 2],
      ],
    );
    assert.equal(await usages('network_count', 'subnet_count', 'security_group_count', 'volumes'), [1, 1, 5, 0]);
  });

  test('sets limits, the password and the name of a tenant', async () => {
    const { staff } = account.fixture;
    assert.is((await staff.post(`${tenant.url}set_quotas/`, { instances: 3, storage: 20_480 })).status, 202);
    assert.equal((await account.collectStates(tenant.url)).at(-1), 'OK');
    const { quotas } = await account.read(tenant.url);
    assert.equal(
      ['instances', 'storage', 'vcpu'].map((name) => quotas.find((quota: Json) => quota.name === name).limit),
      [3, 20_480, 20],
    );
    const { state } = await account.act(tenant, 'change_password', { user_password: 'another one' });
    assert.is(state, 'OK');
    const renamed = await account.alice.patch(tenant.url, { name: 'Renamed', description: 'ours' });
    assert.ok([200, 202].includes(renamed.status), JSON.stringify(renamed.body));
    await account.collectStates(tenant.url);
    assert.equal(some(await account.read(tenant.url), 'name', 'description', 'state'), {
      name: 'Renamed',
      description: 'ours',
      state: 'OK',
    });
  });

  test('creates, changes and deletes networks, subnets, floating IPs and security groups', async () => {
    account.fixture.events();
    const network = await created(tenant, 'create_network', { name: 'backend', description: 'inside' });
    const subnet = await created(network, 'create_subnet', { name: 'machines', cidr: '192.168.9.0/24' });
    assert.equal(some(subnet, 'cidr', 'gateway_ip', 'network_name', 'state'), {
      cidr: '192.168.9.0/24',
      gateway_ip: '192.168.9.1',
      network_name: 'backend',
      state: 'OK',
    });
    const ip = await created(tenant, 'create_floating_ip');
    assert.equal(some(ip, 'runtime_state', 'instance', 'state'), {
      runtime_state: 'DOWN',
      instance: null,
      state: 'OK',
    });
    assert.match(ip.address, /^198\.18\.0\.\d+$/);
    const https = { protocol: 'tcp', from_port: 443, to_port: 443, cidr: '10.0.0.0/8' };
    const group = await created(tenant, 'create_security_group', { name: 'tls', rules: [https] });
    assert.equal(group.rules, [{ id: 1, ...https }]);
    const any = { protocol: '', from_port: -1, to_port: -1, cidr: '10.0.0.0/8' };
    assert.equal((await account.act(group, 'set_rules', { rules: [any] })).rules, [{ id: 1, ...any }]);
    assert.equal(
      await usages('network_count', 'subnet_count', 'floating_ip_count', 'security_group_count'),
      [2, 2, 1, 6],
    );
    for (const object of [subnet, network, ip, group]) assert.is((await account.remove(object)).at(-1), 'gone');
    assert.equal(
      await usages('network_count', 'subnet_count', 'floating_ip_count', 'security_group_count'),
      [1, 1, 0, 5],
    );
  });

  test('creates, extends, snapshots and restores a volume', async () => {
    const { url } = await account.orderVolume('disk', { description: 'data' });
    assert.equal(ends(await account.collectStates(url)), ['Creation Scheduled', 'Creating creating', 'OK available']);
    const disk = await account.read(url);
    assert.equal(some(disk, 'name', 'description', 'size', 'bootable', 'instance', 'device', 'type', 'metadata'), {
      name: 'disk',
      description: 'data',
      size: 1024,
      bootable: false,
      instance: null,
      device: '',
      type: 'lvm',
      metadata: {},
    });
    assert.is((await account.act(disk, 'extend', { disk_size: 2048 })).size, 2048);
    const snapshot = await created(disk, 'snapshot', { name: 'kept', description: 'before' });
    assert.equal(some(snapshot, 'name', 'description', 'size', 'runtime_state', 'source_volume'), {
      name: 'kept',
      description: 'before',
      size: 2048,
      runtime_state: 'available',
      source_volume: disk.url,
    });
    assert.equal((await account.alice.delete(url)).body, { detail: 'Volume has dependent snapshots.' });
    const copy = await created(snapshot, 'restore', { name: 'copy' });
    assert.equal(some(copy, 'name', 'size', 'bootable', 'source_snapshot', 'runtime_state'), {
      name: 'copy',
      size: 2048,
      bootable: false,
      source_snapshot: snapshot.url,
      runtime_state: 'available',
    });
    assert.equal(await usages('volumes', 'snapshots', 'storage'), [2, 1, 6144]);
    for (const object of [copy, snapshot, disk]) assert.is((await account.remove(object)).at(-1), 'gone');
    assert.equal(await usages('volumes', 'snapshots', 'storage'), [0, 0, 0]);
  });

  test('restores a bootable volume as bootable with the same image', async () => {
    const image = await account.image();
    const root = await account.created(await account.orderVolume('root', { image }));
    const copy = await created(await created(root, 'snapshot', { name: 'kept' }), 'restore', { name: 'copy' });
    assert.equal(some(root, 'bootable', 'image', 'image_name'), { bootable: true, image, image_name: root.image_name });
    assert.equal(some(copy, 'bootable', 'image', 'image_name'), some(root, 'bootable', 'image', 'image_name'));
  });

  test('creates an instance with volumes, an address and a floating IP', async () => {
    const { url } = await account.orderConnected('web');
    assert.equal(ends(await account.collectStates(url)), ['Creation Scheduled', 'Creating BUILDING', 'OK ACTIVE']);
    const web = await account.read(url);
    assert.equal(some(web, 'name', 'cores', 'ram', 'disk', 'flavor_name', 'flavor_disk', 'image_name'), {
      name: 'web',
      cores: 1,
      ram: 2048,
      disk: 11_264,
      flavor_name: 'm1.small',
      flavor_disk: 20_480,
      image_name: web.image_name,
    });
    assert.equal(
      web.volumes.map((volume: Json) => some(volume, 'name', 'bootable', 'size', 'device', 'state')),
      [
        { name: 'web-system', bootable: true, size: 10_240, device: '/dev/vda', state: 'OK' },
        { name: 'web-data', bootable: false, size: 1024, device: '/dev/vdb', state: 'OK' },
      ],
    );
    assert.equal([web.internal_ips.length, web.external_ips.length], [1, 1]);
    assert.match(web.internal_ips[0], /^192\.168\.42\./);
    assert.equal(web.floating_ips[0].address, web.external_ips[0]);
    assert.equal(
      await usages('instances', 'vcpu', 'ram', 'volumes', 'storage', 'floating_ip_count'),
      [1, 1, 2048, 2, 11_264, 1],
    );
  });

  test('stops, starts, restarts and resizes an instance', async () => {
    const web = await account.created(await account.order('web'));
    const way = async (action: string, body?: unknown): Promise<string[]> => {
      assert.is((await account.alice.post(`${web.url}${action}/`, body)).status, 202);
      return ends(await account.collectStates(web.url));
    };
    assert.equal((await way('restart')).at(-1), 'OK ACTIVE');
    assert.equal(await way('stop'), ['Update Scheduled ACTIVE', 'Updating ACTIVE', 'OK SHUTOFF']);
    assert.is((await way('change_flavor', { flavor: await account.flavor('medium') })).at(-1), 'OK SHUTOFF');
    assert.equal(await way('start'), ['Update Scheduled SHUTOFF', 'Updating SHUTOFF', 'OK ACTIVE']);
    assert.equal(some(await account.read(web.url), 'cores', 'ram', 'flavor_name'), {
      cores: 2,
      ram: 4096,
      flavor_name: 'm1.medium',
    });
  });

  test('a volume is attached and detached', async () => {
    const web = await stopped();
    const disk = await account.created(await account.orderVolume('disk'));
    const attached = await account.act(disk, 'attach', { instance: web.url });
    assert.equal(some(attached, 'runtime_state', 'instance', 'device'), {
      runtime_state: 'in-use',
      instance: web.url,
      device: '/dev/vdc',
    });
    assert.is((await account.read(web.url)).disk, 12_288);
    const free = await account.act(disk, 'detach');
    assert.equal(some(free, 'runtime_state', 'instance', 'device'), {
      runtime_state: 'available',
      instance: null,
      device: '',
    });
    assert.is((await account.read(web.url)).disk, 11_264);
  });

  test('changes security groups, subnets and floating IPs of an instance', async () => {
    const web = await account.created(await account.orderConnected('web'));
    const [{ url: ssh }] = (await list('security-groups')).filter(({ name }) => name === 'ssh');
    const secured = await account.act(web, 'update_security_groups', { security_groups: [{ url: ssh }] });
    assert.equal(
      secured.security_groups.map(({ name }: Json) => name),
      ['ssh'],
    );
    const network = await created(tenant, 'create_network', { name: 'backend' });
    const subnet = await created(network, 'create_subnet', { name: 'machines', cidr: '192.168.9.0/24' });
    const moved = await account.act(web, 'update_internal_ips_set', { internal_ips_set: [{ subnet: subnet.url }] });
    assert.match(moved.internal_ips.join(), /^192\.168\.9\.\d+$/);
    assert.equal(moved.external_ips, [], 'the way of the floating IP is gone');
    const reached = await account.act(web, 'update_floating_ips', { floating_ips: [{ subnet: subnet.url }] });
    assert.is(reached.external_ips.length, 1);
    const ips = await list('floating-ips');
    assert.equal(
      ips.filter(({ instance }) => instance === web.url).map(({ address }) => address),
      reached.external_ips,
    );
    assert.equal((await account.act(web, 'update_floating_ips', { floating_ips: [] })).external_ips, []);
  });

  test('deletes an instance with or without its volumes and floating IPs', async () => {
    const [web, other] = [await stopped(), await stopped('other')];
    assert.equal((await account.remove(web)).at(-1), 'gone');
    assert.equal(
      (await list('volumes')).map(({ name }) => name),
      ['other-data', 'other-system'],
    );
    const stored = { url: `${other.url}?delete_volumes=false&release_floating_ips=false` };
    assert.is((await account.alice.delete(stored.url)).status, 202);
    assert.equal((await account.collectStates(other.url)).at(-1), 'gone');
    assert.equal(
      (await list('volumes')).map((volume) => some(volume, 'name', 'runtime_state', 'instance', 'device')),
      [{ name: 'other-data', runtime_state: 'available', instance: null, device: '' }],
    );
    assert.equal(
      (await list('floating-ips')).map((ip) => some(ip, 'instance', 'runtime_state')),
      [{ instance: null, runtime_state: 'DOWN' }],
    );
  });

  test('stores limits of a tenant in the cloud for unmanaged resources, too', async () => {
    assert.is((await account.fixture.staff.post(`${tenant.url}set_quotas/`, { instances: 1 })).status, 202);
    await account.collectStates(tenant.url);
    const web = await account.created(await account.order('web'));
    assert.is((await account.fixture.staff.post(`${web.url}unlink/`)).status, 204);
    const { url } = await account.order('second');
    assert.is((await account.collectStates(url)).at(-1), 'Erred BUILDING');
    const { backend_id: id, error_message: text } = await account.read(url);
    assert.equal([id, text], ['', 'Quota exceeded for instances: Requested 1, but already used 1 of 1 instances']);
  });

  test('a pull or synchronisation without news changes nothing', async () => {
    await account.created(await account.orderConnected('web'));
    const all = (await Promise.all(['instances', 'volumes', 'networks', 'subnets', 'floating-ips'].map(list))).flat();
    for (const object of all)
      assert.equal(await account.act(object, 'pull'), await account.read(object.url), object.name);
    const before = await Promise.all(all.map(({ url }) => account.read(url)));
    assert.equal(await account.sync(), ['In Sync', '']);
    assert.equal(await Promise.all(all.map(({ url }) => account.read(url))), before);
  });

  test('imports an unlinked instance again and deletes an empty tenant', async () => {
    const { staff } = account.fixture;
    const web = await stopped();
    assert.is((await staff.post(`${web.url}unlink/`)).status, 204);
    assert.equal(await account.sync(), ['In Sync', '']);
    const items: Json[] = (await staff.get(`${account.service.url}link/`)).body;
    const item = items.find(({ resource_type: type }) => type === 'OpenStack.Instance');
    assert.equal(some(item, 'backend_id', 'name', 'runtime_state'), {
      backend_id: web.backend_id,
      name: 'web',
      runtime_state: 'SHUTOFF',
    });
    const { backend_id, resource_type } = item;
    const imported = await staff.post(`${account.service.url}link/`, {
      backend_id,
      resource_type,
      project: account.project.url,
    });
    assert.equal(await account.sync(), ['In Sync', '']);
    const back = await account.read(imported.body.url);
    assert.is(back.volumes.length, 2);
    assert.equal(some(back, 'cores', 'ram', 'disk', 'internal_ips'), some(web, 'cores', 'ram', 'disk', 'internal_ips'));
    assert.is((await account.remove(back)).at(-1), 'gone');
    account.fixture.events();
    assert.is((await account.remove(tenant)).at(-1), 'gone');
    assert.equal(reports(), ['Resource Lab deletion has been scheduled.', 'OpenStack Tenant Lab has been deleted.']);
    for (const kind of ['networks', 'subnets', 'security-groups', 'floating-ips'])
      assert.equal(await list(kind), [], kind);
  });

  test.run();
}

contract('simulator');
contract('driver');
