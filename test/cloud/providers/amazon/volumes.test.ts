import * as assert from 'uvu/assert';
import type { Client, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  step,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('Amazon: volumes (providers.md 6.4)');
let people: Personas;
let cloud: SimulatedService;
let admin: Client;
let region: Json;
let volume: Json;
let web: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await simulatedService(fixture, 'aws', people);
  admin = people.clients.admin;
  region = await first('aws-regions/?name=Ireland');
  web = await launch('web', region);
});

const first = async (path: string): Promise<Json> => (await fixture.staff.get(`/api/${path}`)).body[0];
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;
const messages = (): string[] => fixture.events().map(({ message }) => message);

async function launch(name: string, where: Json, link: Json = cloud.link): Promise<Json> {
  const image = await first(`aws-images/?name=Ubuntu&region=${where.uuid}`);
  const size = await first('aws-sizes/?name_exact=t2.micro');
  const created = await admin.post('/api/aws-instances/', {
    service_project_link: link.url,
    name,
    region: where.url,
    image: image.url,
    size: size.url,
  });
  await work(fixture);
  fixture.events();
  return created.body;
}

const create = (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  admin.post('/api/aws-volumes/', {
    service_project_link: cloud.link.url,
    name: 'data',
    size: 10240,
    region: region.url,
    volume_type: 'io1',
    ...fields,
  });
const act = async (action: string, values?: unknown): Promise<unknown[]> => {
  const response = await admin.post(`${volume.url}${action}/`, values);
  return [response.status, response.body];
};

test('size, region, volume_type, name and link are required', async () => {
  const required = ['This field is required.'];
  const rejection = await admin.post('/api/aws-volumes/', {});
  assert.equal(
    [rejection.status, rejection.body],
    [400, { name: required, service_project_link: required, size: required, region: required, volume_type: required }],
  );
});

test('a size is at least 1024, a volume_type gp2, io1 or standard', async () => {
  const rejection = await create({ size: 1023, volume_type: 'tape' });
  assert.equal(
    [rejection.status, rejection.body],
    [
      400,
      { size: ['Ensure this value is greater than or equal to 1024.'], volume_type: ['"tape" is not a valid choice.'] },
    ],
  );
});

test('accepts a creation and counts its size in the storage of the link', async () => {
  const created = await create({ description: 'Rows', tags: ['env:prod'] });
  assert.is(created.status, 201);
  volume = created.body;
  const {
    access_url,
    description,
    device,
    instance,
    instance_name,
    instance_uuid,
    region_name,
    resource_type,
    runtime_state,
    size,
    state,
    tags,
    volume_type,
  } = volume;
  assert.equal(
    {
      access_url,
      description,
      device,
      instance,
      instance_name,
      instance_uuid,
      region_name,
      resource_type,
      runtime_state,
      size,
      state,
      tags,
      volume_type,
    },
    {
      access_url: null,
      description: 'Rows',
      device: '',
      instance: null,
      instance_name: null,
      instance_uuid: null,
      region_name: 'EU (Ireland)',
      resource_type: 'Amazon.Volume',
      runtime_state: '',
      size: 10240,
      state: 'Creation Scheduled',
      tags: ['env:prod'],
      volume_type: 'io1',
    },
  );
  assert.not.ok('region' in volume);
  assert.equal(await usages(fixture, cloud.link), { ram: 1024, storage: 8192 + 10240, vcpu: 1 });
  assert.equal(await usages(fixture, cloud.service), { instance_count: 1, volume_count: 2 });
  const { nc_storage_count, nc_volume_count, nc_volume_size } = await usages(fixture, people.project);
  assert.equal([nc_storage_count, nc_volume_count, nc_volume_size], [2, 2, 8192 + 10240]);
  const ofCustomer = await usages(fixture, people.customer);
  assert.equal(
    [ofCustomer.nc_storage_count, ofCustomer.nc_volume_count, ofCustomer.nc_volume_size],
    [2, undefined, 8192 + 10240],
  );
});

test('creates the volume: creating, then available', async () => {
  assert.equal(await collectStates(fixture, volume.url), ['Creation Scheduled', 'Creating creating', 'OK available']);
  assert.match((await present(volume)).backend_id, /^vol-[0-9a-f]{17}$/);
  assert.equal(messages(), ['Resource data creation has been scheduled.', 'Resource data has been created.']);
});

test('size, region and volume_type are fixed on creation', async () => {
  const { body, status } = await admin.patch(volume.url, { size: 2048, volume_type: 'gp2' });
  assert.equal([status, body.size, body.volume_type], [200, 10240, 'io1']);
  assert.equal(messages(), []);
});

test('attach requires an instance and a device of at most 128 characters', async () => {
  assert.equal(await act('attach', {}), [
    400,
    { instance: ['This field is required.'], device: ['This field is required.'] },
  ]);
  assert.equal(await act('attach', { instance: web.url, device: 'd'.repeat(129) }), [
    400,
    { device: ['Ensure this field has no more than 128 characters.'] },
  ]);
  assert.equal(await act('attach', { instance: people.project.url, device: '/dev/sdf' }), [
    400,
    { instance: ['Invalid hyperlink - Incorrect URL match.'] },
  ]);
});

test('rejects attaching to a running instance', async () => {
  assert.equal(await act('attach', { instance: web.url, device: '/dev/sdf' }), [
    409,
    { detail: 'Instance runtime state must be in one of offline states.' },
  ]);
});

test('rejects attaching to an instance in another region', async () => {
  const far = await launch('far', await first('aws-regions/?name=Tokyo'));
  assert.equal(await act('attach', { instance: far.url, device: '/dev/sdf' }), [
    400,
    { instance: ['Instance is not within the same region.'] },
  ]);
  await admin.delete(far.url);
  await work(fixture);
});

test('rejects attaching to an instance of another project', async () => {
  const project = await fixture.project('Other', people.customer);
  const link = (
    await fixture.staff.post('/api/aws-service-project-link/', { service: cloud.service.url, project: project.url })
  ).body;
  await fixture.grant(project, people.users.admin, 'admin');
  const foreign = await launch('foreign', region, link);
  assert.equal(await act('attach', { instance: foreign.url, device: '/dev/sdf' }), [
    400,
    { instance: ['Invalid hyperlink - Object does not exist.'] },
  ]);
});

test('rejects detaching a detached volume', async () => {
  assert.equal(await act('detach'), [409, { detail: 'Volume is already detached.' }]);
});

test('attach: attaching, then inuse, on both sides', async () => {
  await admin.post(`${web.url}stop/`);
  await work(fixture);
  fixture.events();
  assert.equal(await act('attach', { instance: web.url, device: '/dev/sdf' }), [
    202,
    { status: 'attach was scheduled' },
  ]);
  await step(fixture);
  const { action, action_details } = await present(volume);
  assert.equal([action, action_details], ['attach', { instance: 'web', device: '/dev/sdf' }]);
  assert.equal(await collectStates(fixture, volume.url), ['Updating attaching', 'OK inuse']);
  const { device, instance, related_resources } = await present(volume);
  assert.equal([device, instance, related_resources.map(({ name }: Json) => name)], ['/dev/sdf', web.url, ['web']]);
  assert.equal((await present(web)).related_resources.map(({ name }: Json) => name).sort(), ['data', 'volume-web']);
  assert.equal(messages(), ['Amazon Volume data has been updated.']);
});

test('rejects attaching or destroying an attached volume', async () => {
  const attached = [409, { detail: 'Volume is already attached to instance.' }];
  assert.equal(await act('attach', { instance: web.url, device: '/dev/sdg' }), attached);
  const rejection = await admin.delete(volume.url);
  assert.equal([rejection.status, rejection.body], attached);
});

test('a failed detach leaves the volume attached and Erred', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'detach' });
  assert.equal(await act('detach'), [202, { status: 'detach was scheduled' }]);
  assert.equal(await collectStates(fixture, volume.url), [
    'Update Scheduled inuse',
    'Updating detaching',
    'Erred inuse',
  ]);
  assert.is((await present(volume)).instance, web.url);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await act('pull');
  await work(fixture);
});

