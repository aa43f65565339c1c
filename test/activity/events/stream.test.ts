import { once } from 'node:events';
import { connect } from 'node:net';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { EventReader } from '../../support/event-stream.ts';
import { eventually } from '../../support/eventually.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('the stream of events (events.md 4.8)', {
  event_stream_heartbeat: 50_000,
  max_event_streams: 8,
});
let setup: Personas;

test.before.each(async () => {
  setup = await createPersonas(fixture);
});

const notify = async (message: string, scope?: Json): Promise<void> => {
  const { status } = await fixture.staff.post('/api/events/', { level: 'info', message, scope: scope?.url ?? null });
  assert.is(status, 201);
};

const open = (client: Client, query = '', lastId?: string): Promise<EventReader> =>
  EventReader.open(fixture, client, query, lastId);

const streams = (): number => fixture.server.app.eventStreams.size;

test('sends events as the list shows them, each with its uuid as id, in order', async () => {
  const [latest] = (await setup.clients.owner.get('/api/events/?page_size=1')).body;
  const reader = await open(setup.clients.owner);
  assert.is(reader.response.status, 200);
  assert.is(reader.response.headers.get('content-type'), 'text/event-stream');
  assert.is(reader.response.headers.get('cache-control'), 'no-store');
  assert.is(reader.response.headers.get('x-accel-buffering'), 'no');
  assert.equal(await reader.frame(), { retry: '3000', id: latest.uuid });
  await fixture.staff.patch(setup.project.url, { name: 'Saturn' });
  await notify('customer news', setup.customer);
  const frames = [await reader.event(), await reader.event()];
  const list = (await setup.clients.owner.get('/api/events/?page_size=2')).body.reverse();
  assert.equal(frames, [
    { id: list[0].uuid, data: list[0] },
    { id: list[1].uuid, data: list[1] },
  ]);
  assert.equal(
    list.map((event: Json) => event.message),
    ["Project Saturn has been updated. Name has been changed from 'Rocket' to 'Saturn'.", 'customer news'],
  );
  // Only the people of the customer and the actor see the client's address.
  const observer = await open(setup.clients.observer);
  await fixture.staff.patch(setup.project.url, { name: 'Rocket' });
  assert.is((await observer.event()).data.ip_address, undefined);
  assert.is((await reader.event()).data.ip_address, '127.0.0.1');
});

test("resumes after the client's last event without gaps or duplicates", async () => {
  const first = await open(setup.clients.owner);
  await notify('one', setup.customer);
  const { id } = await first.event();
  first.leave();
  for (let number = 0; number < 120; number++) await notify(`news ${number}`, setup.customer);
  const second = await open(setup.clients.owner, '', id);
  assert.equal(await second.frame(), { retry: '3000', id });
  const reports = second.messages(121);
  await notify('last', setup.customer);
  assert.equal(await reports, [...Array.from({ length: 120 }, (_, number) => `news ${number}`), 'last']);
});

