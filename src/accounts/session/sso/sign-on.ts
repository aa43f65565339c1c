/** Completes logins at identity providers, and ends their sessions (services.md 11). */
import { affectedUser, userContext } from '../../../activity/events/context.ts';
import { record } from '../../../activity/events/record.ts';
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { createToken, isLiveToken, loginBy, revokeToken } from '../../../kernel/security/tokens.ts';
import type { UserRow } from '../../users/users.ts';
import { hasFactor } from '../factors/factor-store.ts';
import { beginPendingLogin } from '../factors/pending-logins.ts';

/** A session at an identity provider. It is stored as JSON while its login requires a second factor. */
export interface ProviderSession {
  readonly method: 'saml' | 'oidc';
  /** Hexadecimal SHA-256 of the browser's cookie. */
  readonly browser: string;
}

/** A login confirmed by an identity provider. */
interface SignOn<S extends ProviderSession> {
  readonly user: UserRow;
  readonly session: S;
  /** The method in the URL of the completion page. */
  readonly shown: string;
  /** The path in the web client for `{next}`. */
  readonly next?: string | undefined;
  /** Stores the session at the identity provider with the id of its token. */
  readonly open: (context: Context, token: number, session: S) => void;
}

/**
 * Creates the token of a login, records its event, and redirects the browser to the completion page, or to the page for the
 * second factor. Must run inside a write.
 */
export function signOn<S extends ProviderSession>(
  request: Request,
  { next = '', open, session, shown, user }: SignOn<S>,
): Reply {
  const { config, db } = request;
  const isPending = config.second_factor_for_sso && hasFactor(db, user.id);
  const token = isPending
    ? beginPendingLogin(request, user.id, session.method, JSON.stringify(session)).token
    : issueSignOn(request, user, session, open, !hasFactor(db, user.id));
  const page = present(isPending ? config.login_second_factor_url : config.login_completed_url);
  const values = { token, method: shown, next: encodeURIComponent(next) };
  return redirect(page.replace(/\{(token|method|next)\}/g, (_, place: keyof typeof values) => values[place]));
}

/** Creates the token of a login at an identity provider and stores its session there. Records the event of a new token. */
export function issueSignOn<S extends ProviderSession>(
  request: Request,
  user: UserRow,
  session: S,
  open: SignOn<S>['open'],
  confirms: boolean,
): string {
  const token = createToken(request, user.id, { ...loginBy(session.method, request.incoming), confirms });
  record(request, 'token_created', { ...userContext(user), ...affectedUser(user) });
  open(request, token.id, session);
  return token.text;
}

/** Revokes the token of a session at an identity provider. Returns false if it has already ended. */
export function endSignOn(request: Request, token: number): boolean {
  if (!isLiveToken(request, token)) return false;
  revokeToken(request, token);
  const user = request.db.one<UserRow>(
    sql`SELECT u.* FROM user u JOIN token t ON t.user_id = u.id WHERE t.id = ${token}`,
  );
  record(request, 'auth_logged_out', userContext(user));
  return true;
}
