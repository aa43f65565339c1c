import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { collectStates, step, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  act,
  type Cloud,
  created,
  first,
  flavor,
  group,
  instance,
  messages,
  names,
  post,
  present,
  startCloud,
  unlink,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: actions of instances (providers.md 4.5)');
let cloud: Cloud;
let web: Json;

test.before(async () => {
  cloud = await startCloud(fixture);
  web = await instance(cloud);
  cloud.fixture.events();
});

/** Starts an action; returns the instance with the states that follow. */
async function watch(action: string, body?: unknown): Promise<[number, Json, string[]]> {
  const [status, response] = await post(cloud, `${web.url}${action}/`, body);
  return [status, response, await collectStates(cloud.fixture, web.url)];
}

test('an active instance is stopped, not started', async () => {
  assert.equal(await act(cloud, web, 'start'), [409, { detail: 'Instance is already active.' }]);
  assert.equal(await watch('stop'), [
    202,
    { status: 'stop was scheduled' },
    ['Update Scheduled ACTIVE', 'Updating ACTIVE', 'OK SHUTOFF'],
  ]);
  assert.is((await present(cloud, web)).start_time, null);
  assert.equal(messages(cloud), ['Resource web has been scheduled to stop.', 'Resource web has been stopped.']);
});

test('a stopped instance is started, not stopped or restarted', async () => {
  assert.equal(await act(cloud, web, 'stop'), [409, { detail: 'Instance is already stopped.' }]);
  assert.equal(await act(cloud, web, 'restart'), [409, { detail: 'Please start instance first.' }]);
  assert.equal(await watch('start'), [
    202,
    { status: 'start was scheduled' },
    ['Update Scheduled SHUTOFF', 'Updating SHUTOFF', 'OK ACTIVE'],
  ]);
  assert.equal(messages(cloud), ['Resource web has been scheduled to start.', 'Resource web has been started.']);
});

test('an active instance is restarted', async () => {
  assert.equal(await watch('restart'), [
    202,
    { status: 'restart was scheduled' },
    ['Update Scheduled ACTIVE', 'Updating REBOOT', 'OK ACTIVE'],
  ]);
  assert.equal(messages(cloud), ['Resource web has been scheduled to restart.', 'Resource web has been restarted.']);
});

test('the second of two requests sees the state set by the first', async () => {
  await post(cloud, `${web.url}stop/`);
  assert.equal(await post(cloud, `${web.url}stop/`), [409, { detail: 'Valid states for operation: OK.' }]);
  await work(cloud.fixture);
  cloud.fixture.events();
});

test('a new flavor differs from the current one, belongs to the same settings, and has no smaller disk', async () => {
  const change = async (name: string): Promise<[number, Json]> =>
    post(cloud, `${web.url}change_flavor/`, { flavor: (await flavor(cloud, name)).url });
  assert.equal(await change('m1.small'), [400, { flavor: ['New flavor is the same as current.'] }]);
  assert.equal(await change('m1.tiny'), [
    400,
    { flavor: ['New flavor disk should be greater than the previous value'] },
  ]);
  const { staff } = cloud.fixture;
  await staff.post('/api/service-settings/', { name: 'Other', type: 'OpenStack', simulator_latency: '0' });
  await work(cloud.fixture);
  const foreign = (await staff.get('/api/openstack-flavors/')).body.find(
    ({ settings }: Json) => settings !== cloud.settings.url,
  );
  const rejection = await staff.post(`${web.url}change_flavor/`, { flavor: foreign.url });
  assert.equal(
    [rejection.status, rejection.body],
    [400, { flavor: ['New flavor is not within the same service settings'] }],
  );
});

test('change_flavor passes through RESIZE and VERIFY_RESIZE, and counts when it is accepted', async () => {
  const [status, response] = await post(cloud, `${web.url}change_flavor/`, {
    flavor: (await flavor(cloud, 'm1.medium')).url,
  });
  assert.equal([status, response], [202, { status: 'change_flavor was scheduled' }]);
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 4096, storage: 10240, vcpu: 2 });
  assert.equal(await collectStates(cloud.fixture, web.url), [
    'Update Scheduled SHUTOFF',
    'Updating RESIZE',
    'Updating VERIFY_RESIZE',
    'OK SHUTOFF',
  ]);
  const { cores, flavor_disk, flavor_name, ram } = await present(cloud, web);
  assert.equal(
    { cores, flavor_disk, flavor_name, ram },
    { cores: 2, flavor_disk: 40960, flavor_name: 'm1.medium', ram: 4096 },
  );
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 4096, storage: 10240, vcpu: 2 });
  assert.equal(messages(cloud), ['OpenStack Instance web has been updated.']);
});

