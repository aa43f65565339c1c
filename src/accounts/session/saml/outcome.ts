import type { Request } from '../../../kernel/access/request.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { noteRejected as noteRejectedSignOn, redirectToFailure } from '../sso/outcome.ts';
import type { RejectedMessage } from './rejected-message.ts';

export { rejectFlood } from '../sso/outcome.ts';

/** Sends the browser to the page of failed logins, or logouts. */
export const fail = ({ config }: Request, page: 'login_failed_url' | 'logout_failed_url', message: string): Reply =>
  redirectToFailure(present(config[page]), message);

/** Counts a rejected message and logs the reason. */
export const noteRejected = (request: Request, rejection: RejectedMessage, entityId?: string): void =>
  noteRejectedSignOn(request, 'SAML', rejection, entityId);
