import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import type { EventContext } from '../scopes/scope.ts';
import { catalogue, type EventTypeName, type Level, messageOf } from './catalogue.ts';
import { enterSubjects } from './subjects.ts';

/** An event that has just been recorded. */
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

interface Particulars {
  /** Appended to the message: what was changed. */
  readonly changes?: string;
  /** What the message alone needs: it does not stay in the context. */
  readonly inMessage?: Readonly<Record<string, string>>;
  /** The whole message, for types whose message is not made from the context. */
  readonly message?: string;
  readonly level?: Level;
  /** Ids of users who saw the object before the change, where they may not see it afterwards. */
  readonly witnesses?: readonly number[];
}

/**
 * Records an event in the transaction of the change that causes it, and announces it. The context is what
 * the request knows (client address and actor) with `details` laid over it. The index of words follows later (search.ts).
 */
export function record(
  context: Context,
  type: EventTypeName,
  details: EventContext,
  particulars: Particulars = {},
): void {
  const { db } = context.app;
  const kept = requestContext(context);
  add(kept, details);
  const { changes = '', inMessage, message: given } = particulars;
  const message = (given ?? messageOf(type, inMessage ? { ...kept, ...inMessage } : kept)) + changes;
  const level = particulars.level ?? catalogue[type].level;
  const uuid = newUuid(context.app);
  const actor = kept.user_username === undefined ? null : caseFold(kept.user_username);
  const { id } = db.run(sql`
    INSERT INTO event (uuid, at, type, level, message, context, actor, resource_type)
    VALUES (
      ${uuid}, ${context.now}, ${type}, ${level}, ${message}, ${JSON.stringify(kept)}, ${actor},
      ${kept.resource_type ?? null})`);
  enterSubjects(db, kept, context.now, id);
  context.app.reactions.eventRecorded(context, {
    id,
    type,
    context: kept,
    extraRecipients: particulars.witnesses ?? [],
  });
}

/** REQ: the client's address and the actor; nothing for timers. */
function requestContext({ actor, address }: Context): Record<string, string> {
  const kept: Record<string, string> = {};
  if (address !== null) kept.ip_address = address;
  if (actor) {
    kept.user_uuid = actor.uuid;
    kept.user_username = actor.username;
    kept.user_full_name = actor.fullName;
    kept.user_native_name = actor.nativeName;
  }
  return kept;
}

/** Lays values over those that are kept, as strings; null and undefined leave their key out. */
function add(kept: Record<string, string>, values: EventContext): void {
  for (const key in values) {
    const value = values[key];
    if (value === null || value === undefined) delete kept[key];
    else kept[key] = String(value);
  }
}
