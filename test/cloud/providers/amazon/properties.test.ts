import * as assert from 'uvu/assert';
import { catalogue } from '../../../support/catalogue.ts';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../../support/personas.ts';
import { type SimulatedService, setOptions, simulatedService, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('Amazon: settings and properties (providers.md 6.1, 6.2)');
let people: Personas;
let cloud: SimulatedService;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await simulatedService(fixture, 'aws', people);
});

const all = async (path: string): Promise<Json[]> =>
  (await people.clients.stranger.get(`/api/${path}/?page_size=100`)).body;
const named = (objects: Json[]): string[] => objects.map(({ name }) => name);

test('regions have url, uuid and name', async () => {
  const regions = await all('aws-regions');
  assert.equal(named(regions), [
    'Asia Pacific (Mumbai)',
    'Asia Pacific (Seoul)',
    'Asia Pacific (Singapore)',
    'Asia Pacific (Sydney)',
    'Asia Pacific (Tokyo)',
    'EU (Frankfurt)',
    'EU (Ireland)',
    'South America (Sao Paulo)',
    'US East (N. Virginia)',
    'US West (N. California)',
    'US West (Oregon)',
  ]);
  const [mumbai] = regions;
  assert.equal(mumbai, {
    url: `${fixture.url}/api/aws-regions/${mumbai.uuid}/`,
    uuid: mumbai.uuid,
    name: 'Asia Pacific (Mumbai)',
  });
  assert.equal((await people.clients.stranger.get(mumbai.url)).body, mumbai);
});

test('images have url, uuid, name and region', async () => {
  const [region] = (await fixture.staff.get('/api/aws-regions/?name=Mumbai')).body;
  const images = (await people.clients.stranger.get(`/api/aws-images/?region=${region.uuid}`)).body;
  assert.equal(
    images,
    ['Amazon Linux 2', 'Ubuntu Server 16.04', 'Windows Server 2016'].map((name, i) => ({
      url: `${fixture.url}/api/aws-images/${images[i].uuid}/`,
      uuid: images[i].uuid,
      name,
      region,
    })),
  );
});

test('every region has three images, except that sa-east-1 lacks Windows Server 2016', async () => {
  assert.is((await all('aws-images')).length, 32);
  const [saoPaulo] = (await fixture.staff.get('/api/aws-regions/?name=Sao')).body;
  assert.equal(named((await fixture.staff.get(`/api/aws-images/?region=${saoPaulo.uuid}`)).body), [
    'Amazon Linux 2',
    'Ubuntu Server 16.04',
  ]);
});

test('sizes have url, uuid, name, description, cores, ram, disk and regions', async () => {
  const sizes = await all('aws-sizes');
  assert.equal(
    sizes.map(({ cores, disk, name, ram }) => `${name} ${cores}/${ram}/${disk}`),
    [
      'c4.large 2/3840/16384',
      'c4.xlarge 4/7680/16384',
      'm3.large 2/7680/32768',
      'm3.medium 1/3840/4096',
      'm4.2xlarge 8/32768/16384',
      'm4.large 2/8192/16384',
      'm4.xlarge 4/16384/16384',
      'r4.large 2/15616/16384',
      't2.large 2/8192/8192',
      't2.medium 2/4096/8192',
      't2.micro 1/1024/8192',
      't2.nano 1/512/8192',
      't2.small 1/2048/8192',
    ],
  );
  const { regions, url, uuid, ...rest } = sizes[0];
  assert.is(url, `${fixture.url}/api/aws-sizes/${uuid}/`);
  assert.equal(regions, await all('aws-regions'));
  assert.equal(rest, { name: 'c4.large', description: 'Compute optimized, large', cores: 2, ram: 3840, disk: 16384 });
});

test('m3 sizes are unavailable in ap-south-1 and ap-northeast-2', async () => {
  for (const region of await all('aws-regions')) {
    const sizes = (await fixture.staff.get(`/api/aws-sizes/?page_size=100&region=${region.uuid}`)).body;
    assert.is(sizes.length, /Mumbai|Seoul/.test(region.name) ? 11 : 13, region.name);
  }
});

