import type { Context } from '../../kernel/access/context.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { type Job, queueJob } from './jobs.ts';

/* Synchronisation jobs; settings have at most one, waiting or running. */

/** Parameters of a running synchronisation. */
interface SyncMemo {
  /** Objects deleted during the synchronisation: `<Type>.<Kind> <id at the provider>`. */
  readonly gone?: readonly string[];
  /** Whether to run another one because the settings have changed. */
  readonly again?: boolean;
}

const memoOf = (db: Database, { id }: Job): SyncMemo =>
  JSON.parse(db.value<string>(sql`SELECT memo FROM job WHERE id = ${id}`) ?? '{}');

/** Queues a synchronisation of settings, unless there is one. */
export function queueSync(context: Context, settings: number): void {
  const { db } = context.app;
  if (db.value(sql`SELECT 1 FROM job WHERE settings_id = ${settings} AND operation = 'sync'`) === undefined) {
    queueJob(context, { settings, operation: 'sync' });
  }
}

/**
 * Synchronises settings with their current values: immediately, by the waiting job, or after the running one, which may have begun
 * with other values (services.md 2.3).
 */
export function requestSync(context: Context, settings: number): void {
  const { db } = context.app;
  const { changes } = db.run(sql`
    UPDATE service_settings SET state = 'Sync Scheduled'
    WHERE id = ${settings} AND state IN ('In Sync', 'Erred')`);
  if (changes > 0) queueSync(context, settings);
  else
    db.run(sql`
      UPDATE job SET memo = json_set(memo, '$.again', json('true'))
      WHERE settings_id = ${settings} AND operation = 'sync' AND started IS NOT NULL`);
}

/** Whether settings have changed since a synchronisation began. */
export const mustRepeat = (db: Database, job: Job): boolean => memoOf(db, job).again ?? false;

/** Notifies a running synchronisation that an object was deleted, because its list may still contain it. */
export const recordDeletion = (db: Database, settings: number, object: string): void =>
  void db.run(sql`
    UPDATE job
    SET memo = json_insert(json_insert(memo, '$.gone', json('[]')), '$.gone[#]', ${object})
    WHERE settings_id = ${settings} AND operation = 'sync' AND started IS NOT NULL`);

/** The objects deleted since a synchronisation began. */
export const deletedSince = (db: Database, job: Job): readonly string[] => memoOf(db, job).gone ?? [];
