/** Events whose context cannot be read, as a disk or another program may leave them. */
import type { Request } from '../../kernel/access/request.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, raw, sql } from '../../kernel/db/sql.ts';
import { errorOf } from '../../kernel/present.ts';

interface DamagedEvent {
  readonly id: number;
  readonly uuid: string;
  readonly at: number;
}

/** Whether the context of `event e` is what it must be, in SQL. */
export const isReadable = raw(`iif(json_valid(e.context), json_type(e.context) = 'object', 0)`);

/** Every event whose context cannot be read; looks at all of them. */
export const damagedEvents = (db: Database): DamagedEvent[] =>
  db.all<DamagedEvent>(sql`SELECT id, uuid, at FROM event e WHERE NOT ${isReadable} ORDER BY id`);

/** Leaves nothing in their contexts. Must run inside a write. */
export function emptyContexts(db: Database, events: readonly DamagedEvent[]): void {
  const ids = events.map(({ id }) => id);
  db.run(sql`UPDATE event SET context = '{}' WHERE ${among('id', ids)}`);
}

/** A context as it was recorded; undefined of one that cannot be read. */
export function contextOf(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const context: unknown = JSON.parse(text);
    return isObject(context) ? context : undefined;
  } catch {
    return undefined;
  }
}

/** All values that were recorded are texts. */
const isObject = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The damaged events that the log of a process has told of. */
const told = new WeakMap<Database, Set<string>>();

/** The same, answered as if the contexts that cannot be read were empty, where one is met; the log tells of them. */
export const despiteDamage =
  <T>(handle: (request: Request) => T) =>
  (request: Request): T => {
    const { db, log } = request.app;
    try {
      return handle(request);
    } catch (error) {
      if (errorOf(error).message !== 'malformed JSON') throw error;
      const damaged = damagedEvents(db);
      const known = told.get(db) ?? new Set();
      told.set(db, known);
      for (const { uuid } of damaged) {
        if (!known.has(uuid)) log.error({ event: uuid }, 'the context of an event is damaged; it is told without');
        known.add(uuid);
      }
      return db.trial(() => {
        db.write(() => emptyContexts(db, damaged));
        return handle(request);
      });
    }
  };
