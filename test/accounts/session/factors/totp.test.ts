/** core.md 2.11: authenticator apps, recovery codes, and logins with them. */
import * as assert from 'uvu/assert';
import { raw, sql } from '../../../../src/kernel/db/sql.ts';
import type { SqliteDatabase } from '../../../../src/kernel/db/sqlite-database.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { AuthenticatorApp, enrol } from '../../../support/second-factors.ts';
import { sentMails } from '../../../support/sent-mails.ts';
import { suiteWithServerPerTest } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('second factors', {
  product_name: 'Cloud',
  password_reset_url: 'https://app.example.com/reset/{secret}',
});
const password = 'correct-horse-7';
const start = '2018-01-05T04:00:00Z';
const locked = { detail: 'Username is locked out. Try in 10 minutes.' };
const invalid = { detail: 'Invalid second factor.' };
const again = { detail: 'Log in again.' };
const second = '/api-auth/second-factor/';
let alice: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice', { email: 'alice@example.com', full_name: 'Alice Adams' });
  await fixture.staff.post(`${alice.url}password/`, { password });
});

type Headers = Readonly<Record<string, string>>;
const logIn = (headers?: Headers) =>
  fixture.anonymous.send('POST', '/api-auth/password/', { username: 'alice', password }, headers);
const present = (body: unknown, headers?: Headers) => fixture.anonymous.send('POST', second, body, headers);
const challenge = async (headers?: Headers): Promise<string> => (await logIn(headers)).body.second_factor.token;
const session = async (): Promise<Client> => new Client(fixture, (await logIn()).body.token);
/** Logs in with the password and a code. */
const fullSession = async (app: AuthenticatorApp): Promise<Client> =>
  new Client(fixture, (await present({ token: await challenge(), code: app.code() })).body.token);
const at = (seconds: number): void => fixture.clock.set(new Date(Date.parse(start) + seconds * 1000).toISOString());
const confirmation = (client: Client, body: unknown) => client.post('/api/sessions/confirm/', body);
const subjects = async (): Promise<(string | undefined)[]> => (await sentMails(fixture)).map(({ subject }) => subject);

test('enrols an authenticator app, and shows ten recovery codes with the first factor only', async () => {
  const client = await session();
  fixture.events();
  const { body: secret, status } = await client.post('/api/second-factors/totp/');
  assert.is(status, 200);
  assert.match(secret.secret, /^[A-Z2-7]{32}$/);
  assert.is(
    secret.uri,
    `otpauth://totp/Cloud:alice?issuer=Cloud&secret=${secret.secret}&algorithm=SHA1&digits=6&period=30`,
  );
  assert.match(secret.qr_svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[\d ]+">.*<\/svg>$/);
  const { app, factor } = await enrol(fixture, client);
  const { recovery_codes: codes, ...others } = factor;
  assert.equal(others, {
    url: `${fixture.url}/api/second-factors/${factor.uuid}/`,
    uuid: factor.uuid,
    kind: 'totp',
    name: 'Phone',
    created: start,
    last_used: null,
  });
  assert.is(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^[a-z2-7]{5}-[a-z2-7]{5}$/);
  assert.not.equal(app.secret, secret.secret, 'a new secret replaces the last one');
  const another = await enrol(fixture, client, '');
  assert.is(another.factor.name, 'Authenticator app');
  assert.not.ok('recovery_codes' in another.factor);
  assert.equal(fixture.events(), []);
});

test('a login of a user with a factor requires it, and emits no event before', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  fixture.events();
  const first = await logIn();
  assert.is(first.status, 401);
  assert.is(first.headers.get('www-authenticate'), 'Token');
  const { token } = first.body.second_factor;
  assert.match(token, /^[0-9a-f]{40}$/);
  assert.equal(first.body, {
    detail: 'A second factor is required.',
    second_factor: { token, methods: ['totp', 'recovery_code'] },
  });
  assert.equal(fixture.events(), []);
  assert.is((await new Client(fixture, token).get('/api/users/')).status, 401, 'it is no session');
  const { body, status } = await present({ token, code: app.code() });
  assert.is(status, 200);
  assert.match(body.token, /^[0-9a-f]{40}$/);
  assert.equal(
    fixture.events().map(({ type, context }) => [type, context.user_username, context.ip_address]),
    [
      ['token_created', 'alice', '127.0.0.1'],
      ['auth_logged_in_with_username', 'alice', '127.0.0.1'],
    ],
  );
  const client = new Client(fixture, body.token);
  const [one] = (await client.get('/api/sessions/')).body;
  assert.equal([one.method, one.is_current], ['password', true]);
  assert.is((await client.get('/api/second-factors/')).body[0].last_used, '2018-01-05T04:00:30Z');
  assert.equal((await present({ token, code: app.code(1) })).body, again, 'the token works once');
});

