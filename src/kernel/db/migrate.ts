import { embeddedMigrations, type Migration } from '../native/embedded.ts';
import { errorOf } from '../present.ts';
import type { Database } from './database.ts';
import { applicationId } from './handle.ts';

/**
 * Brings the schema up to date: each migration newer than `user_version` runs in a transaction of its own. Refuses a
 * file of another program and one written by a newer version. Answers the names of the migrations applied.
 */
export function migrate(db: Database): readonly string[] {
  const migrations = embeddedMigrations();
  const version = Number(db.pragma('user_version'));
  const owner = Number(db.pragma('application_id'));
  if (owner !== applicationId && (owner !== 0 || version !== 0))
    throw new Error('The database belongs to another program');
  rejectNewer(version);
  const applied: string[] = [];
  while (Number(db.pragma('user_version')) < migrations.length) applyNext(db, migrations, applied);
  return applied;
}

/** Throws with a sentence when a newer program wrote a database with this `user_version`. */
export function rejectNewer(version: number): void {
  const newest = embeddedMigrations().length;
  if (version > newest)
    throw new Error(`The database has schema ${version}, newer than this version's ${newest}: use a newer Tenantry`);
}

function applyNext(db: Database, migrations: readonly Migration[], applied: string[]): void {
  db.script('BEGIN IMMEDIATE');
  // Asked again behind the lock: another process may have been first.
  const version = Number(db.pragma('user_version'));
  const migration = migrations[version];
  try {
    if (migration)
      db.script(`${migration.sql}\n; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + 1};`);
    db.script('COMMIT');
  } catch (error) {
    db.script('ROLLBACK');
    throw new Error(`Migration ${migration?.name} failed: ${errorOf(error).message}`);
  }
  if (migration) applied.push(migration.name);
}
