import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import { Client, Fixture, type Json } from '../../support/fixture.ts';
import { newestSecret, secretIn, sentMails } from '../../support/sent-mails.ts';

const test = suite('a forgotten password (core.md 2.5)');
const fixture = new Fixture();
let alice: Json;

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open({
    password_reset_url: 'https://app.example.com/#/password/{secret}/',
    trusted_proxies: ['127.0.0.1'],
    ...options,
  });
  alice = await fixture.user('alice', { email: 'Alice@example.com' });
  await fixture.staff.post(`${alice.url}password/`, { password: 'forgotten-1' });
  fixture.events();
}
test.after.each(() => fixture.close());

const sent = [202, { detail: 'If the address is known, a link has been sent.' }];
const gone = [404, { detail: 'Not found.' }];

const ask = async (email: unknown, address = '192.0.2.1'): Promise<[number, Json]> => {
  const response = await fixture.anonymous.send(
    'POST',
    '/api-auth/password/forgot/',
    { email },
    { 'X-Forwarded-For': address },
  );
  return [response.status, response.body];
};
const reset = async (secret: unknown, password: unknown = 'correct-horse-1'): Promise<[number, Json]> => {
  const response = await fixture.anonymous.post('/api-auth/password/reset/', { secret, password });
  return [response.status, response.body];
};
/** Counts the mailed links. */
const mailCount = async (): Promise<number> =>
  (await sentMails(fixture)).filter(({ subject }) => subject === 'New password for Tenantry').length;

test('a mailed link sets a new password, returns a token, revokes all others, verifies the email and records two events', async () => {
  await begin();
  const before = fixture.as('alice');
  fixture.server.app.db.write(() => fixture.server.app.db.run(raw('UPDATE user SET email_verified = 0')));
  assert.equal(await ask('aLICE@example.com'), sent);
  const [mail, ...others] = await sentMails(fixture);
  assert.is(others.length, 0);
  const secret = secretIn(mail ?? {});
  assert.equal(mail?.to, [{ address: 'Alice@example.com', name: '' }]);
  assert.is(mail?.subject, 'New password for Tenantry');
  assert.equal(mail?.text?.trim().split('\n'), [
    'Hello!',
    'A new password was asked for the user alice of Tenantry.',
    'Please visit this page within an hour to set it. If you did not ask for it, nothing needs to be done:',
    `https://app.example.com/#/password/${secret}/`,
  ]);
  assert.equal(fixture.events(), [], 'asking is no event');
  const [status, body] = await reset(secret);
  assert.equal([status, Object.keys(body)], [200, ['token']]);
  assert.equal(fixture.events(), [
    expectedEvent('user_password_updated', 'Password has been changed for user alice.', by(alice), affecting(alice)),
    expectedEvent('token_created', 'Token has been updated for alice', by(alice), affecting(alice)),
  ]);
  assert.is((await new Client(fixture, body.token).get('/api/users/?current')).status, 200);
  assert.is((await before.get('/api/users/')).status, 401, 'other tokens are revoked');
  const login = (password: string) => fixture.anonymous.post('/api-auth/password/', { username: 'alice', password });
  assert.equal([(await login('correct-horse-1')).status, (await login('forgotten-1')).status], [200, 401]);
  assert.is(fixture.server.app.db.value(raw("SELECT email_verified FROM user WHERE username = 'alice'")), 1);
  assert.equal(await reset(secret), gone, 'single use');
  assert.equal(
    (await sentMails(fixture)).map(({ subject }) => subject),
    ['New password for Tenantry', 'Your password for Tenantry has been changed'],
  );
});

test('known and unknown addresses have the same response and cost; only users who can use a link get a mail', async () => {
  await begin();
  await fixture.user('idle', { email: 'idle@example.com', is_active: false });
  await fixture.user('single', { email: 'single@example.com' });
  const { db } = fixture.server.app;
  db.write(() => db.run(raw("UPDATE user SET registration_method = 'saml2' WHERE username = 'single'")));
  for (const email of ['nobody@example.com', 'idle@example.com', 'single@example.com'])
    assert.equal(await ask(email), sent, email);
  assert.is(await mailCount(), 0);
  assert.equal(db.all(raw('SELECT DISTINCT status, user_id, secret FROM password_reset')), [
    { status: 'skipped', user_id: null, secret: null },
  ]);
  assert.equal(await ask('alice@example.com'), sent);
  assert.is(await mailCount(), 1);
});

test('returns 400 for an invalid email, which does not count towards the limit', async () => {
  await begin();
  for (let i = 0; i < 30; i++) assert.equal(await ask('nobody'), [400, { email: ['Enter a valid email address.'] }]);
  const missing = await fixture.anonymous.post('/api-auth/password/forgot/', {});
  assert.equal([missing.status, missing.body], [400, { email: ['This field is required.'] }]);
  assert.equal(await ask('alice@example.com'), sent);
});

test('allows 20 requests an hour for each network, then returns 429 with Retry-After', async () => {
  await begin();
  for (let i = 0; i < 20; i++) assert.equal(await ask(`nobody${i}@example.com`, `2001:db8::${i + 1}`), sent);
  const rejection = await fixture.anonymous.send(
    'POST',
    '/api-auth/password/forgot/',
    { email: 'alice@example.com' },
    { 'X-Forwarded-For': '2001:db8::ffff' },
  );
  assert.equal(
    [rejection.status, rejection.body, rejection.headers.get('Retry-After')],
    [429, { detail: 'Too many requests. Try again later.' }, '3600'],
  );
  assert.equal(await ask('alice@example.com', '2001:db8:0:1::1'), sent);
  fixture.clock.advance(3600);
  assert.equal(await ask('alice@example.com', '2001:db8::1'), sent);
});

