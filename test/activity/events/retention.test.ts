import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { removeOldEvents } from '../../../src/activity/events/retention.ts';
import { indexAll } from '../../../src/activity/events/search.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { day } from '../../../src/kernel/clock.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { Fixture, type Json } from '../../support/fixture.ts';

const test = suite('retention of events (events.md 7)');

const rows = (fixture: Fixture): number[] =>
  ['event', 'event_about', 'event_words'].map(
    (table) => fixture.server.app.db.value<number>(sql`SELECT count(*) FROM ${raw(table)}`) as number,
  );

/** Two old events about a customer, and one exactly as old as the retention. */
async function aged(fixture: Fixture): Promise<Json> {
  const customer = await fixture.customer('Alice');
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Old zircon', scope: customer.url });
  fixture.clock.set('2018-01-06T00:00:00Z');
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Young zircon', scope: customer.url });
  fixture.clock.set('2018-01-13T00:00:00Z');
  return customer;
}

test('keeps events for ever by default', async () => {
  const fixture = await Fixture.start();
  await aged(fixture);
  fixture.clock.set('2118-01-13T00:00:00Z');
  fixture.server.tick();
  assert.equal((await fixture.staff.get('/api/events/count/')).body, { count: 3 });
  await fixture.close();
});

test('events older than events_retention are missing from list, counts, search and scope', async () => {
  const fixture = await Fixture.start({ events_retention: 7 * day });
  fixture.clock.hold();
  const customer = await aged(fixture);
  assert.equal((await fixture.staff.get('/api/events/count/')).body, { count: 3 });
  fixture.server.tick();
  for (const filter of [
    '',
    'search=zircon',
    `scope=${customer.url}`,
    'user_username=admin',
    'event_type=custom_notification',
    'scope_type=customer',
  ]) {
    assert.equal(
      (await fixture.staff.get(`/api/events/?${filter}`)).body.map((event: Json) => event.message),
      ['Young zircon'],
      filter,
    );
    assert.equal((await fixture.staff.get(`/api/events/count/?${filter}`)).body, { count: 1 }, filter);
  }
  assert.equal(rows(fixture), [1, 2, 1]);
  fixture.clock.advance(0.000001);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.equal(rows(fixture), [0, 0, 0]);
  await fixture.close();
});

test('removes events in batches of limited size, the oldest first, until none remains', async () => {
  const fixture = await Fixture.start({ events_retention: 7 * day });
  for (let i = 0; i < 120; i++) {
    fixture.clock.advance(1);
    await fixture.staff.post('/api/events/', { level: 'info', message: `Event ${i}` });
  }
  fixture.clock.advance(8 * 24 * 3600);
  const { db } = fixture.server.app;
  const oldest = (): string | undefined => db.value(sql`SELECT message FROM event ORDER BY at LIMIT 1`);
  fixture.server.tick();
  assert.is(oldest(), 'Event 20');
  await fixture.server.settled();
  assert.is(oldest(), undefined);
  await fixture.close();
});

test('can remove an event before its words are indexed', async () => {
  const fixture = await Fixture.start({ events_retention: 7 * day });
  const { db } = fixture.server.app;
  for (const message of ['First zircon', 'Second zircon'])
    await fixture.staff.post('/api/events/', { level: 'info', message });
  fixture.clock.advance(8 * 24 * 3600);
  db.write(() => removeOldEvents(systemContext(fixture.server.app)));
  assert.equal(rows(fixture), [0, 0, 0]);
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Third zircon' });
  assert.equal((await fixture.staff.get('/api/events/count/?search=zircon')).body, { count: 1 });
  assert.equal(rows(fixture), [1, 1, 1]);
  await fixture.close();
});

test('removes all words of removed events from the index, and keeps those of the others', async () => {
  const fixture = await Fixture.start({ events_retention: 7 * day });
  const { clock, db } = fixture.server.app;
  const stored = 500;
  db.script(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
    INSERT INTO event (uuid, at, type, level, message, context)
    SELECT i, ${clock.now() - 8 * day} + iif(i > ${9000 - stored}, 2 * ${day}, i), 'custom_notification', 'info', 'Zircon number ' || i,
      json_object('project_name', 'Deep Sea', 'user_full_name', 'Jürgen ' || i) FROM n`);
  indexAll(db);
  const holds = (word: string): number =>
    db.value<number>(
      sql`SELECT count(*) FROM event_words WHERE event_words MATCH ${`"${word}|0" OR "${word}|1"`}`,
    ) as number;
  const words = ['zircon', 'normal', 'sea', 'jürgen'];
  assert.equal(words.map(holds), [9000, 9000, 9000, 9000]);
  fixture.server.tick();
  await fixture.server.settled();
  assert.equal(rows(fixture)[2], stored);
  assert.equal(words.map(holds), [stored, stored, stored, stored]);
  assert.equal(['8500', '8501'].map(holds), [0, 1]);
  assert.equal((await fixture.staff.get('/api/events/count/?search=deep+sea')).body, { count: stored });
  db.script(`INSERT INTO event_words (event_words) VALUES ('integrity-check')`);
  await fixture.close();
});

test('ids of removed events are never reused', async () => {
  const fixture = await Fixture.start({ events_retention: 7 * day });
  await aged(fixture);
  const { db } = fixture.server.app;
  const last = db.value<number>(sql`SELECT max(id) FROM event`) as number;
  fixture.clock.advance(30 * 24 * 3600);
  fixture.server.tick();
  assert.equal(rows(fixture)[0], 0);
  await fixture.customer('New');
  assert.is(db.value(sql`SELECT min(id) FROM event`), last + 1);
  await fixture.close();
});

test.run();
