import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { type Browser, type BrowserCookie, browserWith, cookieOf, recognize } from '../sso/browser.ts';

export type { Browser } from '../sso/browser.ts';

import type { Context } from '../../../kernel/access/context.ts';
import { minute } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { removeStep } from '../../../kernel/db/writer.ts';
import type { StoredInstants } from '../../../kernel/jobs/clock-watch.ts';

/** How long a login or logout at an identity provider may take, including the user's input there. */
const requestLifetime = 10 * minute;

/** The identity provider's page posts the response, so with http, both must share a site. */
const cookie: BrowserCookie = {
  name: 'saml2',
  isPosted: true,
  known: (browser) =>
    sql`SELECT 1 FROM saml_request WHERE browser = ${browser} UNION SELECT 1 FROM saml_session WHERE browser = ${browser}`,
};

/** Returns the browser of a request, identified by its cookie. */
export function browserOf(request: Request): Browser | undefined {
  const secret = cookieOf(request, cookie);
  return secret === undefined ? undefined : browserWith(secret);
}

/** Returns the browser of a request, and the header that sets a new cookie if the request has no known one. */
export const recognizeBrowser = (request: Request): ReturnType<typeof recognize> => recognize(request, cookie);

/** A request to an identity provider that has not responded yet. */
export interface PendingRequest {
  readonly id: string;
  readonly entityId: string;
  /** The session to end; null for a login. */
  readonly session: number | null;
}

/** Stores a pending request before redirecting the browser to the identity provider. */
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

/** Expiries of requests. Identity providers set the expiry in saml_used_message, so it is not corrected after a clock jump. */
export const requestInstants: StoredInstants = { table: 'saml_request', column: 'expires', ahead: requestLifetime };

/** Returns the pending request of this browser with this ID. */
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

/** Deletes a pending request. Returns whether it existed. */
export const takeRequest = (db: Database, id: string): boolean =>
  db.run(sql`DELETE FROM saml_request WHERE request_id = ${id}`).changes > 0;

/** Marks a message as used until it expires. Returns false if it was used before. */
export const useOnce = (db: Database, entityId: string, id: string, expires: number): boolean =>
  db.run(sql`
    INSERT INTO saml_used_message (entity_id, message_id, expires)
    VALUES (${entityId}, ${id}, ${expires})
    ON CONFLICT DO NOTHING`).changes > 0;

/** Removes a batch of expired requests and used messages. Returns whether a batch was full. */
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
