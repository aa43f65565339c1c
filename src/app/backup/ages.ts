import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { intervalOf, parseSchedule, type Schedule } from './schedule.ts';

/** Returns when the newest complete backup was made, and the newest that was verified; null without one. */
export const lastBackups = ({ db }: App): { readonly complete: number | null; readonly verified: number | null } =>
  db.one(sql`
    SELECT max(created) AS complete, max(created) FILTER (WHERE verified IS NOT NULL) AS verified FROM backup`);

/** Returns when the newest complete backup was made if that is more than twice the interval ago; undefined otherwise. */
export function overdueBackup(app: App, schedule: Schedule): number | undefined {
  const { complete } = lastBackups(app);
  const now = app.clock.now();
  return complete !== null && now - complete > 2 * intervalOf(schedule, now) ? complete : undefined;
}

/** Returns a line if the newest complete backup is overdue, and one if the last verification has failed. */
export function backupProblems(app: App): string[] {
  const { backup_schedule: text } = app.config;
  if (text === null) return [];
  const overdue = overdueBackup(app, parseSchedule(text));
  const error = app.db.scalar<string>(sql`SELECT verification_error FROM deployment`);
  return [
    ...(overdue === undefined ? [] : [`the last complete backup was made on ${isoTime(overdue)}`]),
    ...(error === '' ? [] : [`the verification of the newest backup failed: ${error}`]),
  ];
}
