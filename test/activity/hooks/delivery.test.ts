import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import * as assert from 'uvu/assert';
import { retryAfterOf } from '../../../src/activity/hooks/outcome.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { eventually } from '../../support/eventually.ts';
import { type Json, start } from '../../support/fixture.ts';
import { createWebHook, type Received, Receiver } from '../../support/receiver.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('delivery', {
  hooks_allowed_networks: ['127.0.0.0/8'],
  random: predictable,
});
let receiver: Receiver;
/** The server's random numbers, from 0 to 1: jitter is -20 % to +20 % of a delay. */
let chance = 0.5;

test.before(async () => {
  receiver = await Receiver.start();
});

test.before.each(() => {
  chance = 0.5;
  receiver.behaviour = 200;
  receiver.take();
});

test.after(() => receiver.close());

/** Random bytes, except the four that decide a delay. */
function predictable(bytes: number): Buffer {
  const buffer = randomBytes(bytes);
  if (bytes === 4) buffer.writeUInt32BE(Math.min(2 ** 32 - 1, chance * 2 ** 32));
  return buffer;
}

const hook = (path = '/', fields: Record<string, unknown> = {}, client = fixture.staff): Promise<Json> =>
  createWebHook(client, { destination_url: receiver.url + path, event_types: ['custom_notification'], ...fields });

async function emit(...messages: string[]): Promise<void> {
  for (const message of messages) await fixture.staff.post('/api/events/', { level: 'warning', message });
}

/** Runs everything that is due. */
async function work(): Promise<void> {
  fixture.server.tick();
  await fixture.server.settled();
}

const log = async ({ url }: Json, query = ''): Promise<Json[]> =>
  (await fixture.staff.get(`${url}deliveries/${query}`)).body;
const only = async (of: Json): Promise<Json> => (await log(of))[0];
const messages = (requests: readonly Received[]): string[] => requests.map(({ body }) => JSON.parse(body).message);
const seconds = (instant: string): number => (Date.parse(instant) - Date.parse(start)) / 1000;

test('queues a delivery together with its event, and none if the request fails', async () => {
  const created = await hook('/', { event_groups: ['customers'] });
  await fixture.staff.post('/api/customers/', { name: '' });
  await fixture.server.settled();
  assert.equal([await log(created), receiver.take()], [[], []]);
  await fixture.customer('Alice');
  await fixture.server.settled();
  assert.equal(messages(receiver.take()), ['Customer Alice has been created.']);
});

test('the request that causes an event never waits for its delivery', async () => {
  receiver.behaviour = 'no-response';
  const created = await hook();
  await emit('No response');
  const { attempts, status } = await only(created);
  assert.equal([attempts, status], [0, 'pending'], 'the first attempt has no outcome yet');
});

test('the server checks for due deliveries every second', async () => {
  const created = await hook();
  receiver.behaviour = 500;
  await emit('Again');
  await fixture.server.settled();
  receiver.behaviour = 200;
  fixture.clock.advance(5);
  await eventually('both attempts have arrived', () => receiver.requests.length >= 2);
  await fixture.server.settled();
  assert.equal([messages(receiver.take()), (await only(created)).status], [['Again', 'Again'], 'delivered']);
});

test('the next start repeats an attempt that a shutdown interrupted, with the same webhook-id', async () => {
  await fixture.close();
  const data = mkdtempSync(join(tmpdir(), 'tenantry-delivery-'));
  try {
    const settings = { ephemeral: false, data, hooks_allowed_networks: ['127.0.0.0/8'] };
    await fixture.open(settings);
    await hook();
    receiver.behaviour = 'no-response';
    await emit('first', 'second');
    while (receiver.requests.length < 1) await new Promise(setImmediate);
    await fixture.close();
    const [interrupted] = receiver.take() as [Received];
    receiver.behaviour = 200;
    const again = await createServer({ ...settings, port: 0, log_level: 'silent', clock: fixture.clock });
    again.tick();
    await again.settled();
    const requests = receiver.take();
    assert.equal(
      [messages(requests), requests[0]?.headers['webhook-id']],
      [['first', 'second'], interrupted.headers['webhook-id']],
    );
    assert.equal(again.app.db.all(raw('SELECT status, attempts FROM delivery')), [
      { status: 'delivered', attempts: 1 },
      { status: 'delivered', attempts: 1 },
    ]);
    await again.close();
  } finally {
    rmSync(data, { recursive: true });
  }
});

