/** The full-text index follows the log: every event that could match a search is indexed before the search. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import * as assert from 'uvu/assert';
import { indexAll, indexSome, phrasesOf } from '../../../src/activity/events/search.ts';
import { migrate } from '../../../src/kernel/db/migrate.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('index of words (events.md 4.7)');

const notify = (message: string) => fixture.staff.post('/api/events/', { level: 'info', message });
const indexed = (db = fixture.server.app.db): number =>
  db.value<number>(sql`SELECT count(*) FROM event_words`) as number;
const count = async (search: string): Promise<number> =>
  (await fixture.staff.get(`/api/events/count/?search=${encodeURIComponent(search)}`)).body.count;

test('recording does not index; the first search does, and finds the latest events', async () => {
  await notify('A zircon');
  assert.is(indexed(), 0);
  assert.is(await count('zircon'), 1);
  assert.is(indexed(), 1);
  await notify('Another zircon');
  assert.is(await count('zircon'), 2);
});

test('the first search by other filters and the first count over time also index', async () => {
  await notify('A zircon');
  const list = await fixture.staff.get('/api/events/?search=zircon&event_type=custom_notification&user_username=admin');
  assert.is(list.body.length, 1);
  await notify('Another zircon');
  const point = Math.floor(fixture.clock.now() / 1_000_000) + 1;
  assert.equal((await fixture.staff.get(`/api/events/count/history/?search=zircon&point=${point}`)).body, [
    { point, object: { count: 2 } },
  ]);
});

test('the timer indexes in batches without a search', async () => {
  // The task has run at this time. The server's own timer, which ticks in real seconds, has nothing to run before the clock
  // advances.
  fixture.server.tick();
  for (let i = 0; i < 140; i++) await notify(`Number ${i}`);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.is(indexed(), 128);
  await fixture.server.settled();
  assert.is(indexed(), 140);
  const { db } = fixture.server.app;
  const { changes } = db.versions;
  assert.is(indexSome(db), false);
  assert.is(db.versions.changes, changes, 'nothing is written when there is nothing to enter');
});

test('finds an event that was recorded in the same turn; a failed write leaves neither event nor words', async () => {
  const wrong = fixture.staff.post('/api/customers/', { name: 'Zircon mine', agreement_number: 'x' });
  const responses = await Promise.all([
    notify('A zircon'),
    wrong,
    fixture.staff.get('/api/events/count/?search=zircon'),
  ]);
  assert.equal(
    responses.map(({ status }) => status),
    [201, 400, 200],
  );
  assert.is(await count('zircon'), 1);
  const { db } = fixture.server.app;
  assert.throws(
    () =>
      db.write(() => {
        db.run(
          sql`INSERT INTO event (uuid, at, type, level, message, context) VALUES ('', 0, 'custom_notification', 'info', 'Lost zircon', '{}')`,
        );
        phrasesOf(db, ['zircon']);
        throw new Error('undone');
      }),
    /^undone$/,
  );
  await notify('Next');
  assert.equal([await count('zircon'), await count('lost'), await count('next')], [1, 0, 1]);
});

test('finds a phrase of any length in every volume, and never across two texts', async () => {
  const long = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ');
  const { db } = fixture.server.app;
  for (const last of [8190, 20_000, 3_000_000]) {
    db.write(() => db.run(sql`UPDATE sqlite_sequence SET seq = ${last} WHERE name = 'event'`));
    for (const message of [`${long} first`, `${long} second`, 'has been seen']) await notify(message);
  }
  assert.is(await count(long), 6);
  assert.is(await count(`${long} second`), 3);
  assert.is(await count(`${long} third`), 0);
  assert.is(await count('been seen'), 3);
  assert.is(await count('seen normal'), 0);
  const page = await fixture.staff.get('/api/events/?search=been+seen&page_size=2');
  assert.equal([page.body.length, page.headers.get('x-result-count')], [2, '3']);
});

test('finds a whole word once, whatever its length', async () => {
  const { db } = fixture.server.app;
  const searched = async (search: string): Promise<number> =>
    (await fixture.staff.post('/api/events/count/history/', { point: 253_402_300_799, search })).body[0].object.count;
  for (const last of [100, 9000]) {
    db.write(() => db.run(sql`UPDATE sqlite_sequence SET seq = ${last} WHERE name = 'event'`));
    for (const length of [10_000, 32_766, 40_000]) await notify(`before ${'a'.repeat(length)} after`);
    await notify(`${'ж'.repeat(20_000)} end`);
  }
  for (const length of [10_000, 32_766, 40_000]) {
    assert.is(await searched(`before ${'A'.repeat(length)} after`), 2, `${length}`);
    assert.is(await searched(`${'a'.repeat(length)}b`), 0, `${length} and another`);
  }
  assert.equal(
    [await searched('a'.repeat(32_768)), await searched('ж'.repeat(20_000)), await searched('ж'.repeat(20_001))],
    [0, 2, 0],
  );
});

test('the next start indexes the remaining events', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-words-'));
  const before = await Fixture.start({ ephemeral: false, data });
  for (const message of ['A zircon', 'Another zircon'])
    await before.staff.post('/api/events/', { level: 'info', message });
  assert.is(indexed(before.server.app.db), 0);
  await before.close();
  const after = await createServer({ data, port: 0, log_level: 'silent', clock: before.clock });
  assert.is(indexed(after.app.db), 2);
  const headers = { Authorization: `Token ${after.issueToken()}` };
  assert.equal(await (await fetch(`${after.url}/api/events/count/?search=zircon`, { headers })).json(), { count: 2 });
  await after.close();
  rmSync(data, { recursive: true });
});

test('rebuilds the index of a log without volumes', () => {
  const db = SqliteDatabase.open(':memory:');
  db.define('country_name', (code) => code);
  const migrations = embeddedMigrations();
  const last = migrations.findIndex(({ name }) => name.endsWith('_event_search'));
  for (const migration of migrations.slice(0, last)) db.script(migration.sql);
  db.script(`PRAGMA application_id = 0x544e5259; PRAGMA user_version = ${last}`);
  db.script(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO event (uuid, at, type, level, message, context)
    SELECT i, i, 'custom_notification', iif(i % 2, 'info', 'error'), 'Number ' || i, json_object('project_name', 'Deep Sea') FROM n;
    INSERT INTO event_words (rowid, words) SELECT id, lower(message) || ' | ' || iif(id % 2, 'normal', 'very high') || ' | deep sea' FROM event`);
  migrate(db);
  assert.is(indexed(db), 0);
  indexAll(db);
  const matches = (...words: string[]): number =>
    db.value<number>(
      sql`SELECT count(*) FROM json_each(${JSON.stringify(phrasesOf(db, words))}) p CROSS JOIN event_words WHERE event_words MATCH p.value`,
    ) as number;
  assert.equal(
    [matches('deep', 'sea'), matches('very', 'high'), matches('number', '19999'), matches('normal', 'deep')],
    [20_000, 10_000, 1, 0],
  );
  db.script(`INSERT INTO event_words (event_words) VALUES ('integrity-check')`);
  assert.is(db.value(raw("SELECT v FROM event_words_config WHERE k = 'automerge'")), 0);
  db.close();
});

test.run();
