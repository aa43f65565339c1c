import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../../support/eventually.ts';
import type { Json } from '../../../support/fixture.ts';
import { Account } from '../../../vendors/digitalocean/account.ts';
import type { Fault } from '../../../vendors/digitalocean/stand-in.ts';

const test = suite('settings of DigitalOcean');
let account: Account;

test.before.each(async () => {
  account = await Account.open();
});

test.after.each(() => account.close());

const sync = (seconds?: number): Promise<readonly [string, string]> => account.sync(seconds);

const lines = (): string[] => account.vendor.take().map(({ line }) => line);

const post = async (fields: Record<string, unknown>): Promise<Json> => {
  const response = await account.fixture.staff.post('/api/digitalocean/', {
    name: 'Other',
    customer: account.customer.url,
    backend_url: account.vendor.url,
    ...fields,
  });
  return [response.status, response.body];
};

test('the real driver requires a token', async () => {
  assert.equal(await post({}), [400, { token: ['This field is required.'] }]);
  const settings = {
    name: 'Other',
    type: 'DigitalOcean',
    customer: account.customer.url,
    backend_url: account.vendor.url,
  };
  assert.equal((await account.fixture.staff.post('/api/service-settings/', settings)).body, {
    token: ['This field is required.'],
  });
  assert.is(
    (await account.fixture.staff.post('/api/service-settings/', { ...settings, token: 'full-access' })).status,
    201,
  );
  assert.equal((await account.fixture.staff.patch(account.service.settings, { token: null })).body, {
    token: ['This field is required.'],
  });
});

test('backend_url is an http or https URL', async () => {
  assert.equal(await post({ token: 'full-access', backend_url: 'ftp://api.digitalocean.com/v2' }), [
    400,
    { backend_url: ['Enter a valid URL.'] },
  ]);
});

test('checks credentials with GET /account before it stores a service', async () => {
  assert.equal(await post({ token: 'wrong' }), [
    400,
    { non_field_errors: ['Wrong settings: Unable to authenticate you.'] },
  ]);
  account.vendor.injectFault('GET /account', { status: 503 });
  assert.equal(await post({ token: 'full-access' }), [
    400,
    { non_field_errors: ['Wrong settings: Backend does not respond.'] },
  ]);
  account.vendor.injectFault('GET /account', 'half');
  assert.equal(await post({ token: 'full-access' }), [
    400,
    { non_field_errors: ['Wrong settings: Unexpected answer of backend.'] },
  ]);
  const tried = account.vendor.take();
  assert.equal(
    tried.map(({ line }) => line),
    ['GET /account', 'GET /account', 'GET /account'],
  );
  assert.equal(tried[0]?.authorization, 'Bearer wrong');
  assert.is((await account.fixture.staff.get('/api/digitalocean/')).body.length, 1);
  assert.is((await account.fixture.staff.get('/api/service-settings/?type=DigitalOcean')).body.length, 1);
});

test('rejects a backend at a local address unless provider_allowed_networks contains it', async () => {
  const strict = await Account.open({ isConnected: false, provider_allowed_networks: [] });
  const fields = { name: 'DO', customer: strict.customer.url, backend_url: strict.vendor.url, token: 'full-access' };
  assert.equal((await strict.fixture.staff.post('/api/digitalocean/', fields)).body, {
    non_field_errors: ['Wrong settings: Destination address is not allowed by provider_allowed_networks.'],
  });
  assert.equal(strict.vendor.take(), []);
  await strict.close();
});

