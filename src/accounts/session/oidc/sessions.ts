import type { Context } from '../../../kernel/access/context.ts';
import { newUuid } from '../../../kernel/app.ts';
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
  /** The session at the provider; null: it named none. */
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

/** Stores the login of a token. The ID token, which a logout returns to the provider, is encrypted. */
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
interface Session {
  readonly token: number;
  readonly idToken: string;
}

/** Returns the latest session of a browser at this provider whose token is still valid. */
export function liveSession(
  context: Context,
  browser: Browser | undefined,
  { issuer, name }: OidcProvider,
): Session | undefined {
  if (!browser) return undefined;
  const { db, secrets } = context.app;
  const row = db
    .all<{ uuid: string; token: number; sealed: Uint8Array }>(sql`
      SELECT uuid, token_id AS token, id_token AS sealed FROM oidc_session
      WHERE browser = ${browser} AND issuer = ${issuer} AND provider = ${name} ORDER BY id DESC`)
    .find(({ token }) => isLiveToken(context, token));
  return row && { token: row.token, idToken: secrets.open(row.sealed, row.uuid) };
}

/**
 * Returns the tokens of the sessions at a provider with this `sid`, or else of this subject. A session whose ID token had no `sid`
 * counts as one of its subject.
 */
export const tokensOf = (
  { app: { db } }: Context,
  { issuer, name }: OidcProvider,
  { sid, subject }: { readonly sid: string | undefined; readonly subject: string | undefined },
): number[] =>
  db.values<number>(sql`
    SELECT token_id FROM oidc_session
    WHERE issuer = ${issuer} AND provider = ${name} AND subject = ifnull(${subject ?? null}, subject)
      AND ifnull(sid = ${sid ?? null}, ${subject ?? null} IS NOT NULL)
    ORDER BY id`);