test('at most one delivery of a hook is in flight, and due ones are sent in the order of the events', async () => {
  await hook();
  const responses: (() => void)[] = [];
  receiver.behaviour = () => new Promise((resolve) => responses.push(() => resolve(200)));
  await emit('1', '2', '3');
  for (const seen of [['1'], ['1', '2'], ['1', '2', '3']]) {
    while (receiver.requests.length < seen.length) await new Promise(setImmediate);
    assert.equal(messages(receiver.requests), seen);
    responses.shift()?.();
  }
  await fixture.server.settled();
});

test('any response except 2xx is a failed attempt: 3xx, 4xx, 5xx, a broken or refused connection', async () => {
  const remote = await Receiver.start();
  const cases: readonly (readonly [Receiver['behaviour'], number | null, string])[] = [
    [301, 301, 'The receiver responded with 301. Redirects are not followed.'],
    [
      { status: 307, headers: { Location: `${remote.url}/` } },
      307,
      'The receiver responded with 307. Redirects are not followed.',
    ],
    [404, 404, 'The receiver responded with 404.'],
    [500, 500, 'The receiver responded with 500.'],
    ['reset', null, 'The connection was reset.'],
  ];
  const created = await hook();
  for (const [behaviour, code, error] of cases) {
    receiver.behaviour = behaviour;
    await emit('Anything');
    await fixture.server.settled();
    const { attempts, error_message, response_code, status } = await only(created);
    assert.equal([status, attempts, response_code, error_message], ['pending', 1, code, error]);
  }
  assert.equal(remote.take(), []);
  await remote.close();
  await fixture.staff.patch(created.url, { destination_url: remote.url });
  await emit('Nothing listens');
  await fixture.server.settled();
  assert.is((await only(created)).error_message, 'The connection was refused.');
});

test('any 2xx is a success, whatever the body', async () => {
  const created = await hook();
  for (const behaviour of [
    200,
    201,
    204,
    { status: 299, body: '{"error":"ignored"}' },
    { status: 200, body: 'x'.repeat(1_000_000) },
  ]) {
    receiver.behaviour = behaviour;
    await emit('Good');
    await fixture.server.settled();
    assert.is((await only(created)).status, 'delivered');
  }
});

test('retries after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h; fails after 8 attempts', async () => {
  fixture.clock.hold();
  receiver.behaviour = 500;
  const created = await hook();
  await emit('Fails');
  await fixture.server.settled();
  let expected = 0;
  for (const delay of [5, 30, 120, 600, 3600, 6 * 3600, 24 * 3600]) {
    expected += delay;
    const pending = await only(created);
    assert.is(seconds(pending.next_attempt), expected);
    fixture.clock.set(Date.parse(pending.next_attempt) * 1000 - 1);
    await work();
    assert.is((await only(created)).attempts, pending.attempts, 'not before its time');
    fixture.clock.set(pending.next_attempt);
    await work();
  }
  const { attempts, error_message, next_attempt, status } = await only(created);
  assert.equal(
    [status, attempts, next_attempt, error_message],
    ['failed', 8, null, 'The receiver responded with 500.'],
  );
  assert.is(
    new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size,
    1,
    'the webhook-id never changes',
  );
  fixture.clock.advance(10 * 24 * 3600);
  await work();
  assert.is(receiver.requests.length, 8);
});

