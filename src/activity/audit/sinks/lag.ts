import type { App } from '../../../kernel/app.ts';
import { isoTime, minute } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { destinationsOf, newestId, oldestId, positionOf } from './positions.ts';
import type { SinkName } from './sink.ts';

/** A sink whose oldest missing record is older is behind. */
const maxLag = 15 * minute;

/** How far a sink is behind the trail. */
interface SinkLag {
  readonly sink: SinkName;
  /** Records that it has not received. */
  readonly waiting: number;
  /** Instant of the oldest of them; null without any. */
  readonly oldest: number | null;
  /** Why the last attempt failed; empty if it succeeded. */
  readonly error: string;
}

/** Returns the lag of each sink of the settings. */
export const sinkLags = (app: App): readonly SinkLag[] =>
  destinationsOf(app.config).map((destination) => {
    const { error_message: error = '', received = oldestId(app) - 1 } = positionOf(app, destination) ?? {};
    const oldest = app.db.value<number>(sql`SELECT at FROM audit_record WHERE id > ${received} ORDER BY id LIMIT 1`);
    return { sink: destination.name, waiting: newestId(app) - received, oldest: oldest ?? null, error };
  });

/** Returns a line for each sink that is behind, or whose last attempt failed. */
export const sinkProblems = (app: App): string[] =>
  sinkLags(app)
    .filter(({ error, oldest }) => oldest !== null && (error !== '' || app.clock.now() - oldest >= maxLag))
    .map(({ error, oldest, sink, waiting }) => {
      const reason = error === '' ? '' : `: ${error}`;
      return `audit sink ${sink} has not received ${waiting} records since ${isoTime(oldest ?? 0)}${reason}`;
    });
