/**
 * Back-channel logouts (services.md 11.1). Genuine ones end the sessions that they name. All others are rejected and end none.
 */
import { createHmac, createPublicKey } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../src/kernel/db/sql.ts';
import { EventReader } from '../support/event-stream.ts';
import { Client, type Json } from '../support/fixture.ts';
import { HandmadeFixture } from '../support/handmade-fixture.ts';
import { type HandmadeIssuer, newKeys } from '../support/handmade-provider.ts';
import { tokenOf } from '../support/oidc-fixture.ts';
import { clientSecret } from '../support/openid-provider.ts';

const test = suite('back-channel logout');
const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
let rig: HandmadeFixture;
let one: HandmadeIssuer;
let two: HandmadeIssuer;
let alice: Client;

test.before(async () => {
  const others = await newKeys('second');
  rig = await HandmadeFixture.start((provider) => {
    one = provider.issuer('one');
    two = provider.issuer('two', '/two', others);
    return ['one', 'two'].map((name) => ({ name, issuer: provider.issuers.get(name)?.url ?? '' }));
  });
  alice = await session('one', { sub: 'alice', sid: 's-1' });
});
test.after(() => rig?.close());
test.before.each(() => {
  rig.fixture.clock.advance(61);
  rig.fixture.events();
  rig.reasons.length = 0;
});

const session = async (name: string, claims: Json): Promise<Client> =>
  new Client(rig.fixture, tokenOf(await rig.logIn(name, claims)));
const isLive = async (client: Client): Promise<boolean> => (await client.get('/api/users/?current')).status === 200;
let count = 0;
/** The claims of a logout token from the provider `one`. Undefined removes a claim. */
const claimsOf = (changes: Json): Json => ({
  iss: one.url,
  aud: 'tenantry',
  iat: one.now(),
  exp: one.now() + 120,
  jti: `jti-${++count}`,
  events: event,
  ...changes,
});

async function send(body: unknown, { name = 'one', type = 'application/x-www-form-urlencoded' } = {}): Promise<Json> {
  const response = await fetch(`${rig.fixture.url}/api-auth/oidc/${name}/backchannel-logout/`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: String(body),
  });
  return [response.status, await response.json(), response.headers.get('cache-control')];
}
const logOut = (token: string, options?: { name?: string }): Promise<Json> =>
  send(new URLSearchParams({ logout_token: token }), options);
const done = [200, {}, 'no-store'];
const invalid = [400, { error: 'invalid_request' }, 'no-store'];

/** Declares a token that is rejected with this logged reason and ends no session. */
function rejects(title: string, reason: RegExp, run: () => Promise<Json>): void {
  test(`rejects ${title}`, async () => {
    assert.equal(await run(), invalid);
    assert.match(rig.reasons.at(-1) ?? 'nothing was logged', reason);
    assert.ok(await isLive(alice));
    assert.equal(rig.fixture.events(), []);
  });
}
const withClaims = (changes: () => Json, header?: Json) => async (): Promise<Json> =>
  logOut(await one.sign(claimsOf({ sub: 'alice', sid: 's-1', ...changes() }), header));

for (const [title, body, type] of [
  ['an empty body', ''],
  ['a form without the token', 'token=x'],
  ['a token of words', 'logout_token=a.b.c'],
  ['two tokens', 'logout_token=a&logout_token=b'],
  ['JSON', '{"logout_token":"a.b.c"}', 'application/json'],
  ['broken JSON', '{', 'application/json'],
  ['another type', 'logout_token=a', 'text/plain'],
  ['a token of 40 kB', `logout_token=${'a'.repeat(40_000)}`],
] as const)
  rejects(title, /./, () => send(body, type === undefined ? {} : { type }));

const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
rejects('alg none', /alg/i, () => logOut(`${encoded({ alg: 'none' })}.${encoded(claimsOf({ sub: 'alice' }))}.`));
for (const [title, secret] of [
  ['the client secret', () => clientSecret],
  [
    'the public key',
    () => createPublicKey({ key: one.keys.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }),
  ],
] as const)
  rejects(`HS256 with ${title}`, /alg/i, () => {
    const text = `${encoded({ alg: 'HS256', kid: 'first' })}.${encoded(claimsOf({ sub: 'alice' }))}`;
    return logOut(`${text}.${createHmac('sha256', secret()).update(text).digest('base64url')}`);
  });
rejects('a foreign key', /signature/, async () =>
  logOut(await one.sign(claimsOf({ sub: 'alice' }), {}, two.keys.privateKey)),
);
rejects('a key in the header', /signature/, async () =>
  logOut(await one.sign(claimsOf({ sub: 'alice' }), { jwk: two.keys.jwk }, two.keys.privateKey)),
);
rejects('a token of another provider', /./, async () =>
  logOut(await two.sign(claimsOf({ sub: 'alice', iss: two.url }))),
);
rejects(
  'another issuer',
  /iss/,
  withClaims(() => ({ iss: two.url })),
);
rejects(
  'another audience',
  /aud/,
  withClaims(() => ({ aud: 'other' })),
);
rejects(
  'an expired token',
  /exp/,
  withClaims(() => ({ exp: one.now() - 61 })),
);
rejects(
  'a token from the future',
  /future/,
  withClaims(() => ({ iat: one.now() + 90 })),
);
rejects(
  'a token of more than five minutes',
  /five minutes/,
  withClaims(() => ({ iat: one.now() - 301 })),
);
rejects(
  'a nonce',
  /nonce/,
  withClaims(() => ({ nonce: 'n' })),
);
rejects('an ID token', /events/, async () =>
  logOut(await one.sign(one.usual({ sub: 'alice', sid: 's-1', nonce: 'n' }))),
);
for (const name of ['iss', 'aud', 'iat', 'exp', 'jti', 'events'])
  rejects(
    `a token without ${name}`,
    new RegExp(name),
    withClaims(() => ({ [name]: undefined })),
  );