test('rejects a flavor above the quotas of the tenant', async () => {
  await cloud.fixture.staff.post(`${cloud.tenant.url}set_quotas/`, { vcpu: 3 });
  await work(cloud.fixture);
  const [status, body] = await post(cloud, `${web.url}change_flavor/`, {
    flavor: (await flavor(cloud, 'm1.large')).url,
  });
  assert.equal(
    [status, body],
    [409, { detail: 'One or more quotas were exceeded: vcpu quota limit: 3.0, requires 4.0 (Lab)' }],
  );
});

test('rejects another flavor for an active instance', async () => {
  await act(cloud, web, 'start');
  assert.equal(await post(cloud, `${web.url}change_flavor/`, { flavor: (await flavor(cloud, 'm1.large')).url }), [
    409,
    { detail: 'Please stop the instance before changing its flavor.' },
  ]);
  cloud.fixture.events();
});

test('update_security_groups replaces the groups', async () => {
  assert.equal(await post(cloud, `${web.url}update_security_groups/`, {}), [
    400,
    { security_groups: ['This field is required.'] },
  ]);
  const groups = [{ url: (await group(cloud, 'ssh')).url }, { url: (await group(cloud, 'ping')).url }];
  assert.equal(await act(cloud, web, 'update_security_groups', { security_groups: groups }), [
    202,
    { status: 'security groups update was scheduled' },
  ]);
  assert.equal(
    (await present(cloud, web)).security_groups.map(({ name }: Json) => name),
    ['ssh', 'ping'],
  );
  await act(cloud, web, 'update_security_groups', { security_groups: [] });
  assert.equal((await present(cloud, web)).security_groups, []);
});

test('connects more subnets with update_internal_ips_set and keeps other addresses', async () => {
  const network = await created(cloud, `${cloud.tenant.url}create_network/`, { name: 'dmz' });
  const second = await created(cloud, `${network.url}create_subnet/`, { name: 'dmz-sub', cidr: '192.168.43.0/24' });
  assert.equal(await post(cloud, `${web.url}update_internal_ips_set/`, { internal_ips_set: [] }), [
    400,
    { internal_ips_set: ['Instance should be connected to at least one network.'] },
  ]);
  const set = [{ subnet: cloud.subnet.url }, { subnet: second.url }];
  assert.equal(await act(cloud, web, 'update_internal_ips_set', { internal_ips_set: set }), [
    202,
    { status: 'internal ips update was scheduled' },
  ]);
  const now = await present(cloud, web);
  assert.equal(now.internal_ips, [web.internal_ips[0], '192.168.43.10']);
  assert.equal(
    now.internal_ips_set.map(({ subnet_name }: Json) => subnet_name),
    ['lab-sub-net', 'dmz-sub'],
  );
  await act(cloud, web, 'update_internal_ips_set', { internal_ips_set: [{ subnet: cloud.subnet.url }] });
  assert.equal((await present(cloud, web)).internal_ips, web.internal_ips);
  cloud.fixture.events();
});

test('attaches new, free and named addresses with update_floating_ips and releases others', async () => {
  const update = (floating_ips: Json): Promise<[number, Json]> =>
    act(cloud, web, 'update_floating_ips', { floating_ips });
  const { subnet } = cloud;
  assert.equal(await update([{ subnet: subnet.url }]), [202, { status: 'floating ips update was scheduled' }]);
  assert.equal((await present(cloud, web)).external_ips, ['198.18.0.1']);
  assert.equal(messages(cloud), [
    'Resource Floating IP of Lab creation has been scheduled.',
    'Resource 198.18.0.1 has been created.',
    'OpenStack Instance web has been updated.',
  ]);
  await update([]);
  const free = await first(cloud, 'openstack-floating-ips/');
  assert.equal(
    [free.address, free.instance, free.runtime_state, (await present(cloud, web)).external_ips],
    ['198.18.0.1', null, 'DOWN', []],
  );
  await update([{ subnet: subnet.url, url: free.url }]);
  const now = await present(cloud, web);
  assert.equal([now.external_ips, now.floating_ips[0].internal_ip_address], [['198.18.0.1'], web.internal_ips[0]]);
  assert.equal(await names(cloud, 'openstack-floating-ips/'), ['198.18.0.1']);
  cloud.fixture.events();
});

