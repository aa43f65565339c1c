/** Limits the hourly mails of an author's hooks. A digest at the end of the hour has the other events (events.md 5.7). */
import type { Context } from '../../kernel/access/context.ts';
import { hour } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { DueDelivery, HookKind } from './due.ts';

interface Receiver {
  readonly id: number;
  readonly kind: HookKind;
  readonly user_id: number;
}

const none: ReadonlyMap<number, number> = new Map();

/** Counts the mails of an event. Returns the hooks above their author's limit, with the end of the hour. */
export function hooksAboveMailLimit(context: Context, receivers: readonly Receiver[]): ReadonlyMap<number, number> {
  const mails = receivers.filter(({ kind }) => kind === 'email');
  if (mails.length === 0) return none;
  const { db, config } = context.app;
  const digestTimes = new Map<number, number>();
  for (const author of new Set(mails.map(({ user_id }) => user_id))) {
    const { mails: sent, since } = hourOf(context, author);
    const own = mails.filter(({ user_id }) => user_id === author);
    const sendable = own.slice(0, Math.max(0, config.hook_mail_limit - sent));
    for (const { id } of own.slice(sendable.length)) digestTimes.set(id, since + hour);
    db.run(sql`
      INSERT INTO hook_mail_hour (user_id, since, mails) VALUES (${author}, ${since}, ${sent + sendable.length})
      ON CONFLICT (user_id) DO UPDATE SET since = excluded.since, mails = excluded.mails`);
  }
  return digestTimes;
}

/** Returns the current hour of an author, starting a new one if the last is over. */
function hourOf({ app: { db }, now }: Context, author: number): { readonly since: number; readonly mails: number } {
  const last = db.get<{ since: number; mails: number }>(
    sql`SELECT since, mails FROM hook_mail_hour WHERE user_id = ${author}`,
  );
  return last && now >= last.since && now < last.since + hour ? last : { since: now, mails: 0 };
}

/** A digest lists this many events and counts the others. */
const maxListedEvents = 100;

/** The events of a digest. */
export interface Digest {
  readonly listed: readonly {
    readonly at: number;
    readonly type: string;
    readonly message: string;
    /** JSON. */
    readonly context: string;
  }[];
  /** Number of events that are not listed. */
  readonly others: number;
}

/** Condition on `delivery d`: it belongs to the same digest as this delivery. */
const inSameDigest = ({ hook_id: hook, next_attempt: until }: Pick<DueDelivery, 'hook_id' | 'next_attempt'>) =>
  sql`d.hook_id = ${hook} AND d.status = 'pending' AND d.gathered = 1 AND d.next_attempt = ${until}`;

/** Loads the events of the digest that a delivery belongs to. */
export function loadDigest(db: Database, delivery: Pick<DueDelivery, 'hook_id' | 'next_attempt'>): Digest {
  const listed = db.all<Digest['listed'][number]>(sql`
    SELECT e.at, e.type, e.message, e.context FROM delivery d JOIN event e ON e.id = d.event_id
    WHERE ${inSameDigest(delivery)}
    ORDER BY d.id
    LIMIT ${maxListedEvents}`);
  const total = db.scalar<number>(sql`SELECT count(*) FROM delivery d WHERE ${inSameDigest(delivery)}`);
  return { listed, others: total - listed.length };
}

/** Copies the state of a delivery to all deliveries of its digest. */
export const settleDigest = (db: Database, delivery: Pick<DueDelivery, 'id' | 'hook_id' | 'next_attempt'>): void =>
  void db.run(sql`
    UPDATE delivery AS d
    SET (ready, status, attempts, error_message, response_code, last_attempt, next_attempt, finished) = (
      SELECT ready, status, attempts, error_message, response_code, last_attempt, next_attempt, finished
      FROM delivery WHERE id = ${delivery.id})
    WHERE ${inSameDigest(delivery)}`);
