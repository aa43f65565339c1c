import type { Database } from '../db/database.ts';
import { Sql, type Value, among, sql } from '../db/sql.ts';

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

/** A statement for each number of rows, so that its text is the same every time. */
const forRows = (row: string, text: (rows: string) => string): ((count: number) => string) => {
  const kept: string[] = [];
  return (count) => (kept[count] ??= text(Array(count).fill(row).join(', ')));
};
const find = forRows('(?, ?)', (rows) => `SELECT s.kind, s.uuid, s.id FROM (VALUES ${rows}) AS named
  CROSS JOIN event_subject s ON s.kind = named.column1 AND s.uuid = named.column2`);
const enter = forRows('(?, ?, ?, ?, ?)', (rows) => `INSERT INTO event_about (subject_id, at, event_id, customer, project) VALUES ${rows}`);

/** Enters an event under every object that its context names. */
export function enterSubjects(db: Database, context: Context, at: number, event: number): void {
  const ids = subjectIds(db, context);
  if (ids.size === 0) return;
  const customer = ids.get(`customer ${context.customer_uuid}`) ?? null;
  const project = ids.get(`project ${context.project_uuid}`) ?? null;
  const values: Value[] = [];
  for (const id of ids.values()) values.push(id, at, event, customer, project);
  db.run(new Sql(enter(ids.size), values));
}

/** Removes an event from under the objects that its context names. */
export function removeSubjects(db: Database, context: Context, at: number, event: number): void {
  const ids = [...subjectIds(db, context).values()];
  if (ids.length > 0) db.run(sql`DELETE FROM event_about WHERE ${among('subject_id', ids)} AND at = ${at} AND event_id = ${event}`);
}

/** Ids of the subjects that a context names, by kind and uuid; unknown ones are created. */
function subjectIds(db: Database, context: Context): Map<string, number> {
  const named = new Map<string, readonly [SubjectKind, string]>();
  for (const key in subjectKeys) {
    const uuid = context[key];
    if (!uuid) continue;
    const kind = subjectKeys[key as keyof typeof subjectKeys];
    named.set(`${kind} ${uuid}`, [kind, uuid]);
  }
  const ids = new Map<string, number>();
  if (named.size === 0) return ids;
  for (const { id, kind, uuid } of db.all<{ id: number; kind: string; uuid: string }>(new Sql(find(named.size), [...named.values()].flat()))) ids.set(`${kind} ${uuid}`, id);
  for (const [name, [kind, uuid]] of named) {
    if (!ids.has(name)) ids.set(name, db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES (${kind}, ${uuid})`).id);
  }
  return ids;
}
