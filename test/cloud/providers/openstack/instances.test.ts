import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { collectStates, simulatedService, step, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  type Cloud,
  created,
  destroy,
  first,
  flavor,
  group,
  image,
  instance,
  instanceBody,
  messages,
  names,
  post,
  present,
  startCloud,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: creation and deletion of instances (providers.md 4.5, 4.8)');
let cloud: Cloud;

test.before(async () => {
  cloud = await startCloud(fixture, { latitude: 59.4, longitude: 24.7 });
});

const create = async (fields: Readonly<Record<string, unknown>> = {}): Promise<[number, Json]> =>
  post(cloud, '/api/openstack-instances/', await instanceBody(cloud, fields));
const volumes = async (): Promise<Json[]> => (await cloud.fixture.staff.get('/api/openstack-volumes/?o=name')).body;
/** Stops and deletes an instance. */
async function remove(web: Json, query = ''): Promise<void> {
  await post(cloud, `${web.url}stop/`);
  await work(cloud.fixture);
  await destroy(cloud, web, query);
  cloud.fixture.events();
}

test('link, name, flavor, image and the size of the system volume are required', async () => {
  const required = ['This field is required.'];
  assert.equal(await post(cloud, '/api/openstack-instances/', {}), [
    400,
    { name: required, service_project_link: required, flavor: required, image: required, system_volume_size: required },
  ]);
});

test('volumes have at least 1024 MiB', async () => {
  const message = ['Ensure this value is greater than or equal to 1024.'];
  assert.equal(await create({ system_volume_size: 1023, data_volume_size: 1 }), [
    400,
    { system_volume_size: message, data_volume_size: message },
  ]);
});

test('the tenant belongs to the same link, and is ready', async () => {
  const other = await simulatedService(cloud.fixture, 'openstack', cloud.people, { name: 'Elsewhere' });
  assert.equal(await create({ service_project_link: other.link.url }), [
    400,
    { tenant: ['Tenant should belong to the same service project link.'] },
  ]);
  const [, fresh] = await post(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Fresh',
  });
  assert.equal(await create({ tenant: fresh.url }), [400, { tenant: ['Tenant is not ready.'] }]);
  await work(cloud.fixture);
  await destroy(cloud, fresh);
  const foreign = await first(cloud, `openstack-flavors/?settings_uuid=${other.settings.uuid}`);
  assert.equal(await create({ flavor: foreign.url }), [
    400,
    { non_field_errors: ['Flavor and image must belong to the same service settings as service project link.'] },
  ]);
  await cloud.fixture.staff.delete(other.service.url);
  cloud.fixture.events();
});

test('creates an instance without a tenant in that of its first subnet or the only ready one', async () => {
  const several = { tenant: ['The service project link has several tenants: name one.'] };
  const { tenant: _, ...body } = await instanceBody(cloud);
  const ask = (fields: Json = {}) => post(cloud, '/api/openstack-instances/', { ...body, ...fields });
  const [, options] = [0, (await cloud.people.clients.admin.options('/api/openstack-instances/')).body];
  assert.equal(
    [options.actions.POST.tenant.required, options.actions.POST.tenant.help_text],
    [false, 'Default: the private cloud of the subnets, or the only one that is ready.'],
  );

  const bySubnet = await created(cloud, '/api/openstack-instances/', {
    ...body,
    internal_ips_set: [{ subnet: cloud.subnet.url }],
  });
  assert.equal([bySubnet.tenant, bySubnet.state], [cloud.tenant.url, 'OK']);
  await remove(bySubnet);
  const [, fresh] = await post(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Second',
  });
  const only = await ask({ name: 'only' });
  assert.equal([only[0], only[1].tenant], [201, cloud.tenant.url]);
  await work(cloud.fixture);
  await remove(only[1]);

  assert.equal(await ask(), [400, several]);
  const subnet = await first(cloud, `openstack-subnets/?tenant_uuid=${fresh.uuid}`);
  assert.equal(await ask({ internal_ips_set: [{ subnet: cloud.subnet.url }, { subnet: subnet.url }] }), [
    400,
    { internal_ips_set: [`Subnet ${subnet.name} does not belong to the same tenant as instance.`] },
  ]);
  const second = await created(cloud, '/api/openstack-instances/', {
    ...body,
    internal_ips_set: [{ subnet: subnet.url }],
  });
  assert.equal([second.tenant, second.tenant_name], [fresh.url, 'Second']);
  await remove(second);
  await destroy(cloud, fresh);

  const other = await simulatedService(cloud.fixture, 'openstack', cloud.people, { name: 'Empty' });
  assert.equal(await ask({ service_project_link: other.link.url }), [
    400,
    { tenant: ['No tenant of the service project link is ready.'] },
  ]);
  assert.equal(await ask({ service_project_link: other.link.url, internal_ips_set: [{ subnet: cloud.subnet.url }] }), [
    400,
    { internal_ips_set: ['Tenant should belong to the same service project link.'] },
  ]);
  await cloud.fixture.staff.delete(other.service.url);
  cloud.fixture.events();
});

