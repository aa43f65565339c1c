import { createHash } from 'node:crypto';
import { applicationId, rejectNewer } from '../durability/handle.ts';
import { embeddedMigrations, type Migration } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { errorOf } from '../present.ts';
import { reportProgress } from '../progress.ts';
import { sql } from './sql.ts';
import { SqliteDatabase } from './sqlite-database.ts';

/**
 * Runs every migration newer than `user_version`, up to `newest`, each in its own transaction; those of a new database in one, which
 * the disk stores once. Returns their names. Throws for a database of another program, of a newer version, or with changed
 * migrations.
 */
export function migrate(db: SqliteDatabase, newest = embeddedMigrations().length): readonly string[] {
  const migrations = embeddedMigrations();
  const version = Number(db.pragma('user_version'));
  const owner = Number(db.pragma('application_id'));
  if (owner !== applicationId && (owner !== 0 || version !== 0))
    throw new Error('The database belongs to another program');
  rejectNewer(version, migrations.length);
  rejectChanged(db, migrations);
  const applied: string[] = [];
  for (let number = version; number < newest; number = Number(db.pragma('user_version'))) {
    // Creating a new database is quick.
    if (version > 0) reportProgress('bringing the database up to date', number - version, newest - version);
    apply(db, migrations.slice(0, number === 0 ? newest : number + 1), applied);
  }
  return applied;
}

let image: Buffer | undefined;

/**
 * Returns an empty database of this version as bytes, for servers in memory. It is created once per process, because the
 * migrations take longer than the rest of such a start. See src/decisions/snapshots.md.
 */
export function emptyDatabase(addon: Addon | undefined): Buffer {
  if (image !== undefined) return image;
  const db = SqliteDatabase.open(':memory:', addon);
  // Most tables and indexes are empty and take one page each, so small pages save two thirds.
  db.pragma('page_size = 1024');
  migrate(db);
  image = db.serialize();
  db.close();
  return image;
}

/** Throws with a sentence when the schema is not the one of this version. */
export function requireCurrent(db: SqliteDatabase): void {
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

/** Throws with a sentence when an applied migration differs from the one of this version: later ones could damage data. */
function rejectChanged(db: SqliteDatabase, migrations: readonly Migration[]): void {
  if (db.value(sql`SELECT 1 FROM sqlite_schema WHERE name = 'migration'`) === undefined) return;
  for (const { name, number, sha256 } of db.all<{ number: number; name: string; sha256: string }>(
    sql`SELECT number, name, sha256 FROM migration ORDER BY number`,
  )) {
    const migration = migrations[number - 1];
    if (migration && hashOf(migration) !== sha256)
      throw new Error(`The database was made by an unreleased version: its migration ${name} is not this version's`);
  }
}

/** Returns the SHA-256 of the text of a migration, in hexadecimal. */
export const hashOf = ({ sql: text }: Migration): string => createHash('sha256').update(text).digest('hex');

/** The applied migrations with their hashes. */
const migrationTable =
  'CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;';

function recordOf(migration: Migration, number: number): string {
  return `${migrationTable} INSERT INTO migration VALUES (${number}, '${migration.name}', '${hashOf(migration)}');`;
}

/** Applies the given migrations that the database lacks, in one transaction. */
function apply(db: SqliteDatabase, migrations: readonly Migration[], applied: string[]): void {
  db.script('BEGIN IMMEDIATE');
  // Read again under the lock: another process may have migrated first.
  const version = Number(db.pragma('user_version'));
  const missing = migrations.slice(version);
  let present: Migration | undefined;
  try {
    for (const [index, migration] of missing.entries()) {
      present = migration;
      db.script(`${migration.sql}\n; ${recordOf(migration, version + index + 1)}`);
    }
    db.script(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + missing.length};`);
    db.script('COMMIT');
  } catch (error) {
    rollBack(db);
    throw new Error(`Migration ${present?.name} failed: ${errorOf(error).message}`, { cause: error });
  }
  applied.push(...missing.map(({ name }) => name));
}

/** Rolls back, unless a full or failing disk has already ended the transaction. */
function rollBack(db: SqliteDatabase): void {
  try {
    db.script('ROLLBACK');
  } catch {
    // The error of the migration is the one to report.
  }
}
