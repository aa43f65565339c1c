/** Events whose context is not valid JSON: a failing disk or another program may have damaged it. */
import type { Request } from '../../kernel/access/request.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, raw, sql } from '../../kernel/db/sql.ts';
import { errorOf, isRecord } from '../../kernel/present.ts';

interface DamagedEvent {
  readonly id: number;
  readonly uuid: string;
  readonly at: number;
}

/** SQL condition: the context of `event e` is a JSON object. */
export const isReadable = raw(`iif(json_valid(e.context), json_type(e.context) = 'object', 0)`);

/** Finds every event with an unreadable context. Scans the whole log. */
export const damagedEvents = (db: Database): DamagedEvent[] =>
  db.all<DamagedEvent>(sql`SELECT id, uuid, at FROM event e WHERE NOT ${isReadable} ORDER BY id`);

/** Empties the contexts of events. Must run inside a write. */
export function emptyContexts(db: Database, events: readonly DamagedEvent[]): void {
  const ids = events.map(({ id }) => id);
  db.run(sql`UPDATE event SET context = '{}' WHERE ${among('id', ids)}`);
}

/** Parses a recorded context. Returns undefined if it is damaged. */
export function contextOf(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const context: unknown = JSON.parse(text);
    // Every recorded value is a string.
    return isRecord(context) ? (context as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Damaged events that this process has already logged. */
const logged = new WeakMap<Database, Set<string>>();

/** Wraps a handler. If a query hits a damaged context, retries with damaged contexts emptied, and logs each event once. */
export const despiteDamage =
  <T>(handle: (request: Request) => T) =>
  (request: Request): T => {
    const { db, log } = request.app;
    try {
      return handle(request);
    } catch (error) {
      if (errorOf(error).message !== 'malformed JSON') throw error;
      const damaged = damagedEvents(db);
      const known = logged.get(db) ?? new Set();
      logged.set(db, known);
      for (const { uuid } of damaged) {
        if (!known.has(uuid))
          log.error({ event: uuid }, 'the context of an event is damaged: the event is shown without it');
        known.add(uuid);
      }
      return db.rollBack(() => {
        db.write(() => emptyContexts(db, damaged));
        return handle(request);
      });
    }
  };
