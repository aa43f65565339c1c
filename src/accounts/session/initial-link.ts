import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { text } from '../../kernel/collection/values.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/digests.ts';
import { changePassword } from '../users/actions.ts';
import { passwordField, rejectWeak } from '../users/passwords.ts';
import { actedBy, type UserRow, updateUser } from '../users/users.ts';
import { firstUser } from './initial-password.ts';
import { loginAfterPassword, newPasswordShape } from './login-steps.ts';

/** Returns the first user if active. */
const firstRow = (db: Database): UserRow | undefined =>
  db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${firstUser} AND is_active`);

/**
 * Creates a link that sets the name and password of the first user, and returns its secret. Earlier links become invalid.
 * Returns undefined if password login is disabled or the user does not exist (core.md 2.6).
 */
export function makeInitialLink(app: App): string | undefined {
  const user = firstRow(app.db);
  if (!user || !app.config.authentication_methods.includes('LOCAL_SIGNIN')) return undefined;
  const secret = newMailedSecret(app);
  app.initialLink.store(digestOfSecret(secret), user.password_hash, app.clock.now());
  return secret;
}

const secretField = { secret: text({ max: 255, required: true, example: '5d41402abc4b2a76b9719d911017c592' }) };
const chosenFields = { password: passwordField, full_name: text({ max: 100, example: 'Alice Adams' }) };
const fields = { ...secretField, ...chosenFields };

const ended =
  'This link does not work any more: it was used, its 30 minutes are over, or the password was changed. Sign in, or start the server again.';

/** Validates the body. Reports an unknown secret before errors in the other fields. Throws 400. */
function accept(request: Request): { user: UserRow; password: string; full_name: string | undefined } {
  const { secret } = request.body().values;
  if (typeof secret !== 'string' || secret === '') validate(fields, request, 'create');
  const digest = digestOfSecret(validate(secretField, request, 'create').secret);
  const user = firstRow(request.db);
  if (!user || !request.app.initialLink.matches(digest, user.password_hash, request.now))
    throw invalid({ secret: [ended] });
  const { full_name, password } = validate(chosenFields, request, 'create');
  rejectWeak(request.config, password, user);
  return { user, password, full_name };
}

function begin(request: Request, hash: string): Reply {
  // Check again: another request may have used the secret.
  const { full_name, user } = accept(request);
  const own = actedBy(request, user);
  if (full_name !== undefined) updateUser(own, user, { full_name }, false);
  changePassword(own, user, hash);
  return json(loginAfterPassword(request, user));
}

/** POST /api-auth/password/initial/ (core.md 2.6) */
export const initialPassword: Endpoint = {
  path: '/api-auth/password/initial/',
  name: 'Initial Password',
  description: 'Sets the name and password of the first user with the secret of the link that the first start prints.',
  open: true,
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Sets the name and password of the user admin, and returns a token, or requires the second factor.',
      allowedFor: 'Any caller who knows the secret of the link that the server printed at start.',
      input: { fields, purpose: 'create' },
      output: { status: 200, shape: newPasswordShape },
      rejections: { 503: true },
      prepare: async (request) => request.app.passwords.hash(accept(request).password, request.address),
      handle: (request, hash) => begin(request, String(hash)),
    },
  },
};
