/** What events are about, by number. See src/decisions/remembered-subjects.md. */
import type { Database } from '../../kernel/db/database.ts';
import { among, Sql, sql, type Value } from '../../kernel/db/sql.ts';
import { present } from '../../kernel/present.ts';

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

const kindsByKey = Object.entries(subjectKeys);

type Context = Readonly<Record<string, string>>;

/** A statement for each number of rows, so that its text is the same every time. */
const entering: string[] = [];
const enter = (rows: number): string =>
  (entering[rows] ??=
    `INSERT INTO event_about (subject_id, at, event_id, customer, project) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`);

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
  if (ids.length > 0)
    db.run(sql`
      DELETE FROM event_about
      WHERE ${among('subject_id', ids)} AND at = ${at} AND event_id = ${event}`);
}

/** Removes an event from under whatever it is found under; looks at all that is there. */
export function removeFromAll(db: Database, at: number, event: number): void {
  db.run(sql`DELETE FROM event_about WHERE at = ${at} AND event_id = ${event}`);
}

/** Ids of the subjects that a context names, by kind and uuid; unknown ones are created. */
function subjectIds(db: Database, context: Context): Map<string, number> {
  const known = knownIds(db);
  const ids = new Map<string, number>();
  for (const [key, kind] of kindsByKey) {
    const uuid = context[key];
    if (!uuid) continue;
    const name = `${kind} ${uuid}`;
    let id = known.get(name);
    if (id === undefined) {
      id = idOf(db, kind, uuid);
      known.set(name, id);
    }
    ids.set(name, id);
  }
  return ids;
}

/** Most are of new objects: of others the id is remembered as a rule. */
function idOf(db: Database, kind: SubjectKind, uuid: string): number {
  const entered = db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES (${kind}, ${uuid}) ON CONFLICT DO NOTHING`);
  if (entered.changes > 0) return entered.id;
  return present(db.value<number>(sql`SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid}`));
}

const kept = new WeakMap<Database, { readonly ids: Map<string, number>; readonly asOf: number }>();
const keptAtMost = 20_000;

/** Ids by kind and uuid, to be added to: they stay what they are, but for rows that were never committed or that others removed. */
function knownIds(db: Database): Map<string, number> {
  const known = kept.get(db);
  if (known && known.asOf === db.rollbackCount && known.ids.size <= keptAtMost) return known.ids;
  const ids = new Map<string, number>();
  kept.set(db, { ids, asOf: db.rollbackCount });
  return ids;
}
