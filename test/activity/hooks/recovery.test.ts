/** Recovery of web hooks after failures of the receiver (events.md 5.11). */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { createWebHook, Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('recovery of web hooks', {
  hooks_allowed_networks: ['127.0.0.1'],
  events_retention: 90 * 24 * 3600 * 1_000_000,
});
let receiver: Receiver;

test.before(async () => {
  receiver = await Receiver.start();
});

test.before.each(() => {
  fixture.clock.hold();
});

test.after(() => receiver.close());

test.after.each(async () => {
  for (const { url } of (await fixture.staff.get('/api/hooks/')).body) await fixture.staff.delete(url);
  receiver.behaviour = 200;
  receiver.take();
  fixture.events();
});

const hook = (client: Client = fixture.staff, fields: Record<string, unknown> = {}): Promise<Json> =>
  createWebHook(client, {
    destination_url: `${receiver.url}/in`,
    event_types: ['customer_creation_succeeded'],
    ...fields,
  });

/** Creates customers with these names, a second apart. */
async function customers(...names: readonly string[]): Promise<Json[]> {
  const created: Json[] = [];
  for (const name of names) {
    fixture.clock.advance(1);
    created.push(await fixture.customer(name));
  }
  return created;
}

/** Returns the customer names that the receiver got since the last call, in order. */
async function received(): Promise<string[]> {
  await fixture.server.settled();
  return receiver.takeJson().map(({ context }) => context.customer_name);
}

/** Whole seconds, as responses write them. */
const isoSecond = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('.000Z', 'Z');
const instant = (): string => isoSecond(fixture.clock.now() / 1000);
const nextSecond = (): string => {
  fixture.clock.advance(1);
  return instant();
};

test('queues failed deliveries again with the same id, and events without a delivery with a new one, in order', async () => {
  const since = nextSecond();
  await customers('Before the hook');
  const { url } = await hook();
  receiver.behaviour = 410;
  await customers('Lost');
  await received();
  receiver.behaviour = 200;
  const [failed] = (await fixture.staff.get(`${url}deliveries/`)).body as [Json];
  assert.is(failed.status, 'failed');
  await customers('While disabled');
  await fixture.staff.patch(url, { is_active: true });
  await customers('Delivered');
  assert.equal(await received(), ['Delivered']);
  fixture.clock.advance(1);
  fixture.events();
  const reply = await fixture.staff.post(`${url}recover/`, { since });
  const [last] = (await fixture.staff.get('/api/events/?event_type=customer_creation_succeeded')).body.slice(1) as [
    Json,
  ];
  assert.equal([reply.status, reply.body], [202, { count: 3, until: last['@timestamp'].replace('.000Z', 'Z') }]);
  await fixture.server.settled();
  const requests = receiver.take();
  assert.equal(
    requests.map(({ body }) => JSON.parse(body).context.customer_name),
    ['Before the hook', 'Lost', 'While disabled'],
  );
  assert.is(requests[1]?.headers['webhook-id'], failed.uuid);
  assert.equal(fixture.events(), [], 'a recovery emits no event');
  const again = await fixture.staff.post(`${url}recover/`, { since });
  assert.equal([again.status, again.body], [202, { count: 0, until: instant() }], 'nothing is sent twice');
});

test('only selects failed deliveries or missing events; until ends the period', async () => {
  const since = nextSecond();
  await customers('Missing 1');
  const { url } = await hook();
  receiver.behaviour = 410;
  await customers('Failed');
  await received();
  receiver.behaviour = 200;
  await fixture.staff.patch(url, { is_active: true });
  const until = nextSecond();
  const recover = async (body: object): Promise<unknown> => {
    assert.is((await fixture.staff.post(`${url}recover/`, body)).status, 202);
    return received();
  };
  assert.equal(await recover({ since, until: since.replace('Z', '.999Z'), only: 'failed' }), []);
  assert.equal(await recover({ since, until, only: 'failed' }), ['Failed']);
  assert.equal(await recover({ since, until, only: 'missing' }), ['Missing 1']);
});

test('sends only what the hook matches and its author can see now', async () => {
  const alice = await fixture.user('alice');
  const own = await fixture.customer('Own');
  await fixture.grant(own, alice, 'owner');
  const { url } = await hook(fixture.as('alice'), { event_types: ['customer_update_succeeded'] });
  await fixture.as('alice').patch(url, { is_active: false });
  const since = nextSecond();
  const other = await fixture.customer('Foreign');
  for (const customer of [own, other]) await fixture.staff.patch(customer.url, { native_name: 'x' });
  await fixture.project('A project', own);
  await fixture.as('alice').patch(url, { is_active: true });
  fixture.clock.advance(1);
  const reply = await fixture.as('alice').post(`${url}recover/`, { since });
  assert.equal([reply.status, reply.body.count], [202, 1]);
  assert.equal(await received(), ['Own']);
});

test('new events wait for at most one recovered delivery', async () => {
  const since = nextSecond();
  await customers('Old 1', 'Old 2', 'Old 3', 'Old 4');
  const { url } = await hook();
  fixture.clock.advance(1);
  let release: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (release = resolve));
  receiver.behaviour = async () => {
    await first;
    return 200;
  };
  await fixture.staff.post(`${url}recover/`, { since });
  await customers('New 1', 'New 2');
  release();
  assert.equal(await received(), ['Old 1', 'New 1', 'Old 2', 'New 2', 'Old 3', 'Old 4']);
});

