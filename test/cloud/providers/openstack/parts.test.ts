import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona, type PersonaName } from '../../../support/personas.ts';
import { collectStates, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  act,
  type Cloud,
  created,
  destroy,
  first,
  group,
  instance,
  messages,
  names,
  post,
  present,
  startCloud,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: sub-resources (providers.md 4.4)');
let cloud: Cloud;

test.before(async () => {
  cloud = await startCloud(fixture);
});

const tenantMembers = (): Json => ({ tenant: cloud.tenant.url, tenant_name: 'Lab', tenant_uuid: cloud.tenant.uuid });

test('lists of sub-resources reject POST', async () => {
  for (const kind of ['security-groups', 'floating-ips', 'networks', 'subnets']) {
    const response = await cloud.people.clients.admin.post(`/api/openstack-${kind}/`, {});
    assert.equal([response.status, response.body], [405, { detail: 'Method "POST" not allowed.' }], kind);
  }
});

test('every sub-resource names its tenant, and is filtered by it', async () => {
  for (const kind of ['security-groups', 'networks', 'subnets']) {
    const { tenant, tenant_name, tenant_uuid } = await first(cloud, `openstack-${kind}/`);
    assert.equal({ tenant, tenant_name, tenant_uuid }, tenantMembers());
    const count = (await names(cloud, `openstack-${kind}/`)).length;
    assert.is((await names(cloud, `openstack-${kind}/?tenant=${cloud.tenant.url}`)).length, count);
    assert.is((await names(cloud, `openstack-${kind}/?tenant_uuid=${cloud.tenant.uuid}`)).length, count);
    assert.equal(await names(cloud, `openstack-${kind}/?tenant_uuid=${'0'.repeat(32)}`), []);
  }
});

test('set_rules replaces all rules and counts them', async () => {
  const web = await group(cloud, 'web');
  const rules = [
    { protocol: '', cidr: '10.0.0.0/8' },
    { protocol: 'icmp', from_port: 8, to_port: 0, cidr: '0.0.0.0/0' },
    { protocol: 'udp', from_port: 53, to_port: 53, cidr: '192.168.0.0/16' },
  ];
  assert.equal(await act(cloud, web, 'set_rules', { rules }), [
    202,
    { status: 'Rules update was successfully scheduled.' },
  ]);
  assert.equal((await present(cloud, web)).rules, [
    { id: 1, protocol: '', from_port: -1, to_port: -1, cidr: '10.0.0.0/8' },
    { id: 2, protocol: 'icmp', from_port: 8, to_port: 0, cidr: '0.0.0.0/0' },
    { id: 3, protocol: 'udp', from_port: 53, to_port: 53, cidr: '192.168.0.0/16' },
  ]);
  assert.is((await usages(cloud.fixture, cloud.tenant)).security_group_rule_count, 8);
  assert.equal(messages(cloud), ['OpenStack SecurityGroup web has been updated.']);
});

test('set_rules also accepts the bare list, with the same errors', async () => {
  const web = await group(cloud, 'web');
  const list = [{ protocol: 'tcp', from_port: 443, to_port: 443, cidr: '0.0.0.0/0' }];
  assert.equal(await act(cloud, web, 'set_rules', list), [202, { status: 'Rules update was successfully scheduled.' }]);
  const { rules } = await present(cloud, web);
  assert.equal(rules, [{ id: 1, protocol: 'tcp', from_port: 443, to_port: 443, cidr: '0.0.0.0/0' }]);
  for (const wrong of [[...list, {}], [1], Array.from({ length: 1001 }, () => list[0])]) {
    const rejection = await post(cloud, `${web.url}set_rules/`, wrong);
    assert.is(rejection[0], 400);
    assert.equal(rejection, await post(cloud, `${web.url}set_rules/`, { rules: wrong }));
  }
  assert.is((await act(cloud, web, 'set_rules', []))[0], 202);
  assert.equal((await present(cloud, web)).rules, []);
  assert.is((await act(cloud, web, 'set_rules', web.rules))[0], 202, 'as answers show it');
  assert.equal((await present(cloud, web)).rules, web.rules);
  const noList = { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] };
  assert.equal(await post(cloud, `${cloud.tenant.url}create_security_group/`, list), [400, noList]);
  messages(cloud);
});

