/** events.md 8.1: reminders of expiring API keys. */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('reminders of API keys');
const day = 86_400;
let key: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-01T00:00:00Z');
  await fixture.user('alice');
  const body = { name: 'Build server', scopes: ['customers:read'], expires: '2018-03-02T00:00:00Z' };
  key = (await fixture.as('alice').post('/api/api-keys/', body)).body;
});

/** Returns the messages to all users since the last call. */
function received(): string[] {
  const { db } = fixture.server.app;
  const messages = db.values<string>(sql`
    SELECT u.username || ': ' || n.message FROM notification n JOIN user u ON u.id = n.user_id ORDER BY n.id`);
  db.write(() => db.run(sql`DELETE FROM notification`));
  return messages;
}

const line = 'alice: The API key Build server expires on 2018-03-02T00:00:00Z.';

test('reminds the owner 30, 7 and 1 days before', async () => {
  const at: number[] = [];
  for (let days = 0.5; days < 61; days += 0.5) {
    await fixture.advance(day / 2);
    const messages = received();
    if (messages.length > 0) at.push(60 - days);
    for (const message of messages) assert.is(message, line);
  }
  assert.equal(at, [30, 7, 1]);
});

test('does not remind of a time that had passed when the end was set', async () => {
  await fixture.as('alice').patch(key.url, { expires: '2018-01-04T00:00:00Z' });
  await fixture.advance(1.5 * day);
  assert.equal(received(), []);
  await fixture.advance(day);
  assert.equal(received(), ['alice: The API key Build server expires on 2018-01-04T00:00:00Z.']);
});

test('does not remind of a key that was revoked or has expired', async () => {
  await fixture.as('alice').delete(key.url);
  await fixture.advance(59.5 * day);
  assert.equal(received(), []);
  const body = { name: 'Second server', scopes: ['customers:read'], expires: '2018-05-01T00:00:00Z' };
  await fixture.as('alice').post('/api/api-keys/', body);
  fixture.clock.advance(70 * day);
  fixture.server.tick();
  assert.equal(received(), []);
});

test.run();
