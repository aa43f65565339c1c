import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import { hour } from '../../kernel/clock.ts';
import { inOneLine } from '../../kernel/control-characters.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

const type = 'auth_login_failed_with_username';
const maxUsernameLength = 150;
/** Maximum number of failed-login events per hour, across all usernames and addresses. */
const maxPerHour = 1000;
/** Number of events skipped since the last log line. */
const skippedCounts = new WeakMap<Database, number>();

/** Records a failed login, up to an hourly limit (core.md 2.1 "Events"). */
export function recordFailedLogin(context: Context, username: string): void {
  const { db } = context.app;
  const isFull =
    db.value(sql`SELECT 1 FROM event WHERE type = ${type} AND at > ${context.now - hour} AND at <= ${context.now}
    LIMIT 1 OFFSET ${maxPerHour - 1}`);
  if (isFull) skippedCounts.set(db, (skippedCounts.get(db) ?? 0) + 1);
  else record(context, type, { username: [...inOneLine(username)].slice(0, maxUsernameLength).join('') });
}

/** Logs how many failed-login events were skipped since the last call. */
export function logSkippedFailures({ app: { db, log } }: Context): void {
  const count = skippedCounts.get(db);
  if (count === undefined) return;
  skippedCounts.delete(db);
  log.warn({ count }, `${count} failed logins left no event: there were more than ${maxPerHour} within an hour`);
}
