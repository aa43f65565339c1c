import { createHmac, hash } from 'node:crypto';
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { expiringRows } from '../../../kernel/security/expiring-rows.ts';
import { type Browser, type BrowserCookie, browserWith, cookieOf, recognize } from '../sso/browser.ts';

/** How long a login at a provider may take, including the user's input there. */
const requestLifetime = 10 * minute;

/** The provider returns the browser by a link, with which browsers send Lax cookies. */
const cookie: BrowserCookie = {
  name: 'oidc',
  isPosted: false,
  known: (browser) =>
    sql`SELECT 1 FROM oidc_request WHERE browser = ${browser} UNION SELECT 1 FROM oidc_session WHERE browser = ${browser}`,
};

/** Returns the browser of a request, with a new cookie if it has no known one. */
export const recognizeBrowser = (request: Request): ReturnType<typeof recognize> => recognize(request, cookie);

/** Returns the browser of a request, identified by its cookie. */
export function browserOf(request: Request): Browser | undefined {
  const secret = cookieOf(request, cookie);
  return secret === undefined ? undefined : browserWith(secret);
}

/** The secrets of a login. Nonce and verifier derive from the cookie, so access to the database cannot complete a login. */
interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Returns the secrets of the login with this state in the browser with this cookie. */
export function secretsOf(cookieValue: string, state: string): LoginSecrets {
  const derive = (purpose: string): string =>
    createHmac('sha256', Buffer.from(cookieValue, 'hex')).update(`${purpose}:${state}`).digest('base64url');
  return { state, nonce: derive('nonce'), verifier: derive('verifier') };
}

/** A login at a provider that has not responded yet. */
export interface PendingLogin {
  /** SHA-256 of the state. */
  readonly digest: Buffer;
  readonly provider: string;
  readonly issuer: string;
  readonly next: string;
  readonly secrets: LoginSecrets;
}

const digestOf = (state: string): Buffer => hash('sha256', state, 'buffer');

/** Stores a pending login before redirecting the browser to the provider. */
export function storeLogin(
  { app: { db }, now }: Context,
  browser: Browser,
  { issuer, next, provider, secrets }: Omit<PendingLogin, 'digest'>,
): void {
  db.insert('oidc_request', {
    state_digest: digestOf(secrets.state),
    browser,
    provider,
    issuer,
    next,
    expires: now + requestLifetime,
  });
}

export const expiringRequests = expiringRows('oidc_request', requestLifetime, 'state_digest');

/** Returns the pending login of this browser with this state. */
export function findLogin(request: Request, state: string | undefined): PendingLogin | undefined {
  const value = cookieOf(request, cookie);
  if (value === undefined || state === undefined) return undefined;
  const row = request.db.get<Omit<PendingLogin, 'secrets'>>(sql`
    SELECT state_digest AS digest, provider, issuer, next FROM oidc_request
    WHERE state_digest = ${digestOf(state)} AND browser = ${browserWith(value)} AND expires > ${request.now}`);
  return row && { ...row, secrets: secretsOf(value, state) };
}

/** Deletes a pending login. Returns whether it existed. */
export const takeLogin = (db: Database, { digest }: PendingLogin): boolean =>
  db.run(sql`DELETE FROM oidc_request WHERE state_digest = ${digest}`).changes > 0;
