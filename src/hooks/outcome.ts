import type { Context } from '../access/deployment.ts';
import { day, second } from '../clock.ts';
import { sql } from '../db/sql.ts';
import { cancelDeliveries } from '../events/outbox.ts';
import { type Outcome, afterAttempt } from '../outbox/outcome.ts';
import type { DueDelivery } from './due.ts';

const deadAfter = 5 * day;

type Settled = Pick<DueDelivery, 'id' | 'hook_id' | 'failing_since'>;

/** Writes down how an attempt ended: the delivery's new state, and what follows for its hook. Must run inside a write. */
export function settle(context: Context, delivery: Settled, outcome: Outcome): void {
  const { db } = context.deployment;
  if (outcome.status === 'delivered' && delivery.failing_since !== null) db.update('hook', delivery.hook_id, { failing_since: null });
  const before = db.get<{ attempts: number; schedule_from: number }>(
    sql`SELECT attempts, schedule_from FROM delivery WHERE id = ${delivery.id} AND status = 'pending'`,
  );
  // Canceled while it was under way: that stands.
  if (!before) return;
  db.update('delivery', delivery.id, { ready: 0, ...afterAttempt(context, before, outcome) });
  if (outcome.status === 'failed') judgeHook(context, delivery, outcome.gone ?? false);
}

/** Notes that a hook's attempts fail; disables it when its receiver is gone, or when all have failed for days. */
function judgeHook(context: Context, { failing_since: since, hook_id: hook, id }: Settled, gone: boolean): void {
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
