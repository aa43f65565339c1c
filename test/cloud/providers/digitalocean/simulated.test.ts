import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../../support/droplets.ts';
import type { ApiResponse, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { collectStates, setOptions, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('simulated DigitalOcean');
let people: Personas;
let cloud: Droplets;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
});

const list = async (path: string): Promise<Json[]> =>
  (await people.clients.stranger.get(`/api/digitalocean-${path}`)).body;
const names = async (path: string): Promise<string[]> => (await list(path)).map(({ name }) => name);
const linkOf = async (path: string, name: string): Promise<string> =>
  (await list(`${path}/?name_exact=${encodeURIComponent(name)}`))[0].url;

/** The response to a creation by the project's administrator. */
const create = (fields: Record<string, unknown>): Promise<ApiResponse<Json>> =>
  people.clients.admin.post('/api/digitalocean-droplets/', cloud.body(fields));

/** Returns an object without its links and ids. */
const plain = ({ regions, url: _, uuid: __, ...rest }: Json): Json => ({
  ...rest,
  ...(regions && { regions: regions.map(({ name }: Json) => name) }),
});

const everywhere = ['Amsterdam 3', 'Frankfurt 1', 'New York 3', 'Singapore 1'];

test('regions have url, uuid and name; every user reads them', async () => {
  assert.equal(await names('regions/'), everywhere);
  const [first] = await list('regions/');
  assert.equal(Object.keys(first), ['url', 'uuid', 'name']);
  assert.is(first.url, `${fixture.url}/api/digitalocean-regions/${first.uuid}/`);
  assert.equal((await people.clients.stranger.get(first.url)).body, first);
  assert.is((await fixture.staff.post('/api/digitalocean-regions/', { name: 'Mars' })).status, 405);
  assert.is((await fixture.staff.delete(first.url)).status, 405);
});

test('images have distribution, type, regions, is_official, created_at and min_disk_size', async () => {
  const images = await list('images/');
  assert.equal(Object.keys(images[0]), [
    'url',
    'uuid',
    'name',
    'distribution',
    'type',
    'regions',
    'is_official',
    'created_at',
    'min_disk_size',
  ]);
  assert.equal(Object.keys(images[0].regions[0]), ['url', 'uuid', 'name']);
  const common = { type: 'snapshot', is_official: true, created_at: '2017-06-01T00:00:00Z', regions: everywhere };
  assert.equal(images.map(plain), [
    { name: 'CentOS 7 x64', distribution: 'CentOS', min_disk_size: 20480, ...common },
    { name: 'CoreOS stable', distribution: 'CoreOS', min_disk_size: 20480, ...common, regions: everywhere.slice(0, 3) },
    { name: 'Debian 9 x64', distribution: 'Debian', min_disk_size: 20480, ...common },
    { name: 'FreeBSD 11 x64', distribution: 'FreeBSD', min_disk_size: 40960, ...common },
    { name: 'Ubuntu 16.04 x64', distribution: 'Ubuntu', min_disk_size: 20480, ...common },
  ]);
});

test('images are filtered and ordered by distribution and type', async () => {
  assert.equal(await names('images/?distribution=Debian'), ['Debian 9 x64']);
  assert.equal(await names('images/?distribution=debian'), []);
  assert.is((await list('images/?type=snapshot')).length, 5);
  assert.equal(await names('images/?type=backup'), []);
  assert.equal(await names('images/?o=-distribution'), [
    'Ubuntu 16.04 x64',
    'FreeBSD 11 x64',
    'Debian 9 x64',
    'CoreOS stable',
    'CentOS 7 x64',
  ]);
  assert.is((await list('images/?o=type')).length, 5);
});