test('reports a gap and continues from now if the event is unknown or too many have happened since', async () => {
  const [old] = (await setup.clients.owner.get('/api/events/?page_size=1')).body;
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE sqlite_sequence SET seq = seq + 10001 WHERE name = 'event'`));
  await notify('far away', setup.customer);
  for (const id of [old.uuid, '0'.repeat(32), 'nonsense']) {
    const reader = await open(setup.clients.owner, '', id);
    await reader.frame();
    assert.equal(
      await reader.event(),
      { event: 'gap', data: { detail: 'Events are missing here. Read the list.' } },
      id,
    );
    await notify(`after ${id}`, setup.customer);
    assert.equal(await reader.messages(1), [`after ${id}`]);
    reader.leave();
  }
});

test('the current roles decide, also during a stream and when they expire', async () => {
  const reader = await open(setup.clients.stranger);
  // The server reads events soon after their commit, with the roles at that time. The stranger's own event arrives after the
  // invisible one.
  const lookAt = async (job_title: string): Promise<void> => {
    await setup.clients.stranger.patch(setup.users.stranger.url, { agree_with_policy: true, job_title });
    assert.equal(await reader.messages(1), ['User stranger has been updated.']);
  };
  await notify('unseen', setup.customer);
  await lookAt('Loner');
  const role = await fixture.grant(setup.customer, setup.users.stranger, 'owner');
  await notify('seen', setup.customer);
  assert.equal(await reader.messages(2), ['User stranger has gained role of Owner in customer Alice.', 'seen']);
  await fixture.staff.delete(role.url);
  await notify('unseen', setup.customer);
  assert.equal(await reader.messages(1), ['User stranger has lost role of Owner in customer Alice.']);
  await lookAt('Hermit');
  // Events read without the role are not sent later.
  await fixture.grant(setup.customer, setup.users.stranger, 'support', '2018-02-01T00:00:00Z');
  await notify('seen again', setup.customer);
  assert.equal(await reader.messages(2), ['User stranger has gained role of Support in customer Alice.', 'seen again']);
  fixture.clock.set('2018-02-01T00:00:00Z');
  await notify('unseen', setup.customer);
  assert.equal(await reader.messages(1), ['User stranger has lost role of Support in customer Alice.']);
  await lookAt('Recluse');
});

test('accepts the filters of the list and selected fields, and rejects what the list rejects', async () => {
  const scope = encodeURIComponent(setup.project.url);
  const ofScope = await open(setup.clients.staff, `?scope=${scope}&field=message`);
  const ofType = await open(setup.clients.staff, '?event_type=project_creation_succeeded&field=message');
  const matches = await open(setup.clients.staff, '?search=Big News&field=message');
  await notify('small news', setup.project);
  await notify('the big news, sent', setup.customer);
  await notify('big, no news');
  await fixture.project('Boat', setup.customer);
  await notify('big news');
  assert.equal((await ofScope.event()).data, { message: 'small news' });
  assert.equal(await ofType.messages(1), ['Project Boat has been created.']);
  assert.equal(await matches.messages(2), ['the big news, sent', 'big news']);
  const path = '/api/events/stream/?from=2&to=1&scope=nowhere';
  const rejection = await fixture.staff.get(path);
  assert.is(rejection.status, 400);
  assert.equal(rejection.body, (await fixture.staff.get(path.replace('stream/', ''))).body);
  assert.is(streams(), 3);
});

test('does not send rolled-back events, and sends those that follow', async () => {
  const reader = await open(setup.clients.staff);
  const rejection = await fixture.staff.post('/api/projects/', { name: 'Nowhere', customer: 'nothing' });
  assert.is(rejection.status, 400);
  await notify('real');
  assert.equal(await reader.messages(1), ['real']);
});

test('sends heartbeats while nothing happens', async () => {
  const reader = await open(setup.clients.owner);
  await reader.frame();
  assert.equal([await reader.frame(), await reader.frame()], [{ comment: true }, { comment: true }]);
});

test('ends with the token: by logout, deactivation, expiry, and when rights change', async () => {
  const ended = async (client: Client, change: () => unknown): Promise<void> => {
    const reader = await open(client);
    await reader.frame();
    await change();
    let frame = await reader.frame();
    while (frame) frame = await reader.frame();
    await eventually('0 streams are open', () => streams() === 0);
  };
  const { clients, users } = setup;
  await ended(fixture.as('owner'), () => fixture.staff.patch(users.owner.url, { is_active: false }));
  const leaving = fixture.as('helper');
  await ended(leaving, () => leaving.post('/api-auth/logout/'));
  await fixture.staff.patch(users.manager.url, { token_lifetime: 600 });
  await ended(clients.manager, () => fixture.clock.advance(601));
  await ended(clients.support, () => fixture.staff.patch(users.support.url, { is_support: false }));
  await ended(fixture.as('admin.of.project'), () => fixture.staff.delete(users.admin.url));
});

test('an open stream does not extend a token', async () => {
  await fixture.staff.patch(setup.users.owner.url, { token_lifetime: 600 });
  const reader = await open(setup.clients.owner);
  fixture.clock.advance(400);
  await notify('still here', setup.customer);
  assert.equal(await reader.messages(1), ['still here']);
  fixture.clock.advance(300);
  assert.is((await setup.clients.owner.get('/api/events/')).status, 401);
});

test('limits the streams of a user to five, and all streams to the setting', async () => {
  const readers = await Promise.all(Array.from({ length: 5 }, () => open(setup.clients.owner)));
  const sixth = await setup.clients.owner.get('/api/events/stream/');
  assert.is(sixth.status, 429);
  assert.equal(sixth.body, { detail: 'You have 5 streams of events open already.' });
  assert.is(sixth.headers.get('retry-after'), '1');
  readers[0]?.leave();
  await eventually('4 streams are open', () => streams() === 4);
  await open(setup.clients.owner);
  for (const client of [setup.clients.staff, setup.clients.helper, setup.clients.admin]) await open(client);
  const ninth = await setup.clients.observer.get('/api/events/stream/');
  assert.is(ninth.status, 503);
  assert.equal(ninth.body, { detail: 'Too many streams of events at once. Try again.' });
  assert.is((await setup.clients.observer.send('HEAD', '/api/events/stream/')).status, 200);
  assert.is(streams(), 8);
});

test('disconnects a client that reads nothing, and limits its buffer', async () => {
  const { hostname, port } = new URL(fixture.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`GET /api/events/stream/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${fixture.staff.token}\r\n\r\n`);
  await once(socket, 'readable');
  await eventually('1 streams are open', () => streams() === 1);
  const message = 'x'.repeat(900_000);
  for (let number = 0; number < 12; number++) await notify(message);
  await eventually('0 streams are open', () => streams() === 0);
  socket.destroy();
});

test('releases everything after a client was killed', async () => {
  const readers = [await open(setup.clients.owner), await open(setup.clients.helper)];
  for (const reader of readers) reader.leave();
  await eventually('0 streams are open', () => streams() === 0);
  await notify('nobody listens', setup.customer);
});

test('a server that stops, or is reset, ends it at once', async () => {
  const before = await open(setup.clients.staff);
  await fixture.server.reset();
  let frame = await before.frame();
  while (frame) frame = await before.frame();
  const reader = await EventReader.open(fixture, { token: fixture.server.token } as Client);
  const started = performance.now();
  await fixture.close();
  assert.ok(
    performance.now() - started < 8000,
    'open streams do not delay the shutdown until their connections are cut',
  );
  frame = await reader.frame();
  while (frame) frame = await reader.frame();
});

test.run();
