import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { boolean, orNull } from '../../kernel/collection/values.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { hasRole } from '../roles/roles.ts';
import { isEmailTaken, replaceEmail, verifiedEmail } from '../users/email.ts';
import { tokenShape, type UserRow, userOf } from '../users/users.ts';
import { response } from './actions.ts';
import { currentInviter, grantInvited } from './grant.ts';
import { type InvitationRow, invitations, targetOf } from './invitations.ts';
import { invitationOfSecret, presentedInvitation, secretHolders } from './presented.ts';
import { documentedFields, hashNewPassword, signsUp, signUp } from './sign-up.ts';

const denial = (detail: string): Error => invalid({ detail });

/** Throws 400 if the user cannot accept the invitation, in the order of services.md 10.4. */
function rejectIneligible(request: Request, row: InvitationRow, user: UserRow, replacesEmail: boolean): void {
  const { scope, structure } = targetOf(row);
  if (row.civil_number !== '' && row.civil_number !== user.civil_number)
    throw denial('User has an invalid civil number.');
  if (hasRole(request.db, structure, scope, user.id)) throw denial(`User already has role within this ${structure}.`);
  if (request.config.validate_invitation_email && foldedEmail(row.email) !== foldedEmail(verifiedEmail(user) ?? ''))
    throw denial('Invitation and user emails mismatch.');
  if (replacesEmail && isEmailTaken(request, user, row.email))
    throw denial(`User with email "${row.email}" already exists.`);
}

const acceptFields = {
  replace_email: orNull(boolean({ help: "Replaces the user's email with that of the invitation." })),
};

/** Accepts an invitation for a user with an account. */
const accept = action({
  on: {
    path: invitations.path,
    spec: invitations.spec,
    find: presentedInvitation,
    noteObject: (request, row) => invitations.noteObject(request, row),
  },
  name: 'accept',
  summary: 'Accepts a pending invitation and grants its role to the caller.',
  description: 'Accepts an invitation for the caller.',
  right: authenticated.as(`any user ${secretHolders}`),
  fields: acceptFields,
  output: response,
  denialReason: (_, { state }) => (state === 'pending' ? undefined : 'Only pending invitation can be accepted.'),
  run: (request, row, { replace_email: replaces = false }) => {
    const inviter = currentInviter(request, row);
    const user = userOf(request, request.caller.id);
    rejectIneligible(request, row, user, replaces === true);
    grantInvited(request, row, inviter, user.id);
    if (replaces) replaceEmail(request, user, row.email, invitationOfSecret(request)?.is_from_mail === 1);
    return json({ detail: 'Invitation has been successfully accepted.' });
  },
});

const byMember = present(accept.endpoint.operations.POST);

/** POST /api/user-invitations/<uuid>/accept/. With a token, accepts for the caller; otherwise, the secret creates an account. */
export const acceptEndpoint: Endpoint = {
  ...accept.endpoint,
  servesWithoutToken: signsUp,
  operations: {
    POST: {
      ...byMember,
      input: { fields: { ...acceptFields, ...documentedFields }, purpose: 'create', example: { replace_email: true } },
      allowedFor: `${byMember.allowedFor} Without a token, a caller who knows the secret gets an account, with the setting invitation_signup.`,
      also: [{ status: 201, shape: tokenShape }],
      rejections: { 503: true },
      prepare: async (request) => (request.actor ? undefined : hashNewPassword(request)),
      handle: (request, prepared) =>
        typeof prepared === 'string' ? signUp(request, prepared) : byMember.handle(request, prepared),
    },
  },
};
