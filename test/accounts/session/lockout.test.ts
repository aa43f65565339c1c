/** core.md 2.1: the lock after failed logins. */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { countFailure } from '../../../src/kernel/security/lockout.ts';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: lockout, fixture } = suiteWithServer('login lock', { trusted_proxies: ['127.0.0.1'] });
const password = 'correct horse 1';
const minute = 60;

lockout.before(async () => {
  for (const name of ['alice', 'bob']) {
    const user = await fixture.user(name);
    await fixture.staff.post(`${user.url}password/`, { password });
  }
});
lockout.before.each(() => {
  fixture.clock.advance(60 * minute);
  fixture.server.tick();
  fixture.events();
});

/** Returns the status of a login from an address, or the detail if it is more specific. */
async function attempt(username: string, tried = 'wrong', address = '192.0.2.1'): Promise<unknown> {
  const body = JSON.stringify({ username, password: tried });
  const response = await fixture.anonymous.send('POST', '/api-auth/password/', body, {
    'Content-Type': 'application/json',
    'X-Forwarded-For': address,
  });
  assert.is(response.status, response.body.token ? 200 : 401);
  return response.body.detail ?? 200;
}
async function fail(times: number, username = 'alice', address = '192.0.2.1'): Promise<void> {
  for (let i = 0; i < times; i++) assert.is(await attempt(username, 'wrong', address), wrong);
}

const wrong = 'Invalid username/password.';
const locked = 'Username is locked out. Try in 10 minutes.';

lockout('four failures lock the username for that address, even with the correct password', async () => {
  await fail(4);
  assert.is(await attempt('alice'), locked);
  assert.is(await attempt('alice', password), locked);
});

lockout('three failures do not lock, and a success resets the counter', async () => {
  await fail(3);
  assert.is(await attempt('alice', password), 200);
  await fail(3);
  assert.is(await attempt('alice', password), 200);
});

lockout('counts by the folded username', async () => {
  for (const name of ['alice', 'Alice', 'ALICE', 'Ａlice']) assert.is(await attempt(name), wrong);
  assert.is(await attempt('aLICE', password), locked);
});

lockout('does not lock other usernames or other addresses', async () => {
  await fail(4);
  assert.is(await attempt('bob', password), 200);
  assert.is(await attempt('alice', password, '192.0.2.2'), 200);
  assert.is(await attempt('alice', password), locked);
});

lockout('the lock ends 10 minutes after the last counted failure', async () => {
  await fail(4);
  fixture.clock.advance(10 * minute - 1);
  assert.is(await attempt('alice', password), locked);
  fixture.clock.advance(1);
  assert.is(await attempt('alice', password), 200);
});

lockout('each failure extends the counter by 10 minutes', async () => {
  await fail(1);
  fixture.clock.advance(9 * minute);
  await fail(2);
  fixture.clock.advance(9 * minute);
  await fail(1);
  assert.is(await attempt('alice', password), locked);
});

lockout('an expired counter starts again', async () => {
  await fail(3);
  fixture.clock.advance(10 * minute);
  await fail(3);
  assert.is(await attempt('alice', password), 200);
});

lockout('attempts during a lock are not counted, do not extend it and record no event', async () => {
  await fail(4);
  assert.is(fixture.events().length, 4);
  fixture.clock.advance(9 * minute);
  for (let i = 0; i < 5; i++) assert.is(await attempt('alice'), locked);
  assert.equal(fixture.events(), []);
  fixture.clock.advance(minute);
  assert.is(await attempt('alice', password), 200);
});

lockout('counts unknown users, but not missing fields', async () => {
  await fail(4, 'nobody');
  assert.is(await attempt('nobody'), locked);
  for (let i = 0; i < 5; i++) {
    const { status } = await fixture.anonymous.send('POST', '/api-auth/password/', '{"username":"bob"}', {
      'Content-Type': 'application/json',
      'X-Forwarded-For': '192.0.2.1',
    });
    assert.is(status, 401);
  }
  assert.is(await attempt('bob', password), 200);
});

lockout('simultaneous attempts do not get more than four tries', async () => {
  const responses = await Promise.all(Array.from({ length: 12 }, () => attempt('alice')));
  assert.equal(
    [
      responses.filter((response) => response === wrong).length,
      responses.filter((response) => response === locked).length,
    ],
    [4, 8],
  );
});

lockout('50 failures from one address within 10 minutes lock it for all usernames, with the same message', async () => {
  for (let i = 0; i < 49; i++) await fail(1, `guess${i}`);
  assert.is(await attempt('alice', password), 200);
  fixture.clock.advance(5 * minute);
  await fail(1, 'guess49');
  assert.is(await attempt('alice', password), locked);
  assert.is(await attempt('alice', password, '192.0.2.2'), 200);
  fixture.clock.advance(5 * minute);
  assert.is(await attempt('alice', password), 200);
});

lockout('the address is the last X-Forwarded-For entry that is not a trusted proxy', async () => {
  await fail(4, 'alice', '203.0.113.5, 192.0.2.1');
  assert.is(await attempt('alice', password, '203.0.113.6, 192.0.2.1'), locked);
  assert.is(await attempt('alice', password, '192.0.2.1, 203.0.113.5'), 200);
});

lockout('removes expired counters', async () => {
  const { db } = fixture.server.app;
  const stored = () => [
    db.value(sql`SELECT count(*) FROM login_failure`),
    db.value(sql`SELECT count(*) FROM address_failure`),
  ];
  await fail(2);
  fixture.server.tick();
  assert.equal(stored(), [1, 2]);
  fixture.clock.advance(10 * minute);
  fixture.server.tick();
  assert.equal(stored(), [0, 0]);
});

lockout('removes them in batches of limited size, the earliest first', async () => {
  const own = await Fixture.start();
  const { clock, db } = own.server.app;
  const stored = () => [
    db.value(sql`SELECT min(username_folded) FROM login_failure`),
    db.value(sql`SELECT count(*) FROM login_failure`),
    db.value(sql`SELECT count(*) FROM address_failure`),
  ];
  db.write(() => {
    for (let i = 10; i < 42; i++) countFailure(db, `guess${i}`, '192.0.2.1', clock.now() + i);
    countFailure(db, 'young', '192.0.2.1', clock.now() + 60 * 1_000_000);
  });
  own.clock.advance(10.5 * minute);
  own.server.tick();
  assert.equal(stored(), ['guess30', 13, 13]);
  await own.server.settled();
  assert.equal(stored(), ['young', 1, 1]);
  await own.close();
});

lockout.run();
