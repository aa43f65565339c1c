/** Ages of the backups at the target, shared by doctor, metrics, notifications, the API and the console. */
import type { App } from '../../kernel/app.ts';
import { day, hour, isoTime, minute } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { intervalOf, parseSchedule } from './schedule.ts';

/** Time between two verifications by backup_verify; undefined for `off`. */
export const verificationIntervals: Readonly<Record<string, number>> = { weekly: 7 * day, daily: day };

/** Times of backups at the target; null if there is none. */
interface LastBackups {
  /** The oldest and the newest complete backup. */
  readonly first: number | null;
  readonly complete: number | null;
  /** The newest backup that was verified. */
  readonly verified: number | null;
}

/** Returns the times of the oldest, newest and newest verified backup. Ignores backups dated in the future by a wrong clock. */
export const lastBackups = ({ clock, db }: App): LastBackups =>
  db.one(sql`
    SELECT min(created) AS first, max(created) AS complete, max(created) FILTER (WHERE verified IS NOT NULL) AS verified
    FROM backup WHERE created <= ${clock.now()}`);

/** The newest backups, and the times of those that are overdue; undefined if none is. */
interface OverdueBackups {
  readonly last: LastBackups;
  /** Set if the newest backup is older than twice the schedule's interval. */
  readonly complete: number | undefined;
  /** Set if it is older than twice the verification interval, or twice the schedule's interval if that is longer. */
  readonly verified: number | undefined;
  /** Whether no backup was ever verified. Then `verified` is the time of the oldest backup. */
  readonly isNeverVerified: boolean;
}

/** Returns which of the newest backups are overdue. Backups that only another machine can verify never are. */
export function overdueBackups(app: App, schedule: string): OverdueBackups {
  const { clock, config } = app;
  const last = lastBackups(app);
  const { complete, first, verified } = last;
  const now = clock.now();
  const interval = intervalOf(parseSchedule(schedule), now);
  const isOlder = (at: number | null, age: number): at is number => at !== null && now - at > age;
  const isVerifiable = config.backup_recipients_file === null || config.backup_identity_file !== null;
  const verification = isVerifiable ? verificationIntervals[config.backup_verify] : undefined;
  const lastVerified = verified ?? first;
  return {
    last,
    complete: isOlder(complete, 2 * interval) ? complete : undefined,
    verified:
      verification !== undefined && isOlder(lastVerified, 2 * Math.max(verification, interval))
        ? lastVerified
        : undefined,
    isNeverVerified: verified === null,
  };
}

/** Returns one line for each problem with the backups at the target. Only a schedule makes their ages a problem. */
export function backupProblems(app: App): string[] {
  const { config, db } = app;
  const { error, isStarted } = db.one<{ error: string; isStarted: number }>(sql`
    SELECT verification_error AS error, installation IS NOT NULL AS isStarted FROM deployment`);
  const failures = error === '' ? [] : [`the last verification of a backup failed: ${error}`];
  if (config.backup_schedule === null) return failures;
  const { complete, isNeverVerified, last, verified } = overdueBackups(app, config.backup_schedule);
  return [
    ...(isStarted === 1 && last.complete === null
      ? ['no complete backup is known: a start of the server lists those at the target']
      : []),
    ...(complete === undefined ? [] : [`the last complete backup was made on ${isoTime(complete)}`]),
    ...failures,
    ...(verified === undefined
      ? []
      : [
          isNeverVerified ? 'no backup has been verified' : `the last verified backup was made on ${isoTime(verified)}`,
        ]),
  ];
}

/** The start of the line that `backupSummary` returns. */
export const summaryPrefix = 'last complete backup: ';

/** Returns one line with the ages of the newest backups; none if there are no backups and no schedule makes any. */
export function backupSummary(app: App): string[] {
  const { complete, verified } = lastBackups(app);
  if (app.config.backup_schedule === null && complete === null) return [];
  const now = app.clock.now();
  const text = (at: number | null): string => (at === null ? 'none' : `${isoTime(at)} (${ageOf(now - at)} ago)`);
  return [`${summaryPrefix}${text(complete)}; last verified: ${text(verified)}`];
}

/** Formats a duration in its largest unit. */
function ageOf(duration: number): string {
  const [name, unit] =
    duration >= 2 * day ? ['days', day] : duration >= 2 * hour ? ['hours', hour] : (['minutes', minute] as const);
  return `${Math.floor(duration / unit)} ${name}`;
}
