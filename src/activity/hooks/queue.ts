import type { Context } from '../../kernel/access/context.ts';
import { newUuids } from '../../kernel/app.ts';
import { among, type Sql, sql } from '../../kernel/db/sql.ts';
import type { EventTypeName } from '../events/catalogue.ts';
import type { RecordedEvent } from '../events/record.ts';
import type { NotificationKind } from '../notifications/catalogue.ts';
import type { SentNotification } from '../notifications/notify.ts';
import type { HookKind } from './due.ts';
import { isWithinLimits, removeFromLimits } from './hook-limits.ts';
import { hooksAboveMailLimit } from './mail-hours.ts';

/** A hook with the number of its pending deliveries. */
interface Receiver {
  readonly id: number;
  readonly pending: number;
}

interface Subscriber extends Receiver {
  readonly kind: HookKind;
  readonly user_id: number;
}

/** Maximum number of pending deliveries per hook. */
export const maxPending = 10_000;

/**
 * Queues a delivery for every active hook with this event type whose author is active and can see the event, with the roles
 * before or after the change (events.md 5.4).
 */
export function queueDeliveries(context: Context, event: RecordedEvent): void {
  const { db, eventAudience } = context.app;
  if (db.rowsIn('hook') === 0) return;
  const {
    affected_user_uuid: affected = '',
    customer_uuid: customer = '',
    project_uuid: project = '',
    user_uuid: user = '',
  } = event.context;
  const receivers = db.all<Subscriber>(sql`
    SELECT h.id, h.pending, h.kind, h.user_id
    FROM hook_event_type t JOIN hook h ON h.id = t.hook_id JOIN user u ON u.id = h.user_id
    WHERE t.type = ${event.type} AND h.is_active AND h.is_confirmed AND u.is_active AND (
      u.is_staff OR u.is_support
      OR u.uuid = ${user} OR u.uuid = ${affected} OR ${among('u.id', event.extraRecipients)}
      OR ${eventAudience.isMember(customer, project)})
      AND ${isWithinLimits(sql`${customer}`, sql`${project}`)}
    ORDER BY h.id`);
  if (receivers.length > 0) {
    const content = { id: event.id, type: event.type, payload: null };
    enqueue(context, receivers, content, hooksAboveMailLimit(context, receivers));
  }
  if (event.type === 'customer_deletion_succeeded') removeFromLimits(context, 'customers', customer);
  if (event.type === 'project_deletion_succeeded') removeFromLimits(context, 'projects', project);
}

/** Queues a synthetic event for one hook; `payload` is its level, message and context as JSON. Returns the delivery's id. */
export function queueTest(context: Context, hook: Receiver, type: EventTypeName, payload: string): number {
  return enqueue(context, [hook], { id: null, type, payload });
}

/** Used instead of an event type for confirmation mails. The payload has the id in hook_confirmation. */
const confirmationType = 'confirmation';

/** Queues the confirmation mail of an email hook. */
export function queueConfirmation(context: Context, hook: number, confirmation: number): void {
  const payload = JSON.stringify({ confirmation });
  enqueue(context, [{ id: hook, pending: 0 }], { id: null, type: confirmationType, payload });
}

/** Requeues a finished delivery with a new retry schedule. */
export function queueAgain(context: Context, hook: Receiver, delivery: number): void {
  context.app.db.run(sql`
    UPDATE delivery
    SET status = 'pending', ready = 1, recovered = 0, schedule_from = attempts, next_attempt = ${context.now}, finished = NULL
    WHERE id = ${delivery}`);
  limitPending(context, hook);
  wake(context, [hook]);
}

/** Queues a notification for each active web hook of its recipients that subscribes to its kind. */
export function queueNotification(
  context: Context,
  { context: keys, kind, level, message, users }: SentNotification,
): void {
  const { db } = context.app;
  if (db.rowsIn('hook') === 0) return;
  const receivers = db.all<Receiver>(sql`
    SELECT h.id, h.pending FROM hook h
    WHERE h.kind = 'web' AND h.is_active AND ${among('h.user_id', users)}
      AND EXISTS (SELECT 1 FROM json_each(h.notification_types) WHERE value = ${kind})
      AND ${isWithinLimits(sql`${keys.customer_uuid ?? ''}`, sql`${keys.project_uuid ?? ''}`)}
    ORDER BY h.id`);
  if (receivers.length === 0) return;
  const payload = JSON.stringify({ level, message, context: keys });
  enqueue(context, receivers, { id: null, type: `notification.${kind}`, payload });
}

