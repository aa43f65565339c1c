/** Weak passwords are rejected, and a stolen token is not enough to take over an account (core.md 4.4, 2.3). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addUser } from '../../src/accounts/users/add.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import { type ApiResponse, type Client, Fixture, type Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const password = 'correct horse 1';
const strict = suiteWithServer('passwords with strict settings', {
  password_min_length: 10,
  password_refuse_weak: true,
  password_requires_current: true,
  token_lifetime_max: 7200,
});
const { test, fixture } = strict;
let alice: Json;
let client: Client;

test.before(async () => {
  alice = await fixture.user('alice.lebowski', { email: 'bowling@example.com' });
  client = fixture.as('alice.lebowski');
  await client.patch(alice.url, { agree_with_policy: true });
  await fixture.staff.post(`${alice.url}password/`, { password });
});
test.before.each(() => {
  fixture.clock.advance(3600);
  fixture.server.tick();
  // Setting the password of a user revokes the tokens of that user.
  client = fixture.as('alice.lebowski');
  fixture.events();
});

const set = async (body: unknown, by = client): Promise<[number, Json]> =>
  resultOf(await by.post(`${alice.url}password/`, body));
const resultOf = ({ body, status }: ApiResponse<Json>): [number, Json] => [status, body];
const logIn = async (tried: string): Promise<number> =>
  (await fixture.anonymous.post('/api-auth/password/', { username: 'alice.lebowski', password: tried })).status;

const similar = 'The password is too similar to the username.';
const common = 'This password is too common.';
const required = { current_password: ['This field is required.'] };
const wrong = { current_password: ['Wrong password.'] };
const locked = { current_password: ['Username is locked out. Try in 10 minutes.'] };

test('shows password_min_length in the message and in OPTIONS', async () => {
  assert.equal(await set({ password: 'short!', current_password: password }), [
    400,
    { password: ['Ensure this field has at least one digit.', 'Ensure this field has at least 10 characters.'] },
  ]);
  assert.equal(await set({ password: 'abcdefgh1', current_password: password }), [
    400,
    { password: ['Ensure this field has at least 10 characters.'] },
  ]);
  const { body } = await client.options(`${alice.url}password/`);
  assert.is(body.actions.POST.password.min_length, 10);
  assert.is(body.actions.POST.current_password.required, false);
});

test('rejects a common password, and one that contains the username or the name in the email', async () => {
  for (const [weak, ...messages] of [
    ['my Alice.Lebowski 1', similar],
    ['Bowling for 100', similar],
    ['ＢＯＷＬＩＮＧ for 100', similar],
    ['1234567890a', common],
    ['Qwertyuiop1', common],
  ] as const) {
    assert.equal(await set({ password: weak }, fixture.staff), [400, { password: messages }], weak);
  }
  assert.equal(await set({ password: 'my alice bowls 1' }, fixture.staff), [
    200,
    { detail: 'Password has been successfully updated.' },
  ]);
  await set({ password }, fixture.staff);
  const joe = await fixture.user('joe', { email: 'joe@example.com' });
  const short = await fixture.staff.post(`${joe.url}password/`, { password: 'joe joe joe 1' });
  assert.is(short.status, 200);
});

test('applies the same rules to passwords set by the operator', async () => {
  const { app } = fixture.server;
  for (const [weak, message] of [
    ['short1', 'password: Ensure this field has at least 10 characters.'],
    ['operator 12', `password: ${similar}`],
    ['1234567890a', `password: ${common}`],
  ] as const) {
    const reason = await addUser(app, { username: 'operator', password: weak }).then(
      () => 'added',
      (error) => error.message,
    );
    assert.is(reason, message);
  }
  assert.is(app.db.value(sql`SELECT 1 FROM user WHERE username = 'operator'`), undefined);
});

test('requires the current password to change the own password', async () => {
  const next = 'another horse 2';
  assert.equal(await set({ password: next }), [400, required]);
  assert.equal(await set({ password: 'bowling 1000' }), [400, { password: [similar], ...required }]);
  assert.equal(await set({ password: next, current_password: '' }), [
    400,
    { current_password: ['This field may not be blank.'] },
  ]);
  assert.equal(await set({ password: next, current_password: 'guess' }), [400, wrong]);
  assert.equal(fixture.events(), []);
  assert.is(await logIn(password), 200);
  fixture.events();
  assert.equal(await set({ password: next, current_password: password }), [
    200,
    { detail: 'Password has been successfully updated.' },
  ]);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['user_password_updated'],
  );
  assert.equal(await set({ password }, fixture.staff), [200, { detail: 'Password has been successfully updated.' }]);
});

test('counts wrong current passwords as failed logins, and respects locks of logins', async () => {
  const body = { password: 'another horse 2', current_password: 'guess' };
  const responses = await Promise.all(Array.from({ length: 8 }, () => set(body)));
  assert.equal(
    [wrong, locked].map(
      (expected) =>
        responses.filter(
          ([
            ,
            {
              current_password: [text],
            },
          ]) => text === expected.current_password[0],
        ).length,
    ),
    [4, 4],
  );
  assert.equal(await set({ ...body, current_password: password }), [400, locked]);
  assert.is(await logIn(password), 401);
  fixture.clock.advance(600);
  for (let i = 0; i < 4; i++) assert.is(await logIn('guess'), 401);
  assert.equal(await set({ ...body, current_password: password }), [400, locked]);
});

test('requires the current password to change the own email, and for no other field', async () => {
  const change = async (body: unknown, by = client) => resultOf(await by.patch(alice.url, body));
  const { body: before } = await client.get(alice.url);
  assert.equal(await change({ email: 'other@example.com' }), [400, required]);
  assert.equal(await change({ email: 'other@example.com', token_lifetime: 7201 }), [
    400,
    { token_lifetime: ['Ensure this value is less than or equal to 7200.'], ...required },
  ]);
  assert.equal(await change({ email: 'other@example.com', current_password: 'guess' }), [400, wrong]);
  assert.equal((await client.get(alice.url)).body, before);
  assert.equal(fixture.events(), []);
  assert.is((await change({ email: before.email, job_title: 'Bowler' }))[0], 200);
  assert.is((await change({ email: 'other@example.com', current_password: password }))[0], 200);
  assert.is((await change({ email: before.email }, fixture.staff))[0], 200);
});

test('requires no current password from a user without one', async () => {
  const walter = await fixture.user('walter');
  const own = fixture.as('walter');
  assert.is((await own.patch(walter.url, { agree_with_policy: true, email: 'w@example.com' })).status, 200);
  assert.is((await own.post(`${walter.url}password/`, { password })).status, 200);
  assert.equal(resultOf(await own.post(`${walter.url}password/`, { password })), [400, required]);
});

test('rejects a token lifetime above token_lifetime_max, except from staff, and leaves stored ones unchanged', async () => {
  const most = { token_lifetime: ['Ensure this value is less than or equal to 7200.'] };
  const change = async (token_lifetime: unknown, by = client) =>
    resultOf(await by.patch(alice.url, { token_lifetime }));
  assert.is((await change(600))[0], 200);
  for (const longer of [7201, null]) assert.equal(await change(longer), [400, most]);
  assert.equal((await client.get(alice.url)).body.token_lifetime, 600);
  assert.is((await change(7200))[0], 200);
  assert.is((await change(null, fixture.staff))[0], 200);
  const { body: stored } = await client.get(alice.url);
  assert.is((await client.put(alice.url, { ...stored, job_title: 'Bowls' })).body.token_lifetime, null);
});

test.run();

const usual = suite('passwords with the default settings');

usual('accepts weak passwords, changes by token alone and endless tokens by default', async () => {
  const open = await Fixture.start();
  const bob = await open.user('bob');
  const own = open.as('bob');
  assert.is((await own.post(`${bob.url}password/`, { password: 'passwor1' })).status, 200);
  assert.is((await own.post(`${bob.url}password/`, { password: 'passwor2', current_password: [1] })).status, 200);
  const change = { agree_with_policy: true, email: 'bob@example.com', token_lifetime: null, current_password: {} };
  const { body, status } = await own.patch(bob.url, change);
  assert.equal(
    [status, body.email, body.token_lifetime, body.current_password],
    [200, 'bob@example.com', null, undefined],
  );
  await open.close();
});

usual('limits the token lifetime of new users to token_lifetime_max, created in any way', async () => {
  const open = await Fixture.start({ token_lifetime_max: 600 });
  const { body } = await open.staff.post('/api/users/', { username: 'bob' });
  assert.is(body.token_lifetime, 600);
  await addUser(open.server.app, { username: 'carol' });
  const lifetimes = open.server.app.db.values(sql`SELECT token_lifetime FROM user WHERE username = 'carol'`);
  assert.equal(lifetimes, [600]);
  const longer = await open.staff.post('/api/users/', { username: 'dave', token_lifetime: 7200 });
  assert.is(longer.body.token_lifetime, 7200);
  await open.close();
});

usual.run();
