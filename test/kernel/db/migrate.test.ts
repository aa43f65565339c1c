/** Bringing the schema up to date. */
import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Database } from '../../../src/kernel/db/database.ts';
import { migrate } from '../../../src/kernel/db/migrate.ts';
import { sql } from '../../../src/kernel/db/sql.ts';

const migrations = suite('migrations');
let db: Database;

migrations.before.each(() => {
  db = Database.open(':memory:');
});
migrations.after.each(() => db.close());

const files = readdirSync(new URL('../../../migrations', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .sort();

migrations('an empty database gets every migration in order, once', () => {
  const applied = migrate(db);
  assert.equal(
    applied.map((name) => name.replace(/\.sql$/, '')),
    files.map((name) => name.replace(/\.sql$/, '')),
  );
  assert.is(db.pragma('user_version'), files.length);
  assert.equal(migrate(db), []);
});

migrations('they are numbered without a gap, so that their number is the version', () => {
  assert.equal(
    files.map((name) => Number(name.slice(0, 4))),
    files.map((_, i) => i + 1),
  );
});

migrations('every foreign key has an index', () => {
  migrate(db);
  const tables = db.values<string>(
    sql`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  for (const table of tables) {
    for (const column of db.values<string>(sql`SELECT "from" FROM pragma_foreign_key_list(${table})`)) {
      const indexed = db.values<string>(
        sql`SELECT ii.name FROM pragma_index_list(${table}) il, pragma_index_info(il.name) ii WHERE ii.seqno = 0`,
      );
      const isKey = db.value(sql`SELECT 1 FROM pragma_table_info(${table}) WHERE name = ${column} AND pk = 1`);
      assert.ok(isKey || indexed.includes(column), `${table}.${column}`);
    }
  }
});

migrations('a database of another program is refused', () => {
  db.script('PRAGMA application_id = 1');
  assert.throws(() => migrate(db), /^The database belongs to another program$/);
  assert.equal(db.values(sql`SELECT name FROM sqlite_schema`), []);
});

migrations('so is one with a schema of its own and no mark', () => {
  db.script('PRAGMA user_version = 3');
  assert.throws(() => migrate(db), /^The database belongs to another program$/);
});

migrations('a database of a newer version is refused', () => {
  migrate(db);
  db.script('PRAGMA user_version = 9999');
  assert.throws(
    () => migrate(db),
    new RegExp(`^The database has schema 9999, newer than this version's ${files.length}: use a newer Tenantry$`),
  );
});

migrations('a migration that fails leaves the version before it', () => {
  db.script('CREATE TABLE user (id INTEGER)');
  assert.throws(() => migrate(db), /^Migration 0001_\w+(\.sql)? failed: table user already exists$/);
  assert.is(db.pragma('user_version'), 0);
});

migrations.run();