test('accepts codes of the neighbouring time steps, each step once, and never an earlier one', async () => {
  const { app } = await enrol(fixture, await session());
  const attempt = async (steps: number): Promise<number> =>
    (await present({ token: await challenge(), code: app.code(steps) })).status;
  assert.is(await attempt(0), 401, 'the step of the enrolment counts');
  assert.is(await attempt(1), 200, 'a clock that is ahead');
  at(60);
  assert.is(await attempt(-1), 401, 'used');
  assert.is(await attempt(0), 200);
  at(150);
  assert.is(await attempt(-2), 401, 'two steps behind');
  assert.is(await attempt(2), 401, 'two steps ahead');
  assert.is(await attempt(-1), 200, 'a clock that is behind');
  assert.is(await attempt(-1), 401, 'reused');
});

test('accepts a code with blanks, as apps show it', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  const code = ` ${app.code().slice(0, 3)} ${app.code().slice(3)} `;
  assert.is((await present({ token: await challenge(), code })).status, 200);
});

test('each recovery code works once, in any case and without the dash, and its use is mailed', async () => {
  const { factor } = await enrol(fixture, await session());
  const [code, other] = factor.recovery_codes;
  const attempt = async (recovery_code: string): Promise<number> =>
    (await present({ token: await challenge(), recovery_code })).status;
  assert.is(await attempt(code), 200);
  assert.is(await attempt(code), 401);
  assert.is(await attempt(` ${other.toUpperCase().replace('-', '')} `), 200);
  assert.equal(await subjects(), [
    'A second factor for Cloud has been added',
    'A recovery code for Cloud has been used',
    'A recovery code for Cloud has been used',
  ]);
  const text = (await sentMails(fixture))[1]?.text?.trim();
  assert.is(
    text,
    'Hello!\nA recovery code of the user alice of Cloud has been used.\nIf no one did this on your behalf, please notify the operator of the service.',
  );
});

test('a user whose recovery codes are used up is no longer offered them', async () => {
  const { factor } = await enrol(fixture, await session());
  for (const recovery_code of factor.recovery_codes)
    assert.is((await present({ token: await challenge(), recovery_code })).status, 200);
  assert.equal((await logIn()).body.second_factor.methods, ['totp']);
});

