import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { tooMany } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';

declare module '../../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    /** Limits starts of logins at identity providers. */
    readonly signOns: RateLimit;
    /** Limits rejected messages from identity providers. */
    readonly rejectedSignOns: RateLimit;
  }
}

/** Limits the start of logins by address. An entire organisation may share an address. */
export const newSignOnLimit = (): RateLimit => new RateLimit(120, minute);

/** Limits messages from a prefix after rejected ones. */
export const newRejectedSignOnLimit = (): RateLimit => new RateLimit(60, minute);

/** Counts the start of a login. Throws 429 if the network has started too many. */
export function limitSignOns({ address, app, now }: Request): void {
  const wait = app.limits.signOns.denial(prefixOf(address), now);
  if (wait !== undefined) throw tooMany('Too many logins. Try again later.', wait);
}

/** Throws 429 if too many messages from this network were rejected, because checking a message is expensive. */
export function rejectFlood({ address, app, now }: Request): void {
  const wait = app.limits.rejectedSignOns.wait(prefixOf(address), now);
  if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
}

/** Counts a rejected message, marks the redirect as a rejection for the audit trail, and logs the reason. */
export function noteRejected(
  request: Request,
  protocol: 'SAML' | 'OIDC',
  rejection: RejectedSignOn,
  provider: string | undefined,
): void {
  const { address, app, incoming, now } = request;
  app.limits.rejectedSignOns.denial(prefixOf(address), now);
  app.trail.noteLogin(true);
  app.metrics.rejectedLogins.add(protocol === 'SAML' ? 'saml' : 'oidc');
  app.log.warn(
    { request: incoming.id, provider, reason: rejection.message.slice(0, 500) },
    `rejected ${protocol} message`,
  );
}

/** Redirects the browser to the page for failed logins or logouts. */
export const redirectToFailure = (page: string, message: string): Reply =>
  // Append it at the very end, because pages with a fragment (#) read their parameters from the fragment.
  redirect(`${page}${page.includes('?') ? '&' : '?'}message=${encodeURIComponent(message)}`);

/**
 * The rejection of an identity provider's message. `message` is for the log, `displayed` for the page for failed logins or
 * logouts.
 */
export class RejectedSignOn extends Error {
  constructor(
    message: string,
    readonly displayed: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message after a logout in a browser without a session (services.md 11). */
export const noSession = 'You are not logged in any IdP/AA.';