test('a synchronisation reads the properties: available regions, all images and sizes, in MiB', async () => {
  const list = async (path: string): Promise<Json[]> =>
    (await account.alice.get(`/api/${path}/?settings_uuid=${account.service.settings_uuid}`)).body.map(
      ({ regions, url: _, uuid: __, ...rest }: Json) => ({
        ...rest,
        ...(regions && { regions: regions.map(({ name }: Json) => name) }),
      }),
    );
  assert.equal(await list('digitalocean-regions'), [{ name: 'Frankfurt 1' }, { name: 'New York 3' }]);
  assert.equal(await list('digitalocean-images'), [
    {
      name: 'CentOS web server before the move',
      distribution: 'CentOS',
      type: 'snapshot',
      is_official: false,
      created_at: '2017-12-14T16:44:45Z',
      min_disk_size: 40960,
      regions: ['New York 3'],
    },
    {
      name: 'Debian 9.2 x64',
      distribution: 'Debian',
      type: 'snapshot',
      is_official: true,
      created_at: '2017-11-09T15:01:00Z',
      min_disk_size: 20480,
      regions: ['Frankfurt 1', 'New York 3'],
    },
    {
      name: 'Ubuntu 16.04.3 x64',
      distribution: 'Ubuntu',
      type: 'snapshot',
      is_official: true,
      created_at: '2017-10-17T20:24:33Z',
      min_disk_size: 20480,
      regions: ['Frankfurt 1', 'New York 3'],
    },
  ]);
  assert.equal(await list('digitalocean-sizes'), [
    {
      name: 's-1vcpu-1gb',
      cores: 1,
      ram: 1024,
      disk: 25600,
      transfer: 1048576,
      regions: ['Frankfurt 1', 'New York 3'],
    },
    {
      name: 's-2vcpu-4gb',
      cores: 2,
      ram: 4096,
      disk: 81920,
      transfer: 4194304,
      regions: ['Frankfurt 1', 'New York 3'],
    },
    { name: 's-8vcpu-32gb', cores: 8, ram: 32768, disk: 655360, transfer: 7340032, regions: ['New York 3'] },
  ]);
});

