import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { Account, stateOf } from '../../../vendors/digitalocean/account.ts';
import type { Droplet } from '../../../vendors/digitalocean/stand-in.ts';

const test = suite('droplets at DigitalOcean');
let account: Account;

test.before.each(async () => {
  account = await Account.open();
});

test.after.each(() => account.close());

const lines = (): string[] => account.vendor.take().map(({ line }) => line);

/** Returns the body of the request with this line. */
const sent = (line: string): unknown => account.vendor.take().find((seen) => seen.line === line)?.body;

const usages = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await account.read(account.link.url)).quotas.map(({ name, usage }: Json) => [name, usage]));

/** Runs an action as Alice; returns the droplet afterwards. */
async function act(droplet: Json, name: string, body?: unknown): Promise<Json> {
  const response = await account.alice.post(`${droplet.url}${name}/`, body);
  assert.is(response.status, 202, JSON.stringify(response.body));
  await account.advance(16);
  return account.read(droplet.url);
}

/** Synchronises the account after half an hour. */
async function sync(): Promise<void> {
  account.fixture.clock.advance(30 * 60);
  await account.advance(2);
}

const messages = (): string[] => account.fixture.events().map(({ message }) => message);

test('a creation sends name, region, size, image, keys and user data, and follows the action every five seconds', async () => {
  const key = await account.key();
  const { url } = await account.order('web-1', { ssh_public_key: key.url, user_data: '#cloud-config' });
  account.vendor.take();
  const calls: Record<string, string[]> = {};
  for (let second = 1; second <= 14; second++) {
    await account.advance(1);
    const seen = account.vendor.take();
    if (seen.length > 0)
      calls[second] = seen.map(({ body, line }) => line + (body === undefined ? '' : ` ${JSON.stringify(body)}`));
  }
  const [id] = [...account.vendor.droplets.keys()] as [number];
  const [action] = [...account.vendor.actions.keys()];
  const [keyId] = [...account.vendor.keys.keys()];
  assert.equal(calls, {
    1: [
      'GET /droplets?name=web-1&per_page=200',
      `GET /account/keys/${key.fingerprint}`,
      `POST /account/keys {"name":"laptop","public_key":"${publicKeys.ed25519}"}`,
    ],
    2: [
      `POST /droplets {"name":"web-1","region":"nyc3","size":"s-1vcpu-1gb","image":7555620,"ssh_keys":[${keyId}],"user_data":"#cloud-config"}`,
    ],
    7: [`GET /actions/${action}`],
    12: [`GET /actions/${action}`, `GET /droplets/${id}`],
  });
  const droplet = await account.read(url);
  assert.equal(stateOf(droplet), ['OK', 'online', '']);
  const address = `${(id >> 8) & 255}.${id & 255}`;
  const displayed = {
    backend_id: String(id),
    cores: 1,
    ram: 1024,
    disk: 25600,
    min_disk: 20480,
    image_name: 'Debian 9.2 x64',
    region_name: 'New York 3',
    key_name: 'laptop',
    key_fingerprint: key.fingerprint,
    user_data: '#cloud-config',
    external_ips: [`104.236.${address}`],
    internal_ips: [`10.128.${address}`],
    access_url: [`104.236.${address}`],
    start_time: '2018-01-05T04:47:19Z',
  };
  assert.equal(Object.fromEntries(Object.keys(displayed).map((name) => [name, droplet[name]])), displayed);
  assert.equal(messages(), [
    'SSH key laptop has been created for user Alice Liddell with username alice.',
    'Resource web-1 creation has been scheduled.',
    'Resource web-1 has been created.',
  ]);
});

test('stores the id and the state provisioning while the action runs', async () => {
  const { url } = await account.order('web-1');
  await account.advance(2);
  const [droplet] = [...account.vendor.droplets.values()];
  assert.is(droplet?.status, 'new');
  const { backend_id: id, runtime_state: runtime, state } = await account.read(url);
  assert.equal([state, runtime, id], ['Creating', 'provisioning', String(droplet?.id)]);
});

