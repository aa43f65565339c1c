import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import { isReadable } from '../events/damaged.ts';
import { contextFor, type EventAudience } from '../events/visibility.ts';
import type { SentEvent } from './payload.ts';

export type HookKind = 'web' | 'push' | 'email';

/** A delivery that is ready to send, with the destination of its hook. */
export interface DueDelivery extends SentEvent {
  readonly id: number;
  /** The webhook-id. */
  readonly uuid: string;
  readonly hook_id: number;
  readonly hook_uuid: string;
  readonly kind: HookKind;
  /** Whether its event has been removed. */
  readonly is_lost: number;
  /** Changes when the delivery is requeued. */
  readonly next_attempt: number;
  /** First failed attempt of the hook since its last success; null if none has failed. */
  readonly failing_since: number | null;
  readonly destination_url: string | null;
  readonly content_type: string | null;
  readonly format: string;
  /** Whether a recovery queued it (events.md 5.11). */
  readonly recovered: number;
  readonly secret: Uint8Array | null;
  readonly old_secret: Uint8Array | null;
  readonly old_secret_ends: number | null;
  /** Platform of a push hook. */
  readonly platform: string | null;
  /** Token of a push hook, sealed for its uuid. */
  readonly token: Uint8Array | null;
  readonly email: string | null;
  /** Id in hook_confirmation if this is a confirmation mail. */
  readonly confirmation: number | null;
  /** Whether it belongs to an hourly digest, whose deliveries are sent and settled together. */
  readonly is_digest: number;
}

/** The context of an event as the hook's author may read it at the time of sending (events.md 4.4). */
const contextShown = (
  audience: EventAudience,
): Sql => sql`CASE WHEN e.context IS NULL THEN NULL WHEN NOT ${isReadable} THEN '{}' WHEN u.is_staff OR u.is_support THEN e.context
  ELSE ${contextFor({ id: raw('u.id'), uuid: raw('u.uuid') }, audience)} END`;

/** Selects the content and the destination of rows of `delivery`. */
const selection = memoised(
  (audience: EventAudience): Sql => sql`
    SELECT d.id, d.uuid, d.hook_id, h.uuid AS hook_uuid, h.kind, h.failing_since, h.destination_url, h.content_type, h.format,
      h.secret, h.old_secret, h.old_secret_ends, h.type AS platform, h.token, h.email, d.event_type AS type,
      d.payload ->> 'confirmation' AS confirmation, d.gathered AS is_digest, d.recovered,
      d.event_id IS NOT e.id AS is_lost, d.next_attempt, ifnull(e.at, d.created) AS at,
      ifnull(e.level, ifnull(d.payload ->> 'level', 'info')) AS level,
      ifnull(e.message, ifnull(d.payload ->> 'message', '')) AS message,
      ifnull(${contextShown(audience)}, ifnull(d.payload -> 'context', '{}')) AS context
    FROM delivery d JOIN hook h ON h.id = d.hook_id JOIN user u ON u.id = h.user_id LEFT JOIN event e ON e.id = d.event_id`,
);

/** Returns the next ready delivery of a hook in event order, either of recovered or of other events. */
export const nextDelivery = ({ db, eventAudience }: App, hook: number, isRecovered: boolean): DueDelivery | undefined =>
  db.get<DueDelivery>(sql`
    ${selection(eventAudience)}
    WHERE d.hook_id = ${hook} AND d.status = 'pending' AND d.ready = 1 AND d.recovered = ${raw(isRecovered ? '1' : '0')}
    ORDER BY ${raw(isRecovered ? 'd.event_id' : 'd.id')}
    LIMIT 1`);

/** Returns a delivery in its current form; undefined if its hook was deleted. */
export const deliveryOf = ({ db, eventAudience }: App, id: number): Omit<DueDelivery, 'next_attempt'> | undefined =>
  db.get(sql`${selection(eventAudience)} WHERE d.id = ${id}`);

/** Returns hooks with ready deliveries. Skips from hook to hook in the index, regardless of the number of deliveries. */
export const hooksWithDue = (db: Database): number[] =>
  db.values<number>(sql`
    WITH RECURSIVE pending (hook) AS (
      SELECT min(hook_id) FROM delivery WHERE status = 'pending'
      UNION ALL
      SELECT (SELECT min(hook_id) FROM delivery WHERE status = 'pending' AND hook_id > hook)
      FROM pending
      WHERE hook IS NOT NULL)
    SELECT hook FROM pending
    WHERE EXISTS (SELECT 1 FROM delivery WHERE hook_id = hook AND status = 'pending' AND ready = 1)`);

const maxReadyPerBatch = 1000;

/** Marks a batch of due deliveries as ready. Returns whether the batch was full. */
export function readyDue(db: Database, now: number): boolean {
  const due = db.values<number>(sql`
    SELECT id FROM delivery
    WHERE status = 'pending' AND ready = 0 AND next_attempt <= ${now}
    ORDER BY next_attempt
    LIMIT ${maxReadyPerBatch}`);
  if (due.length === 0) return false;
  db.write(() => db.run(sql`UPDATE delivery SET ready = 1 WHERE ${among('id', due)}`));
  return due.length === maxReadyPerBatch;
}
