import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { text } from '../../kernel/collection/values.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import { HttpError, unauthenticated } from '../../kernel/http/error.ts';
import { empty, json, type Reply } from '../../kernel/http/reply.ts';
import { withoutApiKeys } from '../../kernel/security/api-keys.ts';
import { countFailure, lockOf } from '../../kernel/security/lockout.ts';
import { revokeToken } from '../../kernel/security/tokens.ts';
import { lockedText, presentedPassword } from '../users/passwords.ts';
import { tokenShape, type UserRow } from '../users/users.ts';
import { hasFactor } from './factors/factor-store.ts';
import { beginPendingLogin, challengeMember } from './factors/pending-logins.ts';
import { recordFailedLogin } from './failed-logins.ts';
import { completeLogin, requireMethod } from './login-steps.ts';

const credentials = {
  username: text({ max: 4096, lines: 'verbatim', required: true, example: 'alice' }),
  password: presentedPassword,
};

interface Attempt {
  readonly username: string;
  /** Id of the user if the password is correct. */
  readonly user: number | undefined;
}

/** Parses username and password in the body. Throws 401 with the field errors. */
function readCredentials(request: Request): { username: string; password: string } {
  requireMethod(request, 'LOCAL_SIGNIN');
  request.body();
  try {
    const { password, username } = validate(credentials, request, 'create');
    return { password, username: withoutApiKeys(username) };
  } catch (error) {
    throw error instanceof HttpError ? unauthenticated(error.body) : error;
  }
}

/** Throws 401 while the username is locked for the request's address. */
function rejectLocked({ address, app, db, now }: Request, username: string): void {
  const wait = lockOf(db, caseFold(username), address, now);
  if (wait === undefined) return;
  app.metrics.rejectedLogins.add('locked');
  throw unauthenticated({ detail: lockedText }, wait);
}

/** Checks the password. Takes the same time for existing and unknown users. */
async function attempt(request: Request): Promise<Attempt> {
  const { username, password } = readCredentials(request);
  rejectLocked(request, username);
  const user = request.db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${caseFold(username)}`);
  const stored = user?.is_active ? user.password_hash : null;
  const matches = await request.app.passwords.matches(password, stored, request.address);
  return { username, user: matches ? user?.id : undefined };
}

function logIn(request: Request, { username, user: id }: Attempt): Reply {
  const { db } = request;
  const folded = caseFold(username);
  // Check again: other attempts may have failed during the comparison.
  rejectLocked(request, username);
  const user = id === undefined ? undefined : db.get<UserRow>(sql`SELECT * FROM user WHERE id = ${id} AND is_active`);
  if (!user) {
    countFailure(db, folded, request.address, request.now);
    recordFailedLogin(request, username);
    request.app.metrics.rejectedLogins.add('credentials');
    return { ...json({ detail: 'Invalid username/password.' }, 401), headers: { 'WWW-Authenticate': 'Token' } };
  }
  if (hasFactor(db, user.id)) {
    request.app.trail.noteLogin(false);
    const body = {
      detail: 'A second factor is required.',
      second_factor: beginPendingLogin(request, user.id, 'password'),
    };
    return { ...json(body, 401), headers: { 'WWW-Authenticate': 'Token' } };
  }
  return json({ token: completeLogin(request, user, 'password') });
}

/** The 401 response that asks for the second factor (core.md 2.11). */
const secondFactorRequired: JsonSchema = objectShape({ detail: { type: 'string' }, ...challengeMember });

/** POST /api-auth/password/ (core.md 2.1) */
export const login: Endpoint = {
  path: '/api-auth/password/',
  name: 'Password Login',
  description: 'Returns a token for a username and password.',
  open: true,
  actions: (request) => ({ POST: describeFields(credentials, request, 'create') }),
  operations: {
    POST: {
      summary: 'Returns a token for a username and password.',
      allowedFor: 'Any caller.',
      input: { fields: credentials, purpose: 'create' },
      output: { status: 200, shape: tokenShape },
      rejections: { 401: true, 503: true },
      rejectionShapes: { 401: secondFactorRequired },
      isLogin: true,
      prepare: attempt,
      handle: logIn,
    },
  },
};

/** POST /api-auth/logout/ (core.md 2.4) */
export const logout: Endpoint = {
  path: '/api-auth/logout/',
  name: 'Logout',
  description: 'Revokes the token of the request.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Revokes the token that the request presents.',
      allowedFor: authenticated.allowedFor,
      output: { status: 204 },
      handle: (request) => {
        // A client that logs out on exit keeps its API key.
        if (request.caller.apiKey) return empty();
        revokeToken(request, request.caller.tokenId);
        record(request, 'auth_logged_out', {});
        return empty();
      },
    },
  },
};
