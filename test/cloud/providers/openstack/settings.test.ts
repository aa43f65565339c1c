import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { setOptions, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Cloud, first, names, startCloud } from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: settings and properties (providers.md 4.1)');
let cloud: Cloud;

test.before(async () => {
  cloud = await startCloud(fixture, { latitude: 59.4, longitude: 24.7 });
});

const patch = async (options: Json): Promise<[number, Json]> => {
  const response = await cloud.fixture.staff.patch(cloud.settings.url, options);
  return [response.status, response.body];
};

test('options are members of the settings, and latitude and longitude form the geolocation', async () => {
  const options = {
    tenant_name: 'operators',
    availability_zone: 'nova',
    access_url: 'https://dashboard.example.com/',
    dns_nameservers: '9.9.9.9, 2620:fe::fe',
    flavor_exclude_regex: '^m9',
    create_ha_routers: true,
  };
  const [status, body] = await patch(options);
  assert.is(status, 200);
  assert.equal(Object.fromEntries(Object.keys(options).map((name) => [name, body[name]])), options);
  assert.equal(body.geolocations, [{ latitude: 59.4, longitude: 24.7 }]);
  await patch({
    tenant_name: null,
    availability_zone: null,
    access_url: null,
    dns_nameservers: null,
    flavor_exclude_regex: null,
    create_ha_routers: null,
  });
});

test('latitude is from -90 to 90, longitude from -180 to 180', async () => {
  assert.equal(await patch({ latitude: 90.5, longitude: -181 }), [
    400,
    {
      latitude: ['Ensure this value is less than or equal to 90.'],
      longitude: ['Ensure this value is greater than or equal to -180.'],
    },
  ]);
});

test('nameservers are comma-separated IP addresses', async () => {
  assert.equal(await patch({ dns_nameservers: '9.9.9.9,example.com' }), [
    400,
    { dns_nameservers: ['Enter a list of IP addresses.'] },
  ]);
});

test('rejects a regular expression that a linear-time engine cannot run', async () => {
  for (const expression of ['[', '(a)\\1', '(?=m1)', '(?<!m1)x', 'a{2000}']) {
    assert.equal(
      await patch({ flavor_exclude_regex: expression }),
      [400, { flavor_exclude_regex: ['Enter a valid regular expression.'] }],
      expression,
    );
  }
});

test('excludes flavors whose name matches flavor_exclude_regex, in linear time for any expression', async () => {
  await setOptions(cloud.fixture, cloud.settings, { flavor_exclude_regex: '^m1\\.(x?large|(i|i)+(i|i)+z)$' });
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
  assert.equal(await names(cloud, 'openstack-flavors/'), ['m1.medium', 'm1.small', 'm1.tiny']);
  await setOptions(cloud.fixture, cloud.settings, { flavor_exclude_regex: null });
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
});

test('a flavor has cores, ram, disk and a display name', async () => {
  const { url, uuid, ...medium } = await first(cloud, 'openstack-flavors/?name=medium');
  assert.is(url, `${cloud.fixture.url}/api/openstack-flavors/${uuid}/`);
  assert.equal(medium, {
    name: 'm1.medium',
    settings: cloud.settings.url,
    cores: 2,
    ram: 4096,
    disk: 40960,
    display_name: 'm1.medium (2 CPU, 4096 MB RAM, 40960 MB HDD)',
  });
});

test('flavors are filtered by cores, ram and disk, exactly and by bounds, and ordered by them', async () => {
  const matches = (query: string): Promise<string[]> => names(cloud, `openstack-flavors/?${query}`);
  assert.equal(await matches('cores=1'), ['m1.small', 'm1.tiny']);
  assert.equal(await matches('ram__gte=4096&disk__lte=81920'), ['m1.large', 'm1.medium']);
  assert.equal(await matches('cores__lte=2&o=-ram'), ['m1.medium', 'm1.small', 'm1.tiny']);
  assert.equal(await matches('o=disk'), ['m1.tiny', 'm1.small', 'm1.medium', 'm1.large', 'm1.xlarge']);
  const rejection = await cloud.fixture.staff.get('/api/openstack-flavors/?cores__gte=many');
  assert.equal([rejection.status, rejection.body], [400, { cores__gte: ['A valid integer is required.'] }]);
});

test('an image has min_disk and min_ram', async () => {
  const { url: _, uuid: __, ...windows } = await first(cloud, 'openstack-images/?name=Windows');
  assert.equal(windows, { name: 'Windows Server 2016', settings: cloud.settings.url, min_disk: 40960, min_ram: 4096 });
  assert.equal(await names(cloud, 'openstack-images/'), [
    'CentOS 7',
    'CirrOS 0.4.0',
    'Ubuntu 16.04',
    'Windows Server 2016',
  ]);
});

test('shows properties to users who see the settings or a service on them', async () => {
  const { admin, owner, stranger } = cloud.people.clients;
  for (const client of [admin, owner]) assert.is((await client.get('/api/openstack-flavors/')).body.length, 5);
  assert.equal((await stranger.get('/api/openstack-flavors/')).body, []);
});

test('shows the totals of the provider in settings, read-only', async () => {
  const { quotas } = (await cloud.fixture.staff.get(cloud.settings.url)).body;
  assert.equal(
    quotas.map(({ limit, name }: Json) => [name, limit]),
    [
      ['openstack_ram', 1048576],
      ['openstack_storage', 10485760],
      ['openstack_vcpu', 400],
    ],
  );
  const rejection = await cloud.fixture.staff.patch(quotas[0].url, { limit: 1 });
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'It is impossible to modify backend quota through this endpoint.' }],
  );
});

test('a real driver requires username and password', async () => {
  const { status } = await cloud.fixture.staff.post('/api/service-settings/', {
    name: 'Real',
    type: 'OpenStack',
    backend_url: 'https://cloud.example.com:5000/v3',
    username: 'admin',
  });
  assert.is(status, 400);
});

test.run();