test('each delay varies by up to 20 % at random', async () => {
  fixture.clock.hold();
  receiver.behaviour = 500;
  const created = await hook();
  for (const [input, delay] of [
    [0, 4],
    [0.25, 4.5],
    [1, 6],
  ] as const) {
    chance = input;
    await emit('Fails');
    await fixture.server.settled();
    assert.is(Math.round(seconds((await only(created)).next_attempt) * 1000), delay * 1000);
  }
});

test('a delivery that waits for its retry does not delay later ones, and precedes them when it is due', async () => {
  await hook();
  receiver.behaviour = ({ body }) => (body.includes('stubborn') ? 500 : 200);
  await emit('stubborn', 'second');
  await fixture.server.settled();
  assert.equal(messages(receiver.take()), ['stubborn', 'second']);
  fixture.clock.advance(5);
  // The commit wakes the delivery of the third event. By then, the poll has made the first one due.
  fixture.server.tick();
  await emit('third');
  await fixture.server.settled();
  assert.equal(messages(receiver.take()), ['stubborn', 'third']);
});

test('respects Retry-After, in seconds or as a date, for any failed attempt, up to 24 h', async () => {
  const created = await hook();
  const at = new Date(Date.parse(start) + 90_000).toUTCString();
  for (const [status, header, delay] of [
    [503, '60', 60],
    [429, at, 90],
    [400, '3', 5],
    [503, '1000000', 24 * 3600],
    [503, '99999999999', 24 * 3600],
    [503, 'soon', 5],
  ] as const) {
    receiver.behaviour = { status, headers: { 'Retry-After': header } };
    await emit('Busy');
    await fixture.server.settled();
    assert.is(seconds((await only(created)).next_attempt), delay, header);
  }
});

