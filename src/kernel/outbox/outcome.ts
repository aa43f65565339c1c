import type { Context } from '../access/context.ts';
import { day, hour, minute, second } from '../clock.ts';
import type { StoredInstants } from '../jobs/clock-watch.ts';

/** How an attempt ended, with details that the outbox stores in a separate form. */
export type Outcome = { readonly attempt?: string } & Ending;

type Ending =
  | { readonly status: 'delivered'; readonly code?: number }
  /** Not attempted, because there is no address to send to. */
  | { readonly status: 'skipped'; readonly error: string }
  | {
      readonly status: 'failed';
      /** A sentence for the delivery log. */
      readonly error: string;
      readonly code?: number | undefined;
      /** A retry cannot succeed. */
      readonly final?: boolean;
      /** The receiver rejects all further deliveries. */
      readonly gone?: boolean;
      /** Instant before which the receiver rejects another attempt. */
      readonly retryAfter?: number | undefined;
    };

/** Delays from a failed attempt to the next (events.md 5.5). */
const retryDelays = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, day];
const jitter = 0.2;
const maxRetryAfter = day;
/** Maximum delay between two attempts. */
const maxDelay = Math.round((1 + jitter) * day);

/** Due times of the rows of an outbox. */
export const dueInstants = (table: string, where = "status = 'pending'"): StoredInstants => ({
  table,
  column: 'next_attempt',
  ahead: maxDelay,
  isDue: true,
  where,
});

/** The columns of every outbox for the result of an attempt. */
interface Attempted {
  readonly status: 'pending' | 'delivered' | 'failed' | 'skipped';
  readonly attempts: number;
  readonly error_message: string;
  readonly response_code?: number | null;
  readonly last_attempt?: number;
  /** Null after the last attempt. */
  readonly next_attempt: number | null;
  /** Instant of the last attempt, after which it is no longer pending. */
  readonly finished: number | null;
}

/** Returns the columns to update after an attempt. `before` counts earlier attempts: all, and those of an earlier schedule. */
export function afterAttempt(
  context: Context,
  before: { readonly attempts: number; readonly schedule_from?: number },
  outcome: Outcome,
): Attempted {
  const { now } = context;
  const finished = { next_attempt: null, finished: now };
  if (outcome.status === 'skipped')
    return { status: 'skipped', attempts: before.attempts, error_message: outcome.error, ...finished };
  const attempts = before.attempts + 1;
  const created = { attempts, response_code: outcome.code ?? null, last_attempt: now };
  if (outcome.status === 'delivered') return { status: 'delivered', error_message: '', ...created, ...finished };
  const delay = outcome.final || outcome.gone ? undefined : retryDelays[attempts - (before.schedule_from ?? 0) - 1];
  if (delay === undefined) return { status: 'failed', error_message: outcome.error, ...created, ...finished };
  return {
    status: 'pending',
    error_message: outcome.error,
    ...created,
    next_attempt: nextAttempt(context, delay, outcome.retryAfter),
    finished: null,
  };
}

function nextAttempt({ app, now }: Context, delay: number, retryAfter = now): number {
  const chance = app.random(4).readUInt32BE() / 2 ** 32;
  const scheduled = now + Math.round(delay * (1 - jitter + 2 * jitter * chance));
  return Math.max(scheduled, Math.min(retryAfter, now + maxRetryAfter));
}
