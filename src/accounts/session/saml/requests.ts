import type { Context } from '../../../kernel/access/context.ts';
import { minute } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { removeStep } from '../../../kernel/db/removal.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { StoredInstants } from '../../../kernel/stored-instants.ts';
import type { Browser } from './browser.ts';

/** How long an identity provider may take, with all that its user does there. */
const requestLifetime = 10 * minute;

/** A message that an identity provider has not answered yet. */
export interface PendingRequest {
  readonly id: string;
  readonly entityId: string;
  /** The session to end; null: a login. */
  readonly session: number | null;
}

/** Remembers a message that is sent to an identity provider by way of a browser. */
export function storeRequest(
  { app: { db }, now }: Context,
  browser: Browser,
  { entityId, id, session }: PendingRequest,
): void {
  db.insert('saml_request', {
    request_id: id,
    browser,
    entity_id: entityId,
    session_id: session,
    expires: now + requestLifetime,
  });
}

/** How long a message of an identity provider could be taken again is said by the provider: those instants stay. */
export const requestInstants: StoredInstants = { table: 'saml_request', column: 'expires', ahead: requestLifetime };

/** The message of this browser that waits for an answer under this ID. */
export const findRequest = (
  db: Database,
  browser: Browser | undefined,
  id: string | undefined,
  now: number,
): PendingRequest | undefined =>
  browser && id !== undefined
    ? db.get<PendingRequest>(sql`
        SELECT request_id AS id, entity_id AS entityId, session_id AS session FROM saml_request
        WHERE request_id = ${id} AND browser = ${browser} AND expires > ${now}`)
    : undefined;

/** Uses a message up; answers whether it was there to be used. */
export const takeRequest = (db: Database, id: string): boolean =>
  db.run(sql`DELETE FROM saml_request WHERE request_id = ${id}`).changes > 0;

/** Notes that a message of an identity provider was taken, until it could not be taken again anyway; false: it was before. */
export const useOnce = (db: Database, entityId: string, id: string, expires: number): boolean =>
  db.run(sql`
    INSERT INTO saml_used_message (entity_id, message_id, expires)
    VALUES (${entityId}, ${id}, ${expires})
    ON CONFLICT DO NOTHING`).changes > 0;

/** Removes what nobody will ask for again, a bounded number at a time. Answers whether it was that many. */
export function removeOldMessages({ app: { db }, now }: Context): boolean {
  return removeStep((limit) => {
    const requests = db.run(sql`
      DELETE FROM saml_request WHERE request_id IN (
        SELECT request_id FROM saml_request WHERE expires <= ${now} ORDER BY expires LIMIT ${limit}
      )`).changes;
    const used = db.run(sql`
      DELETE FROM saml_used_message WHERE (entity_id, message_id) IN (
        SELECT entity_id, message_id FROM saml_used_message WHERE expires <= ${now} ORDER BY expires LIMIT ${limit}
      )`).changes;
    return Math.max(requests, used);
  });
}