test('a rule has a protocol, a matching range of ports, and an IPv4 network', async () => {
  const ssh = await group(cloud, 'ssh');
  const range = { non_field_errors: ['Invalid port range.'] };
  const network = { cidr: ['Enter a valid IPv4 CIDR.'] };
  const required = ['This field is required.'];
  const cases: [Json, Json][] = [
    [{}, { protocol: required }],
    [{ from_port: -1, to_port: -1, cidr: '0.0.0.0/0' }, { protocol: required }],
    [{ protocol: null, cidr: '0.0.0.0/0' }, { protocol: required }],
    [{ protocol: '' }, { cidr: required }],
    [{ protocol: '', cidr: null }, { cidr: required }],
    [{ protocol: '', cidr: '' }, network],
    [{ protocol: 'tcp' }, range],
    [{ protocol: 'tcp', from_port: 0, to_port: 80 }, range],
    [{ protocol: 'udp', from_port: 80, to_port: 65536 }, range],
    [{ protocol: 'udp', from_port: 81, to_port: 80 }, range],
    [{ protocol: 'icmp', from_port: -2, to_port: 0 }, range],
    [{ protocol: 'icmp', from_port: 0, to_port: 256 }, range],
    [{ protocol: '', from_port: 1, to_port: 1 }, range],
    [{ protocol: 'tcp', from_port: 'ssh', to_port: 22 }, { from_port: ['A valid integer is required.'] }],
    [{ protocol: 'sctp' }, { protocol: ['"sctp" is not a valid choice.'] }],
    [{ protocol: 'tcp', from_port: 1, to_port: 1, cidr: '10.0.0.0' }, network],
    [{ protocol: 'tcp', from_port: 1, to_port: 1, cidr: '10.0.0.0/33' }, network],
    [{ protocol: 'tcp', from_port: 1, to_port: 1, cidr: '2001:db8::/32' }, network],
  ];
  const good = { protocol: 'tcp', from_port: 22, to_port: 22, cidr: '0.0.0.0/0' };
  const rejection = await post(cloud, `${ssh.url}set_rules/`, { rules: [good, ...cases.map(([rule]) => rule)] });
  assert.equal(rejection, [400, { rules: [{}, ...cases.map(([, error]) => error)] }]);
  assert.equal(await post(cloud, `${ssh.url}set_rules/`, {}), [400, { rules: ['This field is required.'] }]);
  assert.equal(await post(cloud, `${ssh.url}set_rules/`, { rules: 'all' }), [
    400,
    { rules: ['Expected a list of items but got type "str".'] },
  ]);
});

test('limits the number of rules in a tenant', async () => {
  const rules = Array.from({ length: 101 }, (_, i) => ({
    protocol: 'tcp',
    from_port: i + 1,
    to_port: i + 1,
    cidr: '0.0.0.0/0',
  }));
  const [status, { detail }] = await post(cloud, `${(await group(cloud, 'ssh')).url}set_rules/`, { rules });
  assert.equal(
    [status, detail],
    [409, 'One or more quotas were exceeded: security_group_rule_count quota limit: 100.0, requires 108.0 (Lab)'],
  );
});

test('a security group is renamed at the provider, but never to default', async () => {
  const { admin } = cloud.people.clients;
  const rdp = await group(cloud, 'rdp');
  assert.equal((await admin.patch(rdp.url, { name: 'default' })).body, {
    name: ['Default security group is managed by OpenStack itself.'],
  });
  assert.is((await admin.put(rdp.url, { name: 'desktop' })).body.state, 'Update Scheduled');
  await work(cloud.fixture);
  assert.equal(messages(cloud), [
    "OpenStack SecurityGroup desktop has been updated. Name has been changed from 'rdp' to 'desktop'.",
  ]);
});

test('floating IPs cannot be changed, and can be deleted only while unused', async () => {
  const { admin } = cloud.people.clients;
  const web = await instance(cloud, { floating_ips: [{ subnet: cloud.subnet.url }] });
  const used = await first(cloud, 'openstack-floating-ips/');
  assert.equal(
    [used.instance, used.instance_uuid, used.instance_name, used.runtime_state, used.address],
    [web.url, web.uuid, web.name, 'ACTIVE', '198.18.0.1'],
  );
  for (const method of ['PUT', 'PATCH']) assert.is((await admin.send(method, used.url, { name: 'x' })).status, 405);
  assert.equal(await destroy(cloud, used), [409, { detail: 'Floating IP is in use.' }]);
  const free = await created(cloud, `${cloud.tenant.url}create_floating_ip/`);
  assert.equal(await names(cloud, 'openstack-floating-ips/?runtime_state=DOWN'), [free.address]);
  assert.equal(await names(cloud, 'openstack-floating-ips/?address=198.18.0.1'), ['198.18.0.1']);
  assert.equal([free.instance, free.instance_uuid, free.instance_name], [null, null, null]);
  assert.equal(await names(cloud, `openstack-floating-ips/?instance_uuid=${web.uuid}`), [used.name]);
  const settings = used.service_settings_uuid;
  assert.is((await names(cloud, `openstack-floating-ips/?settings_uuid=${settings}`)).length, 2);
  assert.equal(await names(cloud, `openstack-floating-ips/?settings_uuid=${web.uuid}`), []);
  assert.equal(await names(cloud, `openstack-floating-ips/?instance=${web.url}`), [used.name]);
  assert.equal(await names(cloud, 'openstack-floating-ips/?o=-instance_name'), [used.name, free.name]);
  assert.equal(await destroy(cloud, free), [202, { detail: 'Deletion was scheduled.' }]);
  assert.is((await cloud.fixture.staff.get(free.url)).status, 404);
});

