/** core.md 2.1: POST /api-auth/password/. */
import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: login, fixture } = suiteWithServer('login');
const path = '/api-auth/password/';
const password = 'correct horse 1';
let alice: Json;

login.before(async () => {
  alice = await fixture.user('Alice', { full_name: 'Alice Lee', native_name: 'Alice' });
  await fixture.staff.post(`${alice.url}password/`, { password });
});
login.before.each(() => {
  // Failures in one test must not lock out the next one.
  fixture.clock.advance(3600);
  fixture.events();
});

const attempt = (username: string, tried = password) => fixture.anonymous.post(path, { username, password: tried });
const rejection = { detail: 'Invalid username/password.' };

login('returns 200 with a token of 40 hex digits that works', async () => {
  const { status, body } = await attempt('Alice');
  assert.equal([status, Object.keys(body)], [200, ['token']]);
  assert.match(body.token, /^[0-9a-f]{40}$/);
  const own = await fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${body.token}` });
  assert.equal(
    own.body.map(({ username, token }: Json) => [username, token]),
    [['Alice', body.token]],
  );
});

login('the endpoint is open and allows POST and OPTIONS', async () => {
  const options = await fixture.anonymous.options(path);
  assert.equal(
    [options.status, options.headers.get('allow'), Object.keys(options.body.actions)],
    [200, 'POST, OPTIONS', ['POST']],
  );
  assert.equal(Object.keys(options.body.actions.POST), ['username', 'password']);
  assert.equal(options.body.actions.POST.password, {
    type: 'string',
    required: true,
    read_only: false,
    label: 'Password',
  });
  const get = await fixture.anonymous.get(path);
  assert.equal(
    [get.status, get.body, get.headers.get('allow')],
    [405, { detail: 'Method "GET" not allowed.' }, 'POST, OPTIONS'],
  );
});

login('accepts username and password as JSON or as a form', async () => {
  const form = new URLSearchParams({ username: 'Alice', password });
  assert.is(
    (
      await fixture.anonymous.send('POST', path, form.toString(), {
        'Content-Type': 'application/x-www-form-urlencoded',
      })
    ).status,
    200,
  );
  const parts = new FormData();
  for (const [name, value] of form) parts.set(name, value);
  assert.is((await fixture.anonymous.send('POST', path, parts)).status, 200);
});

login('returns 401 with messages for every missing, blank, null or non-string field', async () => {
  const bodies: [Json, Json][] = [
    [{}, { username: ['This field is required.'], password: ['This field is required.'] }],
    [{ username: 'Alice' }, { password: ['This field is required.'] }],
    [
      { username: ' ', password: '' },
      { username: ['This field may not be blank.'], password: ['This field may not be blank.'] },
    ],
    [
      { username: null, password: null },
      { username: ['This field may not be null.'], password: ['This field may not be null.'] },
    ],
    [
      { username: ['Alice'], password: { $ne: 1 } },
      { username: ['Not a valid string.'], password: ['Not a valid string.'] },
    ],
    [{ username: true, password }, { username: ['Not a valid string.'] }],
    [{ username: 'Al\0ice', password }, { username: ['Null characters are not allowed.'] }],
  ];
  for (const [body, errors] of bodies) {
    const response = await fixture.anonymous.post(path, body);
    assert.equal(
      [body, response.status, response.body, response.headers.get('www-authenticate')],
      [body, 401, errors, 'Token'],
    );
  }
  assert.equal(fixture.events(), []);
});

login('rejects malformed JSON, an unknown media type and a large body like every endpoint', async () => {
  const send = (body: string, type = 'application/json') =>
    fixture.anonymous.send('POST', path, body, { 'Content-Type': type });
  const malformed = await send('{');
  assert.is(malformed.status, 400);
  assert.match(malformed.body.detail, /^JSON parse error - /);
  assert.equal(
    [
      (await send('[]')).status,
      (await send('x', 'text/plain')).status,
      (await send(`"${'x'.repeat(1_100_000)}"`)).status,
    ],
    [400, 415, 413],
  );
});

login('returns the same 401 for an unknown user, a wrong password, no password and an inactive user', async () => {
  await fixture.user('unset');
  const gone = await fixture.user('gone');
  await fixture.staff.post(`${gone.url}password/`, { password });
  await fixture.staff.patch(gone.url, { is_active: false });
  for (const [username, tried] of [
    ['nobody', password],
    ['Alice', 'wrong 1'],
    ['Alice', ` ${password}`],
    ['unset', 'x'],
    ['gone', password],
  ] as const) {
    const response = await attempt(username, tried);
    assert.equal(
      [username, response.status, response.body, response.headers.get('www-authenticate')],
      [username, 401, rejection, 'Token'],
    );
  }
});

login('looks up the username ignoring case', async () => {
  for (const username of ['alice', 'ALICE', ' Alice ', 'Ａlice'])
    assert.is((await attempt(username)).status, 200, username);
});

login('several logins return different tokens and invalidate none', async () => {
  const tokens = [
    (await attempt('Alice')).body.token,
    (await attempt('Alice')).body.token,
    (await attempt('Alice')).body.token,
  ];
  assert.is(new Set(tokens).size, 3);
  for (const token of tokens)
    assert.is((await fixture.anonymous.get('/api/', { Authorization: `Token ${token}` })).status, 200);
});

login('success records token_created, then auth_logged_in_with_username', async () => {
  await attempt('alice');
  const names = {
    user_uuid: alice.uuid,
    user_username: 'Alice',
    user_full_name: 'Alice Lee',
    user_native_name: 'Alice',
  };
  const affected = Object.fromEntries(Object.entries(names).map(([name, value]) => [`affected_${name}`, value]));
  assert.equal(fixture.events(), [
    {
      type: 'token_created',
      level: 'info',
      message: 'Token has been updated for Alice',
      context: { ip_address: '127.0.0.1', ...names, ...affected },
    },
    {
      type: 'auth_logged_in_with_username',
      level: 'info',
      message: 'User Alice with full name Alice Lee authenticated successfully with username and password.',
      context: { ip_address: '127.0.0.1', ...names },
    },
  ]);
});

login('each counted failure records auth_login_failed_with_username', async () => {
  await attempt('Alice', 'wrong 1');
  await attempt('noBody', 'wrong 1');
  const failed = (username: string) => ({
    type: 'auth_login_failed_with_username',
    level: 'info',
    message: `User ${username} failed to authenticate with username and password.`,
    context: { ip_address: '127.0.0.1', username },
  });
  assert.equal(fixture.events(), [failed('Alice'), failed('noBody')]);
});

login(
  'returns 401 for every attempt before any other check if LOCAL_SIGNIN is not in authentication_methods',
  async () => {
    const closed = await Fixture.start({ authentication_methods: [] });
    const detail = 'Authentication method is disabled. Please use another authentication method or contact staff.';
    for (const body of [{}, { username: 'admin', password: 'x' }, []]) {
      const response = await closed.anonymous.post(path, body);
      assert.equal(
        [response.status, response.body, response.headers.get('www-authenticate')],
        [401, { detail }, 'Token'],
      );
    }
    const broken = await closed.anonymous.send('POST', path, '{', { 'Content-Type': 'application/json' });
    assert.equal([broken.status, broken.body], [401, { detail }]);
    assert.equal(closed.events(), []);
    await closed.close();
  },
);

login('a user who is deactivated while their password is compared gets no valid token', async () => {
  const [attempted] = await Promise.all([attempt('Alice'), fixture.staff.patch(alice.url, { is_active: false })]);
  const { status } = attempted;
  await fixture.staff.patch(alice.url, { is_active: true });
  if (status === 200)
    assert.is((await fixture.anonymous.get('/api/', { Authorization: `Token ${attempted.body.token}` })).status, 401);
  else assert.equal(attempted.body, rejection);
});

login.run();