test('a creation without a key and user data sends neither', async () => {
  await account.order('web-1');
  await account.advance(2);
  assert.equal(sent('POST /droplets'), {
    name: 'web-1',
    region: 'nyc3',
    size: 's-1vcpu-1gb',
    image: 7555620,
    ssh_keys: [],
  });
});

test('does not upload a key that the vendor already has', async () => {
  const key = await account.key();
  await account.running('web-1', { ssh_public_key: key.url });
  const { url } = await account.order('web-2', { ssh_public_key: key.url });
  await account.advance(20);
  assert.not.ok(lines().includes('POST /account/keys'));
  assert.equal(stateOf(await account.read(url)), ['OK', 'online', '']);
  assert.equal(account.vendor.keys.size, 1);
});

test('simultaneous creations with the same key upload it once', async () => {
  const key = await account.key();
  account.vendor.injectFault('POST /account/keys', { delay: 30 }, 2);
  const orders = [
    await account.order('web-1', { ssh_public_key: key.url }),
    await account.order('web-2', { ssh_public_key: key.url }),
  ];
  await account.advance(20);
  assert.equal(lines().filter((line) => line === 'POST /account/keys').length, 2);
  for (const { url } of orders) assert.equal(stateOf(await account.read(url)), ['OK', 'online', '']);
  assert.equal(
    [...account.vendor.droplets.values()].map(({ order }) => order.ssh_keys),
    [[...account.vendor.keys.keys()], [...account.vendor.keys.keys()]],
  );
});

test('a read-only token fails a creation as unauthorized, with the message of the vendor', async () => {
  await account.fixture.staff.patch(account.service.settings, { token: 'read-only' });
  const { url } = await account.order('web-1');
  account.fixture.events();
  await account.advance(4);
  const text = 'You do not have access for the attempted action.';
  const droplet = await account.read(url);
  assert.equal([droplet.backend_id, ...stateOf(droplet)], ['', 'Erred', '', text]);
  assert.equal(
    account.fixture.events().map(({ context, level, message, type }) => [type, level, message, context.error_message]),
    [['resource_creation_failed', 'error', 'Resource web-1 creation has failed.', text]],
  );
  assert.is((await account.settings()).state, 'In Sync');
  // A droplet that the vendor never created is deleted without a call.
  account.vendor.take();
  assert.is((await account.alice.delete(url)).status, 202);
  await account.advance(2);
  assert.equal([(await account.alice.get(url)).status, lines()], [404, []]);
});

test('a creation rejected by the vendor fails with its message', async () => {
  account.vendor.images = account.vendor.images.filter(({ distribution }) => distribution !== 'Debian');
  const { url } = await account.order('web-1');
  await account.advance(4);
  assert.equal(stateOf(await account.read(url)), ['Erred', '', 'You specified an invalid image for Droplet creation.']);
});

test('an action that ends in an error at the vendor fails the operation', async () => {
  account.vendor.failing.add('create');
  const { url } = await account.order('web-1');
  await account.advance(16);
  const droplet = await account.read(url);
  assert.equal([droplet.state, droplet.error_message], ['Erred', 'Backend action create failed']);
  assert.is(droplet.backend_id, String([...account.vendor.droplets.keys()][0]));
  account.vendor.failing.delete('create');
  // Deleting an Erred resource removes its row and the droplet.
  await account.alice.delete(url);
  await account.advance(2);
  assert.equal([(await account.alice.get(url)).status, account.vendor.droplets.size], [404, 0]);
});