test('allows one subnet per network', async () => {
  const internal = await first(cloud, 'openstack-networks/');
  assert.equal(await post(cloud, `${internal.url}create_subnet/`, { name: 'second' }), [
    409,
    { detail: 'Internal network cannot have more than one subnet.' },
  ]);
  const network = await created(cloud, `${cloud.tenant.url}create_network/`, { name: 'dmz' });
  const create = (body: Json): Promise<[number, Json]> => post(cloud, `${network.url}create_subnet/`, body);
  assert.equal(await create({}), [400, { name: ['This field is required.'] }]);
  assert.equal(await create({ name: 'dmz', cidr: '10.0.0.0/24' }), [
    400,
    { cidr: ['Value should be 192.168.[1-254].0/24'] },
  ]);
  assert.equal(await create({ name: 'dmz' }), [
    400,
    { cidr: ['Subnet with cidr "192.168.42.0/24" is already registered'] },
  ]);
  const [status, subnet] = await create({ name: 'dmz-sub', description: 'Outside', cidr: '192.168.43.0/24' });
  assert.equal(
    [status, subnet.state, subnet.cidr, subnet.gateway_ip, subnet.network, subnet.network_name, subnet.network_uuid],
    [201, 'Creation Scheduled', '192.168.43.0/24', '192.168.43.1', network.url, 'dmz', network.uuid],
  );
  assert.equal(await collectStates(cloud.fixture, subnet.url), ['Creation Scheduled', 'Creating', 'OK']);
  assert.equal(await names(cloud, `openstack-subnets/?network=${network.url}`), ['dmz-sub']);
  assert.equal(await names(cloud, `openstack-subnets/?network_uuid=${internal.uuid}`), ['lab-sub-net']);
  const { segmentation_id: segment, type } = await present(cloud, network);
  assert.equal([type, segment], ['vxlan', 1002]);
  cloud.fixture.events();
});

test('rejects deleting a network with instances, and deletes its subnet with it', async () => {
  const internal = await first(cloud, 'openstack-networks/?name=lab-int-net');
  assert.equal(await destroy(cloud, internal), [409, { detail: 'Cannot delete network with existing instances' }]);
  assert.equal(await destroy(cloud, await first(cloud, 'openstack-networks/?name=dmz')), [
    202,
    { detail: 'Deletion was scheduled.' },
  ]);
  assert.equal(await names(cloud, 'openstack-subnets/'), ['lab-sub-net']);
  assert.equal(messages(cloud), [
    'Resource dmz deletion has been scheduled.',
    'OpenStack SubNet dmz-sub has been deleted.',
    'OpenStack Network dmz has been deleted.',
  ]);
  assert.equal(await usages(cloud.fixture, cloud.tenant), {
    floating_ip_count: 1,
    instances: 1,
    network_count: 1,
    ram: 2048,
    security_group_count: 5,
    security_group_rule_count: 8,
    storage: 10240,
    subnet_count: 1,
    vcpu: 1,
    volumes: 1,
    volumes_size: 10240,
  });
});

test('pulls single sub-resources', async () => {
  const ping = await group(cloud, 'ping');
  assert.equal(await act(cloud, ping, 'pull'), [202, { detail: 'Pull operation was successfully scheduled.' }]);
  assert.is((await present(cloud, ping)).state, 'OK');
});

test('sub-resources are absent from the summary, its count, and the quotas of projects', async () => {
  const { staff } = cloud.fixture;
  assert.equal((await staff.get('/api/resources/')).body.map(({ resource_type }: Json) => resource_type).sort(), [
    'OpenStack.Instance',
    'OpenStack.Tenant',
    'OpenStack.Volume',
  ]);
  assert.is('OpenStack.Network' in (await staff.get('/api/resources/count/')).body, false);
  assert.is((await usages(cloud.fixture, cloud.people.project)).nc_resource_count, 3);
});

test('sub-resources have the rights of resources', async () => {
  const ping = await group(cloud, 'ping');
  const read = await asEachPersona(cloud.people, async (client) => (await client.get(ping.url)).status);
  assert.equal(read, {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  });
  for (const [part, status] of [
    ['support', 403],
    ['helper', 403],
    ['observer', 403],
    ['stranger', 404],
    ['manager', 200],
  ] as [PersonaName, number][]) {
    assert.is((await cloud.people.clients[part].patch(ping.url, { name: 'ping' })).status, status, part);
  }
});

test('rejects deleting a group of an instance', async () => {
  const ssh = await group(cloud, 'ssh');
  const web = await instance(cloud, { security_groups: [{ url: ssh.url }] });
  assert.equal(await destroy(cloud, ssh), [409, { detail: 'Cannot delete security group that is in use.' }]);
  await act(cloud, web, 'stop');
  assert.is((await destroy(cloud, web))[0], 202);
  const free = await group(cloud, 'ping');
  assert.is((await destroy(cloud, free))[0], 202);
  const { body } = await cloud.fixture.staff.get('/api/openstack-security-groups/?name=ssh');
  assert.is(body.length, 1);
  cloud.fixture.events();
});

test.run();
