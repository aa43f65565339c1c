/** Logins from attackers with many addresses, connections or usernames (core.md 2.1). */
import * as assert from 'uvu/assert';
import { recordFailedLogin } from '../../src/accounts/session/failed-logins.ts';
import { day } from '../../src/kernel/clock.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import { countFailure } from '../../src/kernel/security/lockout.ts';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('attacks on logins', {
  trusted_proxies: ['127.0.0.1'],
  failed_login_events_retention: 2 * day,
});
const password = 'correct horse 1';
const wrong = { detail: 'Invalid username/password.' };
const locked = { detail: 'Username is locked out. Try in 10 minutes.' };

test.before(async () => {
  for (const name of ['alice', 'bob']) {
    const { url } = await fixture.user(name);
    await fixture.staff.post(`${url}password/`, { password });
  }
});
test.before.each(() => {
  fixture.clock.advance(7200);
  fixture.server.tick();
  fixture.events();
});

const attempt = (address: string, username: string, tried = 'wrong'): Promise<ApiResponse<Json>> =>
  fixture.anonymous.send('POST', '/api-auth/password/', JSON.stringify({ username, password: tried }), {
    'Content-Type': 'application/json',
    'X-Forwarded-For': address,
  });

/** Returns the bodies of responses, with counts of equal texts. */
const tally = (responses: readonly ApiResponse<Json>[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { body } of responses) counts[body.detail ?? 'token'] = (counts[body.detail ?? 'token'] ?? 0) + 1;
  return counts;
};

test('allows the addresses of a /64 four attempts together at one username', async () => {
  const responses: ApiResponse<Json>[] = [];
  for (let i = 1; i <= 20; i++) responses.push(await attempt(`2001:db8:1:2::${i.toString(16)}`, 'alice'));
  assert.equal(tally(responses), { [wrong.detail]: 4, [locked.detail]: 16 });
  assert.equal((await attempt('2001:db8:1:2:ffff::1', 'alice', password)).body, locked);
  assert.is((await attempt('2001:db8:1:3::1', 'alice', password)).status, 200);
  assert.is(fixture.events().filter(({ type }) => type === 'auth_login_failed_with_username').length, 4);
});

test('allows the addresses of a /64 fifty attempts together at all usernames', async () => {
  const responses: ApiResponse<Json>[] = [];
  for (let i = 1; i <= 60; i++) responses.push(await attempt(`2001:db8:2:2::${i.toString(16)}`, `guess${i}`));
  assert.equal(tally(responses), { [wrong.detail]: 50, [locked.detail]: 10 });
  assert.equal((await attempt('2001:db8:2:2::1', 'alice', password)).body, locked);
  assert.is((await attempt('2001:db8:2:3::1', 'alice', password)).status, 200);
});

test('allows the networks of a /48 forty attempts together at one username', async () => {
  const responses: ApiResponse<Json>[] = [];
  for (let i = 1; i <= 50; i++) responses.push(await attempt(`2001:db8:3:${i.toString(16)}::1`, 'alice'));
  assert.equal(tally(responses), { [wrong.detail]: 40, [locked.detail]: 10 });
  assert.equal((await attempt('2001:db8:3:ffff::1', 'alice', password)).body, locked);
  assert.is((await attempt('2001:db8:4:1::1', 'alice', password)).status, 200);
});

test('allows the networks of a /48 five hundred attempts together at all usernames', async () => {
  const { db, clock } = fixture.server.app;
  const at = clock.now();
  db.write(() => {
    for (let i = 0; i < 499; i++) countFailure(db, `guess${i}`, `2001:db8:5:${i.toString(16)}::1`, at);
  });
  assert.equal((await attempt('2001:db8:5:fff0::1', 'guess')).body, wrong);
  assert.equal((await attempt('2001:db8:5:fff1::1', 'bob', password)).body, locked);
  assert.is((await attempt('2001:db8:6:1::1', 'bob', password)).status, 200);
});

test('responds with the remaining seconds of the lock of a username', async () => {
  for (let i = 0; i < 4; i++) await attempt('192.0.2.9', 'alice');
  fixture.clock.advance(60);
  const { body, headers, status } = await attempt('192.0.2.9', 'alice', password);
  assert.equal(
    [status, body, headers.get('Retry-After'), headers.get('WWW-Authenticate')],
    [401, locked, '540', 'Token'],
  );
});