test('sizes have the slug as name, cores, ram, disk, transfer and regions', async () => {
  assert.equal(Object.keys((await list('sizes/'))[0]), [
    'url',
    'uuid',
    'name',
    'cores',
    'ram',
    'disk',
    'transfer',
    'regions',
  ]);
  assert.equal((await list('sizes/')).map(plain), [
    { name: 's-1vcpu-1gb', cores: 1, ram: 1024, disk: 25600, transfer: 1048576, regions: everywhere },
    { name: 's-1vcpu-2gb', cores: 1, ram: 2048, disk: 51200, transfer: 2097152, regions: everywhere },
    { name: 's-2vcpu-4gb', cores: 2, ram: 4096, disk: 81920, transfer: 4194304, regions: everywhere },
    { name: 's-4vcpu-8gb', cores: 4, ram: 8192, disk: 163840, transfer: 5242880, regions: everywhere },
    {
      name: 's-8vcpu-32gb',
      cores: 8,
      ram: 32768,
      disk: 655360,
      transfer: 7340032,
      regions: ['Amsterdam 3', 'New York 3'],
    },
  ]);
});

test('sizes are filtered and ordered by cores, ram and disk', async () => {
  assert.equal(await names('sizes/?cores=1'), ['s-1vcpu-1gb', 's-1vcpu-2gb']);
  assert.equal(await names('sizes/?ram=4096'), ['s-2vcpu-4gb']);
  assert.equal(await names('sizes/?disk=655360'), ['s-8vcpu-32gb']);
  assert.equal(await names('sizes/?o=-ram'), [
    's-8vcpu-32gb',
    's-4vcpu-8gb',
    's-2vcpu-4gb',
    's-1vcpu-2gb',
    's-1vcpu-1gb',
  ]);
  assert.equal((await names('sizes/?o=-cores'))[0], 's-8vcpu-32gb');
  assert.equal((await names('sizes/?o=-disk')).slice(0, 2), ['s-8vcpu-32gb', 's-4vcpu-8gb']);
});

test('every property is filtered by name, name_exact and settings', async () => {
  assert.equal(await names('regions/?name=york'), ['New York 3']);
  assert.equal(await names('regions/?name_exact=New+York'), []);
  assert.equal(await names('regions/?name_exact=New+York+3'), ['New York 3']);
  const ofOwner = async (query: string): Promise<number> =>
    (await people.clients.owner.get(`/api/digitalocean-regions/?${query}`)).body.length;
  assert.is(await ofOwner(`settings_uuid=${cloud.settings.uuid}`), 4);
  assert.is(await ofOwner(`settings=${encodeURIComponent(cloud.settings.url)}`), 4);
  assert.equal(await names(`regions/?settings_uuid=${cloud.settings.uuid}`), []);
  assert.equal(await names('regions/?o=-name'), [...everywhere].reverse());
});

test('creation requires service_project_link, name, region, image and size', async () => {
  const required = ['This field is required.'];
  const { body, status } = await people.clients.admin.post('/api/digitalocean-droplets/', {});
  assert.equal(
    [status, body],
    [400, { service_project_link: required, name: required, region: required, image: required, size: required }],
  );
});

test('shows region_name but not region, image and size; the droplet becomes online', async () => {
  const { body, status } = await create({ name: 'web-1.example.com', tags: ['env:prod'], description: 'front' });
  assert.is(status, 201);
  assert.equal(await collectStates(fixture, body.url), ['Creation Scheduled', 'Creating provisioning', 'OK online']);
  const droplet = (await people.clients.admin.get(body.url)).body;
  for (const name of ['region', 'image', 'size', 'ssh_public_key']) assert.not.ok(name in droplet, name);
  const displayed = {
    name: 'web-1.example.com',
    description: 'front',
    resource_type: 'DigitalOcean.Droplet',
    region_name: 'New York 3',
    image_name: 'Debian 9 x64',
    cores: 1,
    ram: 1024,
    disk: 25600,
    min_disk: 20480,
    min_ram: 0,
    tags: ['env:prod'],
    access_url: droplet.external_ips,
  };
  assert.equal(Object.fromEntries(Object.keys(displayed).map((name) => [name, droplet[name]])), displayed);
  assert.match(droplet.backend_id, /^10000\d\d$/);
  assert.match(droplet.external_ips[0], /^198\.1[89]\./);
  assert.match(droplet.internal_ips[0], /^10\./);
});