test('region is a uuid: an unknown one matches nothing, a malformed one is 400', async () => {
  for (const path of ['aws-images', 'aws-sizes']) {
    assert.equal((await fixture.staff.get(`/api/${path}/?region=${'0'.repeat(32)}`)).body, []);
    const malformed = await fixture.staff.get(`/api/${path}/?region=x`);
    assert.equal([malformed.status, Object.keys(malformed.body)], [400, ['region']]);
  }
});

test('properties are global: every user can read them, no one can write them', async () => {
  const counts = await asEachPersona(people, async (client) =>
    (await client.get('/api/aws-sizes/')).headers.get('x-result-count'),
  );
  assert.equal([...new Set(Object.values(counts))], ['13']);
  assert.is((await fixture.staff.post('/api/aws-sizes/', { name: 'x' })).status, 405);
  const [size] = await all('aws-sizes');
  assert.is((await fixture.staff.delete(size.url)).status, 405);
});

test('all settings on the simulator share one set', async () => {
  const before = await all('aws-images');
  const other = await simulatedService(fixture, 'aws', people, { name: 'Other' });
  assert.equal(await all('aws-images'), before);
  assert.equal(
    (await fixture.staff.get(`/api/aws-images/?page_size=100&settings_uuid=${other.settings.uuid}`)).body,
    before,
  );
});

test('the option images_regex must be a regular expression', async () => {
  const rejection = await fixture.staff.patch(cloud.settings.url, { images_regex: '(' });
  assert.equal([rejection.status, rejection.body], [400, { images_regex: ['Enter a valid regular expression.'] }]);
});

test('settings store only images whose names match images_regex', async () => {
  await setOptions(fixture, cloud.settings, { images_regex: '^(Ubuntu|Amazon)' });
  assert.is((await fixture.staff.get(cloud.settings.url)).body.images_regex, '^(Ubuntu|Amazon)');
  fixture.clock.advance(1800);
  await work(fixture);
  const own = (await fixture.staff.get(`/api/aws-images/?page_size=100&settings=${cloud.settings.url}`)).body;
  assert.equal([...new Set(named(own))], ['Amazon Linux 2', 'Ubuntu Server 16.04']);
  assert.ok(named(await all('aws-images')).includes('Windows Server 2016'), 'other settings keep it');
});

test('deletes an image that no settings store', async () => {
  const others = (await fixture.staff.get('/api/service-settings/?name=Other')).body;
  await setOptions(fixture, others[0], { images_regex: 'Linux' });
  fixture.clock.advance(1800);
  await work(fixture);
  assert.equal([...new Set(named(await all('aws-images')))], ['Amazon Linux 2', 'Ubuntu Server 16.04']);
});

test('rejects an image that the settings do not store', async () => {
  const [region] = (await fixture.staff.get('/api/aws-regions/?name=Ireland')).body;
  const [image] = (await fixture.staff.get(`/api/aws-images/?name=Ubuntu&region=${region.uuid}`)).body;
  const [size] = (await fixture.staff.get('/api/aws-sizes/')).body;
  const [link] = (await fixture.staff.get('/api/aws-service-project-link/?o=name')).body.filter(
    (each: Json) => each.service_name === 'Other',
  );
  const rejection = await fixture.staff.post('/api/aws-instances/', {
    service_project_link: link.url,
    name: 'web',
    region: region.url,
    image: image.url,
    size: size.url,
  });
  assert.equal([rejection.status, rejection.body], [400, { image: ['Invalid hyperlink - Object does not exist.'] }]);
});

test('a real driver requires username (access key id) and token (secret key)', () => {
  const { missingCredentials: missing } = catalogue.type('Amazon');
  const required = ['This field is required.'];
  assert.equal(missing({}), { username: required, token: required });
  assert.equal(missing({ username: 'AKIA' }), { token: required });
  assert.equal(missing({ username: 'AKIA', token: 'secret' }), {});
});

test('service metadata names its kinds and properties; it is a public service', async () => {
  const { Amazon } = (await people.clients.stranger.get('/api/service-metadata/')).body;
  const at = (path: string): string => `${fixture.url}/api/${path}/`;
  assert.equal(Amazon, {
    url: at('aws'),
    service_project_link_url: at('aws-service-project-link'),
    resources: { Instance: at('aws-instances'), Volume: at('aws-volumes') },
    properties: { Image: at('aws-images'), Region: at('aws-regions'), Size: at('aws-sizes') },
    is_public_service: true,
  });
});

test.run();
