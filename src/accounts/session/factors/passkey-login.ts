/** Login with a passkey alone (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { tooMany } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';
import { tokenShape, type UserRow } from '../../users/users.ts';
import { recordFailedLogin } from '../failed-logins.ts';
import { completeLogin, requireMethod } from '../login-steps.ts';
import { type ExpectedChallenges, newChallenge, storedChallenges } from './passkey-challenges.ts';
import { type PresentedPasskey, requestOptions, requestOptionsShape, usePasskey, verifyPasskey } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { usedCredentialField } from './webauthn.ts';

declare module '../../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    /** Limits challenges for passkey logins. */
    readonly passkeys: RateLimit;
  }
}

/** Limits challenges for logins by network prefix, because each challenge is a row. */
export const newPasskeyLimit = (): RateLimit => new RateLimit(60, minute);

/** POST /api-auth/passkey/options/ (core.md 2.11) */
export const passkeyLoginOptions: Endpoint = {
  path: '/api-auth/passkey/options/',
  name: 'Passkey Login Options',
  description: 'Creates a challenge for a login with a passkey.',
  open: true,
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Returns the options with which a browser asks for a passkey of any user.',
      allowedFor: 'Any caller.',
      output: { status: 200, shape: requestOptionsShape },
      rejections: { 400: true, 401: true, 429: true },
      unaudited: 'It stores only a challenge.',
      // The limit counts the calls.
      isHandledOnce: true,
      handle: (request) => {
        requireMethod(request, 'LOCAL_SIGNIN');
        const party = requireRelyingParty(request);
        const wait = request.app.limits.passkeys.denial(prefixOf(request.address), request.now);
        if (wait !== undefined) throw tooMany('Too many logins. Try again later.', wait);
        return json(requestOptions(party, newChallenge(request, 'login'), []));
      },
    },
  },
};

const fields = { credential: usedCredentialField };

const challengesOf = (request: Request): ExpectedChallenges => storedChallenges(request, 'login');

function prepare(request: Request): Promise<PresentedPasskey> {
  requireMethod(request, 'LOCAL_SIGNIN');
  const { credential } = validate(fields, request, 'create');
  return verifyPasskey(request, credential, challengesOf(request));
}

function logIn(request: Request, passkey: PresentedPasskey): Reply {
  const { app, db } = request;
  const user =
    passkey.owner === undefined
      ? undefined
      : db.get<UserRow>(sql`SELECT * FROM user WHERE id = ${passkey.owner} AND is_active`);
  const isAccepted = usePasskey(request, passkey, challengesOf(request));
  if (user && isAccepted) return json({ token: completeLogin(request, user, 'passkey') });
  if (user) recordFailedLogin(request, user.username);
  app.metrics.rejectedLogins.add('credentials');
  return json({ detail: 'Invalid passkey.' }, 401, { 'WWW-Authenticate': 'Token' });
}

/** POST /api-auth/passkey/ (core.md 2.11) */
export const passkeyLogin: Endpoint = {
  path: '/api-auth/passkey/',
  name: 'Passkey Login',
  description: 'Returns a token for a passkey.',
  open: true,
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Returns a token for a passkey that has verified its user.',
      allowedFor: 'Any caller.',
      input: { fields, purpose: 'create' },
      output: { status: 200, shape: tokenShape },
      rejections: { 401: true },
      isLogin: true,
      prepare,
      handle: (request, passkey) => logIn(request, passkey as PresentedPasskey),
    },
  },
};
