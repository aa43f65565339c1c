/** core.md 2.9 "Effect": whatever ends an API key also ends its open streams. */
import * as assert from 'uvu/assert';
import { EventReader } from '../../support/event-stream.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('streams of API keys', { trusted_proxies: ['127.0.0.1'] });
const start = '2018-01-05T04:00:00Z';
const home = { 'X-Forwarded-For': '192.0.2.7' };
let alice: Json;
let owner: Client;

test.before(async () => {
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice');
});

test.before.each(() => {
  owner = fixture.as('alice');
});

let count = 0;
async function keyOf(fields: Json = {}): Promise<Json> {
  count += 1;
  const { body, status } = await owner.post('/api/api-keys/', { name: `Key ${count}`, scopes: ['*:write'], ...fields });
  assert.is(status, 201, JSON.stringify(body));
  return body;
}

const using = ({ key }: Json): Client => new Client(fixture, key, home);

/** Opens a stream with a key. */
async function opened(key: Json): Promise<EventReader> {
  const reader = await EventReader.open(fixture, using(key));
  assert.is(reader.response.status, 200);
  assert.ok(await reader.frame());
  return reader;
}

/** Checks that the next tick of the timer (once a second) ends a stream, after any events already sent. */
async function ends(reader: EventReader): Promise<void> {
  fixture.server.tick();
  let frame = await reader.frame();
  while (frame?.data) frame = await reader.frame();
  assert.is(frame, undefined);
}

/** Checks that a stream continues. */
async function continues(reader: EventReader): Promise<void> {
  fixture.server.tick();
  // Creates an event that the owner sees.
  await keyOf();
  assert.ok(await reader.event());
  reader.leave();
}

test('a deleted key, also by its owner, by itself and with all others', async () => {
  const ways: ((key: Json) => Promise<{ status: number }>)[] = [
    (key) => owner.delete(key.url),
    (key) => fixture.staff.delete(key.url),
    (key) => using(key).delete('/api/api-keys/current/'),
    () => owner.post('/api/api-keys/revoke_all/'),
  ];
  for (const revoke of ways) {
    const key = await keyOf();
    const reader = await opened(key);
    assert.is((await revoke(key)).status, 204);
    await ends(reader);
  }
});

test('a key that expires, at its instant', async () => {
  const reader = await opened(await keyOf({ expires: '2018-01-05T05:00:00Z' }));
  const other = await opened(await keyOf({ expires: '2018-01-05T05:00:01Z' }));
  fixture.clock.set('2018-01-05T05:00:00Z');
  await ends(reader);
  owner = fixture.as('alice');
  await continues(other);
});

test('an end that is moved to an earlier time', async () => {
  const key = await keyOf();
  const reader = await opened(key);
  const soon = new Date(fixture.clock.now() / 1000 + 60_000).toISOString();
  assert.is((await owner.patch(key.url, { expires: soon })).status, 200);
  fixture.clock.advance(61);
  await ends(reader);
});

test('the old key at the end of its overlap, and one that a second rotation ends', async () => {
  const first = await keyOf();
  const old = await opened(first);
  const { body: second } = await owner.post(`${first.url}rotate/`, { overlap: 60 });
  const replaced = await opened(second);
  fixture.clock.advance(60);
  await ends(old);
  await owner.post(`${first.url}rotate/`, { overlap: 60 });
  const { body: fourth } = await owner.post(`${first.url}rotate/`, { overlap: 0 });
  await ends(replaced);
  await continues(await opened(fourth));
});

test('a key whose networks no longer contain the client', async () => {
  const key = await keyOf({ networks: ['192.0.2.0/24'] });
  const [reader, other] = [await opened(key), await opened(await keyOf())];
  assert.is((await owner.patch(key.url, { networks: ['198.51.100.0/24'] })).status, 200);
  await ends(reader);
  await continues(other);
});

test('a key that lost everything it was bound to', async () => {
  const customer = await fixture.customer('Acme');
  await fixture.grant(customer, alice, 'owner');
  const reader = await opened(await keyOf({ customers: [customer.url] }));
  assert.is((await fixture.staff.delete(customer.url)).status, 204);
  await ends(reader);
});

test('the keys of an owner who is deactivated', async () => {
  const reader = await opened(await keyOf());
  await fixture.staff.patch(alice.url, { is_active: false });
  await ends(reader);
});

test.run();
