import type { Context } from '../access/deployment.ts';
import { sql } from '../db/sql.ts';
import { removeSubjects } from './subjects.ts';

/** So many events are removed at once. Most of the time goes into the pages of the indexes that the commit writes. */
const removedAtOnce = 30;

/** Removes the oldest events beyond the setting events_retention, a bounded number at a time. Answers whether it was that many. */
export function removeOldEvents({ deployment: { config, db }, now }: Context): boolean {
  if (config.events_retention === null) return false;
  const old = db.all<{ id: number; at: number; context: string }>(sql`SELECT id, at, context FROM event
    WHERE at < ${now - config.events_retention} ORDER BY at, id LIMIT ${removedAtOnce}`);
  for (const { at, context, id } of old) {
    removeSubjects(db, JSON.parse(context), at, id);
    db.run(sql`DELETE FROM event_words WHERE rowid = ${id}`);
    db.run(sql`DELETE FROM event WHERE id = ${id}`);
  }
  return old.length === removedAtOnce;
}
