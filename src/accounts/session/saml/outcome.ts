import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { tooMany } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/prefix.ts';
import { present } from '../../../kernel/present.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';
import type { RefusedMessage } from './refused-message.ts';

declare module '../../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    readonly samlRefusals: RateLimit;
  }
}

/** Limits messages from a prefix after rejected ones. */
export const newSamlRefusalLimit = (): RateLimit => new RateLimit(60, minute);

/** Sends the browser to the page of failed logins, or logouts. */
export const fail = ({ config }: Request, page: 'login_failed_url' | 'logout_failed_url', message: string): Reply => {
  const url = present(config[page]);
  // At the very end: pages that live behind a # read their parameters there.
  return redirect(`${url}${url.includes('?') ? '&' : '?'}message=${encodeURIComponent(message)}`);
};

/** Throws 429 where so many messages from this network were refused that it costs too much to read more. */
export function rejectFlood({ address, app, now }: Request): void {
  const wait = app.limits.samlRefusals.wait(prefixOf(address), now);
  if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
}

/** Counts a message that was not taken, and tells the operator why. */
export function noteRefused(request: Request, refusal: RefusedMessage, entityId?: string): void {
  request.app.limits.samlRefusals.refusal(prefixOf(request.address), request.now);
  request.app.metrics.refusedLogins.add('saml');
  request.app.log.warn(
    { request: request.incoming.id, provider: entityId, reason: refusal.message.slice(0, 500) },
    'SAML message refused',
  );
}