test('stores the properties of a backend apart from those of the simulator', async () => {
  await account.fixture.staff.post('/api/digitalocean/', {
    name: 'Simulated',
    customer: account.customer.url,
    simulator_latency: '0',
  });
  await account.advance(3);
  const names = async (query: string): Promise<string[]> =>
    (await account.alice.get(`/api/digitalocean-regions/${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await names(`?settings_uuid=${account.service.settings_uuid}`), ['Frankfurt 1', 'New York 3']);
  assert.equal(await names(''), [
    'Amsterdam 3',
    'Frankfurt 1',
    'Frankfurt 1',
    'New York 3',
    'New York 3',
    'Singapore 1',
  ]);
});

test('a synchronisation removes properties that no longer exist at the vendor, and updates changed ones without changing their uuid', async () => {
  const before = (await account.alice.get('/api/digitalocean-sizes/')).body;
  account.vendor.sizes = account.vendor.sizes.slice(1).map((size) => ({ ...size, regions: ['fra1'] }));
  assert.equal(await sync(), ['In Sync', '']);
  const after = (await account.alice.get('/api/digitalocean-sizes/')).body;
  assert.equal(
    after.map(({ name }: Json) => name),
    ['s-2vcpu-4gb', 's-8vcpu-32gb'],
  );
  assert.equal(
    after.map(({ uuid }: Json) => uuid),
    before.slice(1).map(({ uuid }: Json) => uuid),
  );
  assert.equal(
    after.map(({ regions }: Json) => regions.map(({ name }: Json) => name)),
    [['Frankfurt 1'], ['Frankfurt 1']],
  );
});

test('reads all pages of a list, and sends the token only to the backend', async () => {
  account.vendor.largestPage = 2;
  for (const name of ['one', 'two', 'three']) account.vendor.order(name);
  assert.equal(await sync(), ['In Sync', '']);
  assert.equal(lines(), [
    'GET /account',
    'GET /regions?per_page=200',
    'GET /regions?per_page=2&page=2',
    'GET /images?per_page=200',
    'GET /images?per_page=2&page=2',
    'GET /sizes?per_page=200',
    'GET /sizes?per_page=2&page=2',
    'GET /droplets?per_page=200',
    'GET /droplets?per_page=2&page=2',
  ]);
  assert.is((await account.alice.get('/api/digitalocean-images/')).body.length, 3);
  assert.equal(
    (await account.fixture.staff.get(`${account.service.url}link/`)).body.map(({ name }: Json) => name),
    ['one', 'three', 'two'],
  );
});

test('rejects an endless list', async () => {
  const next = { links: { pages: { next: `${account.vendor.url}/regions?page=2` } } };
  account.vendor.injectFault('GET /regions', { status: 200, body: { regions: [], ...next } });
  assert.equal(await sync(), ['Erred', 'Unexpected answer of backend']);
  const regions = Array.from({ length: 5000 }, (_, n) => ({ slug: `r${n}`, name: `Region ${n}` }));
  account.vendor.injectFault('GET /regions', { status: 200, body: { regions, ...next } }, 3);
  assert.equal(await sync(), ['Erred', 'Unexpected answer of backend']);
  assert.is((await account.alice.get('/api/digitalocean-regions/')).body.length, 2);
});

for (const [what, fault, text] of [
  [
    '401',
    { status: 401, body: { id: 'unauthorized', message: 'Unable to authenticate you' } },
    'Unable to authenticate you',
  ],
  [
    '403',
    { status: 403, body: { id: 'forbidden', message: 'You do not have access for the attempted action.' } },
    'You do not have access for the attempted action.',
  ],
  [
    '404',
    { status: 404, body: { id: 'not_found', message: 'The resource you were accessing could not be found.' } },
    'The resource you were accessing could not be found.',
  ],
  [
    '409',
    { status: 409, body: { id: 'conflict', message: 'The request could not be completed.' } },
    'The request could not be completed.',
  ],
  ['422', { status: 422, body: { id: 'unprocessable_entity', message: 'Page is not valid.' } }, 'Page is not valid.'],
  ['truncated JSON', 'half', 'Unexpected answer of backend'],
  [
    'an object without its fields',
    { status: 200, body: { images: [{ slug: 'debian' }], links: {} } },
    'Unexpected answer of backend',
  ],
  ['a redirect', { status: 301, headers: { Location: 'http://127.0.0.1:1/' } }, 'Unexpected answer of backend'],
] as readonly [string, Fault, string][]) {
  test(`${what} fails the synchronisation at once, with the alert, and changes nothing else`, async () => {
    account.vendor.injectFault('GET /images', fault);
    assert.equal(await sync(), ['Erred', text]);
    assert.is(lines().at(-1), 'GET /images?per_page=200');
    const [alert, ...others] = (await account.fixture.staff.get('/api/alerts/?opened&alert_type=service_unavailable'))
      .body;
    assert.equal([alert.scope, alert.severity, others.length], [account.service.url, 'Warning', 0]);
    assert.is((await account.alice.get('/api/digitalocean-images/')).body.length, 3);
    assert.equal(
      (
        await account.alice.post('/api/digitalocean-droplets/', {
          name: 'web',
          service_project_link: account.link.url,
          ...(await account.choice()),
        })
      ).body,
      { detail: 'Cannot create resource if its service is in erred state.' },
    );
    assert.equal(await sync(), ['In Sync', '']);
    assert.equal((await account.fixture.staff.get('/api/alerts/?opened&alert_type=service_unavailable')).body, []);
  });
}

for (const [what, fault] of [
  ['500', { status: 500 }],
  ['a reset connection', 'reset'],
  ['a connection that breaks off', 'broken off'],
] as readonly [string, Fault][]) {
  test(`${what} is retried after 1, 2 and 4 seconds, then the backend does not respond`, async () => {
    account.vendor.injectFault('GET /account', fault, 4);
    account.fixture.clock.advance(30 * 60);
    const tries: number[] = [];
    for (let second = 0; second <= 10; second++) {
      await account.advance(1);
      if (lines().includes('GET /account')) tries.push(second);
    }
    const [first] = tries as [number];
    assert.equal(
      tries.map((second) => second - first),
      [0, 1, 3, 7],
    );
    const { error_message: text, state } = await account.settings();
    assert.equal([state, text], ['Erred', 'Backend does not respond']);
  });
}

test('a temporary failure leaves the settings in sync', async () => {
  account.vendor.injectFault('GET /sizes', 'reset', 3);
  assert.equal(await sync(12), ['In Sync', '']);
});

test('waits after 429 for Retry-After, or ten seconds without it, five times, and then fails', async () => {
  const rejection = { id: 'too_many_requests', message: 'API Rate limit exceeded.' };
  account.vendor.injectFault('GET /account', { status: 429, headers: { 'Retry-After': '30' }, body: rejection });
  account.vendor.injectFault('GET /account', { status: 429, headers: { 'RateLimit-Reset': 'x' }, body: rejection }, 5);
  account.fixture.clock.advance(30 * 60);
  const tries: number[] = [];
  for (let second = 0; second < 90; second++) {
    await account.advance(1);
    if (lines().includes('GET /account')) tries.push(second);
  }
  const [first] = tries as [number];
  assert.equal(
    tries.map((second) => second - first),
    [0, 30, 40, 50, 60, 70],
  );
  const { error_message: text, state } = await account.settings();
  assert.equal([state, text], ['Erred', 'API Rate limit exceeded.']);
});

test('waits after 429 without Retry-After until the limit resets, at most five minutes', async () => {
  const now = account.fixture.clock.now() / 1_000_000 + 30 * 60;
  account.vendor.injectFault('GET /account', {
    status: 429,
    headers: { 'RateLimit-Reset': String(Math.floor(now) + 3600) },
  });
  account.fixture.clock.advance(30 * 60);
  const tries: number[] = [];
  for (let second = 0; second < 310; second++) {
    await account.advance(1);
    if (lines().includes('GET /account')) tries.push(second);
  }
  assert.equal(
    tries.map((second) => second - (tries[0] as number)),
    [0, 300],
  );
  assert.is((await account.settings()).state, 'In Sync');
});

test('limits the failure of a backend to its settings', async () => {
  const other = account.service;
  account.vendor.tokens.set('second', 'write');
  await account.connect({ name: 'Second', token: 'second' });
  account.vendor.tokens.delete('second');
  assert.equal(await sync(), ['Erred', 'Unable to authenticate you']);
  assert.is((await account.fixture.staff.get(other.settings)).body.state, 'In Sync');
});

test('never shows the token in an error message', async () => {
  account.vendor.injectFault('GET /account', { status: 403, body: { message: 'full-access is suspended' } });
  assert.equal(await sync(), ['Erred', '*** is suspended']);
});

test('makes at most four calls at once for the same settings', async () => {
  account.vendor.injectFault('GET /droplets/:id', { delay: 20 }, 8);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const name of names) account.vendor.order(name);
  await sync();
  const items = (await account.fixture.staff.get(`${account.service.url}link/`)).body;
  account.vendor.server.maxConcurrent = 0;
  for (const { backend_id } of items) {
    const { url } = (
      await account.fixture.staff.post(`${account.service.url}link/`, { backend_id, project: account.project.url })
    ).body;
    assert.is((await account.alice.post(`${url}pull/`)).status, 202);
  }
  await account.advance(4);
  assert.is(account.vendor.server.maxConcurrent, 4);
  assert.equal(
    new Set((await account.alice.get('/api/digitalocean-droplets/')).body.map(({ state }: Json) => state)),
    new Set(['OK']),
  );
});

test('a shutdown does not wait for a backend that does not respond', async () => {
  const other = await Account.open();
  other.vendor.injectFault('GET /account', 'no response');
  other.fixture.clock.advance(30 * 60);
  await eventually('the synchronisation waits for the backend', async () => {
    other.fixture.clock.advance(2);
    other.fixture.server.tick();
    return (await other.settings()).state === 'Syncing';
  });
  const started = performance.now();
  await other.close();
  assert.ok(performance.now() - started < 30_000, 'closed before the call times out');
});

test.run();
