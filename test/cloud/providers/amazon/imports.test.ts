import * as assert from 'uvu/assert';
import type { Client, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('Amazon: imports and background pull (providers.md 6.4, services.md 8.4)');
let people: Personas;
let cloud: SimulatedService;
let owner: Client;
let inventory: Json[];
let instance: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await simulatedService(fixture, 'aws', people, { simulator_inventory: 2 });
  owner = people.clients.owner;
});

const link = async (fields: Readonly<Record<string, unknown>>): Promise<Json> =>
  owner.post(`${cloud.service.url}link/`, { project: people.project.url, ...fields });
const item = (name: string): Json => inventory.find((each) => each.name === name);
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;

async function sync(): Promise<void> {
  fixture.clock.advance(1800);
  await work(fixture);
}

test('lists unmanaged instances with cores, ram, disk, region, state, public_ips, flavor_name and runtime_state', async () => {
  inventory = (await owner.get(`${cloud.service.url}link/`)).body;
  assert.equal(
    inventory.map(({ name }) => name),
    ['unmanaged-instance-1', 'unmanaged-instance-2', 'unmanaged-volume-1', 'unmanaged-volume-2'],
  );
  const { backend_id, public_ips, ...rest } = item('unmanaged-instance-1');
  assert.match(backend_id, /^i-[0-9a-f]{17}$/);
  assert.equal(public_ips, ['198.18.0.1']);
  const region = (await owner.get('/api/aws-regions/?name=Ireland')).body[0];
  assert.equal(rest, {
    name: 'unmanaged-instance-1',
    resource_type: 'Amazon.Instance',
    created: null,
    cores: 1,
    ram: 1024,
    disk: 8192,
    region: region.uuid,
    state: 'OK',
    flavor_name: 't2.micro',
    runtime_state: 'running',
  });
});

test('lists unmanaged volumes with size, state, runtime_state, device, instance_id and volume_type', () => {
  const { backend_id: _, ...attached } = item('unmanaged-volume-1');
  assert.equal(attached, {
    name: 'unmanaged-volume-1',
    resource_type: 'Amazon.Volume',
    created: null,
    size: 10240,
    state: 'OK',
    runtime_state: 'inuse',
    device: '/dev/sdf',
    instance_id: item('unmanaged-instance-1').backend_id,
    volume_type: 'gp2',
  });
  const { device, instance_id, runtime_state } = item('unmanaged-volume-2');
  assert.equal({ device, instance_id, runtime_state }, { device: '', instance_id: null, runtime_state: 'available' });
});

test('the type is required, because Amazon imports several kinds', async () => {
  const rejection = await link({ backend_id: item('unmanaged-volume-2').backend_id });
  assert.equal([rejection.status, rejection.body], [400, { resource_type: ['This field is required.'] }]);
});

test('rejects an unknown id', async () => {
  const rejections = await Promise.all(
    ['Amazon.Instance', 'Amazon.Volume'].map((resource_type) => link({ backend_id: 'x-1', resource_type })),
  );
  assert.equal(
    rejections.map(({ body }) => body),
    [{ backend_id: ["Can't find instance with ID x-1"] }, { backend_id: ["Can't find volume with ID x-1"] }],
  );
});

test('rejects a volume that is attached to an unknown instance', async () => {
  const rejection = await link({ backend_id: item('unmanaged-volume-1').backend_id, resource_type: 'Amazon.Volume' });
  const { backend_id: id } = item('unmanaged-instance-1');
  assert.equal(
    [rejection.status, rejection.body],
    [400, { backend_id: [`You must import instance with ID ${id} first`] }],
  );
});

test('imports a detached volume', async () => {
  const linked = await link({ backend_id: item('unmanaged-volume-2').backend_id, resource_type: 'Amazon.Volume' });
  const { created, url, uuid, ...rest } = linked.body;
  assert.equal([linked.status, rest], [200, { name: 'unmanaged-volume-2', state: 'OK' }]);
  assert.is(url, `${fixture.url}/api/aws-volumes/${uuid}/`);
  assert.equal(await usages(fixture, cloud.link), { storage: 10240 });
  assert.equal(
    fixture.events().map(({ message }) => message),
    ['Resource Amazon Volume unmanaged-volume-2 has been imported.'],
  );
});

test('after its instance, a volume is imported attached to it', async () => {
  instance = (await link({ backend_id: item('unmanaged-instance-1').backend_id, resource_type: 'Amazon.Instance' }))
    .body;
  const linked = await link({ backend_id: item('unmanaged-volume-1').backend_id, resource_type: 'Amazon.Volume' });
  const volume = await present(linked.body);
  assert.equal(
    [volume.instance, volume.device, volume.runtime_state, volume.size],
    [instance.url, '/dev/sdf', 'inuse', 10240],
  );
  const { cores, external_ips, region_name, state } = await present(instance);
  assert.equal([cores, external_ips, region_name, state], [1, ['198.18.0.1'], 'EU (Ireland)', 'OK']);
  assert.equal(await usages(fixture, cloud.link), { ram: 1024, storage: 8192 + 2 * 10240, vcpu: 1 });
  assert.equal(await usages(fixture, cloud.service), { instance_count: 1, volume_count: 2 });
});

test('a linked object is not listed, and cannot be linked again', async () => {
  assert.equal(
    (await owner.get(`${cloud.service.url}link/`)).body.map(({ name }: Json) => name),
    ['unmanaged-instance-2'],
  );
  const rejection = await link({
    backend_id: item('unmanaged-instance-1').backend_id,
    resource_type: 'Amazon.Instance',
  });
  assert.equal([rejection.status, rejection.body], [400, { backend_id: ['This resource is already linked.'] }]);
});

test('an imported instance is stopped, resized and destroyed like others', async () => {
  await owner.post(`${instance.url}stop/`);
  assert.equal((await collectStates(fixture, instance.url)).at(-1), 'OK stopped');
  const same = (await owner.get('/api/aws-sizes/?name_exact=t2.micro')).body[0];
  assert.equal((await owner.post(`${instance.url}resize/`, { size: same.url })).body, {
    size: ['New size is the same as current.'],
  });
  const larger = (await owner.get('/api/aws-sizes/?name_exact=c4.large')).body[0];
  assert.is((await owner.post(`${instance.url}resize/`, { size: larger.url })).status, 202);
  assert.equal((await collectStates(fixture, instance.url)).at(-1), 'OK stopped');
  assert.is((await present(instance)).cores, 2);
});

test('lists an unlinked instance again; after a new import, the next synchronisation attaches its volumes', async () => {
  const { backend_id } = await present(instance);
  assert.is((await owner.post(`${instance.url}unlink/`)).status, 204);
  const [volume] = (await owner.get('/api/aws-volumes/?name=unmanaged-volume-1')).body;
  assert.equal([volume.instance, volume.runtime_state], [null, 'inuse']);
  await sync();
  instance = (await link({ backend_id, resource_type: 'Amazon.Instance' })).body;
  await sync();
  assert.is((await present(volume)).instance, instance.url);
});

test('an instance that vanished at Amazon becomes Erred', async () => {
  fixture.events();
  await setOptions(fixture, cloud.settings, { simulator_failures: 'Instance.vanish' });
  await sync();
  const { error_message, runtime_state, state } = await present(instance);
  assert.equal([state, runtime_state, error_message], ['Erred', '', 'Does not exist at backend.']);
  const [volume] = (await owner.get('/api/aws-volumes/?name=unmanaged-volume-1')).body;
  assert.equal([volume.state, volume.runtime_state, volume.device, volume.instance], ['OK', 'available', '', null]);
});

test.run();
