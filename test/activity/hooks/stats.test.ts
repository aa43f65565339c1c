/** Counts of deliveries by hook, status and period (events.md 5.9). */
import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('delivery counts', { hooks_allowed_networks: ['127.0.0.1'] });
const day = 24 * 3600;
let receiver: Receiver;
let alice: Client;
let web: Json;
let push: Json;

test.before(async () => {
  receiver = await Receiver.start();
  await fixture.user('alice');
  await fixture.user('bob');
  alice = fixture.as('alice');
  web = (
    await alice.post('/api/hooks-web/', {
      destination_url: `${receiver.url}/in`,
      event_types: ['user_update_succeeded'],
    })
  ).body;
  push = (await alice.post('/api/hooks-push/', { type: 'Android', token: 't', event_types: ['role_granted'] })).body;
});
test.after(() => receiver.close());

/** Sends a test delivery. The receiver responds with the status. */
async function deliver(status: number): Promise<void> {
  receiver.behaviour = status;
  assert.is((await alice.post(`${web.url}test/`)).status, 202);
  await fixture.server.settled();
}

const counts = (hook: Json, numbers: Partial<Json> = {}): Json => ({
  url: hook.url,
  uuid: hook.uuid,
  pending: 0,
  delivered: 0,
  failed: 0,
  canceled: 0,
  last_delivered: null,
  ...numbers,
});

test('counts the deliveries of each hook by status, also of hooks without any', async () => {
  assert.equal((await alice.get('/api/hooks/stats/')).body, [counts(web), counts(push)]);
  await deliver(200);
  await deliver(200);
  await deliver(503);
  const { body, headers } = await alice.get('/api/hooks/stats/');
  const [delivered] = (await alice.get(`${web.url}deliveries/?status=delivered`)).body;
  assert.equal(body, [counts(web, { pending: 1, delivered: 2, last_delivered: delivered.delivered }), counts(push)]);
  assert.is(headers.get('X-Result-Count'), '2');
  await alice.patch(web.url, { is_active: false });
  assert.equal((await alice.get('/api/hooks/stats/')).body[0].canceled, 1);
  await alice.patch(web.url, { is_active: true });
});

test('counts only deliveries queued in the period, by default the last seven days', async () => {
  const start = Math.floor(fixture.clock.now() / 1e6);
  fixture.clock.advance(8 * day);
  assert.equal((await alice.get('/api/hooks/stats/')).body, [counts(web), counts(push)]);
  const [before] = (await alice.get(`/api/hooks/stats/?from=${start - day}&to=${start + day}`)).body;
  assert.equal([before.delivered, before.canceled], [2, 1]);
  await deliver(410);
  assert.equal((await alice.get('/api/hooks/stats/')).body[0].failed, 1);
  assert.equal((await alice.get(`/api/hooks/stats/?to=${start + day}&from=${start - day}`)).body[0].failed, 0);
});

test('has the filters and pages of the list of hooks', async () => {
  const second = await alice.get('/api/hooks/stats/?page_size=1&page=2');
  assert.equal(
    second.body.map(({ uuid }: Json) => uuid),
    [push.uuid],
  );
  assert.match(second.headers.get('Link') ?? '', /page=1|rel="first"/);
  assert.equal((await alice.get('/api/hooks/stats/?is_active=false')).body.length, 1);
  const late = await alice.get('/api/hooks/stats/?page=3');
  assert.equal([late.status, late.body], [404, { detail: 'Invalid page.' }]);
});

test('shows hooks only to their author, staff and global support', async () => {
  assert.equal((await fixture.as('bob').get('/api/hooks/stats/')).body, []);
  assert.is((await fixture.staff.get('/api/hooks/stats/')).body.length, 2);
  assert.is((await fixture.anonymous.get('/api/hooks/stats/')).status, 401);
  assert.is((await alice.post('/api/hooks/stats/', {})).status, 405);
});

test('names each parameter that is wrong', async () => {
  for (const [query, body] of [
    ['from=soon', { from: ['Value "soon" should be valid UNIX timestamp.'] }],
    [
      'to=-1&from=x',
      { from: ['Value "x" should be valid UNIX timestamp.'], to: ['Value "-1" should be valid UNIX timestamp.'] },
    ],
    ['from=5&to=5', { non_field_errors: ['End must occur after start.'] }],
    ['from=99999999999', { non_field_errors: ['End must occur after start.'] }],
  ] as const) {
    const response = await alice.get(`/api/hooks/stats/?${query}`);
    assert.equal([response.status, response.body], [400, body], query);
  }
});

test.run();