/** An event to recover, with its delivery if it had one. */
interface RecoveredEvent {
  readonly id: number;
  readonly type: string;
  readonly delivery: number | null;
}

/** Queues events of a recovery in order: requeues finished deliveries, and adds deliveries for other events. */
export function queueRecovered(context: Context, hook: Receiver, events: readonly RecoveredEvent[]): void {
  const { db } = context.app;
  const finished = events.flatMap(({ delivery }) => delivery ?? []);
  db.run(sql`
    UPDATE delivery
    SET status = 'pending', ready = 1, recovered = 1, schedule_from = attempts, next_attempt = ${context.now}, finished = NULL
    WHERE ${among('id', finished)}`);
  const missing = events.filter(({ delivery }) => delivery === null);
  const uuids = newUuids(context.app, missing.length);
  const rows = JSON.stringify(missing.map(({ id, type }, i) => [uuids[i], id, type]));
  db.run(sql`
    INSERT INTO delivery (uuid, hook_id, event_id, event_type, created, next_attempt, ready, recovered)
    SELECT value ->> 0, ${hook.id}, value ->> 1, value ->> 2, ${context.now}, ${context.now}, 1, 1
    FROM json_each(${rows})`);
  wake(context, [hook]);
}

/** Cancels pending deliveries of hooks that match a condition on `hook`. The delivery log shows the reason. */
export function cancelDeliveries({ app, now }: Context, hooks: Sql, reason: string): void {
  app.db.run(sql`
    UPDATE delivery
    SET status = 'canceled', ready = 0, next_attempt = NULL, finished = ${now},
      error_message = ltrim(concat(error_message, ' ', ${reason}))
    WHERE hook_id IN (SELECT id FROM hook WHERE ${hooks}) AND status = 'pending'`);
}

interface Content {
  readonly id: number | null;
  readonly type: EventTypeName | typeof confirmationType | `notification.${NotificationKind}`;
  readonly payload: string | null;
}

/**
 * Inserts all rows in one statement, because every matching hook adds to the cost of the write. Deliveries of hooks in `later`
 * wait until that time for a digest. Returns the last id.
 */
function enqueue(
  context: Context,
  receivers: readonly Receiver[],
  { id, type, payload }: Content,
  later: ReadonlyMap<number, number> = new Map(),
): number {
  const uuids = newUuids(context.app, receivers.length);
  const rows = JSON.stringify(receivers.map((receiver, i) => [uuids[i], receiver.id, later.get(receiver.id)]));
  const { id: last } = context.app.db.run(sql`
    INSERT INTO delivery (uuid, hook_id, event_id, event_type, payload, created, next_attempt, ready, gathered)
    SELECT value ->> 0, value ->> 1, ${id}, ${type}, ${payload}, ${context.now}, ifnull(value ->> 2, ${context.now}),
      value ->> 2 IS NULL, value ->> 2 IS NOT NULL
    FROM json_each(${rows})`);
  for (const receiver of receivers) limitPending(context, receiver);
  wake(context, receivers);
  return last;
}

/** Fails the oldest pending delivery of a hook that has reached the limit. */
function limitPending({ app, now }: Context, { id, pending }: Receiver): void {
  if (pending < maxPending) return;
  const oldest = (ready: number, recovered: number): Sql =>
    sql`SELECT min(id) AS id FROM delivery
      WHERE hook_id = ${id} AND status = 'pending' AND ready = ${ready} AND recovered = ${recovered}`;
  app.db.run(sql`
    UPDATE delivery
    SET status = 'failed', ready = 0, next_attempt = NULL, finished = ${now},
      error_message = 'Too many pending deliveries.'
    WHERE id = (SELECT min(id) FROM (
      ${oldest(0, 0)} UNION ALL ${oldest(0, 1)} UNION ALL ${oldest(1, 0)} UNION ALL ${oldest(1, 1)}))`);
}

function wake({ app }: Context, hooks: readonly Receiver[]): void {
  app.db.onceStored(() =>
    app.wakeOutbox(
      'hooks',
      hooks.map((hook) => hook.id),
    ),
  );
}
