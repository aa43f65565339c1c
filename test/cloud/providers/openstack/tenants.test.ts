import * as assert from 'uvu/assert';
import { by, expectedEvent, inJobOf, inProject } from '../../../support/expected-event.ts';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona } from '../../../support/personas.ts';
import { collectStates, setOptions, simulatedService, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  act,
  type Cloud,
  created,
  destroy,
  first,
  instance,
  messages,
  names,
  post,
  present,
  startCloud,
  unlink,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: tenants (providers.md 4.3)');
let cloud: Cloud;

test.before(async () => {
  cloud = await startCloud(fixture, { tenant_name: 'operators', dns_nameservers: '9.9.9.9' });
});

const create = (fields: Readonly<Record<string, unknown>>): Promise<[number, Json]> =>
  post(cloud, '/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Other', ...fields });

test('creates a tenant and records events of the tenant alone', async () => {
  const { fixture, people, service, settings } = cloud;
  const [status, body] = await create({
    name: 'Größe 2!',
    description: 'Small',
    availability_zone: 'nova',
    tags: ['env:test'],
  });
  assert.is(status, 201);
  assert.equal(await collectStates(fixture, body.url), ['Creation Scheduled', 'Creating', 'OK']);
  const { availability_zone, description, external_network_id, extra_configuration, state, tags } = await present(
    cloud,
    body,
  );
  assert.equal(
    [availability_zone, description, external_network_id, extra_configuration, state, tags],
    ['nova', 'Small', 'public-net', {}, 'OK', ['env:test']],
  );
  const about = [
    {
      resource_uuid: body.uuid,
      resource_name: 'Größe 2!',
      resource_full_name: 'OpenStack Tenant Größe 2!',
      resource_type: 'OpenStack.Tenant',
      service_uuid: service.uuid,
      service_name: 'Cloud',
      service_type: 'OpenStack',
      settings_uuid: settings.uuid,
      settings_name: 'Cloud',
      service_settings_type: 'OpenStack',
    },
    inProject(people.project, people.customer),
  ];
  assert.equal(fixture.events(), [
    expectedEvent(
      'resource_creation_scheduled',
      'Resource Größe 2! creation has been scheduled.',
      by(people.users.admin),
      ...about,
    ),
    expectedEvent(
      'resource_creation_succeeded',
      'Resource Größe 2! has been created.',
      inJobOf(people.users.admin),
      ...about,
    ),
  ]);
  await destroy(cloud, body);
  fixture.events();
});

test('creation includes an internal network with a subnet, and five security groups', async () => {
  const [network] = (await cloud.fixture.staff.get('/api/openstack-networks/')).body;
  assert.equal(
    [network.name, network.state, network.is_external, network.tenant, network.backend_id],
    ['lab-int-net', 'OK', false, cloud.tenant.url, cloud.tenant.internal_network_id],
  );
  const { subnet } = cloud;
  assert.equal(network.subnets, [
    { url: subnet.url, uuid: subnet.uuid, name: 'lab-sub-net', cidr: '192.168.42.0/24', gateway_ip: '192.168.42.1' },
  ]);
  assert.equal(
    [subnet.allocation_pools, subnet.dns_nameservers, subnet.ip_version, subnet.enable_dhcp],
    [[{ start: '192.168.42.10', end: '192.168.42.200' }], ['9.9.9.9'], 4, true],
  );
  const groups = (await cloud.fixture.staff.get('/api/openstack-security-groups/?o=name')).body;
  const rules = groups.map(({ name, rules }: Json) => [
    name,
    rules.map(({ from_port, protocol, to_port }: Json) => [protocol, from_port, to_port].join(' ')),
  ]);
  assert.equal(rules, [
    ['allow-all', ['icmp -1 -1', 'tcp 1 65535']],
    ['ping', ['icmp -1 -1']],
    ['rdp', ['tcp 3389 3389']],
    ['ssh', ['tcp 22 22']],
    ['web', ['tcp 80 80', 'tcp 443 443']],
  ]);
});

test('quotas of a tenant have the limits of the provider', async () => {
  const limits = Object.fromEntries(cloud.tenant.quotas.map(({ limit, name }: Json) => [name, limit]));
  assert.equal(limits, {
    floating_ip_count: 50,
    instances: 30,
    network_count: 10,
    ram: 51200,
    security_group_count: 100,
    security_group_rule_count: 100,
    snapshots: 50,
    snapshots_size: -1,
    storage: 1024000,
    subnet_count: 10,
    vcpu: 20,
    volumes: 50,
    volumes_size: -1,
  });
  assert.equal(await usages(cloud.fixture, cloud.tenant), {
    network_count: 1,
    security_group_count: 5,
    security_group_rule_count: 7,
    subnet_count: 1,
  });
});

