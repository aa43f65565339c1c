/** Locks codes per user, regardless of addresses: an attacker with the password can guess from many of them (core.md 2.11). */
import type { Context } from '../../../kernel/access/context.ts';
import { hour } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { removeStep } from '../../../kernel/db/writer.ts';
import type { StoredInstants } from '../../../kernel/jobs/clock-watch.ts';
import { notifySecurity } from '../../users/notices.ts';
import type { UserRow } from '../../users/users.ts';

const maxFailures = 10;
const failureSpan = hour;
const lockedFor = hour;

/** Returns how long a user's codes remain locked, in microseconds; undefined if they are not locked. */
export function codeLockOf({ app: { db }, now }: Context, user: number): number | undefined {
  const until = db.value<number | null>(sql`SELECT codes_locked_until FROM user WHERE id = ${user}`) ?? 0;
  return until > now ? until - now : undefined;
}

/** Counts a wrong second factor, and locks codes after ten within an hour. Must run inside a write. */
export function countFactorFailure(context: Context, user: UserRow): void {
  const { now } = context;
  const { db } = context.app;
  db.insert('factor_failure', { user_id: user.id, at: now });
  const count = db.scalar<number>(
    sql`SELECT count(*) FROM factor_failure WHERE user_id = ${user.id} AND at > ${now - failureSpan}`,
  );
  if (count < maxFailures) return;
  db.run(sql`DELETE FROM factor_failure WHERE user_id = ${user.id}`);
  db.update('user', user.id, { codes_locked_until: now + lockedFor });
  notifySecurity(context, user, 'codes_locked');
}

export const codeLockInstants: readonly StoredInstants[] = [
  { table: 'factor_failure', column: 'at', ahead: 0 },
  { table: 'user', column: 'codes_locked_until', ahead: lockedFor },
];

/** Removes a batch of failures that are too old to count. Returns whether the batch was full. */
export function removeOldFactorFailures({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM factor_failure WHERE id IN (
          SELECT id FROM factor_failure WHERE at <= ${now - failureSpan} ORDER BY at LIMIT ${limit}
        )`).changes,
  );
}