test('the flavor has enough memory for the image, and the volume enough space', async () => {
  assert.equal(await create({ flavor: (await flavor(cloud, 'm1.tiny')).url }), [
    400,
    { flavor: ['RAM of flavor is not enough for selected image 1024'] },
  ]);
  assert.equal(await create({ system_volume_size: 10_239 }), [
    400,
    { system_volume_size: ['System volume size has to be greater than 10240'] },
  ]);
});

test('security groups and subnets belong to the same tenant', async () => {
  const other = await created(cloud, '/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Fab' });
  const ssh = await first(cloud, `openstack-security-groups/?name_exact=ssh&tenant_uuid=${other.uuid}`);
  assert.equal(await create({ security_groups: [{ url: ssh.url }] }), [
    400,
    { security_groups: ['Security group ssh does not belong to the same tenant as instance.'] },
  ]);
  const subnet = await first(cloud, `openstack-subnets/?tenant_uuid=${other.uuid}`);
  assert.equal(await create({ internal_ips_set: [{ subnet: subnet.url }] }), [
    400,
    { internal_ips_set: ['Subnet fab-sub-net does not belong to the same tenant as instance.'] },
  ]);
  await destroy(cloud, other);
});

test('an instance is connected to at least one network, and to each subnet once', async () => {
  assert.equal(await create({ internal_ips_set: [] }), [
    400,
    { internal_ips_set: ['Instance should be connected to at least one network.'] },
  ]);
  const twice = [{ subnet: cloud.subnet.url }, { subnet: cloud.subnet.url }];
  assert.equal(await create({ internal_ips_set: twice }), [
    400,
    { internal_ips_set: ['It is impossible to connect instance to one subnet twice.'] },
  ]);
  assert.equal(await create({ internal_ips_set: [{}], security_groups: [{}, 'web'] }), [
    400,
    {
      internal_ips_set: [{ subnet: ['This field is required.'] }],
      security_groups: [
        ['URL has to be defined for related object.'],
        { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] },
      ],
    },
  ]);
});

test('without internal_ips_set the tenant has an internal network', async () => {
  const other = await created(cloud, '/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Bare' });
  await destroy(cloud, await first(cloud, `openstack-networks/?tenant_uuid=${other.uuid}`));
  assert.equal(await create({ tenant: other.url }), [400, { tenant: ['Tenant does not have an internal network.'] }]);
  await destroy(cloud, other);
  cloud.fixture.events();
});

