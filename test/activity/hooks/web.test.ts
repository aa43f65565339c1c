import { createHmac } from 'node:crypto';
import * as assert from 'uvu/assert';
import { version } from '../../../src/kernel/app.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { byStaff, type Client, type Json } from '../../support/fixture.ts';
import { createWebHook, type Received, Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('web hooks', {
  hooks_allowed_networks: ['127.0.0.1'],
  product_name: 'Tenantry of Ülle',
});
let receiver: Receiver;
let alice: Client;

test.before(async () => {
  receiver = await Receiver.start();
  await fixture.user('alice');
  alice = fixture.as('alice');
});

test.after(() => receiver.close());

test.after.each(() => {
  receiver.behaviour = 200;
  receiver.take();
  fixture.clock.set('2018-01-05T04:47:04.982123Z');
});

const hook = (client: Client, fields: Record<string, unknown> = {}): Promise<Json> =>
  createWebHook(client, { destination_url: `${receiver.url}/in`, event_groups: ['customers'], ...fields });

async function deliveries(client: Client, { url }: Json, query = ''): Promise<Json[]> {
  return (await client.get(`${url}deliveries/${query}`)).body;
}

/** A delivery as the list shows it: without its request and response. */
async function logged(client: Client, url: string): Promise<Json> {
  const { request: _, response: __, ...delivery } = (await client.get(url)).body;
  return delivery;
}

/** The signature that a Standard Webhooks library would compute. */
function signature(secret: string, { body, headers }: Received): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`;
}

test('posts an event as JSON with exactly timestamp, message, type, context and levelname', async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:47:04.982123Z');
  fixture.clock.set(fixture.clock.now() + 123);
  const { url } = await hook(fixture.staff, { event_groups: [], event_types: ['customer_update_succeeded'] });
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  await fixture.staff.patch(customer.url, { native_name: 'Алиса' });
  await fixture.server.settled();
  const [request, ...others] = receiver.take() as [Received, ...Received[]];
  assert.is(others.length, 0);
  assert.is(request.path, '/in');
  assert.is(request.headers['content-type'], 'application/json');
  assert.is(request.headers['user-agent'], `Tenantry-of-lle/${version}`);
  const context = {
    customer_uuid: customer.uuid,
    customer_name: 'Alice',
    customer_abbreviation: 'ALC',
    customer_contact_details: '',
  };
  const expected = {
    timestamp: '2018-01-05T04:47:04.982123',
    message: 'Customer Alice has been updated.',
    type: 'customer_update_succeeded',
    context: { ...(await byStaff(fixture)), ...context },
    levelname: 'INFO',
  };
  assert.is(request.body, JSON.stringify(expected));
  await fixture.staff.delete(url);
});

test('the timestamp always has six decimals', async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:47:04Z');
  const { url } = await hook(fixture.staff);
  await fixture.customer('Whole second');
  await fixture.server.settled();
  assert.is(receiver.takeJson()[0].timestamp, '2018-01-05T04:47:04.000000');
  await fixture.staff.delete(url);
});

test('with content_type form, the same five names are form fields, and the context is one JSON string', async () => {
  fixture.clock.hold();
  const { url } = await hook(fixture.staff, { content_type: 'form' });
  await fixture.customer('A & B');
  await fixture.server.settled();
  const [request] = receiver.take() as [Received];
  assert.is(request.headers['content-type'], 'application/x-www-form-urlencoded');
  const fields = Object.fromEntries(new URLSearchParams(request.body));
  assert.equal(Object.keys(fields), ['timestamp', 'message', 'type', 'context', 'levelname']);
  assert.is(fields.message, 'Customer A & B has been created.');
  assert.is(JSON.parse(fields.context as string).customer_name, 'A & B');
  await fixture.staff.delete(url);
});

test('signs every attempt of both body formats as Standard Webhooks specifies, with the time of the attempt', async () => {
  fixture.clock.hold();
  for (const content_type of ['json', 'form']) {
    const { secret, url } = await hook(fixture.staff, { content_type });
    receiver.behaviour = 500;
    await fixture.customer('Signed');
    await fixture.server.settled();
    receiver.behaviour = 200;
    await fixture.advance(7);
    const requests = receiver.take();
    assert.is(requests.length, 2);
    const [{ uuid }] = (await deliveries(fixture.staff, { url })) as [Json];
    const started = Math.floor(fixture.clock.now() / 1_000_000);
    assert.equal(
      requests.map(({ headers }) => [headers['webhook-id'], headers['webhook-timestamp']]),
      [
        [uuid, String(started - 7)],
        [uuid, String(started)],
      ],
    );
    for (const request of requests) assert.is(request.headers['webhook-signature'], signature(secret, request));
    await fixture.staff.delete(url);
  }
});

test('rotate_secret returns a new secret; the old one also signs for 24 hours, after the new one', async () => {
  const { secret: old, url, uuid } = await hook(fixture.staff);
  const reply = await fixture.staff.post(`${url}rotate_secret/`);
  assert.is(reply.status, 200);
  assert.equal(Object.keys(reply.body), ['secret']);
  assert.match(reply.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const signed = async (): Promise<string[]> => {
    await fixture.staff.post(`${url}test/`);
    await fixture.server.settled();
    const [request] = receiver.take() as [Received];
    return (request.headers['webhook-signature'] as string)
      .split(' ')
      .map((text) => [reply.body.secret, old].find((secret) => signature(secret, request) === text));
  };
  assert.equal(await signed(), [reply.body.secret, old]);
  fixture.clock.advance(24 * 3600 - 1);
  assert.equal(await signed(), [reply.body.secret, old]);
  fixture.clock.advance(1);
  assert.equal(await signed(), [reply.body.secret]);
  const stored = fixture.server.app.db.value<Uint8Array>(sql`SELECT secret FROM hook WHERE uuid = ${uuid}`);
  assert.not.ok(
    Buffer.from(stored as Uint8Array).includes(reply.body.secret.slice(6)),
    'secrets are encrypted at rest',
  );
  await fixture.staff.delete(url);
});

test('test/ sends a synthetic custom_notification with the caller as context; no event is stored', async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:47:04.982123Z');
  const created = await hook(alice);
  fixture.events();
  const reply = await fixture.staff.post(`${created.url}test/`);
  assert.is(reply.status, 202);
  const { url, uuid, ...rest } = reply.body;
  assert.is(url, `${created.url}deliveries/${uuid}/`);
  const queued = {
    hook: created.url,
    event_uuid: null,
    event_type: 'custom_notification',
    status: 'pending',
    attempts: 0,
    response_code: null,
    error_message: '',
    created: '2018-01-05T04:47:04.982Z',
    last_attempt: null,
    next_attempt: '2018-01-05T04:47:04.982Z',
    delivered: null,
  };
  assert.equal(rest, queued);
  await fixture.server.settled();
  const { ip_address: _, ...staff } = await byStaff(fixture);
  const sent = {
    timestamp: '2018-01-05T04:47:04.982000',
    message: 'Test delivery of the hook.',
    type: 'custom_notification',
    context: staff,
    levelname: 'INFO',
  };
  assert.equal(receiver.takeJson(), [sent]);
  assert.equal(fixture.events(), []);
  const at = '2018-01-05T04:47:04.982Z';
  const delivered = {
    url,
    uuid,
    ...queued,
    status: 'delivered',
    attempts: 1,
    response_code: 200,
    last_attempt: at,
    next_attempt: null,
    delivered: at,
  };
  assert.equal(await logged(alice, url), delivered);
  await alice.patch(created.url, { is_active: false });
  const rejection = await alice.post(`${created.url}test/`);
  assert.equal([rejection.status, rejection.body], [409, { detail: 'Hook is not active.' }]);
  await alice.delete(created.url);
});

test('the delivery log shows every delivery of the hook with its event, newest first', async () => {
  const created = await hook(fixture.staff);
  receiver.behaviour = 503;
  const customer = await fixture.customer('First');
  await fixture.server.settled();
  receiver.behaviour = 204;
  await fixture.staff.patch(customer.url, { name: 'Second' });
  await fixture.server.settled();
  const [second, first] = (await deliveries(fixture.staff, created)) as [Json, Json];
  assert.equal(Object.keys(first), [
    'url',
    'uuid',
    'hook',
    'event_uuid',
    'event_type',
    'status',
    'attempts',
    'response_code',
    'error_message',
    'created',
    'last_attempt',
    'next_attempt',
    'delivered',
  ]);
  assert.equal(
    [first.event_type, first.status, first.attempts, first.response_code, first.error_message, first.delivered],
    ['customer_creation_succeeded', 'pending', 1, 503, 'The receiver responded with 503.', null],
  );
  assert.equal(
    [
      second.event_type,
      second.status,
      second.attempts,
      second.response_code,
      second.error_message,
      second.next_attempt,
    ],
    ['customer_update_succeeded', 'delivered', 1, 204, '', null],
  );
  const events = (await fixture.staff.get(`/api/events/?scope=${customer.url}`)).body as Json[];
  assert.equal(
    [second.event_uuid, first.event_uuid],
    events.map((event) => event.uuid),
  );
  assert.equal(await logged(fixture.staff, first.url), first);
  assert.equal(await deliveries(fixture.staff, created, '?status=pending'), [first]);
  assert.equal(await deliveries(fixture.staff, created, '?status=pending&status=delivered'), [second, first]);
  assert.equal(await deliveries(fixture.staff, created, '?event_type=customer_update_succeeded&status=delivered'), [
    second,
  ]);
  assert.equal(await deliveries(fixture.staff, created, '?status=unknown'), []);
  const page = await fixture.staff.get(`${created.url}deliveries/?page_size=1&page=2`);
  assert.equal([page.body, page.headers.get('X-Result-Count')], [[first], '2']);
  await fixture.staff.delete(created.url);
  assert.is((await fixture.staff.get(first.url)).status, 404, 'with the hook its deliveries are gone');
});

test('author, staff and global support read the log; author and staff use test, redeliver and rotate_secret', async () => {
  await fixture.user('support', { is_support: true });
  await fixture.user('bob');
  const created = await hook(alice);
  await alice.post(`${created.url}test/`);
  await fixture.server.settled();
  const [{ url }] = (await deliveries(alice, created)) as [Json];
  const other = await hook(alice);
  const statuses = async (client: Client) => [
    (await client.get(`${created.url}deliveries/`)).status,
    (await client.get(url)).status,
    (await client.post(`${created.url}test/`)).status,
    (await client.post(`${created.url}rotate_secret/`)).status,
    (await client.post(`${url}redeliver/`)).status,
  ];
  assert.equal(await statuses(alice), [200, 200, 202, 200, 202]);
  await fixture.server.settled();
  assert.equal(await statuses(fixture.staff), [200, 200, 202, 200, 202]);
  assert.equal(await statuses(fixture.as('support')), [200, 200, 403, 403, 403]);
  assert.equal(await statuses(fixture.as('bob')), [404, 404, 404, 404, 404]);
  assert.equal(await statuses(fixture.anonymous), [401, 401, 401, 401, 401]);
  const remote = url.replace(created.uuid, other.uuid);
  assert.is((await alice.get(remote)).status, 404, 'a delivery is addressed by its own hook only');
  assert.is((await alice.get(`${created.url}deliveries/x/`)).status, 404);
  assert.is((await alice.patch(url, {})).status, 405);
  for (const { url: each } of [created, other]) await alice.delete(each);
});

test('redeliver queues a finished delivery again: same webhook-id, new schedule, attempts continue', async () => {
  fixture.clock.hold();
  const created = await hook(fixture.staff);
  await fixture.customer('Redelivered');
  await fixture.server.settled();
  const [{ url, uuid }] = (await deliveries(fixture.staff, created)) as [Json];
  receiver.behaviour = 500;
  const again = await fixture.staff.post(`${url}redeliver/`);
  assert.equal([again.status, again.body.status, again.body.attempts, again.body.delivered], [202, 'pending', 1, null]);
  const rejection = await fixture.staff.post(`${url}redeliver/`);
  assert.equal([rejection.status, rejection.body], [409, { detail: 'Delivery is already pending.' }]);
  await fixture.server.settled();
  for (const attempts of [2, 3, 4, 5, 6, 7, 8, 9]) {
    const present = (await fixture.staff.get(url)).body;
    assert.equal([present.attempts, present.status], [attempts, attempts < 9 ? 'pending' : 'failed']);
    fixture.clock.advance(2 * 24 * 3600);
    await fixture.staff.patch(created.url, { content_type: attempts % 2 ? 'form' : 'json' });
    fixture.server.tick();
    await fixture.server.settled();
  }
  const requests = receiver.take();
  assert.is(requests.length, 9);
  assert.ok(requests.every(({ headers }) => headers['webhook-id'] === uuid));
  await fixture.staff.patch(created.url, { is_active: false });
  const inactive = await fixture.staff.post(`${url}redeliver/`);
  assert.equal([inactive.status, inactive.body], [409, { detail: 'Hook is not active.' }]);
  await fixture.staff.delete(created.url);
});

test.run();