test('detach: detaching, then available, without device and instance', async () => {
  assert.equal(await act('detach'), [202, { status: 'detach was scheduled' }]);
  assert.equal(await collectStates(fixture, volume.url), [
    'Update Scheduled inuse',
    'Updating detaching',
    'OK available',
  ]);
  const { device, instance, related_resources } = await present(volume);
  assert.equal([device, instance, related_resources], ['', null, []]);
});

test('a volume other than the root volume outlives its instance', async () => {
  await act('attach', { instance: web.url, device: '/dev/sdf' });
  await work(fixture);
  await admin.delete(web.url);
  await work(fixture);
  const { device, instance, runtime_state, state } = await present(volume);
  assert.equal(
    { device, instance, runtime_state, state },
    { device: '', instance: null, runtime_state: 'available', state: 'OK' },
  );
  assert.equal(await usages(fixture, cloud.link), { storage: 10240 });
});

test('a detached root volume is a separate volume', async () => {
  web = await launch('db', region);
  await admin.post(`${web.url}stop/`);
  await work(fixture);
  const root = await first('aws-volumes/?name=volume-db');
  assert.is((await admin.post(`${root.url}detach/`)).status, 202);
  await work(fixture);
  await admin.delete(web.url);
  await work(fixture);
  assert.is((await present(root)).runtime_state, 'available');
  assert.equal(await usages(fixture, cloud.link), { storage: 10240 + 8192 });
  await admin.delete(root.url);
  await work(fixture);
});

test('destroy: deleting until it is removed', async () => {
  fixture.events();
  const response = await admin.delete(volume.url);
  assert.equal([response.status, response.body], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, volume.url), ['Deletion Scheduled available', 'Deleting deleting', 'gone']);
  assert.equal(await usages(fixture, cloud.link), {});
  assert.equal(messages(), ['Resource data deletion has been scheduled.', 'Amazon Volume data has been deleted.']);
});

test('volumes are ordered by size', async () => {
  for (const [name, size] of [
    ['a', 4096],
    ['b', 1024],
    ['c', 2048],
  ] as const)
    await create({ name, size });
  const mine = (await admin.get(`/api/aws-volumes/?o=size&project_uuid=${people.project.uuid}`)).body.map(
    ({ name }: Json) => name,
  );
  assert.equal(mine, ['b', 'c', 'a']);
});

test('rejects deleting a parent with volumes, and names the kind', async () => {
  const rejection = await people.clients.owner.delete(cloud.link.url);
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'Cannot delete service project link with existing volumes' }],
  );
});

test.run();
