import { minute } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { notFound, tooMany } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { prefixOf } from '../../kernel/net/networks.ts';
import { RateLimit } from '../../kernel/security/rate-limit.ts';
import { presentedInvitation, secretHolders } from './presented.ts';

declare module '../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    readonly invitationChecks: RateLimit;
  }
}

/** Limits unauthenticated checks of invitations by address. */
export const newInvitationCheckLimit = (): RateLimit => new RateLimit(60, minute);

/** POST /api/user-invitations/<uuid>/check/: the details that a user without an account needs. */
export const check: Endpoint = {
  path: '/api/user-invitations/:key/check/',
  hidesPath: true,
  name: 'User Invitation Check',
  description: 'Checks whether an invitation is pending, and returns its email.',
  open: true,
  // A mangled link gets the response for an unknown invitation; an unknown path would require a token.
  key: 'text',
  operations: {
    POST: {
      summary: 'Returns the email of a pending invitation, and whether it requires a civil number.',
      unaudited: 'It reads an invitation.',
      allowedFor: `Any caller ${secretHolders}.`,
      output: {
        status: 200,
        shape: {
          type: 'object',
          properties: { email: { type: 'string', format: 'email' }, civil_number_required: { type: 'boolean' } },
          required: ['email'],
        },
      },
      rejections: { 429: true },
      // The limit counts the calls.
      isHandledOnce: true,
      handle: (request) => {
        const wait = request.app.limits.invitationChecks.denial(prefixOf(request.address), request.now);
        if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
        const { civil_number: civilNumber, email, state } = presentedInvitation(request);
        if (state !== 'pending') throw notFound();
        return json({ email, ...(civilNumber !== '' && { civil_number_required: true }) });
      },
    },
  },
};
