import type { Request } from '../../kernel/access/request.ts';
import { isoTime } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import { datetime } from '../../kernel/collection/datetime.ts';
import { messages, objectShape } from '../../kernel/collection/field.ts';
import { choice } from '../../kernel/collection/values.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { isReadable } from '../events/damaged.ts';
import { isVisibleTo } from '../events/visibility.ts';
import { inactiveReason } from './deliveries.ts';
import { type HookRow, hookManagers } from './hook.ts';
import { isWithinLimits } from './hook-limits.ts';
import { webHooks } from './hooks-web.ts';
import { maxPending, queueRecovered } from './queue.ts';

/** Maximum number of events that a recovery scans, so that it does not block other requests for long. */
const maxScannedEvents = 50_000;

interface Recovery {
  /** Instants, both inclusive. */
  readonly since: number;
  readonly until: number;
  /** `failed`, `missing` or undefined. */
  readonly only: string | undefined;
}

interface RecoveryValues {
  readonly since: number | null;
  readonly until?: number | null;
  readonly only?: string;
}

/** Validates the period. Throws 400. */
function periodOf({ config, now }: Request, { only, since, until }: RecoveryValues): Recovery {
  if (since === null) throw invalid({ since: [messages.null] });
  const end = until ?? now;
  const { events_retention: retention } = config;
  if (retention !== null && since < now - retention)
    throw invalid({ since: [`Events before ${isoTime(now - retention)} are no longer kept.`] });
  if (since >= end) throw invalid({ since: ['End must occur after start.'] });
  return { since, until: end, only };
}

/** Condition on `event e`, `hook h` and its author `user u`: the hook would receive the event now. */
const matchesNow = ({ app: { eventAudience } }: Request): Sql => sql`
  EXISTS (SELECT 1 FROM hook_event_type t WHERE t.type = e.type AND t.hook_id = h.id)
  AND iif(${isReadable},
    ${isWithinLimits(raw("e.context ->> 'customer_uuid'"), raw("e.context ->> 'project_uuid'"))}
    AND (u.is_staff OR u.is_support OR ${isVisibleTo({ id: raw('u.id'), uuid: raw('u.uuid') }, eventAudience)}), 0)`;

interface FoundEvent {
  readonly id: number;
  readonly at: number;
  readonly type: string;
  readonly delivery: number | null;
}

/** Finds events to recover, oldest first. */
function findEvents(request: Request, hook: HookRow, { only, since, until }: Recovery, limit: number): FoundEvent[] {
  const conditions = [
    ...(only === 'missing' ? [] : [sql`d.status IN ('failed', 'canceled')`]),
    ...(only === 'failed' ? [] : [sql`d.id IS NULL AND ${matchesNow(request)}`]),
  ];
  return request.db.all<FoundEvent>(sql`
    SELECT e.id, e.at, e.type, d.id AS delivery
    FROM (
      SELECT * FROM event WHERE at >= ${since} AND at <= ${until} ORDER BY at, id LIMIT ${maxScannedEvents}) e
    CROSS JOIN hook h ON h.id = ${hook.id}
    JOIN user u ON u.id = h.user_id
    LEFT JOIN delivery d ON d.event_id = e.id AND d.hook_id = h.id
    WHERE ${any(conditions)}
    ORDER BY e.at, e.id
    LIMIT ${limit}`);
}

/** Returns the end of the part of a period that one recovery scans. */
const scannedUntil = ({ db }: Request, { since, until }: Recovery): number =>
  db.value<number>(sql`
    SELECT at FROM event WHERE at >= ${since} AND at <= ${until}
    ORDER BY at, id LIMIT 1 OFFSET ${maxScannedEvents - 1}`) ?? until;

/** POST /api/hooks-web/<uuid>/recover/: resends the undelivered events of a period (events.md 5.11). */
export const recover = action({
  on: webHooks,
  name: 'recover',
  summary: 'Queues the events of a period that were not delivered, and those without a delivery.',
  description: 'Sends events again after a failure of the receiver.',
  right: hookManagers,
  fields: {
    since: datetime({ required: true, storedIn: false, help: 'Start of the period.' }),
    until: datetime({ storedIn: false, help: 'End of the period; default: now.' }),
    only: choice({
      choices: () => [
        ['failed', 'Failed'],
        ['missing', 'Missing'],
      ],
      storedIn: false,
      help: 'failed: failed and canceled deliveries; missing: events without a delivery; default: both.',
    }),
  },
  example: { since: '2018-01-05T04:00:00Z' },
  accept: (request, _, values) => periodOf(request, values),
  denialReason: (request, hook) =>
    inactiveReason(request, hook) ??
    (request.db.value(sql`
      SELECT 1 FROM delivery WHERE hook_id = ${hook.id} AND status = 'pending' AND recovered = 1 LIMIT 1`) === undefined
      ? undefined
      : 'A recovery is under way.'),
  output: {
    status: 202,
    shape: objectShape({
      count: { type: 'integer', description: 'How many deliveries were queued.' },
      until: {
        type: 'string',
        format: 'date-time',
        description: 'Time of the last event queued, or of the end of the period: a further request continues from it.',
      },
    }),
  },
  run: (request, hook, period) => {
    const limit = Math.max(0, maxPending - hook.pending);
    const events = findEvents(request, hook, period, limit);
    queueRecovered(request, hook, events);
    const until = events.at(-1)?.at ?? (limit === 0 ? period.since : scannedUntil(request, period));
    return json({ count: events.length, until: isoTime(until) }, 202);
  },
});
