/** core.md 2.8: confirmed sessions. */
import * as assert from 'uvu/assert';
import { requireConfirmation } from '../../../src/accounts/session/confirmation.ts';
import type { Request } from '../../../src/kernel/access/request.ts';
import { HttpError } from '../../../src/kernel/http/error.ts';
import { ownerOf } from '../../../src/kernel/security/tokens.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('session confirmation');
const path = '/api/sessions/confirm/';
const password = 'correct-horse-7';
const locked = 'Username is locked out. Try in 10 minutes.';
const denied = [403, { detail: 'Confirm your identity first.', methods: ['password'] }];
let alice: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:00:00Z');
  alice = await fixture.user('alice');
  await fixture.staff.post(`${alice.url}password/`, { password });
});

const attempt = (secret: unknown, headers?: Readonly<Record<string, string>>) =>
  fixture.anonymous.send('POST', '/api-auth/password/', { username: 'alice', password: secret }, headers);
const logIn = async (): Promise<Client> => new Client(fixture, (await attempt(password)).body.token);
const confirm = async (client: Client, body: unknown): Promise<unknown[]> => {
  const { body: answer, status } = await client.post(path, body);
  return [status, answer];
};

/** Returns the rejection of an operation that requires a confirmed session; undefined if it is allowed. */
function rejection({ token = '' }: Client): unknown {
  const { app } = fixture.server;
  const now = app.clock.now();
  // The parts of a request that the function reads.
  const request = { app, db: app.db, now, caller: ownerOf(app, token, now, '127.0.0.1') } as unknown as Request;
  try {
    requireConfirmation(request);
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return [error.status, error.body];
  }
}

test('a login confirms its session for 15 minutes, and the password confirms it again', async () => {
  const client = await logIn();
  assert.is(rejection(client), undefined);
  fixture.clock.set('2018-01-05T04:14:59.999999Z');
  assert.is(rejection(client), undefined);
  fixture.clock.set('2018-01-05T04:15:00Z');
  assert.equal(rejection(client), denied);
  fixture.events();
  const sameUser = await logIn();
  fixture.clock.set('2018-01-05T04:31:00Z');
  fixture.events();
  assert.equal(await confirm(client, { password }), [200, { confirmed_until: '2018-01-05T04:46:00Z' }]);
  assert.equal(fixture.events(), []);
  assert.is(rejection(client), undefined);
  assert.equal(rejection(sameUser), denied, 'another session of the same user');
  fixture.clock.set('2018-01-05T04:46:00Z');
  assert.equal(rejection(client), denied);
});

test('a user without a password can only log in again', async () => {
  await fixture.user('bob');
  const bob = fixture.as('bob');
  assert.is(rejection(bob), undefined);
  fixture.clock.set('2018-01-05T04:15:00Z');
  assert.equal(rejection(bob), [403, { detail: 'Confirm your identity first.', methods: [] }]);
  assert.equal(await confirm(bob, { password }), [400, { password: ['Wrong password.'] }]);
  assert.equal(rejection(bob), [403, { detail: 'Confirm your identity first.', methods: [] }]);
});

test('rejects a missing or blank password, and counts nothing', async () => {
  const client = await logIn();
  const reports = [
    [{ password: '' }, 'This field may not be blank.'],
    [{ password: null }, 'This field may not be null.'],
  ] as const;
  for (const [body, message] of reports) assert.equal(await confirm(client, body), [400, { password: [message] }]);
  for (const [body] of reports) await confirm(client, body);
  const one = 'Exactly one of password, code, recovery_code and passkey is required.';
  assert.equal(await confirm(client, {}), [400, { non_field_errors: [one] }]);
  assert.is((await attempt(password)).status, 200);
});

test('wrong passwords lock further confirmations and logins from the same address', async () => {
  const client = await logIn();
  fixture.clock.set('2018-01-05T04:20:00Z');
  const wrong = [400, { password: ['Wrong password.'] }];
  for (let count = 0; count < 4; count++) assert.equal(await confirm(client, { password: 'wrong-horse-7' }), wrong);
  assert.equal(await confirm(client, { password }), [400, { password: [locked] }]);
  assert.equal(rejection(client), denied);
  assert.equal((await attempt(password)).body, { detail: locked });
  fixture.clock.set('2018-01-05T04:30:00Z');
  assert.equal(await confirm(client, { password }), [200, { confirmed_until: '2018-01-05T04:45:00Z' }]);
});

test('guesses sent at the same time get no more attempts than guesses sent one after another', async () => {
  const client = await logIn();
  fixture.clock.set('2018-01-05T04:20:00Z');
  const guesses = Array.from({ length: 10 }, (_, index) => confirm(client, { password: `wrong-horse-${index}` }));
  const counts = new Map<string, number>();
  for (const answer of await Promise.all(guesses)) {
    const key = JSON.stringify(answer);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assert.equal(
    [...counts].sort(([, one], [, two]) => one - two),
    [
      [JSON.stringify([400, { password: ['Wrong password.'] }]), 4],
      [JSON.stringify([400, { password: [locked] }]), 6],
    ],
  );
});

test('a session that ends during the comparison is not confirmed', async () => {
  const [client, other] = [await logIn(), await logIn()];
  const { passwords } = fixture.server.app;
  const { matches } = passwords;
  passwords.matches = async (...of) => {
    const isCorrect = await matches.apply(passwords, of);
    passwords.matches = matches;
    await other.post('/api/sessions/end_others/');
    return isCorrect;
  };
  assert.equal(await confirm(client, { password }), [401, { detail: 'Invalid token.' }]);
});

test('a password changed during the comparison confirms nothing', async () => {
  const client = await logIn();
  fixture.clock.set('2018-01-05T04:20:00Z');
  const { passwords } = fixture.server.app;
  const { matches } = passwords;
  passwords.matches = async (...of) => {
    const isCorrect = await matches.apply(passwords, of);
    passwords.matches = matches;
    await client.post(`${alice.url}password/`, { password: 'another-horse-8' });
    return isCorrect;
  };
  assert.equal(await confirm(client, { password }), [401, { detail: 'Invalid token.' }]);
  assert.equal(rejection(client), denied);
  assert.is((await confirm(client, { password: 'another-horse-8' }))[0], 200);
});

test.run();
