import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('POST /api/users/<uuid>/password/ (core.md 4.4)');
let admin: Json;

test.before(async () => {
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});

const done = { detail: 'Password has been successfully updated.' };
const digit = 'Ensure this field has at least one digit.';
const letter = 'Ensure this field has at least one latin letter.';
const length = 'Ensure this field has at least 7 characters.';
const logIn = (username: string, password: unknown) =>
  fixture.anonymous.post('/api-auth/password/', { username, password });

test('staff set a password without the old one, and the user logs in with it', async () => {
  const user = await fixture.user('walter');
  fixture.events();
  const { status, body } = await fixture.staff.post(`${user.url}password/`, { password: 'nQvqHzeP123' });
  assert.is(status, 200);
  assert.equal(body, done);
  assert.equal(fixture.events(), [
    expectedEvent('user_password_updated', 'Password has been changed for user walter.', by(admin), affecting(user)),
  ]);
  assert.is((await logIn('walter', 'nQvqHzeP123')).status, 200);
  assert.is((await logIn('walter', 'nqvqhzep123')).status, 401);
});

test('reports every rule that a password breaks, in this order', async () => {
  const user = await fixture.user('rules');
  for (const [password, ...messages] of [
    ['!', digit, letter, length],
    ['abcdefg', digit],
    ['ABCDEF', digit, length],
    ['1234567', letter],
    ['123456', letter, length],
    ['abc123', length],
    ['жжжжжжж1', letter],
    ['abcdefg٣', digit],
    ['ab1🚀🚀🚀', length],
    [' ', digit, letter, length],
  ] as const) {
    const { status, body } = await fixture.staff.post(`${user.url}password/`, { password });
    assert.is(status, 400);
    assert.equal(body, { password: messages }, password);
  }
  for (const password of ['abcdef1', 'ABCDEF1', '1a     ', 'ab1🚀🚀🚀🚀', `a1${'x'.repeat(100_000)}`]) {
    assert.is((await fixture.staff.post(`${user.url}password/`, { password })).status, 200);
  }
});

test('reports a missing, empty, null or non-text password', async () => {
  const user = await fixture.user('wrong.kind');
  const rejection = async (body: unknown) => (await fixture.staff.post(`${user.url}password/`, body)).body;
  assert.equal(await rejection({}), { password: ['This field is required.'] });
  assert.equal(await rejection(undefined), { password: ['This field is required.'] });
  assert.equal(await rejection({ password: '' }), { password: ['This field may not be blank.'] });
  assert.equal(await rejection({ password: null }), { password: ['This field may not be null.'] });
  for (const password of [true, [], ['abcdef1'], {}])
    assert.equal(await rejection({ password }), { password: ['Not a valid string.'] });
  assert.equal(await rejection({ password: 1234567 }), { password: [letter] });
});

test('does not trim a password', async () => {
  const user = await fixture.user('spacious');
  await fixture.staff.post(`${user.url}password/`, { password: ' secret123 ' });
  assert.is((await logIn('spacious', 'secret123')).status, 401);
  assert.is((await logIn('spacious', ' secret123 ')).status, 200);
});

test("changing the caller's own password revokes all other tokens but that of the request", async () => {
  const user = await fixture.user('own.change');
  const [me, remote] = [fixture.as('own.change'), fixture.as('own.change')];
  assert.equal((await me.post(`${user.url}password/`, { password: 'secret123' })).body, done);
  assert.is((await me.get('/api/')).status, 200);
  const { status, body } = await remote.get('/api/');
  assert.is(status, 401);
  assert.equal(body, { detail: 'Invalid token.' });
});

test('a change by staff revokes all tokens of the user and none of staff', async () => {
  const user = await fixture.user('changed');
  const clients = [fixture.as('changed'), fixture.as('changed')];
  await fixture.staff.post(`${user.url}password/`, { password: 'secret123' });
  for (const client of clients) assert.equal((await client.get('/api/')).body, { detail: 'Invalid token.' });
  assert.is((await fixture.staff.get('/api/')).status, 200);
});

test('an inactive user can get a password, but cannot log in before they are active', async () => {
  const user = await fixture.user('later', { is_active: false });
  assert.is((await fixture.staff.post(`${user.url}password/`, { password: 'secret123' })).status, 200);
  assert.is((await logIn('later', 'secret123')).status, 401);
  await fixture.staff.patch(user.url, { is_active: true });
  assert.is((await logIn('later', 'secret123')).status, 200);
});

test('the second of two simultaneous changes with different tokens finds its token revoked', async () => {
  const user = await fixture.user('hasty');
  const responses = await Promise.all(
    ['secret1', 'secret2'].map((password) => fixture.as('hasty').post(`${user.url}password/`, { password })),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [200, 401]);
  const winner = responses.findIndex(({ status }) => status === 200);
  assert.equal(responses[1 - winner]?.body, { detail: 'Invalid token.' });
  assert.is((await logIn('hasty', `secret${winner + 1}`)).status, 200);
  assert.is((await logIn('hasty', `secret${2 - winner}`)).status, 401);
});

test('a user who is deactivated while their password is hashed changes nothing', async () => {
  const user = await fixture.user('too.late');
  const client = fixture.as('too.late');
  const [changing] = await Promise.all([
    client.post(`${user.url}password/`, { password: 'secret123' }),
    fixture.staff.patch(user.url, { is_active: false }),
  ]);
  assert.is(changing.status, 401);
  assert.equal(changing.body, { detail: 'User inactive or deleted.' });
});

test('accepts passwords in forms', async () => {
  const user = await fixture.user('formal');
  assert.is(
    (await fixture.staff.post(`${user.url}password/`, new URLSearchParams({ password: 'secret 123 ' }))).status,
    200,
  );
  assert.is((await logIn('formal', 'secret 123 ')).status, 200);
  const parts = new FormData();
  parts.set('password', new Blob(['secret123']), 'password.txt');
  assert.equal((await fixture.staff.post(`${user.url}password/`, parts)).body, { password: ['Not a valid string.'] });
});

test('the path serves only POST and OPTIONS and returns 404 for malformed uuids', async () => {
  const user = await fixture.user('paths');
  const { status, headers, body } = await fixture.staff.get(`${user.url}password/`);
  assert.is(status, 405);
  assert.is(headers.get('allow'), 'POST, OPTIONS');
  assert.equal(body, { detail: 'Method "GET" not allowed.' });
  for (const key of ['0'.repeat(32), 'x', `${user.uuid}0`]) {
    assert.is((await fixture.staff.post(`/api/users/${key}/password/`, { password: 'secret123' })).status, 404);
  }
});

test.run();
