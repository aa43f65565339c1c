import { createHash } from 'node:crypto';
import { applicationId } from '../durability/handle.ts';
import { rejectNewer } from '../durability/schema-number.ts';
import { embeddedMigrations, type Migration } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { errorOf } from '../present.ts';
import { tellProgress } from '../progress.ts';
import { Database } from './database.ts';
import { sql } from './sql.ts';

/**
 * Brings the schema up to date: each migration newer than `user_version` runs in a transaction of its own. Refuses a
 * file of another program and one written by a newer version. Answers the names of the migrations applied, up to `newest`.
 */
export function migrate(db: Database, newest = embeddedMigrations().length): readonly string[] {
  const migrations = embeddedMigrations();
  const version = Number(db.pragma('user_version'));
  const owner = Number(db.pragma('application_id'));
  if (owner !== applicationId && (owner !== 0 || version !== 0))
    throw new Error('The database belongs to another program');
  rejectNewer(version, migrations.length);
  rejectChanged(db, migrations);
  const applied: string[] = [];
  for (let number = version; number < newest; number = Number(db.pragma('user_version'))) {
    // A new one is made in no time.
    if (version > 0) tellProgress('bringing the database up to date', number - version, newest - version);
    applyNext(db, migrations, applied);
  }
  return applied;
}

let image: Buffer | undefined;

/**
 * A database of this version without content, as bytes, for those in memory: made once in a process, since the migrations take
 * longer than all else about such a server. See src/decisions/databases-from-bytes.md.
 */
export function emptyDatabase(addon: Addon | undefined): Buffer {
  if (image !== undefined) return image;
  const db = Database.open(':memory:', addon);
  // A third of the size: most tables and indexes are empty, and take a page each.
  db.pragma('page_size = 1024');
  migrate(db);
  image = db.serialize();
  db.close();
  return image;
}

/** Throws with a sentence when the schema is not that of this version. */
export function requireCurrent(db: Database): void {
  const newest = embeddedMigrations().length;
  const version = Number(db.pragma('user_version'));
  if (Number(db.pragma('application_id')) !== applicationId) throw new Error('The database belongs to another program');
  rejectNewer(version, newest);
  rejectChanged(db, embeddedMigrations());
  if (version < newest)
    throw new Error(
      `The database has schema ${version}, older than this version's ${newest}: the next start of the server brings it up to date`,
    );
}

/** Throws with a sentence when a migration was applied that is not this version's: later ones would fail, or worse. */
function rejectChanged(db: Database, migrations: readonly Migration[]): void {
  if (db.value(sql`SELECT 1 FROM sqlite_schema WHERE name = 'migration'`) === undefined) return;
  for (const { name, number, sha256 } of db.all<{ number: number; name: string; sha256: string }>(
    sql`SELECT number, name, sha256 FROM migration ORDER BY number`,
  )) {
    const migration = migrations[number - 1];
    if (migration && hashOf(migration) !== sha256)
      throw new Error(`The database was made by an unreleased version: its migration ${name} is not this version's`);
  }
}

/** Of the text of a migration, SHA-256 in hexadecimal digits. */
export const hashOf = ({ sql: text }: Migration): string => createHash('sha256').update(text).digest('hex');

/** What was applied, and in which form; older than the first migration that is noted in it. */
const noteTable =
  'CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;';

function note(migration: Migration, number: number): string {
  return `${noteTable} INSERT INTO migration VALUES (${number}, '${migration.name}', '${hashOf(migration)}');`;
}

function applyNext(db: Database, migrations: readonly Migration[], applied: string[]): void {
  db.script('BEGIN IMMEDIATE');
  // Asked again behind the lock: another process may have been first.
  const version = Number(db.pragma('user_version'));
  const migration = migrations[version];
  try {
    if (migration)
      db.script(
        `${migration.sql}\n; ${note(migration, version + 1)} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + 1};`,
      );
    db.script('COMMIT');
  } catch (error) {
    rollBack(db);
    throw new Error(`Migration ${migration?.name} failed: ${errorOf(error).message}`, { cause: error });
  }
  if (migration) applied.push(migration.name);
}

/** A full or failing disk has ended the transaction already. */
function rollBack(db: Database): void {
  try {
    db.script('ROLLBACK');
  } catch {
    // What is to be told is why the migration failed.
  }
}
