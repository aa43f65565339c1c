import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchSizer } from '../../../src/kernel/db/batch-sizer.ts';
import { Database } from '../../../src/kernel/db/database.ts';

const test = suite('pace of long removals');

/** The sizes that steps are given when they and their commits take so many milliseconds. */
function sizes(milliseconds: readonly number[], removes: (atMost: number) => number = (atMost) => atMost): number[] {
  let now = 0;
  const db = Database.open(':memory:');
  const pace = new BatchSizer(() => now);
  const given = milliseconds.map((time) => {
    let size = 0;
    const step = (atMost: number): number => {
      size = atMost;
      return removes(atMost);
    };
    db.write(() => pace.step(db, step));
    now += time;
    db.commit();
    return size;
  });
  db.close();
  return given;
}

test('a step takes more after short ones, fewer after long ones, and neither too many nor none', () => {
  assert.equal(sizes([1, 1.5, 1.9, 2, 4, 4.1, 100, 100, 100, 1, 1]), [5, 10, 15, 20, 20, 20, 10, 5, 5, 5, 10]);
  assert.is(Math.max(...sizes(Array(100).fill(1))), 40);
});

test('a step that ends the removal tells nothing: it shares its commit with others', () => {
  assert.equal(
    sizes([1, 1, 1, 100, 100], (atMost) => atMost - 1),
    [5, 5, 5, 5, 5],
  );
});

test('it answers whether as many were removed as might have been', () => {
  const db = Database.open(':memory:');
  const pace = new BatchSizer(() => 0);
  assert.equal(
    [4, 5, 0].map((removed) => db.write(() => pace.step(db, () => removed))),
    [false, true, false],
  );
  db.close();
});

test('every database has a pace of its own', () => {
  const databases = [Database.open(':memory:'), Database.open(':memory:')];
  const pace = new BatchSizer(() => 0);
  const step = (db: Database): number => {
    let size = 0;
    db.write(() => pace.step(db, (atMost) => (size = atMost)));
    db.commit();
    return size;
  };
  assert.equal(
    [0, 0, 1, 0].map((i) => step(databases[i] as Database)),
    [5, 10, 5, 15],
  );
  for (const db of databases) db.close();
});

test.run();
