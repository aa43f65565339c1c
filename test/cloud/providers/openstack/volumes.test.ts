import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { collectStates, step, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  act,
  type Cloud,
  created,
  destroy,
  image,
  instance,
  messages,
  names,
  post,
  present,
  startCloud,
  unlink,
  volume,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: volumes and snapshots (providers.md 4.6)');
let cloud: Cloud;
let web: Json;
let disk: Json;

test.before(async () => {
  cloud = await startCloud(fixture);
  web = await instance(cloud);
  cloud.fixture.events();
});

const create = (fields: Json): Promise<[number, Json]> =>
  post(cloud, '/api/openstack-volumes/', {
    service_project_link: cloud.link.url,
    tenant: cloud.tenant.url,
    name: 'disk',
    size: 2048,
    ...fields,
  });
const system = async (): Promise<Json> =>
  (await cloud.fixture.staff.get('/api/openstack-volumes/?name=web-system')).body[0];

test('link, name and size are required', async () => {
  const required = ['This field is required.'];
  assert.equal(await post(cloud, '/api/openstack-volumes/', {}), [
    400,
    { name: required, service_project_link: required, size: required },
  ]);
  assert.equal(await create({ size: 1023 }), [400, { size: ['Ensure this value is greater than or equal to 1024.'] }]);
});

test('a volume must be large enough for its image', async () => {
  const { url } = await image(cloud, 'Ubuntu');
  assert.equal(await create({ image: url }), [
    400,
    { size: ['Volume size should be equal or greater than 10240 for selected image'] },
  ]);
  const ubuntu = await volume(cloud, { size: 10_240, image: url });
  assert.equal([ubuntu.image, ubuntu.image_name], [url, 'Ubuntu 16.04']);
  await destroy(cloud, ubuntu);
  cloud.fixture.events();
});

test('creates a volume without a tenant in the only ready tenant of the link', async () => {
  const body = { service_project_link: cloud.link.url, name: 'spare', size: 1024 };
  const spare = await created(cloud, '/api/openstack-volumes/', body);
  assert.equal([spare.tenant, spare.state], [cloud.tenant.url, 'OK']);
  await destroy(cloud, spare);
  const second = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Second',
  });
  assert.equal(await post(cloud, '/api/openstack-volumes/', body), [
    400,
    { tenant: ['The service project link has several tenants: name one.'] },
  ]);
  await destroy(cloud, second);
  const [, options] = [0, (await cloud.people.clients.admin.options('/api/openstack-volumes/')).body];
  assert.is(options.actions.POST.tenant.required, false);
  cloud.fixture.events();
});

test('a volume is created', async () => {
  const [status, body] = await create({ description: 'Data' });
  assert.is(status, 201);
  assert.equal(await collectStates(cloud.fixture, body.url), [
    'Creation Scheduled',
    'Creating creating',
    'OK available',
  ]);
  disk = await present(cloud, body);
  const {
    bootable,
    description,
    device,
    image: from,
    image_metadata,
    image_name,
    instance: attached,
    instance_name,
    instance_uuid,
    metadata,
    size,
    source_snapshot,
    tenant,
    tenant_name,
    tenant_uuid,
    type,
  } = disk;
  assert.equal(
    {
      bootable,
      description,
      device,
      from,
      image_metadata,
      image_name,
      attached,
      instance_name,
      instance_uuid,
      metadata,
      size,
      source_snapshot,
      tenant,
      tenant_name,
      tenant_uuid,
      type,
    },
    {
      bootable: false,
      description: 'Data',
      device: '',
      from: null,
      image_metadata: {},
      image_name: '',
      attached: null,
      instance_name: null,
      instance_uuid: null,
      metadata: {},
      size: 2048,
      source_snapshot: null,
      tenant: cloud.tenant.url,
      tenant_name: 'Lab',
      tenant_uuid: cloud.tenant.uuid,
      type: 'lvm',
    },
  );
  assert.equal(messages(cloud), ['Resource disk creation has been scheduled.', 'Resource disk has been created.']);
  const { nc_storage_count, nc_volume_count, nc_volume_size } = await usages(cloud.fixture, cloud.people.project);
  assert.equal([nc_storage_count, nc_volume_count, nc_volume_size], [2, 2, 12288]);
});