test("a floating IP that an operation has chosen is nobody else's", async () => {
  await act(cloud, web, 'update_floating_ips', { floating_ips: [] });
  const other = await instance(cloud, { name: 'other' });
  const free = await first(cloud, 'openstack-floating-ips/');
  const body = { floating_ips: [{ subnet: cloud.subnet.url, url: free.url }] };
  await post(cloud, `${web.url}update_floating_ips/`, body);
  assert.equal(await post(cloud, `${other.url}update_floating_ips/`, body), [
    400,
    { floating_ips: ['Floating IP 198.18.0.1 is already in use.'] },
  ]);
  await work(cloud.fixture);
  assert.equal((await present(cloud, web)).external_ips, ['198.18.0.1']);
});

test('sends name and description to the provider, but not tags', async () => {
  const { admin } = cloud.people.clients;
  cloud.fixture.events();
  assert.is((await admin.patch(web.url, { tags: ['env:prod'] })).body.state, 'OK');
  assert.is((await admin.patch(web.url, { name: 'www', description: 'Front' })).body.state, 'Update Scheduled');
  await work(cloud.fixture);
  assert.equal(messages(cloud), [
    'OpenStack Instance web has been updated.',
    "OpenStack Instance www has been updated. Name has been changed from 'web' to 'www'. Description has been changed from '' to 'Front'.",
  ]);
});

test('pulls the values of the provider', async () => {
  assert.equal(await act(cloud, web, 'pull'), [202, { detail: 'Pull operation was successfully scheduled.' }]);
  assert.equal([(await present(cloud, web)).state, messages(cloud)], ['OK', []]);
});

test('unlinks an instance during its creation together with its new parts', async () => {
  await cloud.fixture.staff.post(`${cloud.tenant.url}set_quotas/`, { vcpu: 20 });
  await work(cloud.fixture);
  const [, fresh] = await post(cloud, '/api/openstack-instances/', {
    service_project_link: cloud.link.url,
    tenant: cloud.tenant.url,
    name: 'brief',
    flavor: (await flavor(cloud, 'm1.tiny')).url,
    image: (await first(cloud, 'openstack-images/?name=CirrOS')).url,
    system_volume_size: 1024,
    floating_ips: [{ subnet: cloud.subnet.url }],
  });
  await step(cloud.fixture);
  assert.is((await unlink(cloud, fresh))[0], 204);
  await work(cloud.fixture);
  assert.equal(await names(cloud, 'openstack-volumes/?name=brief'), []);
  assert.equal(await names(cloud, 'openstack-floating-ips/'), ['198.18.0.1']);
});

test('disconnecting a subnet detaches its floating IP; others stay', async () => {
  const dmz = await first(cloud, 'openstack-subnets/?name_exact=dmz-sub');
  const both = [{ subnet: cloud.subnet.url }, { subnet: dmz.url }];
  const edge = await instance(cloud, { name: 'edge', internal_ips_set: both, floating_ips: both });
  const [stored, lost] = edge.external_ips;
  assert.equal(
    edge.floating_ips.map(({ address, subnet_name: name }: Json) => [address, name]),
    [
      [stored, 'lab-sub-net'],
      [lost, 'dmz-sub'],
    ],
  );
  cloud.fixture.events();
  const dropped = { internal_ips_set: [{ subnet: cloud.subnet.url }] };
  assert.is((await act(cloud, edge, 'update_internal_ips_set', dropped))[0], 202);
  const check = async (): Promise<void> => {
    const { access_url, external_ips, floating_ips } = await present(cloud, edge);
    assert.equal(
      [external_ips, access_url, floating_ips.map(({ address }: Json) => address)],
      [[stored], [stored], [stored]],
    );
    const free = await first(cloud, `openstack-floating-ips/?address=${lost}`);
    assert.equal([free.instance, free.runtime_state, free.state], [null, 'DOWN', 'OK']);
    assert.is((await first(cloud, `openstack-floating-ips/?address=${stored}`)).instance, edge.url);
  };
  await check();
  assert.equal(messages(cloud), ['OpenStack Instance edge has been updated.']);
  await act(cloud, edge, 'pull');
  cloud.fixture.clock.advance(30 * 60);
  await work(cloud.fixture);
  await check();
  const again = { floating_ips: [{ subnet: cloud.subnet.url }] };
  await act(cloud, await instance(cloud, { name: 'next', ...again }), 'stop');
  assert.is(
    (await first(cloud, `openstack-floating-ips/?address=${lost}`)).runtime_state,
    'ACTIVE',
    'and is taken again',
  );
});

test.run();
