import type { Context } from '../../../kernel/access/context.ts';
import { newUuid } from '../../../kernel/app.ts';
import { minute } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { isLiveToken } from '../../../kernel/security/tokens.ts';
import type { Browser } from '../sso/browser.ts';
import type { ProviderSession } from '../sso/sign-on.ts';
import type { ProviderLogin } from './exchange.ts';
import type { OidcProvider } from './provider-file.ts';

/** The login of a browser at a provider. */
export interface OidcSession extends ProviderSession {
  readonly method: 'oidc';
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Id of the session at the provider; null if it sent none. */
  readonly sid: string | null;
  readonly idToken: string;
}

/** Returns the login of a browser at a provider. */
export const oidcSession = (
  browser: Browser,
  { issuer, name }: OidcProvider,
  { idToken, sid, subject }: ProviderLogin,
): OidcSession => ({
  method: 'oidc',
  browser: browser.toString('hex'),
  provider: name,
  issuer,
  subject,
  sid: sid ?? null,
  idToken,
});

/** Stores the login of a token. Encrypts the ID token, which a logout returns to the provider. */
export function openOidcSession({ app }: Context, token: number, session: OidcSession): void {
  const { browser, idToken, issuer, provider, sid, subject } = session;
  const uuid = newUuid(app);
  app.db.insert('oidc_session', {
    uuid,
    token_id: token,
    browser: Buffer.from(browser, 'hex'),
    provider,
    issuer,
    subject,
    sid,
    id_token: app.secrets.seal(idToken, uuid),
  });
}

/** A login at a provider, with its token. */
interface StoredSession {
  readonly token: number;
  readonly idToken: string;
}

/** How long a logout can still find a session with a revoked token. */
const foundAfterEnd = minute;

/**
 * Returns the latest session of a browser at this provider with a valid token. With `isRevoked`, prefers the session whose token
 * was last revoked, within the last minute.
 */
export function sessionToEnd(
  context: Context,
  browser: Browser | undefined,
  { issuer, name }: OidcProvider,
  isRevoked: boolean,
): StoredSession | undefined {
  if (!browser) return undefined;
  const { db, secrets } = context.app;
  const row = db
    .all<{ uuid: string; token: number; sealed: Uint8Array; revoked: number | null }>(sql`
      SELECT s.uuid, s.token_id AS token, s.id_token AS sealed, t.revoked
      FROM oidc_session s JOIN token t ON t.id = s.token_id
      WHERE s.browser = ${browser} AND s.issuer = ${issuer} AND s.provider = ${name}
      ORDER BY t.revoked DESC, s.id DESC`)
    .find(({ revoked, token }) =>
      revoked === null ? isLiveToken(context, token) : isRevoked && revoked > context.now - foundAfterEnd,
    );
  return row && { token: row.token, idToken: secrets.open(row.sealed, row.uuid) };
}

/** The sessions that a provider has ended: those with this `sid` or, without one, of this subject. */
interface EndedSessions {
  readonly sid: string | undefined;
  readonly subject: string | undefined;
}

/**
 * Returns the tokens of these sessions at a provider. A session without `sid` matches by its subject.
 */
export const tokensOf = (
  { app: { db } }: Context,
  { issuer, name }: OidcProvider,
  { sid, subject }: EndedSessions,
): number[] =>
  db.values<number>(sql`
    SELECT token_id FROM oidc_session
    WHERE issuer = ${issuer} AND provider = ${name} AND subject = ifnull(${subject ?? null}, subject)
      AND ifnull(sid = ${sid ?? null}, ${subject ?? null} IS NOT NULL)
    ORDER BY id`);

/** Whether a session that is not stored yet is one of these, by the same rules. */
export const isEnded = (
  session: OidcSession,
  { issuer, name }: OidcProvider,
  { sid, subject }: EndedSessions,
): boolean =>
  session.issuer === issuer &&
  session.provider === name &&
  (subject === undefined || session.subject === subject) &&
  (sid === undefined || session.sid === null ? subject !== undefined : session.sid === sid);

/** Removes a session after its logout at the provider, so that no other logout finds it. */
export const forgetSession = ({ app: { db } }: Context, { token }: StoredSession): void =>
  void db.run(sql`DELETE FROM oidc_session WHERE token_id = ${token}`);