test('rejects names with characters other than a-z, A-Z, 0-9, dot and hyphen', async () => {
  for (const name of ['web 1', 'web_1', 'wéb', 'web/1']) {
    assert.equal(
      (await create({ name })).body,
      { name: ['Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)'] },
      name,
    );
  }
});

test('Ubuntu, FreeBSD and CoreOS require a key, other images do not', async () => {
  const needs: Record<string, unknown> = {};
  for (const name of ['Ubuntu 16.04 x64', 'FreeBSD 11 x64', 'CoreOS stable', 'Debian 9 x64', 'CentOS 7 x64']) {
    const { body, status } = await create({ image: await linkOf('images', name), size: cloud.catalogue.large });
    needs[name] = status === 201 ? status : body;
    if (status === 201) await people.clients.owner.post(`${body.url}unlink/`);
  }
  const rejection = { ssh_public_key: ['SSH public key is required for this image'] };
  assert.equal(needs, {
    'Ubuntu 16.04 x64': rejection,
    'FreeBSD 11 x64': rejection,
    'CoreOS stable': rejection,
    'Debian 9 x64': 201,
    'CentOS 7 x64': 201,
  });
});

test('copies a key of the caller to key_name and key_fingerprint; rejects a key of another user as unknown', async () => {
  const key = (await people.clients.admin.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  const { body } = await create({ image: cloud.catalogue.ubuntu, ssh_public_key: key.url });
  assert.equal([body.key_name, body.key_fingerprint], ['laptop', key.fingerprint]);
  const foreign = await people.clients.manager.post(
    '/api/digitalocean-droplets/',
    cloud.body({ image: cloud.catalogue.ubuntu, ssh_public_key: key.url }),
  );
  assert.equal(foreign.body, { ssh_public_key: ['Invalid hyperlink - Object does not exist.'] });
  const byStaff = await fixture.staff.post(
    '/api/digitalocean-droplets/',
    cloud.body({ image: cloud.catalogue.ubuntu, ssh_public_key: key.url }),
  );
  assert.equal([byStaff.status, byStaff.body.key_name], [201, 'laptop']);
  await work(fixture);
});

test('image and size must be available in the region', async () => {
  const region = await linkOf('regions', 'Singapore 1');
  const key = (await people.clients.admin.get('/api/keys/')).body[0].url;
  assert.equal((await create({ region, image: await linkOf('images', 'CoreOS stable'), ssh_public_key: key })).body, {
    image: ['Image is missing in region Singapore 1'],
  });
  assert.equal((await create({ region, size: await linkOf('sizes', 's-8vcpu-32gb') })).body, {
    size: ['Size is missing in region Singapore 1'],
  });
});

test('the disk of the size must be large enough for the image', async () => {
  const key = (await people.clients.admin.get('/api/keys/')).body[0].url;
  assert.equal((await create({ image: await linkOf('images', 'FreeBSD 11 x64'), ssh_public_key: key })).body, {
    size: ['Disk provided by size s-1vcpu-1gb is not enough for image FreeBSD 11 x64'],
  });
});

/** Returns the response to an action of the administrator. */
const act = async (droplet: Json, name: string, body?: unknown): Promise<readonly [number, Json]> => {
  const response = await people.clients[name === 'unlink' ? 'owner' : 'admin'].post(`${droplet.url}${name}/`, body);
  return [response.status, response.body];
};

test('start requires offline, stop and restart require online', async () => {
  const droplet = await cloud.make({ name: 'switch' });
  const online = { detail: 'Valid runtime states for operation: online.' };
  const offline = { detail: 'Valid runtime states for operation: offline.' };
  assert.equal(await act(droplet, 'start'), [409, offline]);
  assert.equal(await act(droplet, 'restart'), [202, { status: 'restart was scheduled' }]);
  assert.equal(await act(droplet, 'stop'), [409, { detail: 'Valid states for operation: OK.' }]);
  assert.equal(await collectStates(fixture, droplet.url), ['Update Scheduled online', 'Updating online', 'OK online']);
  assert.equal(await act(droplet, 'stop'), [202, { status: 'stop was scheduled' }]);
  assert.equal(await collectStates(fixture, droplet.url), ['Update Scheduled online', 'Updating online', 'OK offline']);
  assert.equal(await act(droplet, 'stop'), [409, online]);
  assert.equal(await act(droplet, 'restart'), [409, online]);
  assert.equal(await act(droplet, 'start'), [202, { status: 'start was scheduled' }]);
  assert.equal(await collectStates(fixture, droplet.url), [
    'Update Scheduled offline',
    'Updating offline',
    'OK online',
  ]);
});

test('start_time is the instant at which the droplet went online, and null while it is offline', async () => {
  const droplet = await cloud.make({ name: 'timed' });
  assert.ok(droplet.start_time);
  await act(droplet, 'stop');
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).body.start_time, null);
});