test('rejects a period that is empty or no longer stored, inactive hooks, and a second recovery', async () => {
  const { url } = await hook();
  const now = nextSecond();
  const post = async (body: object): Promise<unknown> => {
    const reply = await fixture.staff.post(`${url}recover/`, body);
    return [reply.status, reply.body];
  };
  const day = 24 * 3600_000;
  const start = isoSecond(Date.parse(now) - 90 * day);
  const early = [400, { since: [`Events before ${start} are no longer kept.`] }];
  const empty = [400, { since: ['End must occur after start.'] }];
  const past = isoSecond(Date.parse(now) - 91 * day);
  assert.equal(await post({ since: past }), early);
  assert.equal(await post({ since: past, until: past }), early, 'the retention goes first');
  assert.equal(await post({ since: now }), empty);
  assert.equal(await post({ since: now, until: past }), empty);
  assert.equal(await post({}), [400, { since: ['This field is required.'] }]);
  assert.equal(await post({ since: null }), [400, { since: ['This field may not be null.'] }]);
  assert.equal(await post({ since: now, only: 'all' }), [400, { only: ['"all" is not a valid choice.'] }]);
  await fixture.staff.patch(url, { is_active: false });
  await customers('Missed');
  fixture.clock.advance(1);
  assert.equal(await post({ since: now }), [409, { detail: 'Hook is not active.' }]);
  await fixture.staff.patch(url, { is_active: true });
  receiver.behaviour = 500;
  assert.equal(((await post({ since: now })) as [number])[0], 202);
  await fixture.server.settled();
  assert.equal(await post({ since: now }), [409, { detail: 'A recovery is under way.' }]);
  receiver.take();
  receiver.behaviour = 200;
  await fixture.advance(10);
  assert.equal(await received(), ['Missed']);
  assert.is(((await post({ since: now })) as [number])[0], 202);
});

test('recovers 10,000 deliveries in order without a gap, in parts where more are pending', async () => {
  const since = nextSecond();
  const total = 10_050;
  const { url } = await hook(fixture.staff, { event_types: ['custom_notification'] });
  const { db } = fixture.server.app;
  const now = fixture.clock.now();
  db.write(() =>
    db.run(sql`
      WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${total})
      INSERT INTO event (uuid, at, type, level, message, context)
      SELECT lower(hex(randomblob(16))), ${now} + n, 'custom_notification', 'info', concat('Message ', n), '{}' FROM numbers`),
  );
  fixture.clock.advance(1);
  const messages: string[] = [];
  const counts: number[] = [];
  for (let part = 0, from = since; part < 3; part++) {
    const { body, status } = await fixture.staff.post(`${url}recover/`, { since: from });
    assert.is(status, 202);
    counts.push(body.count);
    from = body.until;
    await fixture.server.settled();
    messages.push(...receiver.takeJson().map(({ message }) => message));
  }
  assert.equal(counts, [10_000, 50, 0]);
  assert.is(messages.length, total);
  assert.is(
    messages.findIndex((message, i) => message !== `Message ${i}`),
    -1,
  );
});

test.run();