test('floating IPs require an external network, a connected subnet, and an unused address', async () => {
  const bare = await simulatedService(cloud.fixture, 'openstack', cloud.people, { name: 'Closed' });
  const closed = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: bare.link.url,
    name: 'Closed',
  });
  const own = await first(cloud, `openstack-subnets/?tenant_uuid=${closed.uuid}`);
  const properties = async (kind: string, name: string): Promise<string> =>
    (await first(cloud, `openstack-${kind}/?settings_uuid=${bare.settings.uuid}&name=${name}`)).url;
  const place = {
    service_project_link: bare.link.url,
    tenant: closed.url,
    flavor: await properties('flavors', 'small'),
    image: await properties('images', 'Ubuntu'),
  };
  assert.equal(await create({ ...place, floating_ips: [{ subnet: own.url }] }), [
    400,
    { floating_ips: ['Please specify tenant external network to perform floating IP operations.'] },
  ]);
  assert.equal(await create({ floating_ips: [{ subnet: own.url }] }), [
    400,
    { floating_ips: ['SubNet is not connected to instance.'] },
  ]);
  await destroy(cloud, closed);
  await cloud.fixture.staff.delete(bare.service.url);
  const web = await instance(cloud, { floating_ips: [{ subnet: cloud.subnet.url }] });
  const [{ url }] = web.floating_ips;
  assert.equal(await create({ floating_ips: [{ subnet: cloud.subnet.url, url }] }), [
    400,
    { floating_ips: ['Floating IP 198.18.0.1 is already in use.'] },
  ]);
  await remove(web);
});

test('creates an instance with its volumes and floating IPs, each with its events', async () => {
  const { admin } = cloud.people.clients;
  const key = (await admin.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  cloud.fixture.events();
  const [status, web] = await create({
    description: 'Front',
    data_volume_size: 2048,
    security_groups: [{ url: (await group(cloud, 'web')).url }],
    floating_ips: [{ subnet: cloud.subnet.url }],
    ssh_public_key: key.url,
    user_data: '#cloud-config',
  });
  assert.equal([status, web.state, web.internal_ips, web.floating_ips[0].address], [201, 'Creation Scheduled', [], '']);
  assert.equal(messages(cloud), [
    'Resource web-system creation has been scheduled.',
    'Resource web-data creation has been scheduled.',
    'Resource Floating IP of Lab creation has been scheduled.',
    'Resource web creation has been scheduled.',
  ]);
  await step(cloud.fixture);
  assert.equal(
    (await volumes()).map(({ name, runtime_state, state }: Json) => [name, state, runtime_state]),
    [
      ['web-data', 'Creating', 'creating'],
      ['web-system', 'Creating', 'creating'],
    ],
  );
  assert.equal(await collectStates(cloud.fixture, web.url), ['Creating BUILDING', 'OK ACTIVE']);
  assert.equal(messages(cloud), [
    'Resource web-system has been created.',
    'Resource web-data has been created.',
    'Resource 198.18.0.2 has been created.',
    'Resource web has been created.',
  ]);
  const now = await present(cloud, web);
  const {
    cores,
    disk,
    flavor_disk,
    flavor_name,
    image_name,
    key_fingerprint,
    key_name,
    latitude,
    longitude,
    min_disk,
    min_ram,
    ram,
    user_data,
  } = now;
  assert.equal(
    {
      cores,
      disk,
      flavor_disk,
      flavor_name,
      image_name,
      key_fingerprint,
      key_name,
      latitude,
      longitude,
      min_disk,
      min_ram,
      ram,
      user_data,
    },
    {
      cores: 1,
      disk: 12288,
      flavor_disk: 20480,
      flavor_name: 'm1.small',
      image_name: 'Ubuntu 16.04',
      key_fingerprint: key.fingerprint,
      key_name: 'laptop',
      latitude: 59.4,
      longitude: 24.7,
      min_disk: 10240,
      min_ram: 1024,
      ram: 2048,
      user_data: '#cloud-config',
    },
  );
  assert.is.not(now.start_time, null);
  assert.equal(
    now.volumes.map(({ url: _, uuid: __, ...rest }: Json) => rest),
    [
      {
        name: 'web-system',
        image_name: 'Ubuntu 16.04',
        state: 'OK',
        bootable: true,
        size: 10240,
        device: '/dev/vda',
        resource_type: 'OpenStack.Volume',
      },
      {
        name: 'web-data',
        image_name: '',
        state: 'OK',
        bootable: false,
        size: 2048,
        device: '/dev/vdb',
        resource_type: 'OpenStack.Volume',
      },
    ],
  );
  assert.equal(
    now.security_groups.map(({ description, name, rules, state }: Json) => [name, description, rules.length, state]),
    [['web', 'Security group for http and https access', 2, 'OK']],
  );
  const [ip] = now.internal_ips_set;
  const subnet = {
    subnet: cloud.subnet.url,
    subnet_uuid: cloud.subnet.uuid,
    subnet_name: 'lab-sub-net',
    subnet_description: '',
    subnet_cidr: '192.168.42.0/24',
  };
  assert.match(ip.mac_address, /^fa:16:3e(:[0-9a-f]{2}){3}$/);
  assert.match(ip.ip4_address, /^192\.168\.42\.1\d$/);
  assert.equal(ip, { ip4_address: now.internal_ips[0], mac_address: ip.mac_address, ...subnet });
  const [floating] = now.floating_ips;
  assert.equal(floating, {
    url: floating.url,
    uuid: floating.uuid,
    address: '198.18.0.2',
    internal_ip_address: now.internal_ips[0],
    ...subnet,
  });
  assert.equal([now.external_ips, now.access_url], [['198.18.0.2'], ['198.18.0.2']]);
  assert.equal(
    now.related_resources.map(({ name, resource_type }: Json) => [resource_type, name]),
    [
      ['OpenStack.Volume', 'web-system'],
      ['OpenStack.Volume', 'web-data'],
    ],
  );
});

test('counts an instance on project, customer, link and tenant', async () => {
  assert.equal(await usages(cloud.fixture, cloud.people.project), {
    nc_private_cloud_count: 1,
    nc_resource_count: 4,
    nc_service_project_link_count: 1,
    nc_storage_count: 2,
    nc_vm_count: 1,
    nc_volume_count: 2,
    nc_volume_size: 12288,
  });
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 2048, storage: 12288, vcpu: 1 });
  const {
    floating_ip_count,
    instances,
    ram,
    storage,
    vcpu,
    volumes: count,
    volumes_size,
  } = await usages(cloud.fixture, cloud.tenant);
  assert.equal(
    { floating_ip_count, instances, ram, storage, vcpu, count, volumes_size },
    { floating_ip_count: 1, instances: 1, ram: 2048, storage: 12288, vcpu: 1, count: 2, volumes_size: 12288 },
  );
});

