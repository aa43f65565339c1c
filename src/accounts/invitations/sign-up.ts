import { affectedUser, userContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type Fields, type NewValues, optional } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { hasEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { collectErrors, conflict, invalid } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { issueToken, loginBy } from '../../kernel/security/tokens.ts';
import { customerOfScope } from '../roles/roles.ts';
import { passwordField, rejectWeak } from '../users/passwords.ts';
import { actedBy, insertUser, users } from '../users/users.ts';
import { currentInviter, grantInvited, type Inviter } from './grant.ts';
import { targetOf } from './invitations.ts';
import { invitationOfSecret, type KnownInvitation } from './presented.ts';

const { agree_with_policy, full_name, username } = users.spec.fields;

/** The fields of a new account. `acceptSignUp` also requires the agreement. */
const signUpFields = { username, password: passwordField, full_name, agree_with_policy };

/** The fields as documented. Callers with a token send none of them. */
export const documentedFields: Fields = {
  username: optional({ ...username, help: 'To sign up without a token: required, by the rules of users.' }),
  password: optional({ ...passwordField, help: 'To sign up without a token: required.' }),
  full_name,
  agree_with_policy: { ...agree_with_policy, help: 'To sign up without a token: must be true.' },
};

/** A valid sign-up before hashing the password. */
interface SignUp {
  readonly row: KnownInvitation;
  readonly inviter: Inviter;
  readonly values: NewValues<typeof signUpFields>;
}

/** Whether a request without Authorization creates an account: it has an invitation secret, and the settings allow it. */
export const signsUp = (request: Request): boolean =>
  request.incoming.method === 'POST' &&
  request.config.invitation_signup &&
  request.config.authentication_methods.includes('LOCAL_SIGNIN') &&
  invitationOfSecret(request) !== undefined;

/** Checks every rule of a sign-up in the order of services.md 10.4. Throws 409, 400. */
function acceptSignUp(request: Request): SignUp {
  const row = invitationOfSecret(request);
  if (row?.state !== 'pending') throw conflict('Only pending invitation can be accepted.');
  const inviter = currentInviter(request, row);
  if (row.civil_number !== '') throw invalid({ detail: 'User has an invalid civil number.' });
  if (request.config.validate_invitation_email && !row.is_from_mail)
    throw invalid({ detail: 'Invitation and user emails mismatch.' });
  const [values] = collectErrors(
    () => validate(signUpFields, request, 'create', { table: 'user' }),
    () => {
      const { agree_with_policy: agrees } = validate({ agree_with_policy }, request, 'create');
      if (agrees !== true) throw invalid({ agree_with_policy: ['User must agree with the policy.'] });
    },
  );
  rejectWeak(request.config, values.password, { username: values.username, email: row.email });
  if (request.db.value(sql`SELECT 1 FROM user WHERE ${hasEmail(row.email)}`) !== undefined)
    throw invalid({ detail: `User with email "${row.email}" already exists.` });
  const { scope, structure } = targetOf(row);
  const customer = customerOfScope(request.db, structure, scope);
  requireQuotas(request, [{ scope: 'customer', id: customer, name: 'nc_user_count', delta: 1 }]);
  return { row, inviter, values };
}

/** Hashes the new password after all other checks. */
export const hashNewPassword = async (request: Request): Promise<string> =>
  request.app.passwords.hash(acceptSignUp(request).values.password, request.address);

/** Creates the user with the invited role and a first token. Repeats all checks, because hashing took time. */
export function signUp(request: Request, passwordHash: string): Reply {
  const { inviter, row, values } = acceptSignUp(request);
  const { full_name: fullName = '', username: name } = values;
  const user = insertUser(request, { username: name, full_name: fullName, email: row.email }, 'invitation');
  request.db.update('user', user.id, {
    password_hash: passwordHash,
    agreement_date: request.now,
    email_verified: row.is_from_mail,
  });
  const own = actedBy(request, user);
  record(own, 'user_creation_succeeded', affectedUser(user));
  grantInvited(request, row, inviter, user.id);
  const token = issueToken(request, user.id, loginBy('password', request.incoming));
  record(own, 'token_created', { ...userContext(user), ...affectedUser(user) });
  return json({ token }, 201);
}
