/** Confirmation of sessions: operations that create lasting access require a recent login or the password (core.md 2.8). */
import { closedText } from '../../kernel/access/api-key.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { forbidden, HttpError, unauthenticated } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { confirmToken, isConfirmedToken } from '../../kernel/security/tokens.ts';
import { presentedPassword, verifyCurrent } from '../users/passwords.ts';
import { userOf } from '../users/users.ts';

const fields = { password: presentedPassword };

/** Throws 403 with the ways to confirm, unless the session of the request is confirmed. */
export function requireConfirmation(request: Request): void {
  if (request.caller.apiKey) throw forbidden(closedText);
  if (isConfirmedToken(request, request.caller.tokenId)) return;
  const methods = userOf(request, request.caller.id).password_hash === null ? [] : ['password'];
  throw new HttpError(403, { detail: 'Confirm your identity first.', methods });
}

/** Verifies the password, and returns the hash that it matched. */
async function verify(request: Request): Promise<string | null> {
  const { password } = validate(fields, request, 'create');
  const user = userOf(request, request.caller.id);
  await verifyCurrent(request, user, password, 'password');
  return user.password_hash;
}

function confirm(request: Request, matched: unknown): Reply {
  // Checked again: during the comparison the session may have ended, or the password have changed.
  const isCurrent = userOf(request, request.caller.id).password_hash === matched;
  const until = isCurrent ? confirmToken(request, request.caller.tokenId) : undefined;
  if (until === undefined) throw unauthenticated({ detail: 'Invalid token.' });
  return json({ confirmed_until: isoTime(until) });
}

/** POST /api/sessions/confirm/ (core.md 2.8) */
export const confirmSession: Endpoint = {
  path: '/api/sessions/confirm/',
  name: 'Session Confirm',
  description: 'Confirms the current session with the password of its user.',
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Confirms the current session for 15 minutes with the password of its user.',
      allowedFor: authenticated.allowedFor,
      input: { fields, purpose: 'create' },
      output: {
        status: 200,
        shape: {
          type: 'object',
          properties: { confirmed_until: { type: 'string', format: 'date-time' } },
          required: ['confirmed_until'],
        },
      },
      rejections: { 400: true, 503: true },
      prepare: verify,
      handle: confirm,
    },
  },
};