test('start, stop and restart are power_on, shutdown and reboot', async () => {
  const droplet = await account.running('web-1');
  const route = `POST /droplets/${droplet.backend_id}/actions`;
  const orders: unknown[] = [];
  for (const [name, state] of [
    ['stop', 'offline'],
    ['start', 'online'],
    ['restart', 'online'],
  ] as const) {
    assert.equal(stateOf(await act(droplet, name)), ['OK', state, '']);
    orders.push(sent(route));
  }
  assert.equal(orders, [{ type: 'shutdown' }, { type: 'power_on' }, { type: 'reboot' }]);
  assert.equal(messages(), [
    'Resource web-1 has been scheduled to stop.',
    'Resource web-1 has been stopped.',
    'Resource web-1 has been scheduled to start.',
    'Resource web-1 has been started.',
    'Resource web-1 has been scheduled to restart.',
    'Resource web-1 has been restarted.',
  ]);
});

test('a failed action shows its type at the vendor', async () => {
  const droplet = await account.running('web-1');
  account.vendor.failing.add('shutdown');
  assert.equal(stateOf(await act(droplet, 'stop')), ['Erred', 'online', 'Backend action shutdown failed']);
  assert.equal(messages(), ['Resource web-1 has been scheduled to stop.', 'Resource web-1 stop has failed.']);
});

test('resize sends the size and whether the disk grows, and stores the new values from the vendor', async () => {
  const droplet = await account.stopped('web-1');
  const { size } = await account.choice('New York 3', 'Debian 9.2 x64', 's-2vcpu-4gb');
  const route = `POST /droplets/${droplet.backend_id}/actions`;
  const flexible = await act(droplet, 'resize', { size, disk: false });
  assert.equal(sent(route), { type: 'resize', size: 's-2vcpu-4gb', disk: false });
  assert.equal(
    [...stateOf(flexible), flexible.cores, flexible.ram, flexible.disk],
    ['OK', 'offline', '', 2, 4096, 25600],
  );
  assert.equal(await usages(), { ram: 4096, storage: 25600, vcpu: 2 });
  const permanent = await act(droplet, 'resize', { size, disk: true });
  assert.equal(sent(route), { type: 'resize', size: 's-2vcpu-4gb', disk: true });
  assert.equal([permanent.cores, permanent.ram, permanent.disk], [2, 4096, 81920]);
  assert.equal(await usages(), { ram: 4096, storage: 81920, vcpu: 2 });
});

test('counts the quota changes of a resize when it is accepted, and reverts them if it fails', async () => {
  const droplet = await account.stopped('web-1');
  account.vendor.failing.add('resize');
  const { size } = await account.choice('New York 3', 'Debian 9.2 x64', 's-2vcpu-4gb');
  await account.alice.post(`${droplet.url}resize/`, { size, disk: true });
  assert.equal(await usages(), { ram: 4096, storage: 81920, vcpu: 2 });
  await account.advance(16);
  assert.equal(stateOf(await account.read(droplet.url)), ['Erred', 'offline', 'Backend action resize failed']);
  assert.equal(await usages(), { ram: 1024, storage: 25600, vcpu: 1 });
});

test('a deletion is a DELETE of the droplet', async () => {
  const droplet = await account.running('web-1');
  assert.is((await account.alice.delete(droplet.url)).status, 202);
  await account.advance(2);
  assert.equal(lines(), [`DELETE /droplets/${droplet.backend_id}`]);
  assert.is((await account.alice.get(droplet.url)).status, 404);
  assert.equal(messages(), [
    'Resource web-1 deletion has been scheduled.',
    'DigitalOcean Droplet web-1 has been deleted.',
  ]);
});

test('deleting a droplet that no longer exists succeeds', async () => {
  const droplet = await account.running('web-1');
  account.vendor.droplets.clear();
  await account.alice.delete(droplet.url);
  await account.advance(2);
  assert.is((await account.alice.get(droplet.url)).status, 404);
});

test('fails a rejected deletion with the message of the vendor, and removes the row at the second attempt', async () => {
  const droplet = await account.running('web-1');
  account.vendor.injectFault(
    'DELETE /droplets/:id',
    { status: 422, body: { id: 'unprocessable_entity', message: 'Droplet is locked.' } },
    2,
  );
  await account.alice.delete(droplet.url);
  await account.advance(2);
  assert.equal(stateOf(await account.read(droplet.url)), ['Erred', 'online', 'Droplet is locked.']);
  await account.alice.delete(droplet.url);
  await account.advance(2);
  assert.is((await account.alice.get(droplet.url)).status, 404);
});

