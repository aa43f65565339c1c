import { createHash } from 'node:crypto';
import { applicationId, rejectNewer } from '../durability/handle.ts';
import { embeddedDatabase, embeddedMigrations, type Migration } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { errorOf } from '../present.ts';
import { reportProgress } from '../progress.ts';
import { raw, sql } from './sql.ts';
import { SqliteDatabase } from './sqlite-database.ts';

/**
 * Runs every migration newer than `user_version`, up to `newest`, each in a transaction. A new database runs all of them in one,
 * with one sync, or, for the newest version, gets their result directly. Returns their names. Throws for a database of another
 * program or a newer version, or with changed migrations.
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
 * Returns an empty database of this version as bytes, for servers in memory. The build stores it in the program, because the
 * migrations take longer than the rest of a start. See src/decisions/snapshots.md.
 */
export function emptyDatabase(addon?: Addon): Buffer {
  image ??= embeddedDatabase() ?? migratedDatabase(addon);
  return image;
}

function migratedDatabase(addon: Addon | undefined): Buffer {
  const db = SqliteDatabase.open(':memory:', addon);
  // Most tables and indexes are empty and take one page each, so small pages save two thirds.
  db.pragma('page_size = 1024');
  migrate(db);
  const bytes = db.serialize();
  db.close();
  return bytes;
}

/** Returns a script that creates the schema of a database and its few rows. */
function scriptOf(database: Buffer, addon: Addon | undefined): string {
  const db = SqliteDatabase.open(database, addon);
  try {
    // SQLite creates the shadow tables of virtual tables, and indexes of constraints, by itself.
    const objects = db.values<string>(sql`
      SELECT sql FROM sqlite_schema
      WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'
        AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
      ORDER BY type <> 'table', rowid`);
    const namesOf = (type: string): string[] =>
      db.values(sql`SELECT name FROM pragma_table_list WHERE type = ${type} AND name NOT GLOB 'sqlite_*'`);
    const rows = namesOf('table').flatMap((name) => {
      const columns = db.values<string>(sql`SELECT 'quote("' || name || '")' FROM pragma_table_info(${name})`);
      const values = columns.join(" || ', ' || ");
      return db.values<string>(raw(`SELECT 'INSERT INTO "${name}" VALUES (' || ${values} || ')' FROM "${name}"`));
    });
    // SQLite stores the version of full-text indexes itself.
    const options = namesOf('virtual').flatMap((name) =>
      db.values<string>(
        raw(`SELECT 'INSERT INTO "${name}" ("${name}", rank) VALUES (' || quote(k) || ', ' || quote(v) || ')'
          FROM "${name}_config" WHERE k <> 'version'`),
      ),
    );
    return [...objects, ...rows, ...options].join(';\n');
  } finally {
    db.close();
  }
}

/** Throws a readable error if the schema is not the one of this version. */
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

/** Throws a readable error if an applied migration differs from this version's, because later ones could damage data. */
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

/** Returns the applied migrations with their hashes. */
const migrationTable =
  'CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;';

function recordOf(migration: Migration, number: number): string {
  return `${migrationTable} INSERT INTO migration VALUES (${number}, '${migration.name}', '${hashOf(migration)}');`;
}

/** Applies the missing migrations in one transaction. */
function apply(db: SqliteDatabase, migrations: readonly Migration[], applied: string[]): void {
  db.script('BEGIN IMMEDIATE');
  // Read again under the lock: another process may have migrated first.
  const version = Number(db.pragma('user_version'));
  const missing = migrations.slice(version);
  const database = missing.length === embeddedMigrations().length ? embeddedDatabase() : undefined;
  let current: Migration | undefined;
  try {
    if (database) db.script(scriptOf(database, db.addon));
    else
      for (const [index, migration] of missing.entries()) {
        current = migration;
        db.script(`${migration.sql}\n; ${recordOf(migration, version + index + 1)}`);
      }
    db.script(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + missing.length};`);
    db.script('COMMIT');
  } catch (error) {
    rollBack(db);
    throw new Error(
      `${current ? `Migration ${current.name}` : 'Creating the schema'} failed: ${errorOf(error).message}`,
      { cause: error },
    );
  }
  applied.push(...missing.map(({ name }) => name));
}

/** Rolls back, unless a full or failing disk has already ended the transaction. */
function rollBack(db: SqliteDatabase): void {
  try {
    db.script('ROLLBACK');
  } catch {
    // Report the error of the migration.
  }
}