test('no one can change a single quota of a tenant', async () => {
  const rejection = await cloud.fixture.staff.patch(cloud.tenant.quotas[0].url, { limit: 1 });
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'It is impossible to modify backend quota through this endpoint.' }],
  );
});

test('a tenant counts as a private cloud of the project and as a tenant of the service', async () => {
  assert.equal(await usages(cloud.fixture, cloud.people.project), {
    nc_private_cloud_count: 1,
    nc_resource_count: 1,
    nc_service_project_link_count: 1,
  });
  assert.equal(await usages(cloud.fixture, cloud.service), { tenant_count: 1 });
});

test('two tenants of one provider never share a name, and none has the name of the administrator project', async () => {
  assert.equal(await create({ name: 'Lab' }), [
    400,
    { name: ['Name "Lab" is already registered. Please choose another one.'] },
  ]);
  assert.equal(await create({ name: 'operators' }), [400, { name: ['Name cannot be used.'] }]);
  const other = await created(cloud, '/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Fab' });
  const renamed = await cloud.people.clients.admin.patch(other.url, { name: 'Lab' });
  assert.equal(
    [renamed.status, renamed.body],
    [400, { name: ['Name "Lab" is already registered. Please choose another one.'] }],
  );
  await destroy(cloud, other);
});

test('reports the name of an invisible tenant like a reserved one', async () => {
  const { fixture, people, service } = cloud;
  const there = await fixture.project('Hidden', people.customer);
  const link = await fixture.staff.post('/api/openstack-service-project-link/', {
    service: service.url,
    project: there.url,
  });
  const hidden = await fixture.staff.post('/api/openstack-tenants/', {
    service_project_link: link.body.url,
    name: 'Secret',
    user_username: 'secret',
  });
  assert.is(hidden.status, 201, JSON.stringify(hidden.body));
  await work(fixture);
  fixture.events();
  assert.equal(await create({ name: 'Secret' }), [400, { name: ['Name cannot be used.'] }]);
  const reserved = await people.clients.admin.patch(cloud.tenant.url, { name: 'operators' });
  const renamed = await people.clients.admin.patch(cloud.tenant.url, { name: 'Secret' });
  assert.equal([renamed.status, renamed.body], [400, { name: ['Name cannot be used.'] }]);
  assert.equal(renamed.body, reserved.body);
  assert.equal(await create({ user_username: 'secret' }), [
    400,
    { user_username: ['Name "secret" cannot be used as tenant user username.'] },
  ]);
  const seen = await people.clients.owner.patch(cloud.tenant.url, { name: 'Secret' });
  assert.equal(seen.body, { name: ['Name "Secret" is already registered. Please choose another one.'] });
  assert.equal(fixture.events(), []);
  await fixture.staff.delete(hidden.body.url);
  await work(fixture);
  fixture.events();
});

test('rejects user names that are taken or reserved', async () => {
  const other = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Fab',
    user_username: 'fab',
  });
  assert.equal(await create({ user_username: 'fab' }), [
    400,
    { user_username: ['Name "fab" is already registered. Please choose another one.'] },
  ]);
  for (const name of ['admin', 'service']) {
    assert.equal(await create({ user_username: name }), [
      400,
      { user_username: [`Name "${name}" cannot be used as tenant user username.`] },
    ]);
  }
  assert.equal(await create({ user_username: 'u'.repeat(51) }), [
    400,
    { user_username: ['Ensure this field has no more than 50 characters.'] },
  ]);
  await destroy(cloud, other);
});

test('chooses a subnet of 192.168.[1-254].0/24', async () => {
  for (const cidr of ['192.168.0.0/24', '192.168.255.0/24', '192.168.7.0/16', '10.0.0.0/24', '192.168.7.1/24']) {
    assert.equal(await create({ subnet_cidr: cidr }), [400, { subnet_cidr: ['Value should be 192.168.[1-254].0/24'] }]);
  }
  const other = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Fab',
    subnet_cidr: '192.168.7.0/24',
  });
  assert.is((await first(cloud, `openstack-subnets/?tenant=${other.url}`)).cidr, '192.168.7.0/24');
  await destroy(cloud, other);
});