test('pull updates name, sizes, addresses and state from the vendor', async () => {
  const droplet = await account.running('web-1');
  const [[id, present]] = [...account.vendor.droplets] as [[number, Droplet]];
  account.vendor.droplets.set(id, { ...present, name: 'db-1', status: 'off', disk: 30 });
  const pulled = await act(droplet, 'pull');
  assert.equal([pulled.name, ...stateOf(pulled), pulled.disk], ['db-1', 'OK', 'offline', '', 30720]);
  assert.equal(lines(), [`GET /droplets/${droplet.backend_id}`]);
});

test('pull of a missing droplet fails and raises the alert; a droplet that returns becomes OK', async () => {
  const droplet = await account.running('web-1');
  const [[id, present]] = [...account.vendor.droplets] as [[number, Droplet]];
  account.vendor.droplets.clear();
  assert.equal(stateOf(await act(droplet, 'pull')), ['Erred', '', 'Does not exist at backend.']);
  const alerts = async (): Promise<Json[]> =>
    (await account.fixture.staff.get('/api/alerts/?opened&alert_type=resource_disappeared_from_backend')).body;
  assert.equal(
    (await alerts()).map(({ scope }) => scope),
    [droplet.url],
  );
  account.vendor.droplets.set(id, present);
  assert.equal(stateOf(await act(droplet, 'pull')), ['OK', 'online', '']);
  assert.equal(await alerts(), []);
});

test('pull from an unresponsive backend fails without that alert', async () => {
  const droplet = await account.running('web-1');
  account.vendor.injectFault('GET /droplets/:id', 'reset', 4);
  assert.equal(stateOf(await act(droplet, 'pull')), ['Erred', 'online', 'Backend does not respond']);
  assert.equal(
    (await account.fixture.staff.get('/api/alerts/?opened&alert_type=resource_disappeared_from_backend')).body,
    [],
  );
});

test('archive is a separate state, and any unknown state is an error', async () => {
  const droplet = await account.running('web-1');
  const [present] = [...account.vendor.droplets.values()] as [Droplet];
  present.status = 'archive';
  assert.equal(stateOf(await act(droplet, 'pull')), ['OK', 'archive', '']);
  present.status = 'melted';
  assert.equal(stateOf(await act(droplet, 'pull')), ['Erred', 'error', 'Droplet runtime state become erred: error']);
  present.status = 'active';
  await sync();
  assert.equal(stateOf(await account.read(droplet.url)), ['OK', 'online', '']);
  present.status = 'melted';
  await sync();
  assert.equal(stateOf(await account.read(droplet.url)), [
    'Erred',
    'error',
    'Droplet runtime state become erred: error',
  ]);
});

test('pulls values of the vendor in the background and finds missing and returned objects', async () => {
  const stored = await account.running('kept');
  const lost = await account.running('lost');
  const [[storedId, first], [lostId, second]] = [...account.vendor.droplets] as [[number, Droplet], [number, Droplet]];
  account.vendor.droplets.set(storedId, { ...first, name: 'renamed', status: 'off' });
  account.vendor.droplets.delete(lostId);
  await sync();
  const renamed = await account.read(stored.url);
  assert.equal([renamed.name, renamed.start_time, ...stateOf(renamed)], ['renamed', null, 'OK', 'offline', '']);
  assert.equal(stateOf(await account.read(lost.url)), ['Erred', '', 'Does not exist at backend.']);
  account.vendor.droplets.set(lostId, second);
  await sync();
  assert.equal(stateOf(await account.read(lost.url)), ['OK', 'online', '']);
});