test('shows the usages of the provider in settings', async () => {
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
  assert.equal(await usages(cloud.fixture, cloud.settings), {
    openstack_ram: 2048,
    openstack_storage: 12288,
    openstack_vcpu: 1,
  });
  const { body } = await cloud.fixture.staff.get(`${cloud.settings.url}stats/`);
  assert.equal(body, {
    ram: 1048576,
    ram_quota: 51200,
    ram_usage: 2048,
    storage: 10485760,
    storage_quota: 1024000,
    storage_usage: 12288,
    vcpu: 400,
    vcpu_quota: 20,
    vcpu_usage: 1,
  });
});

test('instances can be filtered by tenant, runtime state and addresses, and ordered by flavor', async () => {
  const web = await first(cloud, 'openstack-instances/');
  const matches = async (query: string): Promise<number> =>
    (await names(cloud, `openstack-instances/?${query}`)).length;
  assert.is(await matches(`tenant=${cloud.tenant.url}`), 1);
  assert.is(await matches('runtime_state=ACTIVE'), 1);
  assert.is(await matches('runtime_state=SHUTOFF'), 0);
  assert.is(await matches('external_ip=198.18.0.2'), 1);
  assert.is(await matches('external_ip=198.18.0'), 0);
  assert.is(await matches(`internal_ip=${web.internal_ips[0]}`), 1);
  const big = await instance(cloud, { name: 'big', flavor: (await flavor(cloud, 'm1.large')).url });
  assert.equal(await names(cloud, 'openstack-instances/?o=flavor_name'), ['big', 'web']);
  assert.equal(await names(cloud, 'openstack-instances/?o=-flavor_name'), ['web', 'big']);
  await remove(big);
});

test('rejects destroying an active instance', async () => {
  assert.equal(await destroy(cloud, await first(cloud, 'openstack-instances/')), [
    409,
    { detail: 'Please stop the instance before its removal.' },
  ]);
});