test('the dashboard of a simulated tenant is the option access_url, or none', async () => {
  assert.is(cloud.tenant.access_url, null);
  await setOptions(cloud.fixture, cloud.settings, { access_url: 'https://dashboard.example.com' });
  assert.is((await present(cloud, cloud.tenant)).access_url, 'https://dashboard.example.com');
  await setOptions(cloud.fixture, cloud.settings, { access_url: null });
});

test('hides the user of a tenant unless credentials are visible', async () => {
  assert.is('user_username' in cloud.tenant || 'user_password' in cloud.tenant, false);
});

test('only staff set quotas, and the limits change after the provider has accepted them', async () => {
  const { admin, staff } = cloud.people.clients;
  assert.is((await admin.post(`${cloud.tenant.url}set_quotas/`, { vcpu: 7 })).status, 403);
  assert.equal((await staff.post(`${cloud.tenant.url}set_quotas/`, { vcpu: 0 })).body, {
    vcpu: ['Ensure this value is greater than or equal to 1.'],
  });
  const limits = async (): Promise<number[]> =>
    (await present(cloud, cloud.tenant)).quotas
      .filter(({ name }: Json) => ['ram', 'vcpu'].includes(name))
      .map(({ limit }: Json) => limit);
  const response = await staff.post(`${cloud.tenant.url}set_quotas/`, { vcpu: 7, ram: 8192 });
  assert.equal(
    [response.status, response.body, await limits()],
    [202, { detail: 'Quota update has been scheduled' }, [51200, 20]],
  );
  await work(cloud.fixture);
  assert.equal(await limits(), [8192, 7]);
  cloud.fixture.events();
});

test('rejects resources above the quotas of the tenant', async () => {
  const [status, { detail }] = await post(cloud, '/api/openstack-volumes/', {
    service_project_link: cloud.link.url,
    tenant: cloud.tenant.url,
    name: 'huge',
    size: 2_048_000,
  });
  assert.equal(
    [status, detail],
    [409, 'One or more quotas were exceeded: storage quota limit: 1024000.0, requires 2048000.0 (Lab)'],
  );
});

test('returns the created network, security group and floating IP without changing the tenant', async () => {
  const [made201, network] = await post(cloud, `${cloud.tenant.url}create_network/`, {
    name: 'dmz',
    description: 'Outside',
  });
  assert.equal(
    [made201, network.name, network.description, network.state, network.tenant_name],
    [201, 'dmz', 'Outside', 'Creation Scheduled', 'Lab'],
  );
  const [, group] = await post(cloud, `${cloud.tenant.url}create_security_group/`, {
    name: 'db',
    rules: [{ protocol: 'tcp', from_port: 5432, to_port: 5432, cidr: '10.0.0.0/8' }],
  });
  assert.equal(
    [group.state, group.rules],
    ['Creation Scheduled', [{ id: 1, protocol: 'tcp', from_port: 5432, to_port: 5432, cidr: '10.0.0.0/8' }]],
  );
  const [, address] = await post(cloud, `${cloud.tenant.url}create_floating_ip/`);
  assert.equal(
    [address.state, address.address, address.backend_network_id, address.instance],
    ['Creation Scheduled', '', 'public-net', null],
  );
  assert.is((await present(cloud, cloud.tenant)).state, 'OK');
  await work(cloud.fixture);
  assert.equal([(await present(cloud, network)).state, (await present(cloud, group)).state], ['OK', 'OK']);
  const { address: input, name, runtime_state } = await present(cloud, address);
  assert.equal([input, name, runtime_state], ['198.18.0.1', '198.18.0.1', 'DOWN']);
  assert.equal(messages(cloud), [
    'Resource dmz creation has been scheduled.',
    'Resource db creation has been scheduled.',
    'Resource Floating IP of Lab creation has been scheduled.',
    'Resource dmz has been created.',
    'Resource db has been created.',
    'Resource 198.18.0.1 has been created.',
  ]);
  assert.equal((await cloud.fixture.staff.get('/api/resources/count/')).body['OpenStack.Tenant'], 1);
  assert.is((await cloud.fixture.staff.get('/api/resources/')).body.length, 1);
});

test('the group "default" is the provider\'s own', async () => {
  assert.equal(await post(cloud, `${cloud.tenant.url}create_security_group/`, { name: 'default' }), [
    400,
    { name: ['Default security group is managed by OpenStack itself.'] },
  ]);
});

test('without an external network there are no floating IPs', async () => {
  const { link } = await simulatedService(cloud.fixture, 'openstack', cloud.people, { name: 'Closed' });
  const closed = await created(cloud, '/api/openstack-tenants/', { service_project_link: link.url, name: 'Closed' });
  assert.equal(await post(cloud, `${closed.url}create_floating_ip/`), [
    409,
    { detail: 'Cannot create floating IP if tenant external network is not defined.' },
  ]);
  await destroy(cloud, closed);
  cloud.fixture.events();
});