test('a volume grows by at least one GiB', async () => {
  assert.equal(await post(cloud, `${disk.url}extend/`, { disk_size: 3071 }), [
    400,
    { disk_size: ['Disk size should be greater than 2048'] },
  ]);
  assert.equal(await post(cloud, `${disk.url}extend/`, { disk_size: 3072 }), [202, { status: 'extend was scheduled' }]);
  assert.is((await usages(cloud.fixture, cloud.link)).storage, 13312);
  assert.equal(await collectStates(cloud.fixture, disk.url), [
    'Update Scheduled available',
    'Updating extending',
    'OK available',
  ]);
  assert.is((await present(cloud, disk)).size, 3072);
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 2048, storage: 13312, vcpu: 1 });
  assert.equal(messages(cloud), ['OpenStack Volume disk has been updated.']);
});

test('a bootable volume is neither extended nor detached', async () => {
  const { url } = await system();
  assert.equal(await post(cloud, `${url}extend/`, { disk_size: 20480 }), [
    409,
    { detail: 'Volume cannot be bootable.' },
  ]);
  assert.equal(await post(cloud, `${url}detach/`), [409, { detail: 'Volume cannot be bootable.' }]);
});

test('attaches a volume to an instance of its tenant that is OK and active or shut off, under a free device path', async () => {
  const attach = (body: Json): Promise<[number, Json]> => post(cloud, `${disk.url}attach/`, body);
  assert.equal(await attach({}), [400, { instance: ['This field is required.'] }]);
  assert.equal(await attach({ instance: web.url, device: '/dev/vda' }), [
    400,
    { device: ['The supplied device path (/dev/vda) is in use.'] },
  ]);
  assert.equal(await attach({ instance: web.url, device: 'vdb' }), [
    400,
    { device: ['Enter a device path such as /dev/vdb.'] },
  ]);
  const remote = await created(cloud, '/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Fab' });
  const foreign = await instance({ ...cloud, tenant: remote });
  assert.equal(await attach({ instance: foreign.url }), [
    400,
    { instance: ['Volume and instance should belong to the same service and project.'] },
  ]);
  await unlink(cloud, foreign);
  const { body: its } = await cloud.fixture.staff.get(`/api/openstack-volumes/?tenant_uuid=${remote.uuid}`);
  for (const one of its) await unlink(cloud, one);
  assert.is((await unlink(cloud, remote))[0], 204);
  await post(cloud, `${web.url}restart/`);
  assert.equal(await attach({ instance: web.url }), [
    409,
    { detail: 'Volume can be attached only to shutoff or active instance in OK state.' },
  ]);
  await work(cloud.fixture);
  cloud.fixture.events();
  assert.equal(await attach({ instance: web.url, device: '/dev/vdq' }), [202, { status: 'attach was scheduled' }]);
  assert.equal(await collectStates(cloud.fixture, disk.url), [
    'Update Scheduled available',
    'Updating attaching',
    'OK in-use',
  ]);
  const { device, instance: attached, instance_name, related_resources: related } = await present(cloud, disk);
  assert.equal(
    [device, attached, instance_name, related.map(({ name }: Json) => name)],
    ['/dev/vdq', web.url, 'web', ['web']],
  );
  assert.is((await present(cloud, web)).disk, 13312);
  assert.equal(await attach({ instance: web.url }), [
    409,
    { detail: 'Valid runtime states for operation: available.' },
  ]);
  assert.equal(messages(cloud), ['OpenStack Volume disk has been updated.']);
});

test('rejects destroying an attached volume', async () => {
  assert.equal(await destroy(cloud, disk), [
    409,
    { detail: 'Valid runtime states for operation: available, error, error_restoring, error_extending.' },
  ]);
});

