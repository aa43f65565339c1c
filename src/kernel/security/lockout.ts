import type { Context } from '../access/context.ts';
import { minute } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { removeStep } from '../db/writer.ts';
import type { StoredInstants } from '../jobs/clock-watch.ts';
import { prefixOf, siteOf } from '../net/networks.ts';

const lockedAtFailures = 4;
const lockedFor = 10 * minute;
const addressLimit = 50;
/** Factor of the limits for an entire IPv6 /48. */
const siteFactor = 10;
/** Returns the keys that count the failures of an address, with the factors of their limits. */
interface Counter {
  readonly network: string;
  readonly factor: number;
}

const countersOf = (address: string): Counter[] => {
  const site = siteOf(address);
  return [
    { network: prefixOf(address), factor: 1 },
    ...(site === undefined ? [] : [{ network: site, factor: siteFactor }]),
  ];
};

/**
 * Returns how long, in microseconds, logins of a username from an address stay locked (core.md 2.1 "Lock", "Address"); undefined
 * if they are not locked.
 */
export function lockOf(db: Database, username: string, address: string, now: number): number | undefined {
  const ends = countersOf(address).flatMap(({ factor, network }) => [
    db.value<number>(sql`SELECT expires FROM login_failure
      WHERE username_folded = ${username} AND address = ${network}
        AND failures >= ${lockedAtFailures * factor} AND expires > ${now}`) ?? 0,
    // The failure whose expiry leaves fewer than the limit.
    (db.value<number>(sql`SELECT at FROM address_failure WHERE address = ${network} AND at > ${now - lockedFor}
      ORDER BY at DESC LIMIT 1 OFFSET ${addressLimit * factor - 1}`) ?? -lockedFor) + lockedFor,
  ]);
  const end = Math.max(...ends);
  return end > now ? end - now : undefined;
}

/** Counts a failed login. Every failure restarts the lifetime of the pair's counter. */
export function countFailure(db: Database, username: string, address: string, now: number): void {
  for (const { network } of countersOf(address)) {
    db.run(sql`INSERT INTO login_failure (username_folded, address, failures, expires) VALUES (${username}, ${network}, 1, ${now + lockedFor})
      ON CONFLICT DO UPDATE SET failures = iif(expires > ${now}, failures, 0) + 1, expires = excluded.expires`);
    db.run(sql`INSERT INTO address_failure (address, at) VALUES (${network}, ${now})`);
  }
}

/** Clears the failures of a pair after a login. */
export function forgetFailures(db: Database, username: string, address: string): void {
  for (const { network } of countersOf(address))
    db.run(sql`DELETE FROM login_failure WHERE username_folded = ${username} AND address = ${network}`);
}

export const lockInstants: readonly StoredInstants[] = [
  { table: 'login_failure', column: 'expires', ahead: lockedFor },
  { table: 'address_failure', column: 'at', ahead: 0 },
];

/** Removes a batch of expired counters. Returns whether the batch was full. */
export function removeOldFailures({ app: { db }, now }: Context): boolean {
  return removeStep((limit) => {
    const pairs = db.run(sql`DELETE FROM login_failure WHERE (username_folded, address) IN
      (SELECT username_folded, address FROM login_failure WHERE expires <= ${now} ORDER BY expires LIMIT ${limit})`).changes;
    const addresses = db.run(sql`DELETE FROM address_failure WHERE id IN
      (SELECT id FROM address_failure WHERE at <= ${now - lockedFor} ORDER BY at LIMIT ${limit})`).changes;
    return Math.max(pairs, addresses);
  });
}
