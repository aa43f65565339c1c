import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { Receiver } from '../../support/receiver.ts';

const test = suite('push hooks');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-push-'));
const keyFile = join(folder, 'account.json');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
let gateway: Receiver;
const fixture = new Fixture();

test.before(async () => {
  gateway = await Receiver.start();
  const account = {
    project_id: 'rocket',
    client_email: 'push@rocket.example.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${gateway.url}/token`,
  };
  writeFileSync(keyFile, JSON.stringify(account));
});

test.after.each(async () => {
  await fixture.close();
  gateway.take();
  gateway.behaviour = 200;
});

test.after(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const serverKeys = (): ServerOptions => ({
  push_gateway_url: `${gateway.url}/send`,
  push_server_key_android: 'android-key',
  push_server_key_ios: 'ios-key',
});

async function begin(options: ServerOptions): Promise<void> {
  await fixture.open(options);
  fixture.clock.hold();
}

async function hook(fields: Record<string, unknown>): Promise<Json> {
  const { body } = await fixture.staff.post('/api/hooks-push/', { event_types: ['custom_notification'], ...fields });
  return body;
}

async function emit(message: string): Promise<void> {
  await fixture.staff.post('/api/events/', { level: 'info', message });
  await fixture.server.settled();
}

/** Returns the deliveries of all hooks. Push hooks have no log. */
const outcomes = (): Json[] =>
  fixture.server.app.db.all(sql`SELECT status, attempts, error_message FROM delivery ORDER BY id`);
const isActive = async ({ url }: Json): Promise<boolean> => (await fixture.staff.get(url)).body.is_active;

/** The event as sent. `admin` is the actor of all events. */
async function eventOf(message: string): Promise<Json> {
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  const context = {
    ip_address: '127.0.0.1',
    user_uuid: me.uuid,
    user_username: 'admin',
    user_full_name: '',
    user_native_name: '',
  };
  return { timestamp: '2018-01-05T04:47:04.000000', levelname: 'INFO', message, type: 'custom_notification', context };
}

test('with server keys, posts the event to the gateway with the key of the platform', async () => {
  await begin(serverKeys());
  await hook({ type: 'Android', token: 'token-a' });
  await hook({ type: 'iOS', token: 'token-i' });
  await emit('Hello');
  const [android, ios] = gateway.take().sort((a, b) => (a.body < b.body ? -1 : 1));
  assert.equal(
    [android?.path, android?.headers['content-type'], android?.headers.authorization],
    ['/send', 'application/json', 'key=android-key'],
  );
  const notification = { body: 'Hello', title: 'Tenantry notification', image: 'icon' };
  const event = await eventOf('Hello');
  assert.equal(JSON.parse(android?.body as string), { to: 'token-a', notification, data: { event } });
  assert.is(ios?.headers.authorization, 'key=ios-key');
  assert.equal(JSON.parse(ios?.body as string), {
    to: 'token-i',
    notification,
    data: { event },
    'content-available': '1',
  });
  assert.equal(
    outcomes(),
    [1, 2].map(() => ({ status: 'delivered', attempts: 1, error_message: '' })),
  );
});

test('push_title and product_name set the title; an empty message becomes New event', async () => {
  await begin({ ...serverKeys(), product_name: 'Cloud' });
  const { uuid } = await hook({ type: 'Android', token: 'token' });
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Any' });
  await fixture.server.settled();
  assert.is(gateway.takeJson()[0].notification.title, 'Cloud notification');
  const { db } = fixture.server.app;
  db.write(() =>
    db.insert('delivery', {
      uuid: '0'.repeat(32),
      hook_id: db.value<number>(sql`SELECT id FROM hook WHERE uuid = ${uuid}`),
      event_type: 'custom_notification',
      payload: '{"level":"info","message":"","context":{}}',
      created: 0,
      next_attempt: 0,
    }),
  );
  fixture.server.tick();
  await fixture.server.settled();
  assert.is(gateway.takeJson()[0].notification.body, 'New event');
  await fixture.close();
  await begin({ ...serverKeys(), push_title: 'News' });
  await hook({ type: 'Android', token: 'token' });
  await emit('Any');
  assert.is(gateway.takeJson()[0].notification.title, 'News');
});

test('skips a hook without a token, and a platform without configuration', async () => {
  await begin({ ...serverKeys(), push_server_key_ios: null });
  await hook({ type: 'Android' });
  await hook({ type: 'iOS', token: 'token' });
  await emit('Hello');
  assert.equal(gateway.take(), []);
  assert.equal(outcomes(), [
    { status: 'skipped', attempts: 0, error_message: 'The hook has no token.' },
    { status: 'skipped', attempts: 0, error_message: 'Push to iOS is not set up.' },
  ]);
});

test('an error in a 2xx response is a failed attempt', async () => {
  await begin(serverKeys());
  await hook({ type: 'Android', token: 'token' });
  gateway.behaviour = { status: 200, body: '{"success":0,"failure":1,"results":[{"error":"Unavailable"}]}' };
  await emit('Hello');
  assert.equal(outcomes(), [
    { status: 'pending', attempts: 1, error_message: 'The gateway responded with 200: Unavailable.' },
  ]);
  gateway.behaviour = { status: 200, body: '{"success":1,"failure":0,"results":[{"message_id":"1"}]}' };
  await fixture.advance(10);
  assert.equal(outcomes(), [{ status: 'delivered', attempts: 2, error_message: '' }]);
});

test('respects Retry-After of an error in a 2xx response, and of a busy token endpoint', async () => {
  const next = (): unknown => fixture.server.app.db.value(sql`SELECT next_attempt - created FROM delivery`);
  gateway.behaviour = {
    status: 200,
    headers: { 'Retry-After': '3600' },
    body: '{"results":[{"error":"Unavailable"}]}',
  };
  await begin(serverKeys());
  await hook({ type: 'Android', token: 'token' });
  await emit('Hello');
  assert.is(next(), 3_600_000_000);
  await fixture.close();
  gateway.behaviour = { status: 503, headers: { 'Retry-After': '60' } };
  await begin({ push_service_account: keyFile, push_gateway_url: gateway.url });
  await hook({ type: 'Android', token: 'token' });
  await emit('Hello');
  assert.is(next(), 60_000_000);
});

test('an unregistered token disables the hook, in either format of the response', async () => {
  await begin(serverKeys());
  for (const [index, behaviour] of [
    { status: 200, body: '{"results":[{"error":"NotRegistered"}]}' },
    { status: 404, body: '{"error":{"status":"NOT_FOUND","message":"gone","details":[{"errorCode":"UNREGISTERED"}]}}' },
    410,
  ].entries()) {
    const creation = await hook({ type: 'Android', token: `token-${index}` });
    gateway.behaviour = behaviour;
    await emit('Hello');
    assert.is(await isActive(creation), false);
    assert.is(outcomes().at(-1).status, 'failed');
  }
});

test('an unregistered token does not affect a new token that the device got meanwhile', async () => {
  await begin(serverKeys());
  const creation = await hook({ type: 'Android', token: 'old' });
  let response = (): void => undefined;
  gateway.behaviour = ({ body }) =>
    JSON.parse(body).to === 'old'
      ? new Promise(
          (resolve) => (response = () => resolve({ status: 200, body: '{"results":[{"error":"NotRegistered"}]}' })),
        )
      : 200;
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Hello' });
  while (gateway.requests.length < 1) await new Promise(setImmediate);
  await fixture.staff.patch(creation.url, { token: 'new' });
  response();
  await fixture.server.settled();
  assert.is(await isActive(creation), true);
  await fixture.advance(10);
  assert.equal(outcomes(), [{ status: 'delivered', attempts: 2, error_message: '' }]);
});

test('with a service account, sends the event to its project with an access token that is cached until it expires', async () => {
  await begin({ push_service_account: keyFile, push_gateway_url: `${gateway.url}/v1/projects/rocket/messages:send` });
  let tokens = 0;
  gateway.behaviour = ({ path }) =>
    path === '/token'
      ? { status: 200, body: JSON.stringify({ access_token: `access-${++tokens}`, expires_in: 3600 }) }
      : 200;
  await hook({ type: 'iOS', token: 'token-i' });
  await emit('Hello');
  const [tokenRequest, push] = gateway.take();
  const form = new URLSearchParams(tokenRequest?.body);
  assert.is(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [header = '', claims = '', signature = ''] = (form.get('assertion') as string).split('.');
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  assert.equal(decoded(header), { alg: 'RS256', typ: 'JWT' });
  const issued = 1515127624;
  assert.equal(decoded(claims), {
    iss: 'push@rocket.example.com',
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: `${gateway.url}/token`,
    iat: issued,
    exp: issued + 3600,
  });
  assert.ok(createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url'));
  assert.equal([push?.path, push?.headers.authorization], ['/v1/projects/rocket/messages:send', 'Bearer access-1']);
  assert.equal(JSON.parse(push?.body as string), {
    message: {
      token: 'token-i',
      notification: { title: 'Tenantry notification', body: 'Hello' },
      data: { event: JSON.stringify(await eventOf('Hello')) },
      apns: { payload: { aps: { 'content-available': 1 } } },
    },
  });
  fixture.clock.advance(3500);
  await emit('Within the hour');
  assert.equal(
    gateway.take().map(({ headers, path }) => [path, headers.authorization]),
    [['/v1/projects/rocket/messages:send', 'Bearer access-1']],
  );
  fixture.clock.advance(60);
  await emit('After it');
  assert.equal(
    gateway.take().map(({ headers, path }) => [path, headers.authorization]),
    [
      ['/token', undefined],
      ['/v1/projects/rocket/messages:send', 'Bearer access-2'],
    ],
  );
});

test('the next attempt requests a new access token after the gateway has rejected the old one', async () => {
  await begin({ push_service_account: keyFile, push_gateway_url: `${gateway.url}/send` });
  let tokens = 0;
  gateway.behaviour = ({ headers, path }) =>
    path === '/token'
      ? { status: 200, body: JSON.stringify({ access_token: `access-${++tokens}`, expires_in: 3600 }) }
      : headers.authorization === 'Bearer access-1'
        ? 401
        : 200;
  await hook({ type: 'Android', token: 'token' });
  await emit('Hello');
  assert.equal(outcomes(), [{ status: 'pending', attempts: 1, error_message: 'The receiver responded with 401.' }]);
  await fixture.advance(10);
  assert.equal(
    gateway.take().map(({ path }) => path),
    ['/token', '/send', '/token', '/send'],
  );
  assert.equal(outcomes(), [{ status: 'delivered', attempts: 2, error_message: '' }]);
});

test('without push_gateway_url, a service account sends to fcm.googleapis.com, and server keys send nothing', async () => {
  const received: string[] = [];
  const resolve: NonNullable<ServerOptions['resolve']> = (hostname, callback) => {
    received.push(hostname);
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
  };
  gateway.behaviour = { status: 200, body: '{"access_token":"access"}' };
  await begin({ push_service_account: keyFile, resolve });
  await hook({ type: 'Android', token: 'token' });
  await emit('Hello');
  assert.equal(
    [received, outcomes()],
    [['fcm.googleapis.com'], [{ status: 'pending', attempts: 1, error_message: 'The host name does not exist.' }]],
  );
  await fixture.close();
  await begin({ ...serverKeys(), push_gateway_url: null, resolve });
  await hook({ type: 'Android', token: 'token' });
  await emit('Hello');
  assert.equal(outcomes(), [{ status: 'skipped', attempts: 0, error_message: 'Push to Android is not set up.' }]);
});

test('for Android a service account sends no apns part; a rejection by the token endpoint is a failed attempt', async () => {
  await begin({ push_service_account: keyFile, push_gateway_url: gateway.url });
  await hook({ type: 'Android', token: 'token' });
  gateway.behaviour = 400;
  await emit('Hello');
  assert.equal(outcomes(), [
    { status: 'pending', attempts: 1, error_message: 'The token endpoint of the push gateway responded with 400.' },
  ]);
  gateway.take();
  gateway.behaviour = { status: 200, body: '{"access_token":"access"}' };
  await fixture.advance(10);
  const { message } = JSON.parse(gateway.take().at(-1)?.body as string);
  assert.equal(Object.keys(message), ['token', 'notification', 'data']);
});

test('an invalid key file stops the start with a clear error', async () => {
  await begin({});
  writeFileSync(join(folder, 'empty.json'), '{}');
  const start = (push_service_account: string): Promise<string> =>
    Fixture.start({ push_service_account }).then(
      () => 'started',
      (error: Error) => error.message,
    );
  assert.match(await start(join(folder, 'missing.json')), /^push_service_account: .*missing.json can not be read/);
  assert.match(
    await start(join(folder, 'empty.json')),
    /^push_service_account: .*empty.json is not the key file of a service account$/,
  );
});

test.run();