test('a date in Retry-After can have any of the three forms; the one without a zone is UTC', () => {
  const { TZ: zone } = process.env;
  process.env.TZ = 'America/New_York';
  try {
    const dates = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'];
    assert.equal(
      dates.map((date) => retryAfterOf(date, 0)),
      Array(3).fill(784_111_777_000_000),
    );
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test('a failed delivery affects no other: a dead receiver delays no other hook', async () => {
  const silent = await hook('/silent');
  const alive = await hook('/alive');
  receiver.behaviour = ({ path }) => (path === '/silent' ? 'no-response' : 200);
  await emit('1', '2', '3');
  while ((await log(alive, '?status=delivered')).length < 3) await new Promise(setImmediate);
  assert.equal(
    (await log(silent)).map(({ status }) => status),
    ['pending', 'pending', 'pending'],
  );
  assert.equal(messages(receiver.take().filter(({ path }) => path === '/alive')), ['1', '2', '3']);
});

test('failing hooks wait for each other, other hooks do not wait for them', async () => {
  const count = 105;
  receiver.behaviour = ({ path }) => (path === '/alive' ? 200 : 500);
  for (let i = 0; i < count; i++) await hook('/dead');
  await emit('1');
  await fixture.server.settled();
  receiver.take();
  receiver.behaviour = ({ path }) => (path === '/alive' ? 200 : 'no-response');
  await hook('/alive');
  await emit('2');
  while (receiver.requests.length < 101) await new Promise(setImmediate);
  assert.is(
    receiver.requests.filter(({ path }) => path === '/dead').length,
    100,
    'at most so many attempts of failing hooks are under way',
  );
  assert.is(receiver.requests.filter(({ path }) => path === '/alive').length, 1);
});

test('410 fails the delivery, disables the hook and cancels its pending deliveries', async () => {
  const created = await hook();
  receiver.behaviour = 500;
  await emit('1');
  await fixture.server.settled();
  receiver.behaviour = 410;
  await emit('2');
  await fixture.server.settled();
  const [second, first] = (await log(created)) as [Json, Json];
  const reason = 'The hook was disabled: its receiver is gone.';
  assert.equal(
    [second.status, second.attempts, second.response_code, second.error_message],
    ['failed', 1, 410, `The receiver responded with 410. ${reason}`],
  );
  assert.equal(
    [first.status, first.next_attempt, first.error_message],
    ['canceled', null, `The receiver responded with 500. ${reason}`],
  );
  assert.is((await fixture.staff.get(created.url)).body.is_active, false);
});

test('disables a hook whose every attempt failed for 5 days, with the reason in the last delivery', async () => {
  receiver.behaviour = 500;
  const dead = await hook();
  await emit('1');
  await fixture.server.settled();
  fixture.clock.advance(5 * 24 * 3600 - 1);
  await emit('2');
  await fixture.server.settled();
  assert.is((await fixture.staff.get(dead.url)).body.is_active, true, 'one second less than five days');
  fixture.clock.advance(1);
  await emit('3');
  await fixture.server.settled();
  assert.is((await fixture.staff.get(dead.url)).body.is_active, false);
  const [last, ...others] = await log(dead);
  assert.equal(
    [last.status, last.error_message],
    ['canceled', 'The receiver responded with 500. The hook was disabled: every attempt has failed for 5 days.'],
  );
  assert.ok(others.every(({ status }) => status === 'canceled'));
});

test('one success, or enabling the hook again, restarts the 5 days', async () => {
  const created = await hook();
  const attempt = async (behaviour: number): Promise<boolean> => {
    receiver.behaviour = behaviour;
    await emit('Again');
    await fixture.server.settled();
    return (await fixture.staff.get(created.url)).body.is_active;
  };
  await attempt(500);
  fixture.clock.advance(3 * 24 * 3600);
  await attempt(200);
  fixture.clock.advance(3 * 24 * 3600);
  assert.ok(await attempt(500));
  fixture.clock.advance(5 * 24 * 3600);
  assert.not.ok(await attempt(500));
  await fixture.staff.patch(created.url, { is_active: true });
  assert.ok(await attempt(500));
});

test('a hook has at most 10,000 pending deliveries; above that, the oldest fail', async () => {
  const created = await hook();
  const { db } = fixture.server.app;
  const id = db.value<number>(sql`SELECT id FROM hook WHERE uuid = ${created.uuid}`) as number;
  const numbers = Array.from({ length: 9999 }, (_, i) => i + 1);
  // All deliveries wait for a retry.
  db.write(() =>
    db.run(sql`INSERT INTO delivery (uuid, hook_id, event_type, payload, ready, created, next_attempt)
    SELECT printf('%032d', value), ${id}, 'custom_notification', '{}', 0, 0, ${fixture.clock.now() + 1e9} FROM json_each(${JSON.stringify(numbers)})`),
  );
  db.commit();
  receiver.behaviour = 500;
  await emit('the 10,000th');
  await fixture.server.settled();
  assert.equal(await log(created, '?status=failed'), []);
  await emit('one more');
  await fixture.server.settled();
  const [oldest, ...others] = await log(created, '?status=failed');
  assert.is(others.length, 0);
  assert.equal(
    [oldest.uuid, oldest.error_message, oldest.next_attempt],
    ['00000000000000000000000000000001', 'Too many pending deliveries.', null],
  );
  assert.is(
    (await fixture.staff.get(`${created.url}deliveries/?status=pending`)).headers.get('X-Result-Count'),
    '10000',
  );
});

test('disabling a hook cancels its pending deliveries; nothing is queued meanwhile or sent later', async () => {
  receiver.behaviour = 500;
  const created = await hook();
  await emit('1');
  await fixture.server.settled();
  await fixture.staff.patch(created.url, { is_active: false });
  await emit('2');
  receiver.behaviour = 200;
  await fixture.staff.patch(created.url, { is_active: true });
  fixture.clock.advance(3600);
  await work();
  const [canceled, ...others] = await log(created);
  assert.is(others.length, 0);
  assert.equal(
    [canceled.status, canceled.error_message, canceled.next_attempt],
    ['canceled', 'The receiver responded with 500. The hook was disabled.', null],
  );
  receiver.take();
  await emit('3');
  await fixture.server.settled();
  assert.equal(messages(receiver.take()), ['3']);
});

test('a delivery canceled or deleted during an attempt stays canceled or deleted, whatever the outcome', async () => {
  for (const status of [200, 500, 410]) {
    const [disabled, deleted, other] = [await hook('/disabled'), await hook('/deleted'), await hook('/other')] as [
      Json,
      Json,
      Json,
    ];
    let response = (): void => undefined;
    const later = new Promise<number>((resolve) => (response = () => resolve(status)));
    receiver.behaviour = ({ path }) => (path === '/other' ? 200 : later);
    await emit('1', '2');
    while (receiver.requests.length < 4) await new Promise(setImmediate);
    await fixture.staff.patch(disabled.url, { is_active: false });
    await fixture.staff.delete(deleted.url);
    response();
    await fixture.server.settled();
    assert.equal(
      (await log(disabled)).map((each) => [each.status, each.error_message, each.next_attempt]),
      Array(2).fill(['canceled', 'The hook was disabled.', null]),
    );
    assert.equal(
      (await log(other)).map((each) => each.status),
      ['delivered', 'delivered'],
    );
    await fixture.staff.patch(disabled.url, { is_active: true });
    await fixture.advance(60);
    assert.equal(
      receiver
        .take()
        .map(({ path }) => path)
        .sort(),
      ['/deleted', '/disabled', '/other', '/other'],
      'nothing is sent again',
    );
    for (const { url } of [disabled, other]) await fixture.staff.delete(url);
  }
});

/** The receiver delays its next response until it is released. */
function heldResponse(): (status: number) => void {
  let response: (status: number) => void = () => undefined;
  receiver.behaviour = ({ path }) => (path === '/old' ? new Promise((resolve) => (response = resolve)) : 200);
  return (status) => response(status);
}

/** A hook that has failed for five days, with an attempt in progress whose response is pending. */
async function failingForDays(): Promise<{ created: Json; response: (status: number) => void }> {
  const created = await hook('/old');
  receiver.behaviour = 500;
  await emit('first');
  await fixture.server.settled();
  fixture.clock.advance(5 * 24 * 3600);
  receiver.take();
  const response = heldResponse();
  await emit('second');
  while (receiver.requests.length < 1) await new Promise(setImmediate);
  return { created, response };
}

test('the response of the old receiver does not affect a hook that has a new one', async () => {
  for (const status of [410, 500]) {
    const { response, created } = await failingForDays();
    await fixture.staff.patch(created.url, { destination_url: `${receiver.url}/new` });
    response(status);
    await fixture.server.settled();
    assert.is((await fixture.staff.get(created.url)).body.is_active, true, String(status));
    assert.equal([(await only(created)).status, (await only(created)).response_code], ['pending', status]);
    await fixture.advance(10);
    assert.equal(
      (await log(created)).map((each) => each.status),
      ['delivered', 'delivered'],
    );
    await fixture.staff.delete(created.url);
  }
});

test('a change of the hook also clears its failures for attempts in progress', async () => {
  const { response, created } = await failingForDays();
  await fixture.staff.patch(created.url, { content_type: 'form' });
  response(500);
  await fixture.server.settled();
  assert.is((await fixture.staff.get(created.url)).body.is_active, true);
});

test('a delivery that is canceled and queued again during an attempt is sent again, whatever the outcome', async () => {
  for (const status of [200, 500, 410]) {
    const created = await hook('/old');
    const response = heldResponse();
    await emit('Moved');
    while (receiver.requests.length < 1) await new Promise(setImmediate);
    fixture.clock.advance(1);
    await fixture.staff.patch(created.url, { is_active: false });
    await fixture.staff.patch(created.url, { is_active: true, destination_url: `${receiver.url}/new` });
    assert.is((await fixture.staff.post(`${(await only(created)).url}redeliver/`)).status, 202);
    response(status);
    await fixture.server.settled();
    assert.equal(
      receiver.take().map(({ path }) => path),
      ['/old', '/new'],
    );
    assert.equal([(await only(created)).status, (await only(created)).attempts], ['delivered', 1]);
    await fixture.staff.delete(created.url);
  }
});

test('deactivating the author cancels their pending deliveries; after reactivation their hooks work again', async () => {
  const user = await fixture.user('alice', { is_staff: true });
  const created = await hook('/', {}, fixture.as('alice'));
  receiver.behaviour = 500;
  await emit('1');
  await fixture.server.settled();
  await fixture.staff.patch(user.url, { is_active: false });
  assert.equal(
    (await log(created)).map(({ error_message, status }) => [status, error_message]),
    [['canceled', 'The receiver responded with 500. The author of the hook was deactivated.']],
  );
  await emit('2');
  assert.is((await fixture.staff.post(`${created.url}test/`)).status, 409);
  receiver.behaviour = 200;
  await fixture.staff.patch(user.url, { is_active: true });
  fixture.clock.advance(3600);
  await work();
  receiver.take();
  await emit('3');
  await fixture.server.settled();
  assert.equal(messages(receiver.take()), ['3']);
  assert.is((await log(created)).length, 2);
});

test('deleting the hook or its author deletes hook and deliveries', async () => {
  const user = await fixture.user('alice', { is_staff: true });
  receiver.behaviour = 500;
  await hook('/1', {}, fixture.as('alice'));
  const own = await hook('/2');
  await emit('1');
  await fixture.server.settled();
  await fixture.staff.delete(own.url);
  await fixture.staff.delete(user.url);
  receiver.take();
  const { db } = fixture.server.app;
  assert.is(db.value(raw('SELECT count(*) FROM hook')), 0);
  // Rows are removed in batches, one hook after the other.
  for (let step = 0; step < 3; step++) {
    fixture.clock.advance(3600);
    await work();
  }
  assert.equal(
    [receiver.take(), db.value(raw('SELECT (SELECT count(*) FROM delivery) + (SELECT count(*) FROM removed_hook)'))],
    [[], 0],
  );
});

test('deletes finished deliveries after hook_delivery_retention', async () => {
  fixture.clock.hold();
  const created = await hook();
  await emit('Old');
  await fixture.server.settled();
  fixture.clock.advance(30 * 24 * 3600);
  receiver.behaviour = 500;
  await emit('Pending');
  await work();
  assert.is((await log(created)).length, 2);
  fixture.clock.advance(1);
  await work();
  assert.equal(
    (await log(created)).map(({ status }) => status),
    ['pending'],
  );
});

test('a delivery whose event was removed fails with that reason', async () => {
  receiver.behaviour = 500;
  const created = await hook();
  await emit('Forgotten');
  await fixture.server.settled();
  const { db } = fixture.server.app;
  db.write(() => db.run(raw('DELETE FROM event')));
  fixture.clock.advance(10);
  await work();
  const { error_message, status } = await only(created);
  assert.equal([status, error_message], ['failed', 'The event is no longer kept.']);
});

test('a removed event does not count as a failure of the receiver', async () => {
  const created = await hook();
  await emit('Forgotten');
  await fixture.server.settled();
  const { db } = fixture.server.app;
  db.write(() => db.run(raw('DELETE FROM event')));
  await fixture.staff.post(`${(await only(created)).url}redeliver/`);
  await fixture.server.settled();
  assert.is((await only(created)).error_message, 'The event is no longer kept.');
  fixture.clock.advance(5 * 24 * 3600);
  receiver.behaviour = 503;
  await emit('Stored');
  await fixture.server.settled();
  assert.equal(
    [(await only(created)).status, (await fixture.staff.get(created.url)).body.is_active],
    ['pending', true],
  );
});

test.run();
