import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseFold, contains, sql } from '../../../src/kernel/db/sql.ts';
import { Statements } from '../../../src/kernel/db/statements.ts';

const test = suite('statements that are stored');

function openHandle(): SQLite.Database {
  const handle = new SQLite(':memory:');
  return handle.function('fold', (text) => caseFold(String(text)));
}

test('bind no values that influence the plan, which SQLite would repeat for each value', () => {
  const handle = openHandle();
  const prepared: string[] = [];
  const { prepare } = handle;
  handle.prepare = ((text: string) => {
    prepared.push(text);
    return prepare.call(handle, text);
  }) as typeof prepare;
  const statements = new Statements(handle);
  const some = sql`SELECT value FROM json_each('["a"]') WHERE ${contains('value', 'a')} LIMIT ${1} OFFSET ${0}`;
  assert.equal(statements.values<string>(some.text).all(some.values), ['a']);
  assert.equal(statements.rows('SELECT 1 AS one LIMIT @most').all({ most: 1 }), [{ one: 1 }]);
  assert.is(prepared.length, 2);
  for (const text of prepared) assert.not.match(text, /\b(LIMIT|OFFSET|LIKE) (\?|@\w+)(?!\w| [+|])/);
});

test('return the results of their SQL', () => {
  const statements = new Statements(openHandle());
  const some = "SELECT value FROM json_each('[1, 2, 3, 4, 5]') ORDER BY value";
  assert.equal(statements.values<number>(`${some} LIMIT ? OFFSET ?`).all([2, 1]), [2, 3]);
  assert.equal(statements.values<number>(`${some} LIMIT @most`).all({ most: 1 }), [1]);
  assert.equal(statements.values<number>(`${some} LIMIT ?`).all([-1]), [1, 2, 3, 4, 5]);
  const { text, values } = contains("'100% of it'", '0% o');
  assert.equal(statements.values<number>(`SELECT ${text}`).all(values), [1]);
});

test.run();
