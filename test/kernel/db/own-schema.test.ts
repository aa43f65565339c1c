import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyDatabase, migrate } from '../../../src/kernel/db/migrate.ts';
import { requireOwnSchemaOf, schemaProblems } from '../../../src/kernel/db/own-schema.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { openHandle } from '../../../src/kernel/durability/handle.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';

const test = suite('own schema');

const edited = (change: string): string => `PRAGMA writable_schema = ON; ${change}; PRAGMA writable_schema = RESET`;

/** Returns why a database of this version is rejected after a script of its owner; undefined if it is accepted. */
function rejection(script: string): string | undefined {
  const owner = new SQLite(emptyDatabase(undefined));
  owner.unsafeMode();
  owner.pragma('foreign_keys = OFF');
  owner.exec(script);
  const bytes = owner.serialize();
  owner.close();
  const handle = openHandle(bytes, undefined);
  try {
    requireOwnSchemaOf(handle, undefined);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace("The schema of the database is not this program's: ", '');
  } finally {
    handle.close();
  }
}

test('accepts the migrated schema, backups, and the tables of Litestream and ANALYZE', () => {
  assert.is(rejection(''), undefined);
  assert.is(
    rejection(`CREATE TABLE tenantry_backup (made INTEGER NOT NULL, keys TEXT) STRICT;
      CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
      CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
      ANALYZE`),
    undefined,
  );
});

test('rejects added, changed and removed parts of the schema', () => {
  const attacks: readonly (readonly [script: string, reason: string])[] = [
    [
      'CREATE TRIGGER make_staff AFTER INSERT ON user BEGIN UPDATE user SET is_staff = 1 WHERE id = NEW.id; END',
      'trigger make_staff does not belong to it',
    ],
    ['CREATE VIEW shown AS SELECT * FROM user', 'view shown does not belong to it'],
    ['CREATE TABLE further (x)', 'table further does not belong to it'],
    ['CREATE INDEX slow ON user (full_name)', 'index slow does not belong to it'],
    ['CREATE VIRTUAL TABLE words USING fts5(x)', 'table words does not belong to it, and 5 more like this'],
    ['DROP INDEX token_user', 'index token_user is missing'],
    ['DROP TRIGGER user_deleted', 'trigger user_deleted is missing'],
    [
      'DROP TRIGGER user_deleted; CREATE TRIGGER user_deleted AFTER INSERT ON user BEGIN UPDATE user SET is_staff = 1; END',
      'trigger user_deleted is defined differently',
    ],
    [
      'DROP TRIGGER user_deleted; CREATE VIEW user_deleted AS SELECT 1 AS x',
      'view user_deleted does not belong to it, and 1 more like this',
    ],
    ['ALTER TABLE user ADD COLUMN further TEXT', 'table user is defined differently'],
    [
      edited(`UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (id = 1)', '') WHERE name = 'deployment'`),
      'table deployment is defined differently',
    ],
    ['CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq TEXT)', 'table _litestream_seq is defined differently'],
    [
      'CREATE TABLE _litestream_lock (id INTEGER); CREATE TRIGGER wakes AFTER INSERT ON _litestream_lock BEGIN UPDATE user SET is_staff = 1; END',
      'trigger wakes does not belong to it',
    ],
    [
      `CREATE TABLE x (tbl, idx, stat CHECK (random())); ${edited(`UPDATE sqlite_schema SET name = 'sqlite_stat1', tbl_name = 'sqlite_stat1', sql = replace(sql, 'x', 'sqlite_stat1') WHERE name = 'x'`)}`,
      'table sqlite_stat1 is defined differently',
    ],
    ['CREATE TABLE tenantry_backup (made INTEGER, keys TEXT)', 'table tenantry_backup is defined differently'],
  ];
  for (const [script, reason] of attacks) assert.is(rejection(script), reason, script);
});

test('compares an old database with its own schema, and a migrated one with the current schema', () => {
  const newest = embeddedMigrations().length;
  for (const version of [1, 8, 14, 22, 31]) {
    const db = SqliteDatabase.open(':memory:');
    migrate(db, version);
    assert.equal(schemaProblems(db), [], `schema ${version}`);
    migrate(db);
    assert.equal([db.pragma('user_version'), schemaProblems(db)], [newest, []]);
    db.pragma(`user_version = ${version}`);
    assert.ok(schemaProblems(db).length > 0, `what is newer than schema ${version}`);
    db.close();
  }
});

test('no SQL on any handle writes to the schema or to shadow tables, and no schema calls functions of the program', () => {
  const handle = openHandle(emptyDatabase(undefined), undefined);
  handle.pragma('writable_schema = ON');
  assert.throws(() => handle.exec(`UPDATE sqlite_schema SET sql = ''`), /sqlite_master may not be modified/);
  assert.throws(
    () => handle.exec(`INSERT INTO event_words_data VALUES (9, x'00')`),
    /event_words_data may not be modified/,
  );
  assert.is(handle.pragma('trusted_schema', { simple: true }), 0);
  let calls = 0;
  handle.function('effect', () => ++calls);
  handle.exec('CREATE VIEW trap AS SELECT effect() AS x');
  assert.throws(() => handle.prepare('SELECT x FROM trap').get(), /unsafe use of effect/);
  assert.is(calls, 0);
  handle.close();
});

test.run();
