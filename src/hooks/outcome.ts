import type { Context } from '../access/deployment.ts';
import { day, hour, minute, second } from '../clock.ts';
import { sql } from '../db/sql.ts';
import { cancelDeliveries } from '../events/outbox.ts';

/** How an attempt ended. */
export type Outcome =
  | { readonly status: 'delivered'; readonly code?: number }
  /** Nothing was attempted: there is nowhere to send to. */
  | { readonly status: 'skipped'; readonly error: string }
  | {
      readonly status: 'failed';
      /** A sentence for the delivery log. */
      readonly error: string;
      readonly code?: number | undefined;
      /** Trying again is of no use. */
      readonly final?: boolean;
      /** The receiver wants nothing any more: the hook is disabled. */
      readonly gone?: boolean;
      /** Instant before which the receiver wants no other attempt. */
      readonly retryAfter?: number | undefined;
    };

/** Time from a failed attempt to the next (events.md 5.5). */
const retryDelays = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, day];
const jitter = 0.2;
const longestRetryAfter = day;
const deadAfter = 5 * day;

/** Writes down how an attempt ended: the delivery's new state, and what follows for its hook. Must run inside a write. */
export function settle(context: Context, delivery: { readonly id: number; readonly hook_id: number; readonly failing_since: number | null }, outcome: Outcome): void {
  const { db } = context.deployment;
  const { now } = context;
  // Canceled while it was under way: that stands.
  const stillPending = sql`id = ${delivery.id} AND status = 'pending'`;
  if (outcome.status === 'delivered') {
    db.run(sql`UPDATE delivery SET status = 'delivered', ready = 0, attempts = attempts + 1, response_code = ${outcome.code ?? null}, error_message = '',
      last_attempt = ${now}, next_attempt = NULL, finished = ${now} WHERE ${stillPending}`);
    if (delivery.failing_since !== null) db.update('hook', delivery.hook_id, { failing_since: null });
    return;
  }
  const present = db.get<{ attempts: number; schedule_from: number }>(sql`SELECT attempts, schedule_from FROM delivery WHERE ${stillPending}`);
  if (!present) return;
  const finished = { ready: 0, next_attempt: null, finished: now };
  if (outcome.status === 'skipped') {
    db.update('delivery', delivery.id, { status: 'skipped', error_message: outcome.error, ...finished });
    return;
  }
  const attempts = present.attempts + 1;
  const delay = outcome.final || outcome.gone ? undefined : retryDelays[attempts - present.schedule_from - 1];
  db.update('delivery', delivery.id, {
    attempts,
    response_code: outcome.code ?? null,
    error_message: outcome.error,
    last_attempt: now,
    ...(delay === undefined ? { status: 'failed', ...finished } : { ready: 0, next_attempt: nextAttempt(context, delay, outcome.retryAfter) }),
  });
  judgeHook(context, delivery, outcome.gone ?? false);
}

function nextAttempt({ deployment, now }: Context, delay: number, retryAfter = now): number {
  const chance = deployment.random(4).readUInt32BE() / 2 ** 32;
  const scheduled = now + Math.round(delay * (1 - jitter + 2 * jitter * chance));
  return Math.max(scheduled, Math.min(retryAfter, now + longestRetryAfter));
}

/** Notes that a hook's attempts fail; disables it when its receiver is gone, or when all have failed for days. */
function judgeHook(context: Context, { failing_since: since, hook_id: hook, id }: Parameters<typeof settle>[1], gone: boolean): void {
  const { db } = context.deployment;
  const isDead = since !== null && context.now - since >= deadAfter;
  if (since === null) db.update('hook', hook, { failing_since: context.now });
  if (!gone && !isDead) return;
  const reason = gone ? 'The hook was disabled: its receiver is gone.' : 'The hook was disabled: every attempt has failed for 5 days.';
  db.update('hook', hook, { is_active: 0, modified: context.now });
  db.run(sql`UPDATE delivery SET error_message = concat(error_message, ' ', ${reason}) WHERE id = ${id} AND status = 'failed'`);
  cancelDeliveries(context, sql`id = ${hook}`, reason);
}

/** The instant a Retry-After header names: seconds from now, or a date. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * second;
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date * 1000;
}
