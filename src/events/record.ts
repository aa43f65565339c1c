import { type Context, newUuid } from '../access/deployment.ts';
import { type EventTypeName, catalogue, messageOf } from './catalogue.ts';
import type { EventContext } from './context.ts';

/**
 * Records an event in the transaction of the change that causes it. The context is what the request knows (client address
 * and actor) with `details` laid over it; `changes` is appended to the message.
 */
export function record(context: Context, type: EventTypeName, details: EventContext, changes = ''): void {
  const { db } = context.deployment;
  const values = asStrings({ ...requestContext(context), ...details });
  // What the message alone needs does not stay in the context.
  const { structure_name: _, ...kept } = values;
  db.insert('event', {
    uuid: newUuid(context.deployment),
    at: context.now,
    type,
    level: catalogue[type].level,
    message: messageOf(type, values) + changes,
    context: JSON.stringify(kept),
  });
}

/** REQ: the client's address and the actor; nothing for timers. */
function requestContext(context: Context): EventContext {
  const { actor } = context;
  return {
    ip_address: context.address,
    ...(actor && {
      user_uuid: actor.uuid,
      user_username: actor.username,
      user_full_name: actor.fullName,
      user_native_name: actor.nativeName,
    }),
  };
}

function asStrings(values: EventContext): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const key in values) {
    const value = values[key];
    if (value !== null && value !== undefined) texts[key] = String(value);
  }
  return texts;
}
