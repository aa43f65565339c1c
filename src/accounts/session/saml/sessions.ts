import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { isLiveToken } from '../../../kernel/security/tokens.ts';
import { endSignOn, type ProviderSession } from '../sso/sign-on.ts';
import type { Browser } from './requests.ts';

/** The subject of an assertion, as the identity provider names it. */
export interface Subject {
  readonly nameId: string | null;
  readonly nameIdFormat: string | null;
  readonly nameQualifier: string | null;
  readonly spNameQualifier: string | null;
  readonly sessionIndex: string | null;
}

/** A login at an identity provider, with its token. */
interface Session extends Subject {
  readonly id: number;
  readonly token: number;
  readonly entityId: string;
}

const columns = sql`
  id, token_id AS token, entity_id AS entityId, name_id AS nameId, name_id_format AS nameIdFormat,
  name_qualifier AS nameQualifier, sp_name_qualifier AS spNameQualifier, session_index AS sessionIndex`;

/** The login of a browser at an identity provider. */
export interface SamlSession extends ProviderSession, Subject {
  readonly method: 'saml';
  readonly entityId: string;
}

/** Returns the login of a browser at an identity provider. */
export const samlSession = (browser: Browser, entityId: string, subject: Subject): SamlSession => ({
  method: 'saml',
  browser: browser.toString('hex'),
  entityId,
  nameId: subject.nameId,
  nameIdFormat: subject.nameIdFormat,
  nameQualifier: subject.nameQualifier,
  spNameQualifier: subject.spNameQualifier,
  sessionIndex: subject.sessionIndex,
});

/** Stores the login of a token. */
export function openSamlSession({ app: { db } }: Context, token: number, session: SamlSession): void {
  const { browser, entityId, ...subject } = session;
  db.insert('saml_session', {
    token_id: token,
    browser: Buffer.from(browser, 'hex'),
    entity_id: entityId,
    name_id: subject.nameId,
    name_id_format: subject.nameIdFormat,
    name_qualifier: subject.nameQualifier,
    sp_name_qualifier: subject.spNameQualifier,
    session_index: subject.sessionIndex,
  });
}

/** Returns the latest session of a browser with a valid token. */
export function liveSession(context: Context, browser: Browser | undefined): Session | undefined {
  if (!browser) return undefined;
  const sessions = context.app.db.all<Session>(
    sql`SELECT ${columns} FROM saml_session WHERE browser = ${browser} ORDER BY id DESC`,
  );
  return sessions.find(({ token }) => isLiveToken(context, token));
}

/** Returns the sessions of a subject, limited to session indexes if there are any. */
export const sessionsOf = (
  { app: { db } }: Context,
  entityId: string,
  nameId: string,
  indexes: readonly string[],
): Session[] =>
  db.all<Session>(sql`
    SELECT ${columns} FROM saml_session
    WHERE entity_id = ${entityId} AND name_id = ${nameId}
    AND (${indexes.length} = 0 OR session_index IN (SELECT value FROM json_each(${JSON.stringify(indexes)})))
    ORDER BY id`);

/** Whether a session that is not stored yet is one of these, by the same rules. */
export const isOfSubject = (
  session: SamlSession,
  entityId: string,
  nameId: string,
  indexes: readonly string[],
): boolean =>
  session.entityId === entityId &&
  session.nameId === nameId &&
  (indexes.length === 0 || indexes.includes(session.sessionIndex ?? ''));

/** Revokes the token of a session unless the session has ended. */
export function endSession(request: Request, session: number): void {
  const token = request.db.value<number>(sql`SELECT token_id FROM saml_session WHERE id = ${session}`);
  if (token !== undefined) endSignOn(request, token);
}
