import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';

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

/** Ids of the subjects that a context names, each once; unknown ones are created. */
export function subjectsOf(db: Database, context: Readonly<Record<string, string>>): number[] {
  const ids = new Set<number>();
  for (const key in subjectKeys) {
    const uuid = context[key];
    if (uuid) ids.add(subject(db, subjectKeys[key as keyof typeof subjectKeys], uuid));
  }
  return [...ids];
}

function subject(db: Database, kind: SubjectKind, uuid: string): number {
  return (
    db.value<number>(sql`SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid}`) ??
    db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES (${kind}, ${uuid})`).id
  );
}
