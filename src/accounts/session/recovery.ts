/** Recovery of users who have lost their password or second factors, by the operator (core.md 2.12). */
import { affectedUser, userContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { hour, minute } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/digests.ts';
import { expiringRows } from '../../kernel/security/expiring-rows.ts';
import { issueToken, loginBy } from '../../kernel/security/tokens.ts';
import { actedBy, tokenShape, type UserRow } from '../users/users.ts';

const linkLifetime = 30 * minute;
/** Use does not extend it. */
const sessionLifetime = hour;

/** Creates the secret of a link that logs a user in once, and invalidates their previous link. Must run inside a write. */
export function makeRecoveryLink({ app, now }: Context, user: number): string {
  const secret = newMailedSecret(app);
  app.db.run(sql`DELETE FROM recovery_link WHERE user_id = ${user}`);
  app.db.insert('recovery_link', { user_id: user, digest: digestOfSecret(secret), expires: now + linkLifetime });
  return secret;
}

const fields = {
  secret: text({
    max: 255,
    required: true,
    example: '5d41402abc4b2a76b9719d911017c592',
    help: 'The secret in the link.',
  }),
};

const ended = 'This link does not work any more: it was used, its 30 minutes are over, or there is a newer one.';

function recover(request: Request): Reply {
  const { db, now } = request;
  const { secret } = validate(fields, request, 'create');
  const user = db.get<UserRow>(sql`
    SELECT * FROM user
    WHERE is_active AND id = (
      SELECT user_id FROM recovery_link WHERE digest = ${digestOfSecret(secret)} AND expires > ${now}
    )`);
  if (!user) {
    // Returned instead of thrown, so that the audit trail records a rejected login.
    request.app.trail.noteLogin(true);
    return json({ secret: [ended] }, 400);
  }
  db.run(sql`DELETE FROM recovery_link WHERE user_id = ${user.id}`);
  const token = issueToken(request, user.id, { ...loginBy('recovery', request.incoming), lasts: sessionLifetime });
  record(actedBy(request, user), 'token_created', { ...userContext(user), ...affectedUser(user) });
  return json({ token });
}

/** POST /api-auth/recover/ (core.md 2.12) */
export const recoverLogin: Endpoint = {
  path: '/api-auth/recover/',
  name: 'Recover',
  description: 'Logs a user in with the secret of a link that the operator has created.',
  open: true,
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Returns a token for 60 minutes, without a password or second factor.',
      allowedFor: 'Any caller who knows the secret of a link of `tenantry user recover`.',
      input: { fields, purpose: 'create' },
      output: { status: 200, shape: tokenShape },
      isLogin: true,
      handle: recover,
    },
  },
};

export const expiringRecoveryLinks = expiringRows('recovery_link', linkLifetime);
