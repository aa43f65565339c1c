import { gzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { type Attempt, attemptOf } from '../../../src/activity/hooks/attempt.ts';
import { HookClient } from '../../../src/activity/hooks/post.ts';
import { version } from '../../../src/kernel/app.ts';
import { raw } from '../../../src/kernel/db/sql.ts';
import { openRule } from '../../../src/kernel/net/destination.ts';
import { byStaff, type Json } from '../../support/fixture.ts';
import { type Behaviour, createWebHook, type Received, Receiver } from '../../support/receiver.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('the request and response of a delivery', {
  hooks_allowed_networks: ['127.0.0.1'],
});
let receiver: Receiver;

test.before(async () => {
  receiver = await Receiver.start();
});

test.after(() => receiver.close());

test.before.each(() => {
  receiver.behaviour = 200;
  receiver.take();
});

const hook = (fields: Record<string, unknown> = {}, client = fixture.staff): Promise<Json> =>
  createWebHook(client, {
    destination_url: `${receiver.url}/in`,
    event_types: ['customer_creation_succeeded'],
    ...fields,
  });

/** Returns the only delivery of a hook with a separate path. */
async function only({ url }: Json, client = fixture.staff): Promise<Json> {
  const [{ url: own }] = (await client.get(`${url}deliveries/`)).body;
  return (await client.get(own)).body;
}

/** Returns the headers of a received request that the log shows. */
const reports = ({ headers }: Received): Json => ({
  'Content-Type': headers['content-type'],
  'User-Agent': headers['user-agent'],
  'webhook-id': headers['webhook-id'],
  'webhook-timestamp': headers['webhook-timestamp'],
});

test('shows the received request without its signature, and the response', async () => {
  fixture.clock.hold();
  for (const content_type of ['json', 'form']) {
    const created = await hook({ content_type });
    const headers = { 'Content-Type': 'text/plain', Server: 'inside/1', Date: 'Fri, 05 Jan 2018 04:47:05 GMT' };
    receiver.behaviour = { status: 200, headers, body: 'welcome' };
    fixture.clock.set('2018-01-05T04:47:04.982123Z');
    await fixture.customer('Ö & "Söhne"');
    await fixture.server.settled();
    const [received] = receiver.take() as [Received];
    const { request, response } = await only(created);
    assert.equal(request, {
      method: 'POST',
      url: `${receiver.url}/in`,
      headers: reports(received),
      body: received.body,
    });
    assert.is(request.headers['webhook-timestamp'], '1515127624');
    const { duration, ...reply } = response;
    const responded = { 'content-type': 'text/plain', date: 'Fri, 05 Jan 2018 04:47:05 GMT' };
    assert.equal(reply, { status: 200, headers: responded, body: null });
    assert.ok(Number.isInteger(duration) && duration >= 0 && duration < 10_000, String(duration));
    await fixture.staff.delete(created.url);
  }
});

test('shows the request before the first attempt', async () => {
  receiver.behaviour = 'no-response';
  const created = await hook({ event_types: ['custom_notification'] });
  await fixture.staff.post(`${created.url}test/`);
  await fixture.staff.post(`${created.url}test/`);
  const [waiting] = (await fixture.staff.get(`${created.url}deliveries/`)).body;
  const { request, response, ...logged } = (await fixture.staff.get(waiting.url)).body;
  assert.equal(logged, waiting, 'the rest is as in the list');
  const { ip_address: _, ...context } = await byStaff(fixture);
  const body = {
    timestamp: request.body.slice(14, 40),
    message: 'Test delivery of the hook.',
    type: 'custom_notification',
    context,
    levelname: 'INFO',
  };
  assert.equal([request.body, response], [JSON.stringify(body), null]);
  assert.equal(request.headers, {
    'Content-Type': 'application/json',
    'User-Agent': `Tenantry/${version}`,
    'webhook-id': waiting.uuid,
  });
});

test('each attempt replaces the previous one, also without a response', async () => {
  const created = await hook();
  receiver.behaviour = { status: 503, headers: { 'Retry-After': '7' } };
  await fixture.customer('Alice');
  await fixture.server.settled();
  const rejection = await only(created);
  assert.equal([rejection.response.status, rejection.response.headers['retry-after']], [503, '7']);
  receiver.behaviour = 'reset';
  await fixture.advance(8);
  const { request, response, response_code, error_message } = await only(created);
  assert.equal([response, response_code, error_message], [null, null, 'The connection was reset.']);
  const [first, second] = receiver.take() as [Received, Received];
  assert.is(rejection.request.headers['webhook-timestamp'], first.headers['webhook-timestamp']);
  assert.equal(request.headers, reports(second), 'with the instant of the last attempt');
});

