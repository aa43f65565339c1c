/** Enforces second_factor_required: limits a session until its user has a second factor (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { forbidden } from '../../../kernel/http/error.ts';
import { isReading } from '../../../kernel/http/incoming-request.ts';

/** Also shown to staff who need a factor themselves to change the factors of other users. */
export const enrolmentText = 'Set up a second factor first.';

/** Whether an operation is part of the enrolment: reading one's user, confirming the session, adding a factor, logging out. */
function isOpenBeforeEnrolment({ caller, incoming, params, query }: Request, path: string): boolean {
  if (path.startsWith('/api/second-factors/') || path.startsWith('/api/sessions/confirm/')) return true;
  if (path === '/api-auth/logout/') return true;
  if (!isReading(incoming.method)) return false;
  if (path === '/api/users/') return query.flag('current');
  return path === '/api/users/:key/' && params.key?.toLowerCase() === caller.uuid;
}

/** Throws 403 if the session must first set up a second factor and the operation is not part of that. */
export function requireEnrolment(request: Request, { path }: Pick<Endpoint, 'path'>): void {
  if (request.caller.mustEnrol && !isOpenBeforeEnrolment(request, path)) throw forbidden(enrolmentText);
}
