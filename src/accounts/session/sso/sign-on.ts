/** What follows a successful login at an identity provider, and the end of its session (services.md 11). */
import { affectedUser, userContext } from '../../../activity/events/context.ts';
import { record } from '../../../activity/events/record.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { createToken, isLiveToken, loginBy, revokeToken } from '../../../kernel/security/tokens.ts';
import type { UserRow } from '../../users/users.ts';
import { hasFactor } from '../factors/factor-store.ts';

/** A login that an identity provider has confirmed. */
interface SignOn {
  readonly user: UserRow;
  readonly method: 'saml' | 'oidc';
  /** The method in the address of the completion page. */
  readonly shown: string;
  /** The path in the web client to continue at, for `{next}`. */
  readonly next?: string | undefined;
  /** Stores the session at the identity provider with the id of its token. */
  readonly open: (token: number) => void;
}

/** Creates the token of a login, records its event, and sends the browser to the completion page. Must run inside a write. */
export function signOn(request: Request, { method, next = '', open, shown, user }: SignOn): Reply {
  const login = { ...loginBy(method, request.incoming), confirms: !hasFactor(request.db, user.id) };
  const token = createToken(request, user.id, login);
  record(request, 'token_created', { ...userContext(user), ...affectedUser(user) });
  open(token.id);
  const page = present(request.config.login_completed_url);
  const values = { token: token.text, method: shown, next: encodeURIComponent(next) };
  return redirect(page.replace(/\{(token|method|next)\}/g, (_, place: keyof typeof values) => values[place]));
}

/** Revokes the token of a session at an identity provider, unless it has ended. Returns whether it did. */
export function endSignOn(request: Request, token: number): boolean {
  if (!isLiveToken(request, token)) return false;
  revokeToken(request, token);
  const user = request.db.one<UserRow>(
    sql`SELECT u.* FROM user u JOIN token t ON t.user_id = u.id WHERE t.id = ${token}`,
  );
  record(request, 'auth_logged_out', userContext(user));
  return true;
}
