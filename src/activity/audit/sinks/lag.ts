import type { Context } from '../../../kernel/access/context.ts';
import type { App } from '../../../kernel/app.ts';
import { isoTime, minute } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { notify, staffUsers } from '../../notifications/notify.ts';
import { type Destination, destinationsOf, newestId, oldestId, positionOf } from './positions.ts';
import type { SinkName } from './sink.ts';

/** A sink is behind when its oldest missing record reaches the first age, until all missing records are below the second. */
const maxLag = 15 * minute;
const recoveredLag = minute;

/** The lag of a sink. */
interface SinkLag {
  readonly sink: SinkName;
  /** Number of records that it has not received. */
  readonly waiting: number;
  /** Instant of the oldest of them; null if there are none. */
  readonly oldest: number | null;
  /** Error of the last attempt; empty if it succeeded. */
  readonly error: string;
}

/** Returns the lag of each configured sink. */
export const sinkLags = (app: App): readonly SinkLag[] =>
  destinationsOf(app.config).map((destination) => lagOf(app, destination));

function lagOf(app: App, destination: Destination): SinkLag {
  const { error_message: error = '', received = oldestId(app) - 1 } = positionOf(app, destination) ?? {};
  const oldest = app.db.value<number>(sql`SELECT at FROM audit_record WHERE id > ${received} ORDER BY id LIMIT 1`);
  return { sink: destination.name, waiting: newestId(app) - received, oldest: oldest ?? null, error };
}

/**
 * Notifies staff of each sink that is behind, once until it recovers. `started` is when the server started sending: waiting time
 * before it does not count unless the sink fails. Must run inside a write.
 */
export function reportLags(context: Context, started: number): void {
  const { app, now } = context;
  for (const destination of destinationsOf(app.config)) {
    const position = positionOf(app, destination);
    if (!position) continue;
    const { error, oldest, sink, waiting } = lagOf(app, destination);
    const age = oldest === null ? 0 : now - oldest;
    const isBehind = age >= maxLag && (error !== '' || now - started >= maxLag);
    if (position.is_behind ? age >= recoveredLag : !isBehind) continue;
    app.db.update('audit_sink', position.id, { is_behind: 1 - position.is_behind });
    if (isBehind)
      notify(context, 'audit_sink_behind', { context: { sink, records: waiting }, users: staffUsers, about: sink });
  }
}

/** Returns a line for each sink that is behind or whose last attempt failed. */
export const sinkProblems = (app: App): string[] =>
  sinkLags(app)
    .filter(({ error, oldest }) => oldest !== null && (error !== '' || app.clock.now() - oldest >= maxLag))
    .map(({ error, oldest, sink, waiting }) => {
      const reason = error === '' ? '' : `: ${error}`;
      const records = waiting === 1 ? 'a record' : `${waiting} records`;
      return `audit sink ${sink} has not received ${records} since ${isoTime(oldest ?? 0)}${reason}`;
    });
