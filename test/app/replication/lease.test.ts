/** The lease of `lease_url` with real processes and an object store (core.md 14.8). `npm test` builds the program first. */
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { Leased } from '../../support/leased.ts';
import { type Ended, failed, type Serving } from '../../support/program.ts';

const test = suite('lease');
let leased: Leased;
let token: string;

test.before.each(async () => {
  leased = await Leased.start();
  await leased.program.run(['user', 'add', 'admin', '--staff', '--data', 'data']);
  token = (await leased.program.run(['token', 'admin', '--data', 'data'])).stdout.trim();
});
test.after.each(() => leased.end());

const headers = (): Record<string, string> => ({ Authorization: `Token ${token}`, 'Content-Type': 'application/json' });
const create = (url: string, name: string): Promise<Response> =>
  fetch(`${url}/api/customers/`, { method: 'POST', headers: headers(), body: JSON.stringify({ name }) });
const statusOf = async (url: string, name: string): Promise<number> => (await create(url, name)).status;
/** Creates a customer. A machine under load may renew the lease late. */
const created = (url: string, name: string): Promise<void> =>
  eventually(`${name} is created`, async () => (await statusOf(url, name)) === 201, 30, 200);
const names = async (url: string): Promise<string[]> =>
  ((await (await fetch(`${url}/api/customers/`, { headers: headers() })).json()) as Json[]).map(
    ({ name }: Json) => name,
  );
const checks = async ({ startup }: Serving): Promise<Json> =>
  ((await (await fetch(`${startup.admin}/readyz`)).json()) as Json).checks;
const secondsLeft = async ({ startup }: Serving): Promise<number> =>
  Number(/^tenantry_lease_seconds_left (\S+)$/m.exec(await (await fetch(`${startup.admin}/metrics`)).text())?.[1]);

const noLease = 'This server does not hold the lease and does not accept changes.';
const fenced = { detail: 'Another server has been promoted in the place of this one, which takes no changes.' };

test('rejects a store that ignores conditions, and settings that do not fit', async () => {
  leased.store.honorsConditions = false;
  const words = ['serve', '--port', '0', '--log-level', 'error'];
  assert.equal(await leased.run(words), failed('The object store of lease_url does not honor conditional writes.'));
  assert.equal(
    await leased.run([...words, '--peers', 'https://other.example.com']),
    failed('peers is redundant with lease_url: remove it', 2),
  );
  const { stderr } = await leased.program.run([...words, ...leased.store.leaseOptions()]);
  assert.match(stderr, /^tenantry: lease_url needs credentials: /);
  const malformed = await leased.program.run([...words, '--lease-url', 's3://bucket/']);
  assert.equal(malformed, failed('--lease-url must be s3://BUCKET/KEY', 2));
});

