/** Impersonation: staff act as a user, with that user's rights, for an hour (core.md 2.13). */
import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { forbiddenText, type Right, rightUnlessDenied, staff } from '../../kernel/access/right.ts';
import { hour, isoTime } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { text } from '../../kernel/collection/values.ts';
import { json } from '../../kernel/http/reply.ts';
import { issueToken, loginBy } from '../../kernel/security/tokens.ts';
import { type UserRow, users } from '../users/users.ts';
import { confirmed } from './confirmation.ts';
import { hasFactor } from './factors/factor-store.ts';

/** Use does not extend it. */
const sessionLifetime = hour;

const impersonators: Right<UserRow> = rightUnlessDenied<unknown, UserRow>(staff, ({ caller, db }, user) => {
  if (!hasFactor(db, caller.userId)) return 'Set up a second factor first.';
  // The rights of staff and support would exceed or mask the caller's; service accounts have no sessions.
  const isExempt = user.is_staff || user.is_support || user.is_service_account || user.id === caller.userId;
  return isExempt ? forbiddenText : undefined;
}).as('staff with a second factor, for people who are neither staff nor global support');

export const impersonate = action({
  on: users,
  name: 'impersonate',
  summary: 'Creates a session of the user for the staff user who calls it.',
  right: confirmed(impersonators),
  fields: { reason: text({ max: 500, required: true, example: 'Support request 4711', help: 'For the audit trail.' }) },
  denialReason: (_, user) => (user.is_active ? undefined : 'User is not active.'),
  output: {
    status: 201,
    shape: objectShape({
      token: { type: 'string', pattern: '^[0-9a-f]{40}$' },
      expires: { type: 'string', format: 'date-time' },
    }),
  },
  run: (request, user, { reason }) => {
    const { app, caller, db, now } = request;
    const token = issueToken(request, user.id, {
      ...loginBy('impersonation', request.incoming),
      confirms: false,
      lasts: sessionLifetime,
      creator: caller.tokenId,
    });
    record(request, 'token_created', affectedUser(user));
    db.onceStored(() => app.log.warn({ user: user.username, by: caller.username, reason }, 'staff impersonate a user'));
    return json({ token, expires: isoTime(now + sessionLifetime) }, 201);
  },
});
