import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { tooMany } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/prefix.ts';
import { present } from '../../../kernel/present.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';
import type { RejectedMessage } from './refused-message.ts';

declare module '../../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    readonly samlRejections: RateLimit;
  }
}

/** Limits messages from a prefix after rejected ones. */
export const newSamlRejectionLimit = (): RateLimit => new RateLimit(60, minute);

/** Sends the browser to the page of failed logins, or logouts. */
export const fail = ({ config }: Request, page: 'login_failed_url' | 'logout_failed_url', message: string): Reply => {
  const url = present(config[page]);
  // At the very end: pages that live behind a # read their parameters there.
  return redirect(`${url}${url.includes('?') ? '&' : '?'}message=${encodeURIComponent(message)}`);
};

/** Throws 429 where so many messages from this network were refused that it costs too much to read more. */
export function rejectFlood({ address, app, now }: Request): void {
  const wait = app.limits.samlRejections.wait(prefixOf(address), now);
  if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
}

/** Counts a message that was not taken, and tells the operator why. */
export function noteRejected(request: Request, denial: RejectedMessage, entityId?: string): void {
  request.app.limits.samlRejections.denial(prefixOf(request.address), request.now);
  request.app.metrics.rejectedLogins.add('saml');
  request.app.log.warn(
    { request: request.incoming.id, provider: entityId, reason: denial.message.slice(0, 500) },
    'SAML message refused',
  );
}
