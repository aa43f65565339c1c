import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { intervalOf, parseSchedule } from './schedule.ts';

/** Returns when the newest complete backup was made, and the newest that was verified; null without one. */
export const lastBackups = ({ db }: App): { readonly complete: number | null; readonly verified: number | null } =>
  db.one(sql`
    SELECT max(created) AS complete, max(created) FILTER (WHERE verified IS NOT NULL) AS verified FROM backup`);

/** Returns a line if the newest complete backup is older than twice the interval, or the last verification has failed. */
export function backupProblems(app: App): string[] {
  const { backup_schedule: text } = app.config;
  if (text === null) return [];
  const { complete } = lastBackups(app);
  const interval = intervalOf(parseSchedule(text), app.clock.now());
  const error = app.db.scalar<string>(sql`SELECT verification_error FROM deployment`);
  return [
    ...(complete !== null && app.clock.now() - complete > 2 * interval
      ? [`the last complete backup was made on ${isoTime(complete)}`]
      : []),
    ...(error === '' ? [] : [`the verification of the newest backup failed: ${error}`]),
  ];
}
