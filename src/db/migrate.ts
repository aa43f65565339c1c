import { embeddedMigrations } from '../embedded.ts';
import type { Database } from './database.ts';

/** Marks a file as ours ("TNRY"), so that no other program's database is taken for one. */
const applicationId = 0x544e5259;

/**
 * Brings the schema up to date: each migration newer than `user_version` runs in a transaction of its own. Refuses a
 * file of another program and one written by a newer version. Answers the names of the migrations applied.
 */
export function migrate(db: Database): readonly string[] {
  const migrations = embeddedMigrations();
  const version = Number(db.pragma('user_version'));
  const owner = Number(db.pragma('application_id'));
  if (owner !== applicationId && (owner !== 0 || version !== 0)) throw new Error('The database belongs to another program');
  if (version > migrations.length) {
    throw new Error(`The database has schema ${version}, newer than this version's ${migrations.length}: use a newer Tenantry`);
  }
  const pending = migrations.slice(version);
  pending.forEach((migration, index) => {
    const steps = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + index + 1};`;
    try {
      db.script(`BEGIN IMMEDIATE; ${migration.sql}\n; ${steps} COMMIT;`);
    } catch (error) {
      db.script('ROLLBACK');
      throw new Error(`Migration ${migration.name} failed: ${(error as Error).message}`);
    }
  });
  return pending.map((migration) => migration.name);
}