test('extends an attached volume while its instance is shut off, and both are Updating', async () => {
  assert.equal(await post(cloud, `${disk.url}extend/`, { disk_size: 5120 }), [
    409,
    { detail: 'Volume instance should be in shutoff state.' },
  ]);
  await act(cloud, web, 'stop');
  await post(cloud, `${disk.url}extend/`, { disk_size: 5120 });
  const states = async (): Promise<string[]> => [(await present(cloud, disk)).state, (await present(cloud, web)).state];
  assert.equal(await states(), ['Update Scheduled', 'Update Scheduled']);
  await step(cloud.fixture);
  assert.equal(await states(), ['Updating', 'Updating']);
  await work(cloud.fixture);
  assert.equal(await states(), ['OK', 'OK']);
  const { runtime_state, size } = await present(cloud, disk);
  assert.equal([runtime_state, size, (await present(cloud, web)).disk], ['in-use', 5120, 15360]);
  cloud.fixture.events();
});

test('unlinking a growing volume ends the update of its instance', async () => {
  const other = await volume(cloud, { name: 'other' });
  await act(cloud, other, 'attach', { instance: web.url });
  await post(cloud, `${other.url}extend/`, { disk_size: 4096 });
  await unlink(cloud, other);
  await work(cloud.fixture);
  assert.is((await present(cloud, web)).state, 'OK');
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 2048, storage: 15360, vcpu: 1 });
  cloud.fixture.events();
});

test('volumes can be filtered by instance and state, and ordered by size and instance', async () => {
  assert.equal(await names(cloud, `openstack-volumes/?instance=${web.url}&o=size`), ['disk', 'web-system']);
  assert.equal(await names(cloud, `openstack-volumes/?instance_uuid=${web.uuid}&o=-size`), ['web-system', 'disk']);
  const loose = await volume(cloud, { name: 'loose' });
  assert.equal(await names(cloud, 'openstack-volumes/?runtime_state=available'), ['loose']);
  assert.equal(await names(cloud, 'openstack-volumes/?o=instance_name,size'), ['loose', 'disk', 'web-system']);
  await destroy(cloud, loose);
  cloud.fixture.events();
});

test('a volume is detached', async () => {
  assert.equal(await act(cloud, disk, 'detach'), [202, { status: 'detach was scheduled' }]);
  const { device, instance: attached, runtime_state } = await present(cloud, disk);
  // The provider still has the volume that was unlinked here.
  assert.equal([device, attached, runtime_state, (await present(cloud, web)).disk], ['', null, 'available', 12288]);
  assert.equal(await post(cloud, `${disk.url}detach/`), [
    409,
    { detail: 'Valid runtime states for operation: in-use.' },
  ]);
  cloud.fixture.events();
});

test('snapshots are created by volumes, not by POST to their list', async () => {
  assert.is((await post(cloud, '/api/openstack-snapshots/', {}))[0], 405);
  assert.equal(await post(cloud, `${disk.url}snapshot/`, { name: 's', kept_until: '2018-01-01T00:00:00Z' }), [
    400,
    { kept_until: ['Enter a date in the future.'] },
  ]);
  const [status, snapshot] = await post(cloud, `${disk.url}snapshot/`, { name: 'before', description: 'Upgrade' });
  assert.equal([status, (await present(cloud, disk)).state], [201, 'OK']);
  assert.equal(await collectStates(cloud.fixture, snapshot.url), [
    'Creation Scheduled',
    'Creating creating',
    'OK available',
  ]);
  const { kept_until, metadata, restorations, size, source_volume, source_volume_name, tenant_name } = await present(
    cloud,
    snapshot,
  );
  assert.equal(
    { kept_until, metadata, restorations, size, source_volume, source_volume_name, tenant_name },
    {
      kept_until: null,
      metadata: {},
      restorations: [],
      size: 5120,
      source_volume: disk.url,
      source_volume_name: 'disk',
      tenant_name: 'Lab',
    },
  );
  const { nc_snapshot_count, nc_snapshot_size, nc_storage_count } = await usages(cloud.fixture, cloud.people.project);
  assert.equal([nc_snapshot_count, nc_snapshot_size, nc_storage_count], [1, 5120, 3]);
  assert.equal(messages(cloud), ['Resource before creation has been scheduled.', 'Resource before has been created.']);
});

