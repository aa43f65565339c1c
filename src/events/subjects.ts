import type { Database } from '../db/database.ts';
import { type Sql, join, sql } from '../db/sql.ts';

/** Context keys that hold the uuid of an object an event is about, and the kind of object. */
export const subjectKeys = {
  user_uuid: 'user',
  affected_user_uuid: 'user',
  ssh_key_uuid: 'key',
  quota_uuid: 'quota',
  customer_uuid: 'customer',
  project_uuid: 'project',
  settings_uuid: 'settings',
  service_uuid: 'service',
  resource_uuid: 'resource',
} as const;

export type SubjectKind = (typeof subjectKeys)[keyof typeof subjectKeys];

type Context = Readonly<Record<string, string>>;

/** Enters an event under every object that its context names. */
export function enterSubjects(db: Database, context: Context, at: number, event: number): void {
  const named = subjectsIn(context);
  if (named.length === 0) return;
  const enter = sql`INSERT OR IGNORE INTO event_about (subject_id, at, event_id)
    SELECT s.id, ${at}, ${event} FROM (VALUES ${join(named, ', ')}) AS named CROSS JOIN event_subject s ON s.kind = named.column1 AND s.uuid = named.column2`;
  if (db.run(enter).changes === named.length) return;
  db.run(sql`INSERT OR IGNORE INTO event_subject (kind, uuid) VALUES ${join(named, ', ')}`);
  db.run(enter);
}

/** Removes an event from under the objects that its context names. */
export function removeSubjects(db: Database, context: Context, at: number, event: number): void {
  const named = subjectsIn(context);
  if (named.length === 0) return;
  db.run(sql`DELETE FROM event_about WHERE at = ${at} AND event_id = ${event} AND subject_id IN
    (SELECT s.id FROM (VALUES ${join(named, ', ')}) AS named CROSS JOIN event_subject s ON s.kind = named.column1 AND s.uuid = named.column2)`);
}

/** Kind and uuid of every object that a context names, each once. */
function subjectsIn(context: Context): Sql[] {
  const subjects = new Map<string, Sql>();
  for (const key in subjectKeys) {
    const kind = subjectKeys[key as keyof typeof subjectKeys];
    const uuid = context[key];
    if (uuid) subjects.set(kind + uuid, sql`(${kind}, ${uuid})`);
  }
  return [...subjects.values()];
}
