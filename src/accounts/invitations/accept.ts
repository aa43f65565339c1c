import type { Request } from '../../kernel/access/request.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { boolean, orNull } from '../../kernel/collection/values.ts';
import { fold, raw } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { grantRole, hasRole } from '../roles/roles.ts';
import { isEmailTaken, replaceEmail } from '../users/email.ts';
import { type UserRow, userOf } from '../users/users.ts';
import { answer } from './actions.ts';
import { endInvitation, type InvitationRow, invitations, targetOf } from './invitations.ts';

const acceptInput = {
  replace_email: orNull(boolean({ help: "Replaces the user's email by that of the invitation." })),
};

const refusal = (detail: string): Error => invalid({ detail });

/** Whoever knows the uuid may look at it. Throws 404. */
const find = (request: Request): InvitationRow => invitations.find(request, raw('TRUE'));

/** Throws what keeps the user from accepting, in the order of services.md 10.4. */
function refuseUnfit(request: Request, row: InvitationRow, user: UserRow, replaces: boolean): void {
  const { scope, structure } = targetOf(row);
  if (row.state !== 'pending') throw conflict('Only pending invitation can be accepted.');
  if (row.civil_number !== '' && row.civil_number !== user.civil_number)
    throw refusal('User has an invalid civil number.');
  if (hasRole(request.db, structure, scope, user.id)) throw refusal(`User already has role within this ${structure}.`);
  if (request.config.validate_invitation_email && fold(row.email) !== fold(user.email))
    throw refusal('Invitation and user emails mismatch.');
  if (replaces && isEmailTaken(request, user, row.email))
    throw refusal(`User with email "${row.email}" already exists.`);
}

function handle(request: Request): Reply {
  const row = find(request);
  const replaces = validate(acceptInput, request, 'create').replace_email === true;
  const user = userOf(request, request.caller.id);
  refuseUnfit(request, row, user, replaces);
  grantRole(request, { ...targetOf(row), user: user.id, expires: null, author: row.created_by });
  if (replaces) replaceEmail(request, user, row.email);
  endInvitation(request, row.id, 'accepted');
  return json({ detail: 'Invitation has been successfully accepted.' });
}

/** POST /api/user-invitations/<uuid>/accept/ */
export const accept: Endpoint = {
  path: '/api/user-invitations/:key/accept/',
  name: 'User Invitation Accept',
  description: 'Accepts an invitation for the caller.',
  actions: (request) => {
    find(request);
    return { POST: describeFields(acceptInput, request, 'create') };
  },
  operations: {
    POST: {
      summary: 'Accepts a pending invitation: the caller gets its role.',
      who: 'Everybody who knows the uuid.',
      input: { fields: acceptInput, purpose: 'create' },
      output: answer,
      handle,
    },
  },
};