test('droplets that are active or off can be imported, with cores, ram, disk and flavor_name', async () => {
  for (const [name, status] of [
    ['running', 'active'],
    ['stopped', 'off'],
    ['coming', 'new'],
    ['stored', 'archive'],
  ] as const)
    account.vendor.order(name, status);
  await sync();
  const url = `${account.service.url}link/`;
  const items = (await account.fixture.staff.get(url)).body;
  const [id] = [...account.vendor.droplets.keys()] as [number];
  const common = {
    resource_type: 'DigitalOcean.Droplet',
    cores: 1,
    ram: 1024,
    disk: 25600,
    flavor_name: 's-1vcpu-1gb',
  };
  assert.equal(
    items.map(({ created: _, ...item }: Json) => item),
    [
      { backend_id: String(id), name: 'running', ...common },
      { backend_id: String(id + 1), name: 'stopped', ...common },
    ],
  );
  assert.is(items[0].created, [...account.vendor.droplets.values()][0]?.created_at);
  const body = { project: account.project.url };
  assert.equal((await account.fixture.staff.post(url, { ...body, backend_id: '1' })).body, {
    backend_id: ["Can't find droplet with ID 1"],
  });
  assert.equal((await account.fixture.staff.post(url, { ...body, backend_id: String(id + 2) })).body, {
    backend_id: [`Can't find droplet with ID ${id + 2}`],
  });
  const { body: imported, status } = await account.fixture.staff.post(url, { ...body, backend_id: String(id + 1) });
  assert.equal([status, imported.name, imported.state], [200, 'stopped', 'OK']);
  const droplet = await account.read(imported.url);
  assert.equal(
    [droplet.runtime_state, droplet.cores, droplet.ram, droplet.disk, droplet.image_name, droplet.region_name],
    ['offline', 1, 1024, 25600, 'Debian 9.2 x64', 'New York 3'],
  );
  assert.equal((await account.fixture.staff.post(url, { ...body, backend_id: String(id + 1) })).body, {
    backend_id: ['This resource is already linked.'],
  });
  // The imported droplet works like any other.
  assert.equal(stateOf(await act(droplet, 'start')), ['OK', 'online', '']);
});

test('objects that cannot be imported raise no alert about unmanaged resources', async () => {
  const alerts = async (): Promise<number> =>
    (await account.fixture.staff.get('/api/alerts/?opened&alert_type=service_has_unmanaged_resources')).body.length;
  const droplet = account.vendor.order('coming', 'new');
  await sync();
  assert.is(await alerts(), 0);
  droplet.status = 'active';
  await sync();
  assert.is(await alerts(), 1);
});

test('429 during an operation waits for Retry-After', async () => {
  const droplet = await account.running('web-1');
  account.vendor.injectFault('POST /droplets/:id/actions', { status: 429, headers: { 'Retry-After': '20' } });
  await account.alice.post(`${droplet.url}stop/`);
  await account.advance(18);
  assert.equal(lines(), [`POST /droplets/${droplet.backend_id}/actions`]);
  await account.advance(20);
  assert.equal(stateOf(await account.read(droplet.url)), ['OK', 'offline', '']);
});

test('retries reading an action after 1, 2 and 4 seconds, and then fails the operation', async () => {
  const droplet = await account.running('web-1');
  account.vendor.injectFault('GET /actions/:id', { status: 502 }, 3);
  assert.equal(
    stateOf(
      await act(droplet, 'stop')
        .then(() => account.advance(10))
        .then(() => account.read(droplet.url)),
    ),
    ['OK', 'offline', ''],
  );
  account.vendor.injectFault('GET /actions/:id', { status: 502 }, 4);
  assert.equal(stateOf(await act(droplet, 'start')), ['Erred', 'offline', 'Backend does not respond']);
});

test('fails an operation after its time limit', async () => {
  account.vendor.actionTime = 24 * 3_600_000;
  await account.order('web-1');
  await account.advance(3);
  account.fixture.events();
  account.fixture.clock.advance(30 * 60);
  await account.advance(1);
  assert.equal(
    account.fixture.events().map(({ context, type }) => [type, context.error_message]),
    [['resource_creation_failed', 'Provisioning is timed out.']],
  );
});

test.run();
