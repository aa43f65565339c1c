/** The objects that events are about, as small integers that the index uses instead of uuids. */
import type { Database } from '../../kernel/db/database.ts';
import { among, Sql, sql, type Value } from '../../kernel/db/sql.ts';
import { namesOf } from '../../kernel/names.ts';

/** Context keys with the uuid of an object an event is about, and the kind of object. */
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

const keys = namesOf(subjectKeys);

type Context = Readonly<Record<string, string>>;

/** One statement text for each number of rows, so that prepared statements are reused. */
const insertions: string[] = [];
const insertionOf = (rows: number): string =>
  (insertions[rows] ??=
    `INSERT INTO event_about (subject_id, at, event_id, customer, project) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`);

/** Indexes an event under every object that its context names. */
export function enterSubjects(db: Database, context: Context, at: number, event: number): void {
  const ids = subjectIds(db, context);
  const customer = ids.customer_uuid ?? null;
  const project = ids.project_uuid ?? null;
  const subjects = distinct(ids);
  if (subjects.length === 0) return;
  const values: Value[] = [];
  for (const id of subjects) values.push(id, at, event, customer, project);
  db.run(new Sql(insertionOf(subjects.length), values));
}

/** Removes an event from the index of the objects that its context names. */
export function removeSubjects(db: Database, context: Context, at: number, event: number): void {
  const ids = distinct(subjectIds(db, context));
  if (ids.length > 0)
    db.run(sql`
      DELETE FROM event_about
      WHERE ${among('subject_id', ids)} AND at = ${at} AND event_id = ${event}`);
}

/** Removes an event from the index of all objects. Scans the whole index. */
export function removeFromAll(db: Database, at: number, event: number): void {
  db.run(sql`DELETE FROM event_about WHERE at = ${at} AND event_id = ${event}`);
}

type Ids = Partial<Record<keyof typeof subjectKeys, number>>;

/** Removes duplicates: the actor may also be the affected user. */
const distinct = (ids: Ids): number[] => [...new Set(Object.values(ids))];

/** Returns the ids of the subjects that a context names, by its keys; creates missing ones. */
function subjectIds(db: Database, context: Context): Ids {
  const ids: Ids = {};
  for (const key of keys) {
    const uuid = context[key];
    if (uuid) ids[key] = idOf(db, subjectKeys[key], uuid);
  }
  return ids;
}

function idOf(db: Database, kind: SubjectKind, uuid: string): number {
  const known = db.value<number>(sql`SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid}`);
  return known ?? db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES (${kind}, ${uuid})`).id;
}
