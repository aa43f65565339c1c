import type { Database } from '../db/database.ts';
import { type Sql, among, join, sql } from '../db/sql.ts';

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
  const ids = subjectIds(db, context);
  if (ids.size === 0) return;
  const customer = ids.get(`customer ${context.customer_uuid}`) ?? null;
  const project = ids.get(`project ${context.project_uuid}`) ?? null;
  const rows = [...ids.values()].map((id) => sql`(${id}, ${at}, ${event}, ${customer}, ${project})`);
  db.run(sql`INSERT INTO event_about (subject_id, at, event_id, customer, project) VALUES ${join(rows, ', ')}`);
}

/** Removes an event from under the objects that its context names. */
export function removeSubjects(db: Database, context: Context, at: number, event: number): void {
  const ids = [...subjectIds(db, context).values()];
  if (ids.length > 0) db.run(sql`DELETE FROM event_about WHERE ${among('subject_id', ids)} AND at = ${at} AND event_id = ${event}`);
}

/** Ids of the subjects that a context names, by kind and uuid; unknown ones are created. */
function subjectIds(db: Database, context: Context): Map<string, number> {
  const named = new Map<string, Sql>();
  for (const key in subjectKeys) {
    const kind = subjectKeys[key as keyof typeof subjectKeys];
    const uuid = context[key];
    if (uuid) named.set(`${kind} ${uuid}`, sql`(${kind}, ${uuid})`);
  }
  if (named.size === 0) return new Map();
  const known = db.all<{ name: string; id: number }>(sql`SELECT concat(s.kind, ' ', s.uuid) AS name, s.id
    FROM (VALUES ${join([...named.values()], ', ')}) AS named CROSS JOIN event_subject s ON s.kind = named.column1 AND s.uuid = named.column2`);
  const ids = new Map(known.map(({ id, name }) => [name, id]));
  for (const [name, subject] of named) {
    if (!ids.has(name)) ids.set(name, db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES ${subject}`).id);
  }
  return ids;
}