test('resize requires offline, a size and disk', async () => {
  const droplet = await cloud.make({ name: 'grow' });
  const size = cloud.catalogue.large;
  assert.equal(await act(droplet, 'resize', { size, disk: true }), [
    409,
    { detail: 'Valid runtime states for operation: offline.' },
  ]);
  await act(droplet, 'stop');
  await work(fixture);
  assert.equal(await act(droplet, 'resize', {}), [
    400,
    { size: ['This field is required.'], disk: ['This field is required.'] },
  ]);
  assert.equal(await act(droplet, 'resize', { size, disk: true }), [202, { detail: 'resizing was scheduled' }]);
  assert.equal(await collectStates(fixture, droplet.url), [
    'Update Scheduled offline',
    'Updating resizing',
    'OK offline',
  ]);
  const { cores, disk, ram } = (await fixture.staff.get(droplet.url)).body;
  assert.equal({ cores, ram, disk }, { cores: 2, ram: 4096, disk: 81920 });
});

test('rejects a resize to the same size, a smaller disk, or a size that is not available in the region', async () => {
  const droplet = await cloud.make({
    name: 'refuse',
    region: await linkOf('regions', 'Singapore 1'),
    size: cloud.catalogue.large,
  });
  await act(droplet, 'stop');
  await work(fixture);
  const resize = async (size: string, disk = false): Promise<Json> =>
    (await act(droplet, 'resize', { size: await linkOf('sizes', size), disk }))[1];
  assert.equal(await resize('s-2vcpu-4gb'), { size: ['New size is the same. Please select another one.'] });
  assert.equal(await resize('s-1vcpu-1gb'), {
    size: ['Disk sizes are not allowed to be decreased through a resize operation.'],
  });
  assert.equal(await resize('s-8vcpu-32gb'), { size: ['Size is missing in region Singapore 1'] });
});

test('an accepted resize counts cores and ram, and the disk only with disk true; a failure reverts this', async () => {
  const droplet = await cloud.make({ name: 'count' });
  await act(droplet, 'stop');
  await work(fixture);
  const difference = async (body: Record<string, unknown>): Promise<number[]> => {
    const before = await usages(fixture, cloud.link);
    assert.is((await act(droplet, 'resize', body))[0], 202);
    const after = await usages(fixture, cloud.link);
    return ['vcpu', 'ram', 'storage'].map((name) => Number(after[name]) - Number(before[name]));
  };
  const before = await usages(fixture, cloud.link);
  await setOptions(fixture, cloud.settings, { simulator_failures: 'resize' });
  assert.equal(await difference({ size: cloud.catalogue.large, disk: true }), [1, 3072, 56320]);
  await work(fixture);
  assert.equal(await usages(fixture, cloud.link), before);
  assert.equal((await fixture.staff.get(droplet.url)).body.error_message, 'Simulated failure of resize');
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await act(droplet, 'pull');
  await work(fixture);
  assert.equal(await difference({ size: cloud.catalogue.large, disk: false }), [1, 3072, 0]);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).body.disk, 25600);
  assert.equal(await usages(fixture, cloud.link), {
    ...before,
    vcpu: Number(before.vcpu) + 1,
    ram: Number(before.ram) + 3072,
  });
});

