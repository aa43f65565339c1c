import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { tooMany } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { present } from '../../../kernel/present.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';
import type { RejectedMessage } from './rejected-message.ts';

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
  // Appended to the end: pages with a fragment (#) read their parameters there.
  return redirect(`${url}${url.includes('?') ? '&' : '?'}message=${encodeURIComponent(message)}`);
};

/** Throws 429 if too many messages from this network were rejected; checking a message is expensive. */
export function rejectFlood({ address, app, now }: Request): void {
  const wait = app.limits.samlRejections.wait(prefixOf(address), now);
  if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
}

/** Counts a rejected message and logs the reason. */
export function noteRejected(request: Request, rejection: RejectedMessage, entityId?: string): void {
  request.app.limits.samlRejections.denial(prefixOf(request.address), request.now);
  request.app.metrics.rejectedLogins.add('saml');
  request.app.log.warn(
    { request: request.incoming.id, provider: entityId, reason: rejection.message.slice(0, 500) },
    'rejected SAML message',
  );
}
