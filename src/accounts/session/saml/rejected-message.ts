import type { Request } from '../../../kernel/access/request.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { noSession, noteRejected as noteRejectedSignOn, RejectedSignOn, redirectToFailure } from '../sso/outcome.ts';

/** Messages for web clients at login_failed_url and logout_failed_url (services.md 11). */
export const problems = {
  anonymousOnly: 'This endpoint is for anonymous users only.',
  noBinding: 'Identity provider does not support available bindings.',
  unreadable: 'SAML2 response has errors.',
  rejected: 'SAML response has errors. Please check the logs',
  noUser: 'SAML2 authentication failed.',
  noSession,
  noLogout: 'You cannot be logged out.',
} as const;

/** The rejection of an identity provider's message. `message` is for the log, `displayed` for the browser. */
export class RejectedMessage extends RejectedSignOn {
  constructor(message: string, displayed: string = problems.rejected) {
    super(message, displayed);
  }
}

export { rejectFlood } from '../sso/outcome.ts';

/** Redirects the browser to the page for failed logins or logouts. */
export const fail = ({ config }: Request, page: 'login_failed_url' | 'logout_failed_url', message: string): Reply =>
  redirectToFailure(present(config[page]), message);

/** Counts a rejected message and logs the reason. */
export const noteRejected = (request: Request, rejection: RejectedMessage, entityId?: string): void =>
  noteRejectedSignOn(request, 'SAML', rejection, entityId);
