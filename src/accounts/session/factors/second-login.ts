/** The second step of a login: presenting the second factor (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields, type Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { caseFold, sql } from '../../../kernel/db/sql.ts';
import { unauthenticated } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { forgetFailures } from '../../../kernel/security/lockout.ts';
import type { LoginMethod } from '../../../kernel/security/tokens.ts';
import { lockedText } from '../../users/passwords.ts';
import { tokenShape, type UserRow } from '../../users/users.ts';
import type { AuthenticationMethod } from '../config.ts';
import { recordFailedLogin } from '../failed-logins.ts';
import { completeLogin, requireMethod } from '../login-steps.ts';
import { type OidcSession, openOidcSession } from '../oidc/sessions.ts';
import { openSamlSession, type SamlSession } from '../saml/sessions.ts';
import { issueSignOn } from '../sso/sign-on.ts';
import { hasFactor } from './factor-store.ts';
import { loginChallenge } from './passkey-challenges.ts';
import {
  challengeOf,
  challengeShape,
  countAttempt,
  endPendingLogin,
  findPendingLogin,
  type PendingLogin,
} from './pending-logins.ts';
import {
  factorFields,
  factorLockOf,
  type PreparedFactor,
  prepareFactor,
  presentedFactor,
  useFactor,
} from './presented.ts';

const exampleToken = '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b';

const tokenField = {
  token: text({
    max: 255,
    required: true,
    example: exampleToken,
    help: 'The token of the response that requires a second factor.',
  }),
};

const fields = { ...tokenField, ...factorFields };

/** Returns the pending login of a token, and its user. Throws 401. */
function pendingOf(request: Request, token: string): { login: PendingLogin; user: UserRow } {
  const { db } = request;
  const login = findPendingLogin(request, token);
  const user = login && db.get<UserRow>(sql`SELECT * FROM user WHERE id = ${login.user_id} AND is_active`);
  if (!user || !hasFactor(db, user.id)) throw unauthenticated({ detail: 'Log in again.' });
  return { login, user };
}

/** Maps session methods to the values of authentication_methods. */
const settingOf: Readonly<Partial<Record<LoginMethod, AuthenticationMethod>>> = { saml: 'SAML2', oidc: 'OIDC' };

/** Throws 401, before reading the body, if no login method can require a second factor. */
function requireSomeMethod(request: Request): void {
  if (!request.config.second_factor_for_sso) requireMethod(request, 'LOCAL_SIGNIN');
}

/** Completes a login with a correct second factor and returns its token. Records the events. */
function completePending(request: Request, user: UserRow, { method, session, uuid }: PendingLogin): string {
  if (session === null || uuid === null) return completeLogin(request, user, method);
  const opened: SamlSession | OidcSession = JSON.parse(request.app.secrets.open(session, uuid));
  forgetFailures(request.db, caseFold(user.username), request.address);
  return opened.method === 'saml'
    ? issueSignOn(request, user, opened, openSamlSession, true)
    : issueSignOn(request, user, opened, openOidcSession, true);
}

/** Parses the body and finds the login. Throws 400 and 401. */
function read(request: Request) {
  requireSomeMethod(request);
  const { token, ...values } = validate(fields, request, 'create');
  const presented = presentedFactor(values);
  const pending = pendingOf(request, token);
  requireMethod(request, settingOf[pending.login.method] ?? 'LOCAL_SIGNIN');
  return { ...pending, presented, challenges: loginChallenge(token) };
}

function prepare(request: Request): Promise<PreparedFactor> {
  const { challenges, presented, user } = read(request);
  return prepareFactor(request, user.id, presented, challenges);
}

function logIn(request: Request, factor: PreparedFactor): Reply {
  // Check again: the login may have ended during the preparation.
  const { challenges, login, user } = read(request);
  const { rejectedLogins } = request.app.metrics;
  const wait = factorLockOf(request, user, factor);
  if (wait !== undefined) {
    rejectedLogins.add('locked');
    throw unauthenticated({ detail: lockedText }, wait);
  }
  if (!useFactor(request, user, factor, challenges)) {
    countAttempt(request, login);
    recordFailedLogin(request, user.username);
    rejectedLogins.add('credentials');
    return json({ detail: 'Invalid second factor.' }, 401, { 'WWW-Authenticate': 'Token' });
  }
  endPendingLogin(request, login);
  return json({ token: completePending(request, user, login) });
}

/** POST /api-auth/second-factor/ (core.md 2.11) */
export const secondLogin: Endpoint = {
  path: '/api-auth/second-factor/',
  name: 'Second Factor Login',
  description: 'Completes a login with a second factor.',
  open: true,
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Returns a token for a login that waits for a second factor.',
      allowedFor: 'Any caller with the token of a login that requires a second factor.',
      input: { fields, purpose: 'create', example: { token: exampleToken, recovery_code: 'abcde-fgh23' } },
      output: { status: 200, shape: tokenShape },
      rejections: { 401: true },
      isLogin: true,
      prepare,
      handle: (request, factor) => logIn(request, factor as PreparedFactor),
    },
  },
};

/** POST /api-auth/second-factor/options/ (core.md 2.11), for pages that have only the token of a login. */
export const secondLoginOptions: Endpoint = {
  path: '/api-auth/second-factor/options/',
  name: 'Second Factor Options',
  description: 'Returns how a login can present its second factor.',
  open: true,
  actions: (request) => ({ POST: describeFields(tokenField, request, 'create') }),
  operations: {
    POST: {
      summary: 'Returns the ways to present the second factor of a login that waits for it.',
      allowedFor: 'Any caller with the token of a login that requires a second factor.',
      input: { fields: tokenField, purpose: 'create', example: { token: exampleToken } },
      output: { status: 200, shape: challengeShape },
      rejections: { 401: true },
      unaudited: 'It changes nothing.',
      handle: (request) => {
        requireSomeMethod(request);
        const { token } = validate(tokenField, request, 'create');
        const { user } = pendingOf(request, token);
        return json({ second_factor: challengeOf(request, user.id, token) });
      },
    },
  },
};
