import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { act, type Cloud, first, messages, names, present, startCloud } from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: imports and the background pull (providers.md 4.8)');
let cloud: Cloud;
let items: Json[];

test.before(async () => {
  cloud = await startCloud(fixture, { simulator_inventory: 1 });
  items = (await cloud.fixture.staff.get(`${cloud.service.url}link/`)).body;
});

const importObject = async (client: keyof Cloud['people']['clients'], type: string): Promise<[number, Json]> => {
  const item = items.find(({ resource_type }) => resource_type === `OpenStack.${type}`) as Json;
  const { body, status } = await cloud.people.clients[client].post(`${cloud.service.url}link/`, {
    backend_id: item.backend_id,
    project: cloud.people.project.url,
    resource_type: item.resource_type,
  });
  return [status, body];
};

test('tenants, instances and volumes can be imported', () => {
  assert.equal(
    items.map(({ backend_id: _, created: __, ...item }) => item),
    [
      {
        name: 'unmanaged-instance-1',
        resource_type: 'OpenStack.Instance',
        cores: 1,
        ram: 512,
        disk: 1024,
        runtime_state: 'ACTIVE',
        tenant_uuid: null,
      },
      { name: 'unmanaged-tenant-1', resource_type: 'OpenStack.Tenant', description: '' },
      {
        name: 'unmanaged-volume-1',
        resource_type: 'OpenStack.Volume',
        size: 10240,
        runtime_state: 'available',
        tenant_uuid: null,
      },
    ],
  );
});

test('only objects of known tenants are imported', async () => {
  const { backend_id } = items.find(({ resource_type }) => resource_type === 'OpenStack.Tenant');
  assert.equal(await importObject('owner', 'Instance'), [
    400,
    { backend_id: [`You must import tenant with ID ${backend_id} first`] },
  ]);
});

test('allows only staff to import tenants, together with their parts', async () => {
  assert.is((await importObject('owner', 'Tenant'))[0], 403);
  const [status, { name, state, url, uuid }] = await importObject('staff', 'Tenant');
  assert.equal([status, name, state], [200, 'unmanaged-tenant-1', 'OK']);
  assert.equal(await names(cloud, `openstack-networks/?tenant_uuid=${uuid}`), ['unmanaged-tenant-1-int-net']);
  assert.equal(
    (await first(cloud, `openstack-subnets/?tenant_uuid=${uuid}`)).network_name,
    'unmanaged-tenant-1-int-net',
  );
  assert.is((await names(cloud, `openstack-security-groups/?tenant_uuid=${uuid}`)).length, 5);
  assert.equal(messages(cloud), ['Resource OpenStack Tenant unmanaged-tenant-1 has been imported.']);
  assert.equal(await usages(cloud.fixture, { url }), {
    instances: 1,
    network_count: 1,
    ram: 512,
    security_group_count: 5,
    security_group_rule_count: 7,
    storage: 10240,
    subnet_count: 1,
    vcpu: 1,
    volumes: 1,
    volumes_size: 10240,
  });
});

test('instances and volumes are imported into their tenant by owners', async () => {
  const { uuid } = await first(cloud, 'openstack-tenants/?name=unmanaged');
  items = (await cloud.fixture.staff.get(`${cloud.service.url}link/`)).body;
  assert.equal(
    items.map(({ tenant_uuid }) => tenant_uuid),
    [uuid, uuid],
  );
  const [, instance] = await importObject('owner', 'Instance');
  const [, volume] = await importObject('owner', 'Volume');
  const web = await present(cloud, instance);
  assert.equal(
    [web.tenant_uuid, web.flavor_name, web.runtime_state, web.internal_ips_set[0].subnet_name],
    [uuid, 'm1.tiny', 'ACTIVE', 'unmanaged-tenant-1-sub-net'],
  );
  assert.equal([(await present(cloud, volume)).tenant_uuid, (await present(cloud, volume)).size], [uuid, 10240]);
  assert.equal((await importObject('owner', 'Volume'))[1], { backend_id: ['This resource is already linked.'] });
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 512, storage: 10240, vcpu: 1 });
});

test('an imported volume is attached to an imported instance', async () => {
  const web = await first(cloud, 'openstack-instances/');
  const disk = await first(cloud, 'openstack-volumes/');
  assert.equal(await act(cloud, disk, 'attach', { instance: web.url }), [202, { status: 'attach was scheduled' }]);
  assert.equal([(await present(cloud, disk)).instance, (await present(cloud, disk)).device], [web.url, '/dev/vdb']);
});

test('every synchronisation copies quotas from the provider, and changes no other unchanged values', async () => {
  const tenant = await first(cloud, 'openstack-tenants/?name=unmanaged');
  const before = await usages(cloud.fixture, tenant);
  const list = async (): Promise<Json> => (await cloud.fixture.staff.get('/api/resources/?o=name')).body;
  const resources = await list();
  const { db } = cloud.fixture.server.app;
  db.write(() => db.run({ text: "UPDATE quota SET usage = 9 WHERE name = 'instances'", values: [] }));
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
  assert.equal(await usages(cloud.fixture, tenant), before);
  assert.equal(await list(), resources);
});

test('adds a part that appeared at the provider', async () => {
  const { db } = cloud.fixture.server.app;
  db.write(() =>
    db.run({
      text: "DELETE FROM resource WHERE kind = 'OpenStack.SecurityGroup' AND parent_id = (SELECT id FROM resource WHERE name = 'Lab')",
      values: [],
    }),
  );
  await act(cloud, cloud.tenant, 'pull_security_groups');
  const groups = (): Promise<string[]> => names(cloud, `openstack-security-groups/?tenant_uuid=${cloud.tenant.uuid}`);
  assert.is((await groups()).length, 5);
  db.write(() =>
    db.run({
      text: "DELETE FROM resource WHERE kind = 'OpenStack.SecurityGroup' AND parent_id = (SELECT id FROM resource WHERE name = 'Lab')",
      values: [],
    }),
  );
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
  assert.is((await groups()).length, 5);
});

test.run();