test('snapshots can be filtered by volume, and ordered by size and volume name', async () => {
  assert.equal(await names(cloud, `openstack-snapshots/?source_volume=${disk.url}`), ['before']);
  assert.equal(await names(cloud, `openstack-snapshots/?source_volume_uuid=${web.uuid}`), []);
  const small = await volume(cloud, { name: 'a small one', size: 1024 });
  const second = await created(cloud, `${small.url}snapshot/`, { name: 'second' });
  assert.equal(await names(cloud, 'openstack-snapshots/?o=size'), ['second', 'before']);
  assert.equal(await names(cloud, 'openstack-snapshots/?o=-source_volume_name'), ['before', 'second']);
  await destroy(cloud, second);
  await destroy(cloud, small);
  cloud.fixture.events();
});

test('rejects deleting a volume with snapshots', async () => {
  assert.equal(await destroy(cloud, disk), [409, { detail: 'Volume has dependent snapshots.' }]);
});

test('restores a snapshot to a new volume', async () => {
  const [before] = (await cloud.fixture.staff.get('/api/openstack-snapshots/')).body;
  const [status, back] = await post(cloud, `${before.url}restore/`, { name: 'back', description: 'Restored' });
  assert.equal(
    [status, back.name, back.size, back.state, back.source_snapshot],
    [201, 'back', 5120, 'Creation Scheduled', before.url],
  );
  await work(cloud.fixture);
  assert.equal([(await present(cloud, before)).state, (await present(cloud, back)).runtime_state], ['OK', 'available']);
  const list = await cloud.people.clients.admin.get(`${before.url}restorations/`);
  assert.equal(
    [
      list.headers.get('x-result-count'),
      list.body.map(({ name, related_resources }: Json) => [name, related_resources]),
    ],
    ['1', [['back', undefined]]],
  );
  assert.equal((await present(cloud, before)).restorations, [
    { url: back.url, uuid: back.uuid, name: 'back', resource_type: 'OpenStack.Volume', state: 'OK' },
  ]);
  assert.equal(await names(cloud, `openstack-volumes/?snapshot=${before.url}`), ['back']);
  assert.equal(await names(cloud, `openstack-volumes/?snapshot_uuid=${before.uuid}`), ['back']);
  assert.is((await cloud.people.clients.stranger.get(`${before.url}restorations/`)).status, 404);
  assert.equal(
    (await present(cloud, disk)).related_resources.map(({ name }: Json) => name),
    ['before'],
  );
  await destroy(cloud, back);
  await destroy(cloud, before);
  cloud.fixture.events();
});

test('the timer deletes a snapshot at its end', async () => {
  const snapshot = await created(cloud, `${disk.url}snapshot/`, { name: 'brief', kept_until: '2018-01-06T00:00:00Z' });
  assert.is(snapshot.kept_until, '2018-01-06T00:00:00Z');
  cloud.fixture.events();
  cloud.fixture.clock.advance(86_400);
  await work(cloud.fixture);
  assert.is((await cloud.fixture.staff.get(snapshot.url)).status, 404);
  assert.equal(
    cloud.fixture.events().map(({ context, message }) => [message, context.user_uuid]),
    [
      ['Resource brief deletion has been scheduled.', undefined],
      ['OpenStack Snapshot brief has been deleted.', undefined],
    ],
  );
});

test('a volume is destroyed', async () => {
  const [status, body] = await post(cloud, `${disk.url}pull/`);
  assert.equal([status, body], [202, { detail: 'Pull operation was successfully scheduled.' }]);
  await work(cloud.fixture);
  await cloud.people.clients.admin.delete(disk.url);
  assert.equal(await collectStates(cloud.fixture, disk.url), [
    'Deletion Scheduled available',
    'Deleting deleting',
    'gone',
  ]);
  assert.equal(await usages(cloud.fixture, cloud.link), { ram: 2048, storage: 10240, vcpu: 1 });
});

test.run();