test('responds with the time until the first of the fifty failures of an address expires', async () => {
  const { db, clock } = fixture.server.app;
  const fail = (times: number) =>
    db.write(() => {
      for (let i = 0; i < times; i++) countFailure(db, `guess${clock.now()}.${i}`, '192.0.2.10', clock.now());
    });
  fail(20);
  fixture.clock.advance(100);
  fail(30);
  fixture.clock.advance(200);
  const { body, headers } = await attempt('192.0.2.10', 'alice', password);
  assert.equal([body, headers.get('Retry-After')], [locked, '300']);
  fixture.clock.advance(300);
  assert.is((await attempt('192.0.2.10', 'alice', password)).status, 200);
});

test('does not block the login of others during ninety concurrent attempts from one network', async () => {
  const attacks = Array.from({ length: 90 }, (_, i) => attempt(`2001:db8:7:1::${i.toString(16)}`, `guess${i}`));
  const logins = Array.from({ length: 18 }, (_, i) => attempt(`192.0.2.${20 + i}`, 'bob', password));
  assert.equal(tally(await Promise.all(logins)), { token: 18 });
  const rejection = (await Promise.all(attacks)).filter(({ status }) => status === 503);
  assert.ok(rejection.length > 0);
  for (const { body, headers } of rejection)
    assert.equal([body, headers.get('Retry-After')], [{ detail: 'Too many logins at once. Try again.' }, '1']);
});

test('does the same for each failed login, with or without an account: one hash, one event, equal responses', async () => {
  const { url } = await fixture.user('gone');
  await fixture.staff.post(`${url}password/`, { password });
  await fixture.staff.patch(url, { is_active: false });
  await fixture.user('without.password');
  const { passwords } = fixture.server.app;
  const { matches } = passwords;
  let hashes = 0;
  passwords.matches = (...args) => {
    hashes++;
    return matches.apply(passwords, args);
  };
  fixture.events();
  const results = [];
  for (const name of ['alice', 'nobody', 'gone', 'without.password', `${'x'.repeat(4096)}`]) {
    const before = hashes;
    const { body, headers, status } = await attempt('2001:db8:77::1', name);
    const { 'x-request-id': _, date: __, ...visible } = Object.fromEntries(headers);
    const written = fixture.events().map(({ type }) => type);
    results.push([status, body, visible, hashes - before, written]);
  }
  passwords.matches = matches;
  assert.equal(results[0]?.slice(3), [1, ['auth_login_failed_with_username']]);
  for (const other of results) assert.equal(other, results[0]);
});

test('records events of at most a thousand failed logins an hour, and logs the number of the rest once a minute', async () => {
  const { app } = fixture.server;
  const results: unknown[] = [];
  const warn = app.log.warn.bind(app.log);
  app.log.warn = ((...words: unknown[]) => results.push(words)) as typeof app.log.warn;
  app.db.write(() => {
    for (let i = 0; i < 999; i++)
      recordFailedLogin({ app, actor: null, address: `192.0.2.${i % 200}`, now: app.clock.now() }, `guess${i}`);
  });
  fixture.events();
  for (let i = 0; i < 4; i++) assert.equal((await attempt(`198.51.100.${i}`, `last${i}`)).body, wrong);
  assert.equal(
    fixture.events().map(({ context, message }) => [message, context]),
    [
      [
        'User last0 failed to authenticate with username and password.',
        { ip_address: '198.51.100.0', username: 'last0' },
      ],
    ],
  );
  fixture.clock.advance(60);
  fixture.server.tick();
  fixture.clock.advance(60);
  fixture.server.tick();
  app.log.warn = warn;
  assert.equal(results, [[{ count: 3 }, '3 failed logins left no event: there were more than 1000 within an hour']]);
  fixture.clock.advance(3600);
  assert.equal((await attempt('198.51.100.9', 'later')).body, wrong);
  assert.is(fixture.events().length, 1);
});

test('deletes events of failed logins, and no others, after failed_login_events_retention', async () => {
  await attempt('192.0.2.50', 'guess');
  await attempt('192.0.2.50', 'bob', password);
  await fixture.advance(2 * 86_400 + 1);
  assert.equal(
    fixture.server.app.db.values<string>(sql`SELECT DISTINCT type FROM event WHERE type LIKE 'auth_%' ORDER BY type`),
    ['auth_logged_in_with_username'],
  );
});

test.run();