test('rejects a resize above a quota of the link', async () => {
  const droplet = await cloud.make({ name: 'limit' });
  await act(droplet, 'stop');
  await work(fixture);
  const quota = (await fixture.staff.get(cloud.link.url)).body.quotas.find(({ name }: Json) => name === 'vcpu');
  await fixture.staff.patch(quota.url, { limit: quota.usage });
  assert.is((await act(droplet, 'resize', { size: cloud.catalogue.large, disk: false }))[0], 409);
  assert.equal((await fixture.staff.get(droplet.url)).body.state, 'OK');
  await fixture.staff.patch(quota.url, { limit: -1 });
});

test('update changes name, description and tags locally, at once', async () => {
  const droplet = await cloud.make({ name: 'before' });
  const { body, status } = await people.clients.admin.put(droplet.url, {
    name: 'after',
    description: 'new',
    tags: ['a'],
  });
  assert.equal([status, body.name, body.description, body.tags, body.state], [200, 'after', 'new', ['a'], 'OK']);
});

test('destroy and unlink remove a droplet', async () => {
  const [first, second] = [await cloud.make({ name: 'destroyed' }), await cloud.make({ name: 'unlinked' })];
  const { body, status } = await people.clients.admin.delete(first.url);
  assert.equal([status, body], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, first.url), ['Deletion Scheduled online', 'Deleting online', 'gone']);
  assert.equal(await act(second, 'unlink'), [204, undefined]);
  assert.is((await fixture.staff.get(second.url)).status, 404);
});

test('an unlinked droplet can be imported again, with cores, ram, disk and flavor_name', async () => {
  const droplet = await cloud.make({ name: 'returning' });
  await act(droplet, 'unlink');
  fixture.clock.advance(30 * 60);
  await work(fixture);
  const url = `${cloud.service.url}link/`;
  const items: Json[] = (await people.clients.owner.get(url)).body;
  const { created: _, ...item } = items.find(({ backend_id }) => backend_id === droplet.backend_id);
  assert.equal(item, {
    backend_id: droplet.backend_id,
    name: 'returning',
    resource_type: 'DigitalOcean.Droplet',
    cores: 1,
    ram: 1024,
    disk: 25600,
    flavor_name: 's-1vcpu-1gb',
  });
  const { body, status } = await people.clients.owner.post(url, {
    backend_id: droplet.backend_id,
    project: people.project.url,
  });
  assert.equal([status, body.name, body.state], [200, 'returning', 'OK']);
  assert.equal((await people.clients.owner.post(url, { backend_id: '1', project: people.project.url })).body, {
    backend_id: ["Can't find droplet with ID 1"],
  });
});

test('OPTIONS shows whether each action of a droplet is available', async () => {
  const droplet = await cloud.make({ name: 'told' });
  const { actions } = (await people.clients.owner.options(droplet.url)).body;
  assert.equal(
    Object.fromEntries(Object.entries<Json>(actions).map(([name, { enabled, reason }]) => [name, enabled || reason])),
    {
      destroy: true,
      pull: true,
      resize: 'Valid runtime states for operation: offline.',
      restart: true,
      start: 'Valid runtime states for operation: offline.',
      stop: true,
      unlink: true,
      update: true,
    },
  );
  await act(droplet, 'stop');
  await work(fixture);
  const { resize } = (await people.clients.admin.options(droplet.url)).body.actions;
  assert.equal(resize.fields.size, {
    type: 'select',
    required: true,
    label: 'Size',
    url: `${fixture.url}/api/digitalocean-sizes/?settings_uuid=${cloud.settings.uuid}`,
    value_field: 'url',
    display_name_field: 'name',
  });
  assert.equal(
    [resize.title, resize.method, resize.type, resize.url],
    ['Resize', 'POST', 'form', `${droplet.url}resize/`],
  );
});

test.run();
