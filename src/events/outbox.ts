import type { Context } from '../access/deployment.ts';
import { newUuid } from '../access/deployment.ts';
import { among, sql } from '../db/sql.ts';
import type { EventTypeName } from './catalogue.ts';

export interface QueuedEvent {
  readonly id: number;
  readonly type: EventTypeName;
  readonly context: Readonly<Record<string, string>>;
  /** Ids of users who could see what the event is about before the change that caused it. */
  readonly witnesses: readonly number[];
}

/**
 * Queues a delivery for every hook that gets the event: active, of an active author who sees the event by the roles he has
 * now or had before the change, and with the type among its types (events.md 5.4).
 */
export function queueDeliveries(context: Context, event: QueuedEvent): void {
  const { db } = context.deployment;
  const { affected_user_uuid: affected = '', customer_uuid: customer = '', project_uuid: project = '', user_uuid: user = '' } = event.context;
  const hooks = db.values<number>(sql`
    SELECT h.id FROM hook_event_type t JOIN hook h ON h.id = t.hook_id JOIN user u ON u.id = h.user_id
    WHERE t.type = ${event.type} AND h.is_active AND u.is_active AND (
      u.is_staff OR u.is_support OR u.uuid = ${user} OR u.uuid = ${affected} OR ${among('u.id', event.witnesses)}
      OR EXISTS (SELECT 1 FROM customer_role r WHERE r.user_id = u.id AND r.ended IS NULL AND r.customer_id = (SELECT id FROM customer WHERE uuid = ${customer}))
      OR EXISTS (SELECT 1 FROM project p JOIN project_role r ON r.project_id = p.id WHERE p.uuid = ${project} AND r.user_id = u.id AND r.ended IS NULL)
      OR EXISTS (SELECT 1 FROM project p JOIN customer_role r ON r.customer_id = p.customer_id WHERE p.uuid = ${project} AND r.user_id = u.id AND r.ended IS NULL))
    ORDER BY h.id`);
  for (const hook of hooks) {
    db.insert('delivery', {
      uuid: newUuid(context.deployment),
      hook_id: hook,
      event_id: event.id,
      event_type: event.type,
      created: context.now,
      next_attempt: context.now,
    });
  }
  if (hooks.length > 0) db.settled((error) => error === undefined && context.deployment.wakeOutbox());
}
