/** core.md 2.2, 2.3: presenting a token, and its life. */
import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: tokens, fixture } = suiteWithServer('tokens');
const day = 86_400;

/** The detail of the rejection of an Authorization header, or the status when it is accepted. */
async function presented(...lines: readonly string[]): Promise<unknown> {
  const response = await sendOverWire(
    fixture.url,
    'GET /api/ HTTP/1.1',
    'Host: localhost',
    ...lines.map((line) => `Authorization: ${line}`),
    '',
  );
  if (response.status === 401) assert.is(response.headers['www-authenticate'], 'Token');
  return response.status === 200 ? 200 : [response.status, JSON.parse(response.body)];
}
const rejection = (detail: string) => [401, { detail }];
const notProvided = rejection('Authentication credentials were not provided.');
const expired = rejection('Token has expired.');
const invalid = rejection('Invalid token.');
const use = async (client: Client, method = 'GET', path = '/api/'): Promise<unknown> => {
  const { status, body } = await client.send(method, path);
  return status === 401 ? [status, body] : status;
};

tokens('the header is the word Token in any case, a blank and the token', async () => {
  const token = fixture.staff.token as string;
  for (const header of [`Token ${token}`, `token ${token}`, `TOKEN ${token}`, `tOkEn   ${token}`, ` Token\t${token} `])
    assert.is(await presented(header), 200, header);
});

tokens('accepts the word Bearer like Token, and 401 requests Token', async () => {
  const token = fixture.staff.token as string;
  for (const header of [`Bearer ${token}`, `bearer ${token}`]) assert.is(await presented(header), 200, header);
  assert.equal(await presented('Bearer'), rejection('Invalid token. No credentials provided.'));
  const { headers } = await fixture.anonymous.get('/api/', { Authorization: 'Bearer x' });
  assert.is(headers.get('www-authenticate'), 'Token');
});

tokens('no header, or another scheme', async () => {
  assert.equal(await presented(), notProvided);
  for (const header of ['', ' ']) assert.equal(await presented(header), notProvided);
  for (const header of [
    'Basic YTpi',
    `Bearers ${fixture.staff.token}`,
    fixture.staff.token as string,
    `Tokens ${fixture.staff.token}`,
    `Token:${fixture.staff.token}`,
  ]) {
    assert.equal(
      [header, await presented(header)],
      [header, rejection('Unknown authorization scheme. Send "Authorization: Token <token>".')],
    );
  }
});

tokens('the scheme word only', async () => {
  for (const header of ['Token', 'token ', 'Token \t '])
    assert.equal(await presented(header), rejection('Invalid token. No credentials provided.'));
});

tokens('more than one word after the scheme', async () => {
  for (const header of ['Token a b', `Token ${fixture.staff.token} x`, 'Token \xff \xff'])
    assert.equal(await presented(header), rejection('Invalid token. Token string should not contain spaces.'));
});

tokens('bytes outside printable ASCII', async () => {
  for (const header of ['Token \xe9', 'Token abc\xa0def', 'Token \xa0', `Token ${fixture.staff.token}\xff`]) {
    assert.equal(
      await presented(header),
      rejection('Invalid token header. Token string should not contain invalid characters.'),
    );
  }
});

tokens('an unknown token', async () => {
  for (const token of [
    '0'.repeat(40),
    'x',
    (fixture.staff.token as string).toUpperCase(),
    (fixture.staff.token as string).slice(1),
    '*',
    '%',
    "'",
  ])
    assert.equal(await presented(`Token ${token}`), invalid);
});

tokens('a token of an inactive owner', async () => {
  const user = await fixture.user('inactive');
  const client = fixture.as('inactive');
  await fixture.staff.patch(user.url, { is_active: false });
  assert.equal(await use(client), rejection('User inactive or deleted.'));
});

tokens('ignores tokens in the query string and in cookies', async () => {
  assert.equal(
    await use(fixture.anonymous, 'GET', `/api/?token=${fixture.staff.token}&x-auth-token=${fixture.staff.token}`),
    notProvided,
  );
  assert.is((await fixture.anonymous.get('/api/', { Cookie: `token=${fixture.staff.token}` })).status, 401);
});

tokens('stores only the SHA-256 digest of a token', async () => {
  const token = fixture.staff.token as string;
  const bytes = fixture.server.app.db.serialize();
  assert.ok(bytes.includes(createHash('sha256').update(token).digest()));
  assert.not.ok(bytes.includes(token));
  assert.not.ok(bytes.includes(Buffer.from(token, 'hex')));
});

tokens('a new user has a token lifetime of 3600 seconds unless the body has another one, or null', async () => {
  const lifetime = async (fields: Json) =>
    (await fixture.staff.post('/api/users/', { username: `l${Math.random()}`, ...fields })).body.token_lifetime;
  assert.equal(
    [await lifetime({}), await lifetime({ token_lifetime: null }), await lifetime({ token_lifetime: 60 })],
    [3600, null, 60],
  );
});

tokens('a token expires its lifetime after its last authenticated request', async () => {
  fixture.clock.hold();
  await fixture.user('slider', { token_lifetime: 100 });
  const client = fixture.as('slider');
  for (let i = 0; i < 5; i++) {
    fixture.clock.advance(99);
    assert.is(await use(client), 200);
  }
  fixture.clock.advance(99.999999);
  assert.is(await use(client), 200);
  fixture.clock.advance(100);
  assert.equal(await use(client), expired);
  assert.equal(await use(client), expired);
});