rejects(
  'a token without sid and sub',
  /neither/,
  withClaims(() => ({ sid: undefined, sub: undefined })),
);
for (const [name, value] of [
  ['sid', ''],
  ['sid', 7],
  ['sub', ['alice']],
  ['jti', ''],
  ['jti', {}],
  ['sub', 'x'.repeat(256)],
] as const)
  rejects(
    `the ${name} ${JSON.stringify(value).slice(0, 20)}`,
    new RegExp(name),
    withClaims(() => ({ [name]: value })),
  );
for (const events of [
  [],
  null,
  'logout',
  { other: {} },
  { [Object.keys(event)[0] ?? '']: null },
  { [Object.keys(event)[0] ?? '']: [] },
])
  rejects(
    `the events ${JSON.stringify(events)}`,
    /events/,
    withClaims(() => ({ events })),
  );
rejects(
  'the type of an access token',
  /type/,
  withClaims(() => ({}), { typ: 'at+jwt' }),
);

test('a token works once', async () => {
  const token = await one.sign(claimsOf({ sid: 'nobody' }));
  assert.equal(await logOut(token), done);
  assert.equal(await logOut(token), invalid);
  assert.match(rig.reasons.at(-1) ?? '', /used before/);
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  assert.equal(await logOut(await one.sign(claimsOf({ sid: 'other', jti }))), invalid);
  assert.equal(await logOut(await two.sign(claimsOf({ iss: two.url, sid: 'other', jti })), { name: 'two' }), done);
});

test('of the same token sent ten times at once, one works', async () => {
  const token = await one.sign(claimsOf({ sid: 'nobody' }));
  const statuses = (await Promise.all(Array.from({ length: 10 }, () => logOut(token)))).map(([status]) => status);
  assert.equal(statuses.sort(), [200, ...Array.from({ length: 9 }, () => 400)]);
});

test('ends the session of a sid and no other, and records the logout', async () => {
  const other = await session('one', { sub: 'alice', sid: 's-2' });
  const foreign = await session('two', { sub: 'alice', sid: 's-2' });
  rig.fixture.events();
  assert.equal(await logOut(await one.sign(claimsOf({ sid: 's-2' }), { typ: 'logout+jwt' })), done);
  assert.equal(await Promise.all([other, foreign, alice].map(isLive)), [false, true, true]);
  const [{ context, type }] = rig.fixture.events() as [Json];
  assert.equal([type, context.user_username], ['auth_logged_out', 'alice']);
});

test('a sid together with the subject of another user ends nothing', async () => {
  const bob = await session('one', { sub: 'bob', sid: 's-3' });
  assert.equal(await logOut(await one.sign(claimsOf({ sub: 'carol', sid: 's-3' }))), done);
  assert.ok(await isLive(bob));
});

test('without a sid, ends all sessions of the subject that this provider opened', async () => {
  const first = await session('one', { sub: 'dora', sid: 's-4' });
  const second = await session('one', { sub: 'dora' });
  const { uuid, username } = (await first.get('/api/users/?current')).body[0];
  const own = rig.fixture.as(username);
  const foreign = await session('two', { sub: 'dora' });
  assert.equal(await logOut(await one.sign(claimsOf({ sub: 'dora' }))), done);
  assert.equal(await Promise.all([first, second, own, foreign].map(isLive)), [false, false, true, true]);
  const { db } = rig.fixture.server.app;
  assert.is(
    db.value(
      sql`SELECT count(*) FROM token t JOIN user u ON u.id = t.user_id WHERE u.uuid = ${uuid} AND t.revoked IS NULL`,
    ),
    1,
  );
});

test('a session without a sid ends with the subject of a token that has both', async () => {
  const eve = await session('one', { sub: 'eve' });
  const other = await session('one', { sub: 'eve', sid: 's-6' });
  assert.equal(await logOut(await one.sign(claimsOf({ sub: 'eve', sid: 's-5' }))), done);
  assert.equal(await Promise.all([eve, other].map(isLive)), [false, true]);
});

test('ends open streams within a second; API keys remain', async () => {
  const frank = await session('one', { sub: 'frank', sid: 's-7' });
  const { url } = (await frank.get('/api/users/?current')).body[0];
  await frank.patch(url, { agree_with_policy: true });
  const { body } = await frank.post('/api/api-keys/', { name: 'robot', scopes: ['*:read'] });
  const stream = await EventReader.open(rig.fixture, frank);
  assert.is(stream.response.status, 200);
  assert.equal(await logOut(await one.sign(claimsOf({ sid: 's-7' }))), done);
  const began = performance.now();
  rig.fixture.server.tick();
  while (await stream.frame());
  assert.ok(performance.now() - began < 1000);
  assert.ok(await isLive(new Client(rig.fixture, body.key)));
});

test('is closed like the other paths, and needs a known provider', async () => {
  const response = await fetch(`${rig.fixture.url}/api-auth/oidc/other/backchannel-logout/`, { method: 'POST' });
  assert.equal([response.status, await response.json()], [404, { detail: 'Not found.' }]);
  assert.is((await fetch(`${rig.fixture.url}/api-auth/oidc/one/backchannel-logout/`)).status, 405);
});

test('more than 60 rejected tokens in a minute are 429', async () => {
  const statuses = [];
  for (let i = 0; i < 61; i++) statuses.push((await logOut('x'))[0]);
  assert.equal([statuses.indexOf(429), statuses.at(59), statuses.at(60)], [60, 400, 429]);
});

test.run();