test('rejects a body without exactly one factor, and a missing token, and counts neither', async () => {
  await enrol(fixture, await session());
  const token = await challenge();
  const one = { non_field_errors: ['Exactly one of code, recovery_code and passkey is required.'] };
  for (const body of [{ token }, { token, code: '123456', recovery_code: 'abcde-fghij' }]) {
    const response = await present(body);
    assert.equal([response.status, response.body], [400, one]);
  }
  assert.equal((await present({ code: '123456' })).body, { token: ['This field is required.'] });
  assert.equal((await present({ token, code: '' })).body, { code: ['This field may not be blank.'] });
  assert.equal((await present({ token, code: null })).body, { code: ['This field may not be null.'] });
  assert.equal((await present({ token, code: '1'.repeat(41) })).body, {
    code: ['Ensure this field has no more than 40 characters.'],
  });
  assert.equal((await present({ token: 'unknown', code: '123456' })).body, again);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM login_failure`), 0);
});

test('four wrong codes lock the username for the address, also for the right password', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  const token = await challenge();
  fixture.events();
  for (let count = 0; count < 4; count++) {
    const { body, headers, status } = await present({ token, code: app.wrongCode() });
    assert.equal([status, body, headers.get('www-authenticate')], [401, invalid, 'Token']);
  }
  assert.equal(
    fixture.events().map(({ type }) => type),
    Array.from({ length: 4 }, () => 'auth_login_failed_with_username'),
  );
  const fifth = await present({ token, code: app.code() });
  assert.equal([fifth.status, fifth.body, fifth.headers.get('retry-after')], [401, locked, '600']);
  assert.equal((await logIn()).body, locked);
  at(630);
  assert.is((await present({ token: await challenge(), code: app.code() })).status, 200);
});

test('a correct password alone does not reset the failure count', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  for (let count = 0; count < 3; count++) await present({ token: await challenge(), code: app.wrongCode() });
  assert.is((await present({ token: await challenge(), code: app.code() })).status, 200);
  for (let count = 0; count < 3; count++)
    assert.equal((await present({ token: await challenge(), code: app.wrongCode() })).body, invalid);
});

test('a token ends after five wrong codes, after five minutes, and outside of its network', async () => {
  await fixture.open({ trusted_proxies: ['127.0.0.0/8'] });
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice');
  await fixture.staff.post(`${alice.url}password/`, { password });
  const { app, factor } = await enrol(fixture, await session());
  const from = (address: string): Headers => ({ 'X-Forwarded-For': address });
  const here = from('203.0.113.1');
  const token = await challenge(here);
  at(30);
  const wrong = (): Promise<unknown> => present({ token, code: app.wrongCode() }, here).then(({ body }) => body);
  for (let count = 0; count < 3; count++) assert.equal(await wrong(), invalid);
  const other = await challenge(here);
  // Another login from this address resets the count of failures but not of attempts.
  assert.is((await present({ token: other, recovery_code: factor.recovery_codes[0] }, here)).status, 200);
  for (let count = 0; count < 2; count++) assert.equal(await wrong(), invalid);
  assert.equal((await present({ token, code: app.code() }, here)).body, again);
  const young = await challenge(here);
  assert.equal((await present({ token: young, code: app.code() }, from('203.0.113.2'))).body, again);
  at(330);
  assert.equal((await present({ token: young, code: app.code() }, here)).body, again);
  const [v6, sameNetwork] = [from('2001:db8::1'), from('2001:db8::2')];
  assert.is((await present({ token: await challenge(v6), code: app.code() }, sameNetwork)).status, 200);
});

test('ten wrong codes within an hour from all addresses lock codes for an hour, and are mailed', async () => {
  await fixture.open({ trusted_proxies: ['127.0.0.0/8'], product_name: 'Cloud' });
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice', { email: 'alice@example.com' });
  await fixture.staff.post(`${alice.url}password/`, { password });
  const own = await session();
  const { app } = await enrol(fixture, own);
  const from = (number: number): Headers => ({ 'X-Forwarded-For': `203.0.113.${number}` });
  for (let number = 0; number < 10; number++) {
    at(60 * number);
    assert.equal(
      (await present({ token: await challenge(from(number)), code: app.wrongCode() }, from(number))).body,
      invalid,
    );
  }
  const late = from(100);
  const { body, headers, status } = await present({ token: await challenge(late), code: app.code() }, late);
  assert.equal([status, body, headers.get('retry-after')], [401, locked, '3600']);
  assert.equal((await confirmation(own, { code: app.code() })).body, { code: [locked.detail] });
  assert.equal(await subjects(), [
    'A second factor for Cloud has been added',
    'Codes for Cloud are locked for an hour',
  ]);
  at(540 + 3599);
  assert.equal((await present({ token: await challenge(late), code: app.code() }, late)).body, locked);
  at(540 + 3600);
  assert.is((await present({ token: await challenge(late), code: app.code() }, late)).status, 200);
});

test('a reset password of a user with a factor returns what the second factor needs', async () => {
  const { app } = await enrol(fixture, await session());
  await fixture.anonymous.post('/api-auth/password/forgot/', { email: 'alice@example.com' });
  const text = (await sentMails(fixture)).at(-1)?.text ?? '';
  const [secret] = /[0-9a-f]{32}/.exec(text) ?? [];
  at(30);
  const pending = await challenge();
  fixture.events();
  const { body, status } = await fixture.anonymous.post('/api-auth/password/reset/', {
    secret,
    password: 'battery-staple-8',
  });
  const { token } = body.second_factor;
  assert.equal([status, body], [200, { second_factor: { token, methods: ['totp', 'recovery_code'] } }]);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['user_password_updated'],
  );
  assert.equal((await present({ token: pending, code: app.code() })).body, again, 'a login with the old password');
  assert.is((await present({ token, code: app.code() })).status, 200);
});

test('lists the factors of the caller, and those of another user for staff only', async () => {
  const client = await session();
  const { factor } = await enrol(fixture, client);
  const { recovery_codes: _, ...listed } = factor;
  const of = `/api/second-factors/?user_uuid=${alice.uuid}`;
  assert.equal((await client.get('/api/second-factors/')).body, [listed]);
  assert.equal((await client.get(factor.url)).body, listed);
  assert.equal((await fixture.staff.get('/api/second-factors/')).body, []);
  assert.equal((await fixture.staff.get(of)).body, [listed]);
  await fixture.user('helper', { is_support: true });
  await fixture.user('bob');
  for (const name of ['helper', 'bob']) {
    assert.equal((await fixture.as(name).get(of)).body, []);
    assert.is((await fixture.as(name).get(factor.url)).status, 404);
  }
  for (const [method, body] of [
    ['PATCH', { name: 'Mine' }],
    ['DELETE', undefined],
  ] as const)
    assert.is((await fixture.staff.send(method, factor.url, body)).status, 403, method);
  assert.not.ok('second-factors' in (await client.get('/api/')).body);
});

test('renames and removes factors; removing the last one deletes the recovery codes', async () => {
  const client = await session();
  const { factor } = await enrol(fixture, client);
  const { factor: other } = await enrol(fixture, client, 'Tablet');
  assert.is((await client.patch(factor.url, { name: 'Old phone' })).body.name, 'Old phone');
  assert.equal((await client.patch(factor.url, { name: ' ' })).body, { name: ['This field may not be blank.'] });
  const codes = (): unknown => fixture.server.app.db.value(sql`SELECT count(*) FROM recovery_code`);
  const removed = await client.delete(factor.url);
  assert.equal([removed.status, removed.body], [204, undefined]);
  assert.is(codes(), 10);
  const token = await challenge();
  await client.delete(other.url);
  assert.is(codes(), 0);
  assert.equal((await present({ token, recovery_code: factor.recovery_codes[0] })).body, again);
  assert.is((await logIn()).status, 200);
  assert.equal((await subjects()).slice(2), [
    'A second factor for Cloud has been removed',
    'A second factor for Cloud has been removed',
  ]);
});

test('allows ten factors', async () => {
  const client = await session();
  for (let count = 0; count < 10; count++) await enrol(fixture, client, `Phone ${count}`);
  const { body, status } = await client.post('/api/second-factors/totp/');
  assert.equal([status, body], [409, { detail: 'You already have 10 second factors.' }]);
});

test('replaces recovery codes, and invalidates the old ones', async () => {
  const client = await session();
  const none = await client.post('/api/second-factors/recovery-codes/');
  assert.equal([none.status, none.body], [409, { detail: 'Set up a second factor first.' }]);
  const { factor } = await enrol(fixture, client);
  const { body, status } = await client.post('/api/second-factors/recovery-codes/');
  assert.is(status, 200);
  assert.is(new Set([...body.recovery_codes, ...factor.recovery_codes]).size, 20);
  assert.equal((await present({ token: await challenge(), recovery_code: factor.recovery_codes[0] })).body, invalid);
  assert.is((await present({ token: await challenge(), recovery_code: body.recovery_codes[0] })).status, 200);
  assert.is((await subjects())[1], 'Your recovery codes for Cloud have been replaced');
});

test('an enrolment ends after ten minutes, and a wrong code does not end it', async () => {
  const client = await session();
  const path = '/api/second-factors/totp/confirm/';
  const missing = [409, { detail: 'There is no secret to confirm: start again.' }];
  const attempt = async (code: string): Promise<unknown[]> => {
    const { body, status } = await client.post(path, { code });
    return [status, body];
  };
  assert.equal(await attempt('123456'), missing);
  assert.equal((await client.post(path, {})).body, { code: ['This field is required.'] });
  const { body } = await client.post('/api/second-factors/totp/');
  const app = new AuthenticatorApp(fixture, body.secret);
  assert.equal(await attempt(app.wrongCode()), [400, { code: ['Wrong code.'] }]);
  at(599);
  assert.is((await attempt(app.code()))[0], 201);
  assert.equal(await attempt(app.code(1)), missing);
  const late = (await client.post('/api/second-factors/totp/')).body.secret;
  at(1199);
  await confirmation(client, { code: app.code() });
  assert.equal(await attempt(new AuthenticatorApp(fixture, late).code()), missing);
});

test('changes of factors require a confirmed session, which a user with a factor confirms with a factor only', async () => {
  const client = await session();
  const { app, factor } = await enrol(fixture, client);
  at(901);
  const denied = { detail: 'Confirm your identity first.', methods: ['totp', 'recovery_code'] };
  for (const [method, path, body] of [
    ['POST', '/api/second-factors/totp/', undefined],
    ['POST', '/api/second-factors/totp/confirm/', { code: '123456' }],
    ['POST', '/api/second-factors/recovery-codes/', undefined],
    ['PATCH', factor.url, { name: 'Mine' }],
    ['DELETE', factor.url, undefined],
  ] as const) {
    const response = await client.send(method, path, body);
    assert.equal([response.status, response.body], [403, denied], `${method} ${path}`);
  }
  assert.is((await client.get('/api/second-factors/')).status, 200);
  const attempt = async (body: unknown): Promise<unknown[]> => {
    const response = await confirmation(client, body);
    return [response.status, response.body];
  };
  assert.equal(await attempt({ password }), [400, { password: ['Confirm with a second factor.'] }]);
  assert.equal(await attempt({ code: app.wrongCode() }), [400, { code: ['Wrong code.'] }]);
  assert.equal(await attempt({ recovery_code: 'aaaaa-aaaaa' }), [400, { recovery_code: ['Wrong code.'] }]);
  assert.equal(await attempt({ code: app.code(), password }), [
    400,
    { non_field_errors: ['Exactly one of password, code, recovery_code and passkey is required.'] },
  ]);
  assert.equal(await attempt({ code: app.code() }), [200, { confirmed_until: '2018-01-05T04:30:01Z' }]);
  assert.is((await client.patch(factor.url, { name: 'Mine' })).status, 200);
  at(1802);
  assert.is((await attempt({ recovery_code: factor.recovery_codes[0] }))[0], 200);
});

test('wrong codes at the confirmation lock the username like wrong passwords', async () => {
  const client = await session();
  const { app } = await enrol(fixture, client);
  at(901);
  for (let count = 0; count < 4; count++) await confirmation(client, { code: app.wrongCode() });
  assert.equal((await confirmation(client, { code: app.code() })).body, { code: [locked.detail] });
  assert.equal((await logIn()).body, locked);
});

test('a login confirms the session of a user with a factor only if it used the factor', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  assert.is((await fixture.as('alice').post('/api/second-factors/recovery-codes/')).status, 403);
  assert.is((await (await fullSession(app)).post('/api/second-factors/recovery-codes/')).status, 200);
});

test('has_second_factor is for the user and staff', async () => {
  await fixture.user('helper', { is_support: true });
  await fixture.user('bob');
  const client = await session();
  assert.is((await client.get(alice.url)).body.has_second_factor, false);
  await enrol(fixture, client);
  for (const reader of [client, fixture.staff]) assert.is((await reader.get(alice.url)).body.has_second_factor, true);
  for (const name of ['helper', 'bob'])
    assert.not.ok('has_second_factor' in (await fixture.as(name).get(alice.url)).body);
  const found = async (reader: Client, value: boolean): Promise<string[]> =>
    (await reader.get(`/api/users/?has_second_factor=${value}`)).body.map(({ username }: Json) => username);
  assert.equal(await found(fixture.staff, true), ['alice']);
  assert.equal(await found(fixture.staff, false), ['admin', 'bob', 'helper']);
  assert.equal(await found(fixture.as('bob'), true), ['alice', 'bob', 'helper'], 'ignored');
});

test('stores no secret, code or token in plain text', async () => {
  const { app, factor } = await enrol(fixture, await session());
  const token = await challenge();
  const stored = (fixture.server.app.db as SqliteDatabase).serialize().toString('latin1').toLowerCase();
  const [code] = factor.recovery_codes;
  for (const text of [app.secret, code, code.replace('-', ''), token])
    assert.not.ok(stored.includes(text.toLowerCase()), text);
});

test('a deactivated user cannot complete a login', async () => {
  const { app } = await enrol(fixture, await session());
  at(30);
  const token = await challenge();
  await fixture.staff.patch(alice.url, { is_active: false });
  assert.equal((await present({ token, code: app.code() })).body, again);
});

test('removes expired enrolments, codes and tokens', async () => {
  const client = await session();
  const { app } = await enrol(fixture, client);
  await client.post('/api/second-factors/totp/');
  await present({ token: await challenge(), code: app.wrongCode() });
  const rows = (): unknown[] =>
    ['pending_login', 'totp_enrolment', 'factor_failure'].map((table) =>
      fixture.server.app.db.value(sql`SELECT count(*) FROM ${raw(table)}`),
    );
  assert.equal(rows(), [1, 1, 1]);
  await fixture.advance(3700);
  assert.equal(rows(), [0, 0, 0]);
});

test.run();
