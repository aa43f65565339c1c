import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import { hour } from '../../kernel/clock.ts';
import { inOneLine } from '../../kernel/control-characters.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

const type = 'auth_login_failed_with_username';
const longestUsername = 150;
/** Events of failed logins in an hour, over all usernames and addresses. */
const hourlyAtMost = 1000;
/** Events left out since the log last told so. */
const leftOut = new WeakMap<Database, number>();

/** Records a failed login, unless there were too many within the hour (core.md 2.1 "Events"). */
export function recordFailedLogin(context: Context, username: string): void {
  const { db } = context.app;
  const isFull =
    db.value(sql`SELECT 1 FROM event WHERE type = ${type} AND at > ${context.now - hour} AND at <= ${context.now}
    LIMIT 1 OFFSET ${hourlyAtMost - 1}`);
  if (isFull) leftOut.set(db, (leftOut.get(db) ?? 0) + 1);
  else record(context, type, { username: [...inOneLine(username)].slice(0, longestUsername).join('') });
}

/** Tells the log how many events of failed logins were left out since it was last told. */
export function tellLeftOutFailures({ app: { db, log } }: Context): void {
  const count = leftOut.get(db);
  if (count === undefined) return;
  leftOut.delete(db);
  log.warn({ count }, `${count} failed logins left no event: there were more than ${hourlyAtMost} within an hour`);
}
