import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import { selfChecks } from '../../kernel/verification.ts';
import type { EventContext } from '../scopes/scope.ts';
import { catalogue, type EventTypeName, type Level, messageOf } from './catalogue.ts';
import { enterSubjects } from './subjects.ts';

/** A recorded event, passed to reactions in the same transaction. */
export interface RecordedEvent {
  readonly id: number;
  readonly type: EventTypeName;
  readonly context: Readonly<Record<string, string>>;
  /** Ids of users who could see what the event is about before the change that caused it. */
  readonly extraRecipients: readonly number[];
}

declare module '../../kernel/access/reactions.ts' {
  interface Reactions {
    readonly eventRecorded: (context: Context, event: RecordedEvent) => void;
  }
}

interface Details {
  /** Lists the changed fields; appended to the message. */
  readonly changes?: string;
  /** Values for the message that are not stored in the context. */
  readonly inMessage?: Readonly<Record<string, string>>;
  /** Replaces the message of the catalogue. */
  readonly message?: string;
  readonly level?: Level;
  /** Ids of users who could see the object before the change and may not see it afterwards. */
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
  if (selfChecks.eventContexts) requireDeclaredKeys(type, stored);
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
  enterSubjects(db, stored, context.now, id);
  context.app.reactions.eventRecorded(context, { id, type, context: stored, extraRecipients });
}

/** Throws when a context lacks a required key of its type or has a key that the type does not declare. */
function requireDeclaredKeys(type: EventTypeName, stored: Readonly<Record<string, string>>): void {
  const { optional, required } = catalogue[type].context;
  const missing = required.filter((key) => stored[key] === undefined);
  const extra = Object.keys(stored).filter((key) => !required.includes(key) && !optional.includes(key));
  if (missing.length + extra.length > 0)
    throw new Error(`the context of ${type} lacks [${missing}] and has undeclared keys [${extra}]`);
}

/** REQ: the client's address and the actor; nothing for timers. */
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