test('stops changes and messages when the store is unreachable, and continues when it is back', async () => {
  const received: Json[] = [];
  const receiver = createServer((message, outgoing) => {
    let body = '';
    message.on('data', (chunk: Buffer) => (body += chunk));
    message.on('end', () => {
      received.push(JSON.parse(body));
      outgoing.end();
    });
  }).listen(0, '127.0.0.1');
  try {
    const server = await leased.serve(['--hooks-allowed-networks', '127.0.0.0/8']);
    const destination = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const hook = { destination_url: destination, event_types: ['customer_creation_succeeded'] };
    await fetch(`${server.url}/api/hooks-web/`, { method: 'POST', headers: headers(), body: JSON.stringify(hook) });
    await created(server.url, 'Before');
    await eventually('the hook was called', () => received.length === 1);
    const { lease } = await checks(server);
    const left = await secondsLeft(server);
    assert.equal([lease, left > 0 && left <= 25], ['ok', true]);

    leased.store.fault = () => 'cut';
    await eventually('the lease has expired', async () => (await statusOf(server.url, 'Attempt')) === 503, 20);
    const calls = received.length;
    const response = await create(server.url, 'Late');
    assert.equal(
      [response.status, await response.json(), response.headers.get('Retry-After')],
      [503, { detail: noLease }, '10'],
    );
    assert.not((await names(server.url)).includes('Late'), 'reads work, and the change is not there');
    assert.match((await checks(server)).lease, /^the lease has expired, and no changes are accepted: the object store/);
    assert.is((await checks(server)).database, 'ok');
    assert.is(await secondsLeft(server), 0);
    const operation = (await (await fetch(`${server.url}/api/operation/`, { headers: headers() })).json()) as Json;
    assert.match(operation.troubles[0], /^the lease has expired/);
    await eventually('it is logged', () => server.errors().includes('the lease has expired: no changes are accepted'));
    assert.equal(await leased.run(['user', 'add', 'late', '--data', 'data']), failed(noLease));
    await pause(300);
    assert.is(received.length, calls, 'nothing was sent');

    leased.store.fault = () => undefined;
    await created(server.url, 'After');
    await eventually(
      'its hook was called',
      () => received.some(({ context }) => context.customer_name === 'After'),
      10,
    );
    assert.is((await checks(server)).lease, 'ok');
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
});

test('releases the lease at a clean shutdown, and waits for it after a kill', async () => {
  const first = await leased.serve();
  assert.equal(leased.object?.ttl, 30);
  const { epoch = 0 } = leased.object ?? {};
  await first.stop();
  assert.equal(leased.object, { epoch, holder: null, ttl: 0 });
  const second = await leased.serve();
  assert.is(leased.object?.epoch, epoch + 1);
  await second.kill();
  const killed = performance.now();
  const third = await leased.serve();
  const seconds = (performance.now() - killed) / 1000;
  assert.ok(seconds > 5, `it waited ${seconds} s of 6`);
  assert.is(leased.object?.epoch, epoch + 2);
  await created(third.url, 'After');
});

test('shares the lease with commands while a server runs, and acquires it for others', async () => {
  assert.is((await leased.run(['user', 'add', 'alice', '--data', 'data'])).code, 0);
  const { epoch = 0, holder } = leased.object ?? {};
  assert.is(holder, null, 'released');
  await leased.serve();
  assert.is((await leased.run(['user', 'add', 'bob', '--data', 'data'])).code, 0);
  assert.is(leased.object?.epoch, epoch + 1, 'only the server acquired it');
});

test('writes to data under a lease only with the lease, also without the setting', async () => {
  const withoutSetting = (...words: readonly string[]): Promise<Ended> =>
    leased.program.run([...words, '--data', 'data'], { env: leased.env });
  const server = await leased.serve();
  assert.is((await withoutSetting('user', 'add', 'alice')).code, 0, 'shares the lease of the server');
  leased.store.fault = () => 'cut';
  await eventually('the lease has expired', async () => (await secondsLeft(server)) === 0, 20);
  assert.equal(await withoutSetting('user', 'add', 'bob'), failed(noLease));
  await server.kill();
  leased.store.fault = () => undefined;

  const required = failed(
    `${leased.path('data')} is written under a lease: set lease_url as its server does, or remove ${leased.path('data/lease.json')} if no other server uses that lease`,
    2,
  );
  const writing = [
    ['user', 'add', 'bob'],
    ['rotate-key', '--quiet'],
    ['doctor', '--repair'],
    ['promote'],
    ['serve', '--port', '0', '--log-level', 'error'],
  ];
  for (const words of writing) assert.equal(await withoutSetting(...words), required, words.join(' '));
  const users = await withoutSetting('user', 'list');
  assert.equal([users.code, /alice/.test(users.stdout), /bob/.test(users.stdout)], [0, true, false]);
  assert.is((await withoutSetting('doctor')).code, 0);
  const backup = await withoutSetting('backup', 'saved');
  assert.is(backup.code, 0);
  assert.match(backup.stderr, /^tenantry: the audit trail has no record of this copy: \S+ is written under a lease: /m);

  rmSync(leased.path('data/lease.json'));
  assert.is((await withoutSetting('user', 'add', 'bob')).code, 0);
});

test('rejects a second server of the same folder at once, and leaves the first one alone', async () => {
  await leased.serve();
  const second = ['serve', '--port', '0', '--data', 'data', '--log-level', 'error'];
  assert.equal(await leased.run(second), failed(`another server uses the data folder ${leased.path('data')}`));
  assert.is((await leased.run(['user', 'add', 'bob', '--data', 'data'])).code, 0);
});

test('rejects a second server of the same folder while the first one waits for the lease', async () => {
  await (await leased.serve()).kill();
  const first = leased.serve();
  await pause(500);
  const second = ['serve', '--port', '0', '--data', 'data', '--log-level', 'error'];
  assert.equal(await leased.run(second), failed(`another server uses the data folder ${leased.path('data')}`));
  await created((await first).url, 'After');
});

test('leaves the lease to its last holder when a command that takes it over fails', async () => {
  const server = await leased.serve();
  await server.stop();
  const before = leased.object;
  const restore = await leased.run(['restore', 'missing', '--data', 'other']);
  assert.match(restore.stderr, /^tenantry: cannot read the backup \S+: no such file/);
  assert.equal(leased.object, before);
  await created((await leased.serve()).url, 'After');
});

test('leaves the lease to a stopped server when a promotion fails', async () => {
  const old = await leased.serve();
  await created(old.url, 'Before');
  const { epoch } = leased.object ?? {};
  const [process] = [...leased.program.running];
  process?.kill('SIGSTOP');
  const { code, stderr } = await leased.run(['promote', '--data', 'copy']);
  assert.equal([code, stderr.includes('tenantry: there is no copy in ')], [1, true], stderr);
  assert.equal(leased.object, { epoch, holder: null, ttl: 0 });
  process?.kill('SIGCONT');
  await created(old.url, 'After');
  assert.is(leased.object?.epoch, epoch);
});

test('continues with the data of the old server when the machine of a promotion has died', async () => {
  const old = await leased.serve();
  await created(old.url, 'Before');
  await old.stop();
  const { epoch = 0 } = leased.object ?? {};
  const dead = { epoch: epoch + 1, holder: 'dead', ttl: 30, renewals: 0, isTakeOver: true };
  leased.store.objects.set('lease', Buffer.from(JSON.stringify(dead)));
  const start = await leased.run(['serve', '--port', '0', '--log-level', 'error']);
  assert.equal(start, failed('a command takes the lease over: run it again if it was interrupted'));
  assert.is((await leased.run(['backup', 'saved', '--data', 'data'])).code, 0);
  const restored = await leased.run(['restore', 'saved', '--data', 'again']);
  assert.is(restored.code, 0, restored.stderr);
  const next = await leased.serve(['--data', 'again']);
  assert.equal(await names(next.url), ['Before']);
  await created(next.url, 'After');
  assert.equal(await (await create((await leased.serve()).url, 'Too late')).json(), fenced);
});

test('fences a killed server forever when its copy was promoted', async () => {
  const old = await leased.serve(['--replicated']);
  await created(old.url, 'Before');
  const follower = await leased.program.serve(['--follow', 'data', '--data', 'copy']);
  await follower.stop();
  await old.kill();
  const promoted = await leased.run(['promote', '--data', 'copy']);
  assert.equal([promoted.code, promoted.stdout.includes('peers')], [0, false], promoted.stderr);
  const next = await leased.serve(['--data', 'copy']);
  await created(next.url, 'After');
  const back = await leased.serve();
  assert.equal(await (await create(back.url, 'Too late')).json(), fenced);
  assert.equal(await names(back.url), ['Before']);
  assert.match((await checks(back)).fence, /^another server was promoted/);
  assert.match((await leased.run(['user', 'add', 'late', '--data', 'data'])).stderr, /another server was promoted/);
  await next.stop();
  await back.stop();
  const again = await leased.serve();
  assert.is(await statusOf(again.url, 'Still too late'), 503, 'also when the lease is free');
});

test('acknowledges nothing when it continues after a suspension that was longer than the lease', async () => {
  const old = await leased.serve(['--replicated']);
  await created(old.url, 'Before');
  const follower = await leased.program.serve(['--follow', 'data', '--data', 'copy']);
  await follower.stop();
  const [suspended] = [...leased.program.running];
  suspended?.kill('SIGSTOP');
  const pending = create(old.url, 'Pending');
  assert.is((await leased.run(['promote', '--data', 'copy'])).code, 0);
  const next = await leased.serve(['--data', 'copy']);
  suspended?.kill('SIGCONT');
  assert.is((await pending).status, 503);
  await eventually('it is fenced', async () => (await checks(old)).fence !== undefined);
  assert.equal(await (await create(old.url, 'Too late')).json(), fenced);
  assert.equal([await names(old.url), await names(next.url)], [['Before'], ['Before']]);
});

test.run();
