/** The second step of a login: presenting the second factor (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields, type Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { unauthenticated } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { lockedText } from '../../users/passwords.ts';
import { tokenShape, type UserRow } from '../../users/users.ts';
import { recordFailedLogin } from '../failed-logins.ts';
import { completeLogin, requireMethod } from '../login-steps.ts';
import { hasFactor } from './factor-store.ts';
import { loginChallenge } from './passkey-challenges.ts';
import { countAttempt, endPendingLogin, findPendingLogin, type PendingLogin } from './pending-logins.ts';
import {
  factorFields,
  factorLockOf,
  type PreparedFactor,
  prepareFactor,
  presentedFactor,
  useFactor,
} from './presented.ts';

const exampleToken = '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b';

const fields = {
  token: text({
    max: 255,
    required: true,
    example: exampleToken,
    help: 'The token of the response that requires a second factor.',
  }),
  ...factorFields,
};

/** Returns the login of a token and its user. Throws 401. */
function pendingOf(request: Request, token: string): { login: PendingLogin; user: UserRow } {
  const { db } = request;
  const login = findPendingLogin(request, token);
  const user = login && db.get<UserRow>(sql`SELECT * FROM user WHERE id = ${login.user_id} AND is_active`);
  if (!user || !hasFactor(db, user.id)) throw unauthenticated({ detail: 'Log in again.' });
  return { login, user };
}

/** Reads the body of a request. Throws 400 and 401. */
function read(request: Request) {
  requireMethod(request, 'LOCAL_SIGNIN');
  const { token, ...values } = validate(fields, request, 'create');
  const presented = presentedFactor(values);
  return { ...pendingOf(request, token), presented, challenges: loginChallenge(token) };
}

function prepare(request: Request): Promise<PreparedFactor> {
  const { challenges, presented, user } = read(request);
  return prepareFactor(request, user.id, presented, challenges);
}

function logIn(request: Request, factor: PreparedFactor): Reply {
  // Checked again: during the preparation the login may have ended.
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
  return json({ token: completeLogin(request, user, login.method) });
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