tokens('any method and any result extends the expiry, but a request to an open endpoint does not', async () => {
  await fixture.user('sliding', { token_lifetime: 100 });
  const client = fixture.as('sliding');
  for (const [method, path, status] of [
    ['OPTIONS', '/api/', 200],
    ['HEAD', '/api/', 200],
    ['GET', '/api/nothing/', 404],
    ['PUT', '/api/', 405],
    ['POST', '/api/customers/', 403],
  ] as const) {
    fixture.clock.advance(60);
    assert.is(await use(client, method, path), status);
  }
  fixture.clock.advance(60);
  await use(client, 'GET', '/api/version/');
  fixture.clock.advance(60);
  assert.equal(await use(client), expired);
});

tokens('a token without lifetime never expires', async () => {
  await fixture.user('endless');
  const client = fixture.as('endless');
  fixture.clock.advance(3650 * day);
  assert.is(await use(client), 200);
});

tokens('a change of the lifetime applies at once to existing tokens', async () => {
  const user = await fixture.user('changing', { token_lifetime: 100 });
  const client = fixture.as('changing');
  await fixture.staff.patch(user.url, { token_lifetime: 1000 });
  fixture.clock.advance(500);
  assert.is(await use(client), 200);
  fixture.clock.advance(200);
  await fixture.staff.patch(user.url, { token_lifetime: 100 });
  assert.equal(await use(client), expired);
  await fixture.staff.patch(user.url, { token_lifetime: null });
  assert.is(await use(client), 200);
});

tokens('stores the last use at most once a minute per token, so that most reads write nothing', async () => {
  fixture.clock.hold();
  const { db, clock } = fixture.server.app;
  const user = await fixture.user('reader');
  const client = fixture.as('reader');
  const stored = () =>
    db.value<number>(sql`SELECT last_used FROM token WHERE user_id = (SELECT id FROM user WHERE uuid = ${user.uuid})`);
  const issued = stored();
  fixture.clock.advance(10);
  await use(client);
  fixture.clock.advance(20);
  await use(client);
  const last = clock.now();
  fixture.server.tick();
  assert.is(stored(), issued);
  fixture.clock.advance(40);
  fixture.server.tick();
  assert.is(stored(), last);
  await use(client);
  fixture.clock.advance(59);
  fixture.server.tick();
  assert.is(stored(), last);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.is(stored(), last + 40_000_000);
});

tokens('a password change revokes all tokens of that user except the one presenting the request', async () => {
  const user = await fixture.user('changer');
  const [own, other] = [fixture.as('changer'), fixture.as('changer')];
  assert.is((await own.post(`${user.url}password/`, { password: 'new word 1' })).status, 200);
  assert.equal([await use(own), await use(other)], [200, invalid]);
  await fixture.staff.post(`${user.url}password/`, { password: 'new word 2' });
  assert.equal([await use(own), await use(fixture.staff)], [invalid, 200]);
});

tokens('deactivation revokes all, and reactivation restores none', async () => {
  const user = await fixture.user('sleeper');
  const clients = [fixture.as('sleeper'), fixture.as('sleeper')];
  await fixture.staff.patch(user.url, { is_active: false });
  await fixture.staff.patch(user.url, { is_active: true });
  for (const client of clients) assert.equal(await use(client), invalid);
  assert.is(await use(fixture.as('sleeper')), 200);
});

tokens('deletion of the user ends their tokens at once', async () => {
  const user = await fixture.user('leaver');
  const client = fixture.as('leaver');
  await fixture.staff.delete(user.url);
  assert.equal(await use(client), invalid);
});

tokens('removes revoked and expired tokens 7 days after their end; then they are invalid', async () => {
  const { db } = fixture.server.app;
  const user = await fixture.user('ender', { token_lifetime: 100 });
  const count = () =>
    db.value(sql`SELECT count(*) FROM token WHERE user_id = (SELECT id FROM user WHERE uuid = ${user.uuid})`);
  const [expiring, revoked] = [fixture.as('ender'), fixture.as('ender')];
  await revoked.post('/api-auth/logout/');
  fixture.clock.advance(7 * day - 1);
  fixture.server.tick();
  assert.equal([count(), await use(expiring), await use(revoked)], [2, expired, invalid]);
  fixture.clock.advance(2);
  fixture.server.tick();
  fixture.clock.advance(3600);
  fixture.server.tick();
  assert.equal([count(), await use(expiring), await use(revoked)], [0, invalid, invalid]);
});

tokens('removes all ended tokens, however many, and no others', async () => {
  const { db } = fixture.server.app;
  await fixture.user('many', { token_lifetime: 100 });
  await fixture.user('stays', { token_lifetime: null });
  const [ended, staying] = [Array.from({ length: 450 }, () => fixture.as('many')), fixture.as('stays')];
  const count = () =>
    db.value(sql`SELECT count(*) FROM token WHERE user_id = (SELECT id FROM user WHERE username = 'many')`);
  assert.is(count(), ended.length);
  for (let hour = 0; hour < 2; hour++) {
    await fixture.advance(8 * day);
    assert.equal([count(), (await staying.get('/api/users/?current')).status], [0, 200]);
    fixture.as('many');
  }
});

tokens("the token key is in the caller's own user object alone, and holds the token of this very request", async () => {
  const user = await fixture.user('viewer', { is_support: true });
  const clients = [fixture.as('viewer'), fixture.as('viewer')];
  for (const client of clients) {
    assert.is((await client.get(user.url)).body.token, client.token);
    assert.equal(
      (await client.get('/api/users/?current')).body.map(({ token }: Json) => token),
      [client.token],
    );
    assert.is((await client.patch(user.url, { agree_with_policy: true })).body.token, client.token);
    for (const listed of (await client.get('/api/users/')).body) assert.not.ok('token' in listed);
  }
  const seen = await fixture.staff.get(user.url);
  assert.not.ok('token' in seen.body);
});

tokens.run();
