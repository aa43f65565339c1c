/** Amazon resources as users see them, equal with the simulator and the driver (providers.md 6). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { AmazonAccount } from '../../../vendors/amazon/account.ts';

/** Some members of an object. */
const some = (object: Json, ...names: string[]): Json => Object.fromEntries(names.map((name) => [name, object[name]]));

/** The first state and the last two. How long a resource stays in a state in between does not matter. */
const ends = (states: readonly string[]): string[] => [...states.slice(0, 1), ...states.slice(-2)];

function contract(backend: Backend): void {
  const test = suite(`Amazon for users, ${backend}`);
  let account: AmazonAccount;

  test.before.each(async () => {
    account = await AmazonAccount.open({ backend });
  });

  test.after.each(() => account.close());

  const reports = (): string[] => account.fixture.events().map(({ message }) => message);

  test('creates a running instance with its root volume', async () => {
    const { url } = await account.order('web', { description: 'front', user_data: '#cloud-config' });
    assert.equal(ends(await account.collectStates(url)), ['Creation Scheduled', 'Creating pending', 'OK running']);
    const web = await account.read(url);
    assert.equal(
      some(web, 'name', 'description', 'region_name', 'cores', 'ram', 'disk', 'image_name', 'error_message'),
      {
        name: 'web',
        description: 'front',
        region_name: 'EU (Ireland)',
        cores: 1,
        ram: 1024,
        disk: 8192,
        image_name: web.image_name,
        error_message: '',
      },
    );
    assert.match(web.backend_id, /^i-[0-9a-f]{17}$/);
    assert.equal([web.external_ips.length, web.internal_ips.length, typeof web.start_time], [1, 1, 'string']);
    const root = await account.volumeNamed('volume-web');
    assert.equal(
      some(root, 'size', 'volume_type', 'region_name', 'runtime_state', 'state', 'instance', 'description'),
      {
        size: 8192,
        volume_type: 'gp2',
        region_name: 'EU (Ireland)',
        runtime_state: 'inuse',
        state: 'OK',
        instance: url,
        description: '',
      },
    );
    assert.match(root.backend_id, /^vol-[0-9a-f]{17}$/);
    assert.equal(reports(), [
      'Resource web creation has been scheduled.',
      'Resource volume-web has been created.',
      'Resource web has been created.',
    ]);
  });

  test('stops, starts and restarts an instance', async () => {
    const web = await account.created(await account.order('web'));
    const way = async (action: string): Promise<string[]> => {
      assert.is((await account.alice.post(`${web.url}${action}/`)).status, 202);
      return ends(await account.collectStates(web.url));
    };
    assert.equal(await way('stop'), ['Update Scheduled running', 'Updating stopping', 'OK stopped']);
    assert.is((await account.read(web.url)).start_time, null);
    assert.equal(await way('start'), ['Update Scheduled stopped', 'Updating pending', 'OK running']);
    assert.equal((await way('restart')).at(-1), 'OK running');
    assert.equal(
      reports().filter((message) => !message.includes('scheduled')),
      ['Resource web has been stopped.', 'Resource web has been started.', 'Resource web has been restarted.'],
    );
  });

  test('resizes a stopped instance with a larger root volume', async () => {
    const web = await account.created(await account.order('web'));
    await account.act(web, 'stop');
    const resized = await account.act(web, 'resize', { size: await account.propertyLink('sizes', 'c4.large') });
    assert.equal(some(resized, 'state', 'runtime_state', 'error_message', 'cores', 'ram', 'disk'), {
      state: 'OK',
      runtime_state: 'stopped',
      error_message: '',
      cores: 2,
      ram: 3840,
      disk: 16_384,
    });
    assert.is((await account.volumeNamed('volume-web')).size, 16_384);
    assert.equal((await account.act(resized, 'start')).runtime_state, 'running');
  });

  test('creates, attaches, detaches and deletes a volume', async () => {
    const web = await account.created(await account.order('web'));
    await account.act(web, 'stop');
    const { url } = await account.orderVolume('data', { volume_type: 'io1' });
    assert.equal(ends(await account.collectStates(url)), ['Creation Scheduled', 'Creating creating', 'OK available']);
    const data = await account.read(url);
    const place = (volume: Json): Json =>
      some(volume, 'state', 'runtime_state', 'device', 'instance', 'size', 'volume_type');
    const loose = {
      state: 'OK',
      runtime_state: 'available',
      device: '',
      instance: null,
      size: 10_240,
      volume_type: 'io1',
    };
    assert.equal(place(data), loose);
    const attached = await account.act(data, 'attach', { instance: web.url, device: '/dev/sdf' });
    assert.equal(place(attached), { ...loose, runtime_state: 'inuse', device: '/dev/sdf', instance: web.url });
    assert.equal((await account.alice.delete(url)).body, { detail: 'Volume is already attached to instance.' });
    assert.equal(place(await account.act(data, 'detach')), loose);
    assert.is((await account.alice.delete(url)).status, 202);
    assert.equal((await account.collectStates(url)).slice(-2), ['Deleting deleting', 'gone']);
  });

  test('deletes an instance with its root volume, and releases the others', async () => {
    const web = await account.created(await account.order('web'));
    await account.act(web, 'stop');
    const data = await account.created(await account.orderVolume('data'));
    await account.act(data, 'attach', { instance: web.url, device: '/dev/sdf' });
    account.fixture.events();
    assert.is((await account.alice.delete(web.url)).status, 202);
    assert.equal((await account.collectStates(web.url)).slice(-2), ['Deleting shutting-down', 'gone']);
    assert.is(await account.volumeNamed('volume-web'), undefined);
    assert.equal(some(await account.read(data.url), 'state', 'runtime_state', 'device', 'instance'), {
      state: 'OK',
      runtime_state: 'available',
      device: '',
      instance: null,
    });
    assert.equal(reports().slice(1).sort(), [
      'Amazon Instance web has been deleted.',
      'Amazon Volume volume-web has been deleted.',
    ]);
  });

  test('a pull without news changes nothing', async () => {
    const web = await account.created(await account.order('web'));
    const root = await account.read((await account.volumeNamed('volume-web')).url);
    for (const resource of [web, root]) assert.equal(await account.act(resource, 'pull'), resource);
    assert.equal(await account.sync(), ['In Sync', '']);
    for (const resource of [web, root]) assert.equal(await account.read(resource.url), resource);
  });

  test('imports an unlinked instance again, then its root volume', async () => {
    const web = await account.created(await account.order('web'));
    const root = await account.volumeNamed('volume-web');
    const staff = account.fixture.staff;
    assert.is((await staff.post(`${root.url}unlink/`)).status, 204);
    assert.is((await staff.post(`${web.url}unlink/`)).status, 204);
    assert.equal(await account.sync(), ['In Sync', '']);
    const items: Json[] = (await staff.get(`${account.service.url}link/`)).body;
    assert.equal(
      items.map((item) => some(item, 'backend_id', 'name', 'resource_type', 'runtime_state')),
      [
        { backend_id: web.backend_id, name: 'web', resource_type: 'Amazon.Instance', runtime_state: 'running' },
        { backend_id: root.backend_id, name: 'volume-web', resource_type: 'Amazon.Volume', runtime_state: 'inuse' },
      ],
    );
    const region = await account.region();
    assert.equal(some(items[0], 'cores', 'ram', 'disk', 'region', 'state', 'public_ips', 'flavor_name'), {
      cores: 1,
      ram: 1024,
      disk: 8192,
      region: region.uuid,
      state: 'OK',
      public_ips: web.external_ips,
      flavor_name: 't2.micro',
    });
    assert.equal(some(items[1], 'size', 'state', 'device', 'instance_id', 'volume_type'), {
      size: 8192,
      state: 'OK',
      device: root.device,
      instance_id: web.backend_id,
      volume_type: 'gp2',
    });
    const link = async ({ backend_id, resource_type }: Json): Promise<Json> =>
      (await staff.post(`${account.service.url}link/`, { backend_id, resource_type, project: account.project.url }))
        .body;
    assert.equal(await link(items[1]), { backend_id: [`You must import instance with ID ${web.backend_id} first`] });
    const imported = await link(items[0]);
    const volume = await account.read((await link(items[1])).url);
    assert.equal([volume.instance, volume.size], [imported.url, 8192]);
    assert.equal(some(await account.read(imported.url), 'cores', 'region_name', 'runtime_state'), {
      cores: 1,
      region_name: 'EU (Ireland)',
      runtime_state: 'running',
    });
  });

  test('lists every region and size, and images of the region', async () => {
    const list = async (path: string): Promise<Json[]> =>
      (await account.alice.get(`/api/${path}/?page_size=100&settings_uuid=${account.service.settings_uuid}`)).body;
    assert.equal([(await list('aws-regions')).length, (await list('aws-sizes')).length], [11, 13]);
    const images = await list('aws-images');
    assert.is(new Set(images.map(({ region }) => region.name)).size, 11);
  });

  test.run();
}

contract('simulator');
contract('driver');
