import { minute } from '../clock.ts';
import { BatchSizer } from '../db/batch-sizer.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Context } from './app.ts';

const lockedAtFailures = 4;
const lockedFor = 10 * minute;
const addressLimit = 50;
const pace = new BatchSizer();

/** Whether logins of a username from an address are locked (core.md 2.1 "Lock", "Address"). */
export function isLocked(db: Database, username: string, address: string, now: number): boolean {
  const pair = db.value<number>(sql`SELECT failures FROM login_failure
    WHERE username_folded = ${username} AND address = ${address} AND expires > ${now}`);
  if (pair !== undefined && pair >= lockedAtFailures) return true;
  const recent = db.scalar<number>(
    sql`SELECT count(*) FROM address_failure WHERE address = ${address} AND at > ${now - lockedFor}`,
  );
  return recent >= addressLimit;
}

/** Counts a failed login; every failure gives the pair's counter a fresh life. */
export function countFailure(db: Database, username: string, address: string, now: number): void {
  db.run(sql`INSERT INTO login_failure (username_folded, address, failures, expires) VALUES (${username}, ${address}, 1, ${now + lockedFor})
    ON CONFLICT DO UPDATE SET failures = iif(expires > ${now}, failures, 0) + 1, expires = excluded.expires`);
  db.run(sql`INSERT INTO address_failure (address, at) VALUES (${address}, ${now})`);
}

/** Forgets the failures of a pair that has logged in. */
export function forgetFailures(db: Database, username: string, address: string): void {
  db.run(sql`DELETE FROM login_failure WHERE username_folded = ${username} AND address = ${address}`);
}

/** Removes counters that have run out, a bounded number at a time. Answers whether it was that many. */
export function removeOldFailures({ app: { db }, now }: Context): boolean {
  return pace.step(db, (atMost) => {
    const pairs = db.run(sql`DELETE FROM login_failure WHERE (username_folded, address) IN
      (SELECT username_folded, address FROM login_failure WHERE expires <= ${now} ORDER BY expires LIMIT ${atMost})`).changes;
    const addresses = db.run(sql`DELETE FROM address_failure WHERE id IN
      (SELECT id FROM address_failure WHERE at <= ${now - lockedFor} ORDER BY at LIMIT ${atMost})`).changes;
    return Math.max(pairs, addresses);
  });
}
