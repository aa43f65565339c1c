import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { among, caseFold, Sql, sql, type Value } from '../../kernel/db/sql.ts';
import { namesOf } from '../../kernel/present.ts';
import { selfChecks } from '../../kernel/verification.ts';
import type { EventContext } from '../scopes/scope.ts';
import { catalogue, type EventTypeName, type Level, messageOf } from './catalogue.ts';
import { requireDeclaredKeys } from './context.ts';

/** The stored context of an event. */
type StoredContext = Readonly<Record<string, string>>;

/** A recorded event, passed to reactions in the same transaction. */
export interface RecordedEvent {
  readonly id: number;
  readonly type: EventTypeName;
  readonly context: StoredContext;
  /** Ids of users who could see the object before the change. */
  readonly extraRecipients: readonly number[];
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    readonly eventRecorded: (context: Context, event: RecordedEvent) => void;
  }
}

interface Details {
  /** The changed fields, appended to the message. */
  readonly changes?: string;
  /** Message values that are not stored in the context. */
  readonly inMessage?: Readonly<Record<string, string>>;
  /** Replaces the message of the catalogue. */
  readonly message?: string;
  readonly level?: Level;
  /** Ids of users who could see the object before the change and may lose access. */
  readonly extraRecipients?: readonly number[];
}

/**
 * Records an event in the transaction of the change that causes it, and runs the reactions. `values` override the context of
 * the request (client address and actor). The search index is updated later (search.ts).
 */
export function record(context: Context, type: EventTypeName, values: EventContext, details: Details = {}): void {
  const { db } = context.app;
  const stored = requestContext(context);
  assign(stored, values);
  if (selfChecks.eventContexts) requireDeclaredKeys(type, catalogue[type].context, stored);
  const { changes = '', extraRecipients = [], inMessage } = details;
  const message = (details.message ?? messageOf(type, inMessage ? { ...stored, ...inMessage } : stored)) + changes;
  const level = details.level ?? catalogue[type].level;
  const uuid = newUuid(context.app);
  const actor = stored.user_username === undefined ? null : caseFold(stored.user_username);
  const { id } = db.run(sql`
    INSERT INTO event (uuid, at, type, level, message, context, actor, resource_type)
    VALUES (
      ${uuid}, ${context.now}, ${type}, ${level}, ${message}, ${JSON.stringify(stored)}, ${actor},
      ${stored.resource_type ?? null})`);
  indexSubjects(db, stored, context.now, id);
  context.app.reactions.eventRecorded(context, { id, type, context: stored, extraRecipients });
}

/** Returns the context keys of the client's address and the actor (events.md 4.1), none for timers. */
function requestContext({ actor, address }: Context): Record<string, string> {
  const result: Record<string, string> = {};
  if (address !== null) result.ip_address = address;
  if (actor) {
    result.user_uuid = actor.uuid;
    result.user_username = actor.username;
    result.user_full_name = actor.fullName;
    result.user_native_name = actor.nativeName;
  }
  return result;
}

/** Copies values to the target as strings; null and undefined remove their key. */
function assign(target: Record<string, string>, values: EventContext): void {
  for (const key in values) {
    const value = values[key];
    if (value === null || value === undefined) delete target[key];
    else target[key] = String(value);
  }
}

// The objects of events have small integers, which the index uses instead of uuids.

/** Context keys with the uuid of an event's object, and the kind of object. */
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

const subjectKeyNames = namesOf(subjectKeys);

/** One statement text for each number of rows, so that prepared statements are reused. */
const insertions: string[] = [];
const insertionOf = (rows: number): string =>
  (insertions[rows] ??=
    `INSERT INTO event_about (subject_id, at, event_id, customer, project) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`);

/** Indexes an event under every object that its context names. */
function indexSubjects(db: App['db'], context: StoredContext, at: number, event: number): void {
  const ids = subjectIds(db, context);
  const customer = ids.customer_uuid ?? null;
  const project = ids.project_uuid ?? null;
  const named = distinct(ids);
  if (named.length === 0) return;
  const values: Value[] = [];
  for (const id of named) values.push(id, at, event, customer, project);
  db.run(new Sql(insertionOf(named.length), values));
}

/** Removes an event from the index of the objects that its context names. */
export function removeSubjects(db: App['db'], context: StoredContext, at: number, event: number): void {
  const ids = distinct(subjectIds(db, context));
  if (ids.length > 0)
    db.run(sql`
      DELETE FROM event_about
      WHERE ${among('subject_id', ids)} AND at = ${at} AND event_id = ${event}`);
}

/** Removes an event from the index of all objects. Scans the whole index. */
export function removeFromAll(db: App['db'], at: number, event: number): void {
  db.run(sql`DELETE FROM event_about WHERE at = ${at} AND event_id = ${event}`);
}

type Ids = Partial<Record<keyof typeof subjectKeys, number>>;

/** Removes duplicate ids, because the actor may also be the affected user. */
const distinct = (ids: Ids): number[] => [...new Set(Object.values(ids))];

/** Returns the subject ids of a context by key. Creates missing ones. */
function subjectIds(db: App['db'], context: StoredContext): Ids {
  const known = knownSubjects(db);
  const ids: Ids = {};
  for (const key of subjectKeyNames) {
    const uuid = context[key];
    if (!uuid) continue;
    const subject = `${subjectKeys[key]} ${uuid}`;
    const id = known.get(subject) ?? idOf(db, subjectKeys[key], uuid);
    if (known.size >= maxKnownSubjects) known.clear();
    known.set(subject, id);
    ids[key] = id;
  }
  return ids;
}

const maxKnownSubjects = 10_000;

/** The subject ids of each database, which never change. A rollback can undo the creation of a subject; it starts a generation. */
const subjects = new WeakMap<App['db'], { readonly generation: number; readonly ids: Map<string, number> }>();

function knownSubjects(db: App['db']): Map<string, number> {
  const { generation } = db.versions;
  const known = subjects.get(db);
  if (known?.generation === generation) return known.ids;
  const ids = new Map<string, number>();
  subjects.set(db, { generation, ids });
  return ids;
}

function idOf(db: App['db'], kind: SubjectKind, uuid: string): number {
  const known = db.value<number>(sql`SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid}`);
  return known ?? db.run(sql`INSERT INTO event_subject (kind, uuid) VALUES (${kind}, ${uuid})`).id;
}
