/** Details of the driver: regions, pages, keys, and the vendor's own behaviour (providers.md 6.5). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { regions } from '../../../../src/cloud/providers/amazon/catalogue.ts';
import type { Json } from '../../../support/fixture.ts';
import { AmazonAccount } from '../../../vendors/amazon/account.ts';
import type { Instance, Volume } from '../../../vendors/amazon/setup.ts';
import { Amazon } from '../../../vendors/amazon/stand-in.ts';

const test = suite('driver of Amazon');
let account: AmazonAccount;

test.before.each(async () => {
  account = await AmazonAccount.open();
});

test.after.each(() => account.close());

const codes = regions.map(({ backend_id: code }) => code);
const instanceOf = ({ backend_id: id }: Json): Instance => account.vendor.contents.instances.get(id) as Instance;
const volumeOf = ({ backend_id: id }: Json): Volume => account.vendor.contents.volumes.get(id) as Volume;
const stateOf = ({ error_message, runtime_state, state }: Json): unknown[] => [state, runtime_state, error_message];
const candidates = async (): Promise<Json[]> =>
  (await account.fixture.staff.get(`${account.service.url}link/?page_size=200`)).body;
const imageNames = async (): Promise<string[]> => {
  const { body } = await account.alice.get(
    `/api/aws-images/?page_size=200&settings_uuid=${account.service.settings_uuid}&region=${(await account.region()).uuid}`,
  );
  return body.map(({ name }: Json) => name);
};

test('a synchronisation calls every region, with a signature for that region', async () => {
  assert.equal(await account.sync(), ['In Sync', '']);
  assert.equal(account.vendor.take(), [
    'us-east-1 DescribeKeyPairs',
    ...codes.flatMap((code) => [`${code} DescribeImages`, `${code} DescribeInstances`, `${code} DescribeVolumes`]),
  ]);
});

test('calls the host of each region for the public address, and any other address directly', async () => {
  const requests = new Set<string>();
  const remote = await AmazonAccount.open({
    isConnected: false,
    resolve: (host, callback) => {
      requests.add(host);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
  });
  for (const backend_url of ['https://ec2.amazonaws.com', 'https://ec2.example.com'])
    assert.is((await remote.fixture.staff.post('/api/aws/', remote.body({ backend_url }))).status, 400);
  assert.equal([...requests], ['ec2.us-east-1.amazonaws.com', 'ec2.example.com']);
  await remote.close();
});

test('an account requires the id and the secret of an access key', async () => {
  const { body, status } = await account.fixture.staff.post(
    '/api/aws/',
    account.body({ username: undefined, token: undefined }),
  );
  const required = ['This field is required.'];
  assert.equal([status, body], [400, { username: required, token: required }]);
});

test('reads lists page by page', async () => {
  for (let n = 0; n < 23; n++) account.vendor.contents.launch('eu-west-1', `web-${n}`);
  account.vendor.largestPage = 5;
  assert.equal(await account.sync(), ['In Sync', '']);
  const calls = account.vendor.take();
  const count = (call: string): number => calls.filter((created) => created === call).length;
  assert.equal([count('eu-west-1 DescribeInstances'), count('eu-west-1 DescribeVolumes')], [5, 5]);
  const names = (await candidates())
    .filter(({ resource_type: type }) => type === 'Amazon.Instance')
    .map(({ name }) => name);
  assert.equal(new Set(names), new Set(Array.from({ length: 23 }, (_, n) => `web-${n}`)));
});

test('waits for a rate limit during a synchronisation', async () => {
  account.vendor.injectFault(
    'DescribeVolumes',
    Amazon.rejection(503, 'RequestLimitExceeded', 'Request limit exceeded.'),
  );
  account.fixture.clock.advance(30 * 60);
  await account.advance(5);
  assert.is((await account.settings()).state, 'Syncing');
  await account.advance(10);
  assert.is((await account.settings()).state, 'In Sync');
});

test('lists only images that the sizes can start and images_regex matches', async () => {
  assert.equal(await imageNames(), [
    'amzn2-ami-hvm-2.0.20180622.1-x86_64-gp2',
    'ubuntu/images/hvm-ssd/ubuntu-xenial-16.04-amd64',
    'Windows_Server-2016-English-Full-Base-2018.06.13',
  ]);
  await account.fixture.staff.patch(account.service.settings, { images_regex: '^amzn2' });
  await account.advance(3);
  assert.equal(await imageNames(), ['amzn2-ami-hvm-2.0.20180622.1-x86_64-gp2']);
  const [requests] = account.vendor.server
    .take()
    .filter(({ route }) => route === 'DescribeImages')
    .slice(-1);
  assert.is(new URLSearchParams(requests?.text).get('Filter.6.Value.1'), 'amzn2*');
});

test('marks an account with too many images as Erred with advice', async () => {
  const { contents: setup } = account.vendor;
  const [first] = setup.images;
  setup.images = Array.from({ length: 10_001 }, (_, n) => ({ ...first, id: `ami-${n}`, name: `image ${n}` }) as never);
  assert.equal(await account.sync(), [
    'Erred',
    'Backend offers more than 10000 images: set images_regex to keep fewer',
  ]);
});

test('uploads a key to a region once, under its fingerprint', async () => {
  const key = await account.key();
  const [web, other] = [
    await account.created(await account.order('web', { ssh_public_key: key.url, user_data: '#cloud-config\nä' })),
    await account.created(await account.order('other', { ssh_public_key: key.url })),
  ];
  const name = `tenantry-${key.fingerprint.replaceAll(':', '')}`;
  assert.equal(
    [...account.vendor.contents.keys].map(([place, { material }]) => [place, material]),
    [[`eu-west-1 ${name}`, key.public_key]],
  );
  assert.equal(
    [instanceOf(web).key, instanceOf(other).key, instanceOf(web).userData],
    [name, name, '#cloud-config\nä'],
  );
});

test('tags a created object with its name and our uuid', async () => {
  const web = await account.created(await account.order('web'));
  const data = await account.created(await account.orderVolume('data'));
  assert.equal(
    [instanceOf(web).tags, instanceOf(web).token, volumeOf(data).tags],
    [
      new Map([
        ['Name', 'web'],
        ['tenantry:uuid', web.uuid],
      ]),
      web.uuid,
      new Map([
        ['Name', 'data'],
        ['tenantry:uuid', data.uuid],
      ]),
    ],
  );
  assert.equal([instanceOf(web).zone, volumeOf(data).zone], ['eu-west-1a', 'eu-west-1a']);
});

test('looks again for objects that the vendor lists late', async () => {
  account.vendor.contents.visibilityDelayMs = 20_000;
  const web = await account.created(await account.order('web'));
  const data = await account.created(await account.orderVolume('data'));
  assert.equal(
    [account.vendor.contents.instances.size, web.runtime_state, data.runtime_state],
    [1, 'running', 'available'],
  );
});

test('fails an operation whose object the vendor never lists', async () => {
  account.vendor.contents.visibilityDelayMs = 1e9;
  const { url } = await account.order('web');
  await account.collectStates(url);
  assert.equal(stateOf(await account.read(url)), ['Erred', '', 'Does not exist at backend.']);
});

test('an instance that terminates during its start is Erred with the reason', async () => {
  const text = 'Server.InsufficientInstanceCapacity: Insufficient capacity';
  account.vendor.contents.failingLaunches.push({ code: 'Server.InsufficientInstanceCapacity', message: text });
  const { url } = await account.order('web');
  await account.collectStates(url);
  const web = await account.read(url);
  assert.equal([...stateOf(web), web.backend_id], ['Erred', '', text, '']);
  assert.is(await account.volumeNamed('volume-web'), undefined);
});

test('a failed start makes the instance Erred with the reason', async () => {
  const web = await account.created(await account.order('web'));
  await account.act(web, 'stop');
  account.vendor.contents.failingLaunches.push({ code: 'Server.InternalError', message: 'Server.InternalError' });
  assert.equal(stateOf(await account.act(web, 'start')), ['Erred', 'stopped', 'Server.InternalError']);
});

test('the vendor rejects an image that is larger than the disk of the size', async () => {
  const { url } = await account.order('web', { image: 'windows' });
  await account.collectStates(url);
  assert.equal(stateOf(await account.read(url)), [
    'Erred',
    '',
    "Volume of size 8GB is smaller than snapshot 'snap-1', expect size >= 30GB",
  ]);
});

for (const [what, route, at] of [
  ['a volume', 'CreateVolume', 'available'],
  ['an attachment', 'AttachVolume', 'inuse'],
  ['a detachment', 'DetachVolume', 'available'],
] as const) {
  for (const [how, fault, times] of [
    ['lost', 'lost', 1],
    ['reset', 'reset', 2],
  ] as const) {
    test(`creates ${what} once if the request is ${how}`, async () => {
      const web = await account.created(await account.order('web'));
      await account.act(web, 'stop');
      account.vendor.injectFault(route, fault);
      const { url } = await account.orderVolume('data');
      await account.collectStates(url);
      const data = await account.read(url);
      const attached = await account.act(data, 'attach', { instance: web.url, device: '/dev/sdf' });
      const last =
        route === 'DetachVolume' ? await account.act(attached, 'detach') : route === 'CreateVolume' ? data : attached;
      assert.equal(stateOf(last), ['OK', at, '']);
      assert.is(account.vendor.take().filter((call) => call === `eu-west-1 ${route}`).length, times);
      assert.is(account.vendor.contents.volumes.size, 2);
    });
  }
}

test('does not detach a volume that has moved to another instance', async () => {
  const [web, other] = [
    await account.created(await account.order('web')),
    await account.created(await account.order('other')),
  ];
  await account.act(web, 'stop');
  const data = await account.created(await account.orderVolume('data'));
  await account.act(data, 'attach', { instance: web.url, device: '/dev/sdf' });
  const volume = account.vendor.contents.volumes.get(data.backend_id);
  assert.ok(volume?.attachment);
  volume.attachment = { ...volume.attachment, instance: other.backend_id };
  await account.act(data, 'detach');
  assert.equal(stateOf(await account.read(data.url)), [
    'Erred',
    'inuse',
    `The volume '${data.backend_id}' is not attached to instance '${web.backend_id}'`,
  ]);
  assert.equal([volume.attachment.instance, volume.attachment.state], [other.backend_id, 'attached']);
});

test('requests a larger disk once even if the response is lost', async () => {
  const web = await account.created(await account.order('web'));
  await account.act(web, 'stop');
  account.vendor.take();
  account.vendor.injectFault('ModifyVolume', 'lost');
  const resized = await account.act(web, 'resize', { size: await account.propertyLink('sizes', 'c4.large') });
  assert.equal([...stateOf(resized), resized.disk], ['OK', 'stopped', '', 16_384]);
  assert.is(account.vendor.take().filter((call) => call.endsWith(' ModifyVolume')).length, 1);
  assert.is(instanceOf(web).type, 'c4.large');
});

test('fails with the message of the vendor for a recently enlarged disk, and keeps the type', async () => {
  const web = await account.created(await account.order('web'));
  await account.act(web, 'stop');
  const [root] = account.vendor.contents.volumesOf(web.backend_id) as [Volume];
  root.growth = { from: 8, to: 8, at: account.vendor.contents.now(), isFailed: false };
  const resized = await account.act(web, 'resize', { size: await account.propertyLink('sizes', 'c4.large') });
  assert.is(resized.state, 'Erred');
  assert.match(resized.error_message, /^You've reached the maximum modification rate per volume limit\./);
  assert.equal([resized.cores, instanceOf(web).type], [1, 't2.micro']);
});

test('offers foreign objects for import with their values, named by tag or id', async () => {
  const { contents: setup } = account.vendor;
  const [named, unnamed] = [setup.launch('eu-west-1', 'theirs', 't3.micro'), setup.launch('sa-east-1', 'x')];
  unnamed.tags.clear();
  setup.launch('eu-west-1', 'ended').state = 'terminated';
  assert.equal(await account.sync(), ['In Sync', '']);
  const instances = (await candidates()).filter(({ resource_type: type }) => type === 'Amazon.Instance');
  assert.equal(
    instances.map(({ backend_id, cores, disk, flavor_name, name, ram }) => ({
      backend_id,
      cores,
      disk,
      flavor_name,
      name,
      ram,
    })),
    [
      { backend_id: unnamed.id, cores: 1, disk: 8192, flavor_name: 't2.micro', name: unnamed.id, ram: 1024 },
      { backend_id: named.id, cores: 2, disk: 8192, flavor_name: 't3.micro', name: 'theirs', ram: 1024 },
    ],
  );
});

test('pulls foreign changes of name, type, addresses and attachments', async () => {
  const web = await account.created(await account.order('web'));
  const data = await account.created(await account.orderVolume('data'));
  instanceOf(web).tags.set('Name', 'renamed');
  Object.assign(instanceOf(web), { type: 'm4.large', state: 'stopped' });
  Object.assign(volumeOf(data), {
    state: 'in-use',
    attachment: { instance: web.backend_id, device: '/dev/sdg', state: 'attached', at: 0, deleteOnTermination: false },
  });
  assert.equal(await account.sync(), ['In Sync', '']);
  const { cores, external_ips, name, ram, runtime_state: state } = await account.read(web.url);
  assert.equal(
    { cores, external_ips, name, ram, state },
    { cores: 2, external_ips: [], name: 'renamed', ram: 8192, state: 'stopped' },
  );
  const { device, instance, runtime_state: volumeState } = await account.read(data.url);
  assert.equal([device, instance, volumeState], ['/dev/sdg', web.url, 'inuse']);
});

test('an instance terminated elsewhere is missing', async () => {
  const web = await account.created(await account.order('web'));
  instanceOf(web).state = 'terminated';
  assert.equal(stateOf(await account.act(web, 'pull')), ['Erred', '', 'Does not exist at backend.']);
});

test('reports an access key with read-only rights', async () => {
  const [name, keys] = [...account.vendor.accessKeys][1] ?? [];
  const fields = { username: name, token: keys?.secret };
  await account.fixture.staff.patch(account.service.settings, fields);
  await account.advance(3);
  const { url } = await account.order('web');
  await account.collectStates(url);
  assert.equal(stateOf(await account.read(url)), ['Erred', '', 'You are not authorized to perform this operation.']);
});

test.run();