test('schedules pull_floating_ips, pull_security_groups, pull_quotas and pull, without events', async () => {
  cloud.fixture.events();
  assert.equal(await act(cloud, cloud.tenant, 'pull_floating_ips'), [
    202,
    { status: 'Floating IPs pull has been scheduled.' },
  ]);
  assert.equal(await act(cloud, cloud.tenant, 'pull_security_groups'), [
    202,
    { status: 'Security groups pull has been scheduled.' },
  ]);
  assert.equal(await act(cloud, cloud.tenant, 'pull_quotas'), [202, { status: 'Quotas pull has been scheduled.' }]);
  assert.equal(await act(cloud, cloud.tenant, 'pull'), [202, { detail: 'Pull operation was successfully scheduled.' }]);
  assert.is((await present(cloud, cloud.tenant)).state, 'OK');
  assert.equal(messages(cloud), []);
});

test('sends a changed name to the provider and records an event', async () => {
  const { admin } = cloud.people.clients;
  const { body, status } = await admin.put(cloud.tenant.url, { name: 'Laboratory' });
  assert.equal([status, body.state], [200, 'Update Scheduled']);
  await work(cloud.fixture);
  assert.equal(messages(cloud), [
    "OpenStack Tenant Laboratory has been updated. Name has been changed from 'Lab' to 'Laboratory'.",
  ]);
  await admin.patch(cloud.tenant.url, { name: 'Lab' });
  await work(cloud.fixture);
  cloud.fixture.events();
});

test('rejects deleting a tenant with instances, snapshots or volumes, and its project', async () => {
  const web = await instance(cloud);
  assert.equal(await destroy(cloud, cloud.tenant), [409, { detail: 'Cannot delete tenant with existing instances' }]);
  assert.equal((await cloud.fixture.staff.delete(cloud.people.project.url)).body, {
    detail: 'Cannot delete project with existing instances',
  });
  await act(cloud, web, 'stop');
  await destroy(cloud, web, '?release_floating_ips=false');
  assert.equal((await cloud.fixture.staff.delete(cloud.people.project.url)).body, {
    detail: 'Cannot delete project with existing tenants',
  });
  cloud.fixture.events();
});

test('removes the parts of a deleted tenant without events', async () => {
  assert.equal(await destroy(cloud, cloud.tenant), [202, { detail: 'Deletion was scheduled.' }]);
  assert.is((await cloud.fixture.staff.get(cloud.tenant.url)).status, 404);
  for (const kind of ['networks', 'subnets', 'security-groups', 'floating-ips'])
    assert.equal(await names(cloud, `openstack-${kind}/`), [], kind);
  assert.equal(messages(cloud), [
    'Resource Lab deletion has been scheduled.',
    'OpenStack Tenant Lab has been deleted.',
  ]);
  assert.equal(await usages(cloud.fixture, cloud.people.project), { nc_service_project_link_count: 2 });
});

test('unlinks a tenant without contents together with its parts, which stay at the provider', async () => {
  const tenant = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Gone',
  });
  const web = await instance({ ...cloud, tenant });
  assert.equal(await unlink(cloud, tenant), [409, { detail: 'Cannot delete tenant with existing instances' }]);
  await unlink(cloud, web);
  cloud.fixture.events();
  assert.is((await unlink(cloud, tenant))[0], 409, 'its volume is still there');
  for (const { url } of (await cloud.fixture.staff.get('/api/openstack-volumes/')).body) await unlink(cloud, { url });
  assert.is((await unlink(cloud, tenant))[0], 204);
  assert.equal(messages(cloud), [
    'OpenStack Volume web-system has been deleted.',
    'OpenStack Tenant Gone has been deleted.',
  ]);
  assert.equal(await usages(cloud.fixture, cloud.people.project), { nc_service_project_link_count: 2 });
  assert.equal(await usages(cloud.fixture, cloud.link), {});
});

test('users who may change resources create tenants on private settings', async () => {
  const statuses = await asEachPersona(
    cloud.people,
    async (client, part) =>
      (await client.post('/api/openstack-tenants/', { service_project_link: cloud.link.url, name: `of ${part}` }))
        .status,
  );
  assert.equal(statuses, {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 403,
    manager: 201,
    admin: 201,
    observer: 403,
    stranger: 400,
  });
});

test.run();
