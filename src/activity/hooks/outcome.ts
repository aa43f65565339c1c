import type { Context } from '../../kernel/access/context.ts';
import { day, second } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { afterAttempt, type Outcome } from '../../kernel/outbox/outcome.ts';
import { notify } from '../notifications/notify.ts';
import { deleteSecret } from './confirmation.ts';
import type { DueDelivery } from './due.ts';
import { settleDigest } from './mail-hours.ts';
import { cancelDeliveries } from './queue.ts';

const deadAfter = 5 * day;

type SettledDelivery = Pick<
  DueDelivery,
  | 'id'
  | 'hook_id'
  | 'failing_since'
  | 'is_lost'
  | 'next_attempt'
  | 'destination_url'
  | 'platform'
  | 'token'
  | 'email'
  | 'confirmation'
  | 'is_digest'
>;

/** Stores the outcome of an attempt in the delivery and its hook. Must run inside a write. */
export function settle(context: Context, delivery: SettledDelivery, outcome: Outcome): void {
  const { db } = context.app;
  if (outcome.status === 'delivered' && delivery.failing_since !== null)
    db.update('hook', delivery.hook_id, { failing_since: null });
  const before = db.get<{ attempts: number; schedule_from: number }>(sql`
    SELECT attempts, schedule_from FROM delivery
    WHERE id = ${delivery.id} AND status = 'pending' AND next_attempt = ${delivery.next_attempt}`);
  // It was canceled during the attempt, and perhaps requeued: keep that state.
  if (!before) return;
  // If the event was removed, nothing was sent, so the hook has not failed.
  const failure = outcome.status === 'failed' && !delivery.is_lost ? outcome : undefined;
  const isRetargeted = failure !== undefined && hasNewReceiver(db, delivery);
  const attempted = afterAttempt(context, before, isRetargeted ? { ...failure, final: false, gone: false } : outcome);
  db.update('delivery', delivery.id, { ready: 0, ...attempted, attempt: outcome.attempt ?? null });
  if (delivery.is_digest) settleDigest(db, delivery);
  if (delivery.confirmation !== null && attempted.status !== 'pending')
    deleteSecret(context.app, delivery.confirmation);
  if (failure && !isRetargeted) recordHookFailure(context, delivery, failure.gone ?? false);
}

/** Whether the hook has a new receiver, to which the outcome does not apply. */
const hasNewReceiver = (
  db: Database,
  { destination_url: url, email, hook_id: hook, platform, token }: SettledDelivery,
): boolean =>
  db.value(sql`
    SELECT 1 FROM hook
    WHERE id = ${hook} AND destination_url IS ${url} AND type IS ${platform} AND token IS ${token}
      AND email IS ${email}`) === undefined;

/** Records the failure of a hook. Disables the hook if its receiver is gone or every attempt has failed for 5 days. */
function recordHookFailure(context: Context, { hook_id: hook, id }: SettledDelivery, gone: boolean): void {
  const { db } = context.app;
  // Read it again, because a change of the hook during the attempt clears it.
  const since = db.value<number | null>(sql`SELECT failing_since FROM hook WHERE id = ${hook}`) ?? null;
  const isDead = since !== null && context.now - since >= deadAfter && !context.app.isClockDoubtful();
  if (since === null) db.update('hook', hook, { failing_since: context.now });
  if (!gone && !isDead) return;
  const reason = gone
    ? 'The hook was disabled: its receiver is gone.'
    : 'The hook was disabled: every attempt has failed for 5 days.';
  db.update('hook', hook, { is_active: 0, modified: context.now });
  db.run(sql`
    UPDATE delivery
    SET error_message = concat(error_message, ' ', ${reason})
    WHERE id = ${id} AND status = 'failed'`);
  cancelDeliveries(context, sql`id = ${hook}`, reason);
  const { author, uuid } = db.one<{ uuid: string; author: number }>(
    sql`SELECT uuid, user_id AS author FROM hook WHERE id = ${hook}`,
  );
  notify(context, 'hook_disabled', { context: { hook_uuid: uuid, reason }, users: sql`SELECT ${author}`, about: uuid });
}

/** Parses Retry-After: seconds from now, or a date in any form of RFC 9110 5.6.7. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return now + Number(text) * second;
  // The asctime form has no zone: it is UTC, not local time.
  const isWithoutZone = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i.test(text);
  const date = /[a-z]/i.test(text) ? Date.parse(isWithoutZone ? `${text} GMT` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date * 1000;
}
