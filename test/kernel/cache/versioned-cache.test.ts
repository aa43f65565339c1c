import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { partOf } from '../../../src/kernel/cache/access.ts';
import { VersionedCache } from '../../../src/kernel/cache/versioned-cache.ts';
import { Versions } from '../../../src/kernel/cache/versions.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('versioned cache');

const folder = mkdtempSync(join(tmpdir(), 'tenantry-memo-'));

test.after(() => {
  rmSync(folder, { recursive: true });
});

const [things, others] = [partOf('thing'), partOf('other')];

test('returns a value until one of its sources changes', () => {
  const versions = new Versions();
  const memory = new VersionedCache<string>(versions, 100);
  assert.is(memory.get('a'), undefined);
  assert.is(memory.set('a', 'made', [[things]], 1), 'made');
  versions.changed([others]);
  assert.is(memory.get('a'), 'made');
  versions.changed([things]);
  assert.is(memory.get('a'), undefined);
  memory.set('a', 'made', [[things]], 1);
  versions.changedAll();
  assert.is(memory.get('a'), undefined);
});

test('evicts unused values above the limit and does not store too large ones', () => {
  const memory = new VersionedCache<string>(new Versions(), 20);
  memory.set('a', 'first', [], 6);
  memory.set('b', 'too large', [], 11);
  assert.is(memory.get('b'), undefined);
  memory.set('c', 'third', [], 6);
  assert.is(memory.get('a'), 'first');
  memory.set('d', 'fourth', [], 6);
  assert.is(memory.get('a'), 'first');
  memory.set('e', 'fifth', [], 6);
  assert.is(memory.get('c'), undefined);
  assert.is(memory.get('a'), 'first');
});

test('notices commits of another process within a quarter of a millisecond', async () => {
  const file = join(folder, 'shared.db');
  const [ours, theirs] = [SqliteDatabase.open(file), SqliteDatabase.open(file)];
  ours.script('CREATE TABLE thing (id INTEGER PRIMARY KEY)');
  const count = () => ours.count(sql`SELECT count(*) FROM thing`);
  ours.catchUp();
  assert.is(count(), 0);
  theirs.write(() => theirs.insert('thing', { id: 1 }));
  theirs.commit();
  await new Promise((resolve) => setTimeout(resolve, 1));
  ours.catchUp();
  assert.is(count(), 1);
  ours.close();
  theirs.close();
});

test('a change that changes nothing leaves everything cached', () => {
  const db = SqliteDatabase.open(':memory:');
  db.script('CREATE TABLE thing (id INTEGER PRIMARY KEY)');
  const before = db.versions.changes;
  db.write(() => db.run(sql`DELETE FROM thing`));
  assert.is(db.versions.changes, before);
  db.close();
});

test('returns the same document twice, and a new one with another ETag after a change', async () => {
  const customer = await fixture.customer('Before');
  const first = await fixture.staff.get(customer.url);
  assert.equal((await fixture.staff.get(customer.url)).body, first.body);
  await fixture.staff.patch(customer.url, { name: 'After' });
  const after = await fixture.staff.get(customer.url);
  assert.is(after.body.name, 'After');
  assert.is.not(after.headers.get('etag'), first.headers.get('etag'));
});

test('never returns the cached response of another caller', async () => {
  const customer = await fixture.customer('Shared');
  await fixture.project('Seen by the owner', customer);
  const manager = await fixture.user('memo.manager');
  const seen = await fixture.project('Seen by the manager', customer);
  await fixture.grant(seen, manager, 'manager');
  assert.is((await fixture.staff.get(customer.url)).body.projects.length, 2);
  assert.equal(
    (await fixture.as('memo.manager').get(customer.url)).body.projects.map(({ name }: { name: string }) => name),
    ['Seen by the manager'],
  );
  await fixture.user('memo.stranger');
  assert.is((await fixture.as('memo.stranger').get(customer.url)).status, 404);
});

test('drops the cached responses of a user whose role ends', async () => {
  const customer = await fixture.customer('Lost');
  const owner = await fixture.user('memo.owner');
  await fixture.grant(customer, owner, 'owner', new Date(fixture.clock.now() / 1000 + 60_000).toISOString());
  const client = fixture.as('memo.owner');
  assert.is((await client.get(customer.url)).status, 200);
  fixture.clock.advance(61);
  assert.is((await client.get(customer.url)).status, 404);
});

test('rejects an expired token although it is cached', async () => {
  await fixture.user('memo.brief', { token_lifetime: 60 });
  const client = fixture.as('memo.brief');
  assert.is((await client.get('/api/customers/')).status, 200);
  fixture.clock.advance(61);
  assert.is((await client.get('/api/customers/')).status, 401);
});

test.run();
