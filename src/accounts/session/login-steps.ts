/** The last steps of every login with a password: the second factor, the token and the events (core.md 2.1, 2.11). */
import { affectedUser, userContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { caseFold } from '../../kernel/db/sql.ts';
import { HttpError, unauthenticated } from '../../kernel/http/error.ts';
import { isLoopback } from '../../kernel/net/destination.ts';
import { forgetFailures } from '../../kernel/security/lockout.ts';
import { issueToken, type LoginMethod, loginBy } from '../../kernel/security/tokens.ts';
import { actedBy, tokenShape, type UserRow } from '../users/users.ts';
import type { AuthenticationMethod } from './config.ts';
import { hasFactor } from './factors/factor-store.ts';
import { beginPendingLogin, type Challenge, challengeShape } from './factors/pending-logins.ts';

/** Throws 401 unless the setting authentication_methods enables the method. */
export function requireMethod({ config }: Request, method: AuthenticationMethod): void {
  if (config.authentication_methods.includes(method)) return;
  throw unauthenticated({
    detail: 'Authentication method is disabled. Please use another authentication method or contact staff.',
  });
}

/**
 * Returns the base URL of the service at identity providers: base_url or, without it, the request's if its host is this machine.
 * Any other Host header would make responses for that host valid here. Throws 400.
 */
export function serviceBase({ base, config }: Pick<Request, 'base' | 'config'>): string {
  if (config.base_url === null && !isLoopback(base)) {
    throw new HttpError(400, {
      detail: 'Single sign-on needs the setting base_url unless the service is addressed as localhost.',
    });
  }
  return base;
}

/** Completes a login with all factors: clears its failures, records the events of core.md 2.1 and returns a new token. */
export function completeLogin(request: Request, user: UserRow, method: LoginMethod): string {
  forgetFailures(request.db, caseFold(user.username), request.address);
  const token = issueToken(request, user.id, loginBy(method, request.incoming));
  record(request, 'token_created', { ...userContext(user), ...affectedUser(user) });
  record(request, 'auth_logged_in_with_username', userContext(user));
  return token;
}

/** The response to a new password: a token, or the challenge for the second factor. */
export const newPasswordShape: JsonSchema = { anyOf: [tokenShape, challengeShape] };

/** Returns that response for a user who has set their password. Records the event of a new token. */
export function loginAfterPassword(
  request: Request,
  user: UserRow,
): { readonly token: string } | { readonly second_factor: Challenge } {
  if (hasFactor(request.db, user.id)) return { second_factor: beginPendingLogin(request, user.id, 'password') };
  const token = issueToken(request, user.id, loginBy('password', request.incoming));
  record(actedBy(request, user), 'token_created', { ...userContext(user), ...affectedUser(user) });
  return { token };
}