test('shows no request for a removed event, but its response', async () => {
  const created = await hook();
  receiver.behaviour = 410;
  await fixture.customer('Alice');
  await fixture.server.settled();
  const { db } = fixture.server.app;
  db.write(() => db.run(raw('DELETE FROM event')));
  const { event_uuid, request, response } = await only(created);
  assert.equal([event_uuid, request, response.status], [null, null, 410]);
});

test('the log shows the author no more of an event than a new delivery would', async () => {
  const user = await fixture.user('alice');
  const alice = fixture.as('alice');
  const customer = await fixture.customer('Alice');
  const role = await fixture.grant(customer, user, 'owner');
  const created = await hook({ event_types: ['customer_update_succeeded'] }, alice);
  await fixture.staff.patch(customer.url, { native_name: 'Alicia' });
  await fixture.server.settled();
  const [first] = receiver.take() as [Received];
  assert.is((await only(created, alice)).request.body, first.body);
  assert.match(first.body, '"ip_address":"127.0.0.1"');
  await fixture.staff.delete(role.url);
  const displayed = [];
  for (const client of [alice, fixture.staff]) displayed.push((await only(created, client)).request.body);
  await alice.post(`${(await only(created)).url}redeliver/`);
  await fixture.server.settled();
  const [again] = receiver.take() as [Received];
  assert.equal(displayed, [again.body, again.body], 'any viewer');
  assert.not.match(again.body, 'ip_address');
});

test('field selects its members', async () => {
  const created = await hook();
  await fixture.customer('Alice');
  await fixture.server.settled();
  const { url, request } = await only(created);
  assert.equal((await fixture.staff.get(`${url}?field=request`)).body, { request });
});

/** Returns the stored details of a response, as if its address were public. */
async function stored(behaviour: Behaviour): Promise<Attempt> {
  receiver.behaviour = behaviour;
  const client = new HookClient();
  const reply = await client.post({ url: receiver.url, headers: {}, body: '' });
  client.close();
  assert.is(reply.address, '127.0.0.1');
  return attemptOf(1, reply, 12.4, () => true);
}

test('stores the first 1,000 characters of an unsuccessful response from a public address, if it is text', async () => {
  const date = 'Fri, 05 Jan 2018 04:47:05 GMT';
  const denial = (type: string, body: string | Buffer, more = {}): Behaviour => ({
    status: 400,
    headers: { 'Content-Type': type, Date: date, ...more },
    body,
  });
  const json = 'application/problem+json; charset=utf-8';
  assert.equal(await stored(denial(json, '{"title":"No such project"}', { Server: 'nginx', 'Set-Cookie': 'a=b' })), {
    sent: 1,
    duration: 12,
    headers: { 'content-type': json, date, server: 'nginx' },
    body: '{"title":"No such project"}',
  });
  const bodyOf = async (behaviour: Behaviour): Promise<string | null | undefined> => (await stored(behaviour)).body;
  assert.is(await bodyOf(denial('text/html', '\u{1f600}'.repeat(30_000))), '\u{1f600}'.repeat(1000));
  assert.is((await bodyOf(denial('text/plain', 'x'.repeat(20_000_000))))?.length, 1000);
  assert.is(await bodyOf(denial('text/plain', Buffer.from([0x61, 0xff, 0, 0x1b, 0x62]))), 'a\ufffdb');
  assert.is(await bodyOf(denial('text/plain', 'a\u202eb\r\nc')), 'ab\nc');
  assert.is(await bodyOf(denial('text/plain', '')), '');
  assert.is(await bodyOf(denial('image/png', 'x')), null);
  assert.is(await bodyOf(denial('application/jsonish', 'x')), null);
  assert.is(await bodyOf({ status: 400, body: 'x' }), null);
  assert.is(await bodyOf(denial('text/plain', gzipSync('x'), { 'Content-Encoding': 'gzip' })), null);
  assert.is(await bodyOf({ status: 201, headers: { 'Content-Type': 'text/plain' }, body: 'x' }), null, 'a success');
  const moved = await stored({
    status: 301,
    headers: { Location: `https://example.com/${'x'.repeat(300)}`, Date: date },
  });
  assert.equal(moved.headers, { date, location: `https://example.com/${'x'.repeat(180)}` });
});

test("public addresses are neither private nor among the operator's exceptions", () => {
  const isOpen = openRule(['127.0.0.0/8', '203.0.113.0/24']);
  for (const address of ['198.51.100.1', '2001:db8::1', '::ffff:198.51.100.1']) assert.ok(isOpen(address), address);
  for (const address of ['127.0.0.1', '10.0.0.1', '::1', 'fe80::1%eth0', '203.0.113.9', '::ffff:203.0.113.9', ''])
    assert.not.ok(isOpen(address), address);
});

test.run();