test('keeps data volumes and addresses without delete_volumes and release_floating_ips', async () => {
  const web = await first(cloud, 'openstack-instances/');
  await post(cloud, `${web.url}stop/`);
  await work(cloud.fixture);
  cloud.fixture.events();
  assert.equal(await destroy(cloud, web, '?delete_volumes=false&release_floating_ips=false'), [
    202,
    { detail: 'Deletion was scheduled.' },
  ]);
  assert.equal(messages(cloud), [
    'Resource web deletion has been scheduled.',
    'OpenStack Volume web-system has been deleted.',
    'OpenStack Instance web has been deleted.',
  ]);
  const [data] = await volumes();
  assert.equal(
    [data.name, data.runtime_state, data.device, data.instance, data.instance_name],
    ['web-data', 'available', '', null, null],
  );
  const address = await first(cloud, 'openstack-floating-ips/');
  assert.equal([address.address, address.runtime_state, address.instance], ['198.18.0.2', 'DOWN', null]);
});

test('uses a free floating IP before it creates one, and marks it as used', async () => {
  const floating = { floating_ips: [{ subnet: cloud.subnet.url }] };
  const [, web] = await create(floating);
  const [, other] = await create({ ...floating, name: 'other' });
  await work(cloud.fixture);
  assert.equal(
    [(await present(cloud, web)).external_ips, (await present(cloud, other)).external_ips],
    [['198.18.0.2'], ['198.18.0.3']],
  );
  assert.is((await names(cloud, 'openstack-floating-ips/')).length, 2);
  await remove(web);
  await remove(other);
  assert.is((await names(cloud, 'openstack-floating-ips/')).length, 0);
});

test('rejects deleting an instance whose volume has a snapshot, unless its volumes are kept', async () => {
  const web = await instance(cloud, { name: 'db', data_volume_size: 1024 });
  await post(cloud, `${web.url}stop/`);
  await work(cloud.fixture);
  const data = (await volumes()).find(({ name }: Json) => name === 'db-data');
  const snapshot = await created(cloud, `${data.url}snapshot/`, { name: 'before' });
  assert.equal(await destroy(cloud, web), [
    409,
    { detail: 'Cannot delete instance. One of its volumes has attached snapshot.' },
  ]);
  assert.equal(await destroy(cloud, web, '?delete_volumes=false'), [202, { detail: 'Deletion was scheduled.' }]);
  await destroy(cloud, snapshot);
  await destroy(cloud, data);
  await destroy(cloud, (await volumes())[0]);
  assert.equal(await volumes(), []);
  cloud.fixture.events();
});

test('OPTIONS describes destroy by its flags and links by their lists', async () => {
  const web = await instance(cloud);
  await post(cloud, `${web.url}stop/`);
  await work(cloud.fixture);
  const { actions } = (await cloud.people.clients.admin.options(web.url)).body;
  assert.equal(actions.destroy.fields, {
    delete_volumes: { type: 'boolean', required: false, label: 'Delete volumes', default_value: true },
    release_floating_ips: { type: 'boolean', required: false, label: 'Release floating ips', default_value: true },
  });
  const { display_name_field, url } = actions.change_flavor.fields.flavor;
  assert.equal(
    [url, display_name_field],
    [`${cloud.fixture.url}/api/openstack-flavors/?settings_uuid=${cloud.settings.uuid}`, 'display_name'],
  );
  assert.equal([actions.start.enabled, actions.stop.reason], [true, 'Instance is already stopped.']);
  await destroy(cloud, web);
});

test('counts an instance together with its volumes', async () => {
  const { url } = cloud.people.project;
  const quota = (await cloud.fixture.staff.get(url)).body.quotas.find(({ name }: Json) => name === 'nc_volume_count');
  await cloud.fixture.staff.patch(quota.url, { limit: 1 });
  const [status, body] = await create({ data_volume_size: 1024, image: (await image(cloud, 'CirrOS')).url });
  assert.equal(
    [status, body],
    [409, { detail: 'One or more quotas were exceeded: nc_volume_count quota limit: 1.0, requires 2.0 (Rocket)' }],
  );
  await cloud.fixture.staff.patch(quota.url, { limit: -1 });
  assert.equal(await usages(cloud.fixture, cloud.link), {});
});

test.run();
