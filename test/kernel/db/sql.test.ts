/** Composition of SQL. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { all, among, any, caseFold, contains, join, raw, sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';

const composing = suite('sql');
const db = SqliteDatabase.open(':memory:');
composing.after(() => db.close());

composing('an interpolated value becomes a parameter, and nested SQL is inserted', () => {
  const piece = sql`name = ${"x' OR 1 --"}`;
  const { text, values } = sql`SELECT ${1} WHERE ${piece} AND ${raw('TRUE')} LIMIT ${2}`;
  assert.equal([text, values], ['SELECT ? WHERE name = ? AND TRUE LIMIT ?', [1, "x' OR 1 --", 2]]);
});

composing('joins nested SQL with the values in order', () => {
  assert.equal({ ...join([sql`a = ${1}`, sql`b = ${2}`], ', ') }, { text: 'a = ?, b = ?', values: [1, 2] });
  assert.equal({ ...all([sql`a = ${1}`, sql`b = ${2}`]) }, { text: '(a = ?) AND (b = ?)', values: [1, 2] });
  assert.equal({ ...any([sql`a = ${1}`, sql`b = ${2}`]) }, { text: '((a = ?) OR (b = ?))', values: [1, 2] });
});

composing('all of an empty list is true, any of one is false', () => {
  assert.equal(db.get(sql`SELECT ${all([])} AS every, ${any([])} AS some`), { every: 1, some: 0 });
});

composing('among compares with a list of any length, as one parameter', () => {
  const matches = (values: readonly (string | number)[]) => db.value(sql`SELECT ${among("'b'", values)}`);
  assert.equal([matches(['a', 'b']), matches(['a']), matches([])], [1, 0, 0]);
  assert.is(among('x', [1, 2, 3]).values.length, 1);
});

composing('contains finds a substring, ignoring case, with literal wildcards', () => {
  const matches = (text: string, part: string) =>
    db.value(sql`SELECT ${contains('text', part)} FROM (SELECT ${text} AS text)`) === 1;
  assert.ok(matches('Hello World', 'LO WO'));
  assert.ok(matches('Straße ÄÖÜ', 'äöü'));
  assert.ok(matches('50% off\\_x', '% OFF\\_'));
  assert.not.ok(matches('50 off', '5% o'));
  assert.not.ok(matches('abc', 'a_c'));
});

composing('fold makes texts equal that differ only in case or normalisation form', () => {
  assert.is(caseFold('Ａlice'), caseFold('alice'));
  assert.is(caseFold('CAFE\u0301'), caseFold('café'));
  assert.is.not(caseFold('a'), caseFold('b'));
});

composing.run();