test('a user gets three mails an hour; a request that sends no mail invalidates no link', async () => {
  await begin();
  for (let i = 0; i < 6; i++) assert.equal(await ask('alice@example.com'), sent);
  assert.is(await mailCount(), 3);
  assert.is((await reset(await newestSecret(fixture)))[0], 200);
  fixture.clock.advance(3601);
  await ask('alice@example.com');
  assert.is(await mailCount(), 4);
});

test('a newer link, a new password or email, deactivation, or an hour invalidates a link', async () => {
  await begin();
  const link = async (): Promise<string> => {
    fixture.clock.advance(3601);
    await ask('alice@example.com');
    return newestSecret(fixture);
  };
  const first = await link();
  await ask('alice@example.com');
  const second = await newestSecret(fixture);
  assert.equal(await reset(first), gone, 'a newer one');
  await fixture.staff.post(`${alice.url}password/`, { password: 'forgotten-2' });
  assert.equal(await reset(second), gone, 'another password');
  const third = await link();
  for (const email of ['other@example.com', 'alice@example.com']) await fixture.staff.patch(alice.url, { email });
  assert.equal(await reset(third), gone, 'another email, though it is the old one again');
  const fourth = await link();
  await fixture.staff.patch(alice.url, { is_active: false });
  assert.equal(await reset(fourth), gone, 'deactivated');
  await fixture.staff.patch(alice.url, { is_active: true });
  const fifth = await link();
  fixture.clock.advance(3600);
  assert.equal(await reset(fifth), gone, 'an hour later');
  const sixth = await link();
  fixture.clock.advance(3599);
  assert.is((await reset(sixth))[0], 200, 'a second before');
});

test('reports an unknown secret before errors in the password, and an invalid password does not use up the secret', async () => {
  await begin({ password_refuse_weak: true });
  assert.equal(await reset('0'.repeat(32), 'x'), gone);
  await ask('alice@example.com');
  const secret = await newestSecret(fixture);
  assert.equal(await reset(secret, 'x'), [
    400,
    { password: ['Ensure this field has at least one digit.', 'Ensure this field has at least 7 characters.'] },
  ]);
  assert.equal(await reset(secret, 'alice-123'), [400, { password: ['The password is too similar to the username.'] }]);
  const required = ['This field is required.'];
  for (const [body, errors] of [
    [{}, { secret: required, password: required }],
    [{ password: 'correct-horse-1' }, { secret: required }],
    [{ secret }, { password: required }],
    [
      { secret: '', password: 'x1' },
      { secret: ['This field may not be blank.'], password: ['x'] },
    ],
  ] as const) {
    const response = await fixture.anonymous.post('/api-auth/password/reset/', body);
    assert.equal([response.status, Object.keys(response.body)], [400, Object.keys(errors)]);
    if (!('secret' in body && body.secret === '')) assert.equal(response.body, errors);
  }
  assert.is((await reset(secret.toUpperCase()))[0], 200);
});

test('only one of two simultaneous uses of a link succeeds', async () => {
  await begin();
  await ask('alice@example.com');
  const secret = await newestSecret(fixture);
  const responses = await Promise.all([reset(secret, 'correct-horse-1'), reset(secret, 'correct-horse-2')]);
  assert.equal(responses.map(([status]) => status).sort(), [200, 404]);
});

test('both paths are open and ignore a token; they return 404 without password_reset_url or LOCAL_SIGNIN', async () => {
  await begin();
  const Authorization = 'Token nonsense';
  const response = await fixture.anonymous.send(
    'POST',
    '/api-auth/password/forgot/',
    { email: 'alice@example.com' },
    { Authorization },
  );
  assert.is(response.status, 202);
  for (const options of [{ password_reset_url: null }, { authentication_methods: [] }]) {
    await begin(options);
    for (const path of ['forgot', 'reset']) {
      for (const method of ['POST', 'OPTIONS']) {
        const off = await fixture.anonymous.send(method, `/api-auth/password/${path}/`, {});
        assert.equal([off.status, off.body], gone);
      }
    }
  }
});

test('neither the secret nor the address is logged, and the database does not contain the secret', async () => {
  await begin();
  const lines: unknown[] = [];
  const { db, log } = fixture.server.app;
  for (const level of ['info', 'warn', 'error'] as const)
    log[level] = ((...line: unknown[]) => lines.push(line)) as typeof log.info;
  await ask('alice@example.com');
  const secret = await newestSecret(fixture);
  const rows = db.all(raw('SELECT *, hex(secret_digest) AS digest, NULL AS secret_digest FROM password_reset'));
  assert.not(JSON.stringify([lines, rows]).includes(secret));
  assert.not(JSON.stringify(lines).includes('alice'));
});

test('retries a failed mail while its link is valid, then gives up', async () => {
  await begin({ smtp_url: 'smtp://127.0.0.1:1', email_from: 'noreply@example.com' });
  const state = (): unknown =>
    fixture.server.app.db.all(raw('SELECT status, secret IS NULL AS is_forgotten FROM password_reset'))[0];
  await ask('alice@example.com');
  await fixture.server.settled();
  assert.equal(state(), { status: 'pending', is_forgotten: 0 });
  await fixture.advance(10);
  assert.equal(state(), { status: 'pending', is_forgotten: 0 });
  await fixture.advance(3600);
  assert.equal(state(), { status: 'skipped', is_forgotten: 1 });
  await fixture.advance(86_400);
  assert.is(state(), undefined, 'and removed after a day');
});

test.run();
