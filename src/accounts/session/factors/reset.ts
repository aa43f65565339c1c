/** The removal of a user's second factors by staff (core.md 2.11). */
import { forbiddenText, type Right, rightUnlessDenied, staff } from '../../../kernel/access/right.ts';
import { action } from '../../../kernel/collection/action.ts';
import { messageShape } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { json } from '../../../kernel/http/reply.ts';
import { revokeTokensOf } from '../../../kernel/security/tokens.ts';
import { serviceAccountReason, type UserRow, users } from '../../users/users.ts';
import { confirmed } from '../confirmation.ts';
import { enrolmentText } from './enrolment.ts';
import { hasFactor, removeFactor } from './factor-store.ts';

/** Staff with a factor. They remove their own factors one at a time, in a session confirmed with a factor. */
const others: Right<UserRow> = rightUnlessDenied<unknown, UserRow>(staff, ({ caller, db }, { id }) => {
  if (id === caller.id) return forbiddenText;
  return hasFactor(db, caller.id) ? undefined : enrolmentText;
}).as('staff with a second factor, for others');

export const resetSecondFactors = action({
  on: users,
  name: 'reset_second_factors',
  summary: 'Removes all second factors of a user who has lost them.',
  right: confirmed(others),
  fields: {
    reason: text({ max: 500, required: true, example: 'Lost phone, identity checked in person', help: 'For the log.' }),
  },
  isDestructive: true,
  denialReason: serviceAccountReason,
  output: { status: 200, shape: messageShape },
  run: (request, user, { reason }) => {
    const { app, caller, db } = request;
    for (const id of db.values<number>(sql`SELECT id FROM second_factor WHERE user_id = ${user.id} ORDER BY id`))
      removeFactor(request, user, id);
    revokeTokensOf(request, user.id);
    db.onceStored(() =>
      app.log.warn({ user: user.username, by: caller.username, reason }, 'second factors of a user removed'),
    );
    return json({ detail: 'Second factors have been removed.' });
  },
});
