/** Back-channel logout: a provider reports that it has ended a session (OpenID Connect Back-Channel Logout 1.0). */
import { hash } from 'node:crypto';
import type { Request } from '../../../kernel/access/request.ts';
import { minute, second } from '../../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../../kernel/collection/endpoint.ts';
import { text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { expiringRows } from '../../../kernel/security/expiring-rows.ts';
import { endPendingSessions } from '../factors/pending-logins.ts';
import { noteRejected, type RejectedSignOn, rejectFlood } from '../sso/outcome.ts';
import { endSignOn } from '../sso/sign-on.ts';
import { clientOf, oidcPath, waitFor } from './endpoint.ts';
import { rejected, rejectionOf } from './problems.ts';
import { isEnded, type OidcSession, tokensOf } from './sessions.ts';
import { clockToleranceSeconds, verifySignedToken } from './signed-token.ts';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Maximum age of a logout token. */
const maxAge = 5 * minute;
/** How long to store used tokens: until even a token issued with the maximum clock difference is too old. */
const usedFor = maxAge + clockToleranceSeconds * second;
const maxTokenLength = 32 * 1024;

/** Used logout tokens. */
export const usedLogoutTokens = expiringRows('oidc_logout_token', usedFor, 'digest');

/** The sessions to end. */
interface Logout {
  readonly digest: Buffer;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
}

type CheckedToken = { readonly logout: Logout } | { readonly rejection: RejectedSignOn };

/** Returns the token in a form. Throws RejectedSignOn for any other body. */
function tokenOf(request: Request): string {
  try {
    const { form, values } = request.body();
    const { logout_token: token } = values;
    if (form && typeof token === 'string' && token.length <= maxTokenLength) return token;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
  }
  throw rejected('invalid', 'the body is not a form with one logout_token');
}

async function prepare(request: Request): Promise<CheckedToken> {
  const client = clientOf(request);
  rejectFlood(request);
  try {
    const token = tokenOf(request);
    const check = (): ReturnType<typeof verifySignedToken> =>
      verifySignedToken(client, token, request.now, ['exp', 'jti', 'events'], ['logout+jwt', 'jwt']);
    return { logout: logoutOf(await waitFor(request, client, check), request.now) };
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return { rejection: rejectionOf(error) };
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 255;

/** Checks the claims that are specific to logout tokens. Throws RejectedSignOn. */
function logoutOf(claims: Readonly<Record<string, unknown>>, now: number): Logout {
  const { events, iat, iss, jti, sid, sub } = claims;
  const event = typeof events === 'object' && events !== null ? new Map(Object.entries(events)).get(logoutEvent) : null;
  const problems: readonly (readonly [boolean, string])[] = [
    [typeof event !== 'object' || event === null || Array.isArray(event), 'its events claim has no logout'],
    ['nonce' in claims, 'it has a nonce, as ID tokens do'],
    [!isText(jti), 'its jti is not a string of at most 255 characters'],
    [sid !== undefined && !isText(sid), 'its sid is not a string of at most 255 characters'],
    [sub !== undefined && !isText(sub), 'its sub is not a string of at most 255 characters'],
    [sid === undefined && sub === undefined, 'it has neither sid nor sub'],
    [Number(iat) * second < now - maxAge, 'it was issued more than five minutes ago'],
  ];
  const [, reason] = problems.find(([isBroken]) => isBroken) ?? [];
  if (reason !== undefined) throw rejected('invalid', `the logout token is invalid: ${reason}`);
  return {
    digest: hash('sha256', JSON.stringify([iss, jti]), 'buffer'),
    sid: isText(sid) ? sid : undefined,
    subject: isText(sub) ? sub : undefined,
  };
}

const handle = (request: Request, checked: CheckedToken): Reply => {
  const { provider } = clientOf(request);
  if ('rejection' in checked) return reject(request, checked.rejection);
  const { digest, ...named } = checked.logout;
  const { db, now } = request;
  if (db.value(sql`SELECT 1 FROM oidc_logout_token WHERE digest = ${digest}`) !== undefined)
    return reject(request, rejected('invalid', 'the logout token was used before'));
  db.insert('oidc_logout_token', { digest, expires: now + usedFor });
  for (const token of tokensOf(request, provider, named)) endSignOn(request, token);
  endPendingSessions<OidcSession>(request, 'oidc', (session) => isEnded(session, provider, named));
  return json({});
};

function reject(request: Request, rejection: RejectedSignOn): Reply {
  noteRejected(request, 'OIDC', rejection, clientOf(request).provider.name);
  return json({ error: 'invalid_request' }, 400);
}

const fields = {
  logout_token: text({ max: maxTokenLength, required: true, example: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' }),
};

/** POST /api-auth/oidc/‹name›/backchannel-logout/ (services.md 11.1) */
export const oidcBackchannelLogout: Endpoint = {
  path: `${oidcPath}:key/backchannel-logout/`,
  key: 'text',
  name: 'OpenID Connect Back-Channel Logout',
  description: 'Ends the sessions of a user who has logged out at an OpenID Connect provider.',
  open: true,
  actions: (request) => {
    clientOf(request);
    return { POST: describeFields(fields, request, 'create') };
  },
  operations: {
    POST: {
      summary: 'Ends the sessions that a provider has ended.',
      allowedFor: 'The provider, by a signed logout token.',
      input: { fields, purpose: 'create' },
      takesAnything: true,
      output: { status: 200, shape: { type: 'object', additionalProperties: false } },
      rejections: { 400: true, 401: true, 404: true, 413: false, 415: false, 429: true, 503: true },
      rejectionShapes: {
        400: { type: 'object', properties: { error: { const: 'invalid_request' } }, required: ['error'] },
      },
      prepare,
      handle,
    },
  },
};
