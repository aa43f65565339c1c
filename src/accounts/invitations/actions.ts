import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { messageShape } from '../../kernel/collection/field.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { endInvitation, type InvitationRow, invitations, mayInvite, targetOf } from './invitations.ts';
import { queueMail } from './mails.ts';

/** What an action answers. */
export const answer = { status: 200, shape: messageShape };

const may = (request: Request, row: InvitationRow): boolean => {
  const { scope, structure } = targetOf(row);
  return mayInvite(request, structure, scope);
};

/** The pending invitation a path names. Throws 404, 403, or 409 with the text given. */
function pending(request: Request, refusal: string): InvitationRow {
  const row = invitations.find(request);
  if (!may(request, row)) throw forbidden();
  if (row.state !== 'pending') throw conflict(refusal);
  return row;
}

const action = (name: string, label: string, summary: string, handle: (request: Request) => Reply): Endpoint => ({
  path: `/api/user-invitations/:key/${name}/`,
  name: `User Invitation ${label}`,
  description: summary,
  actions: (request) => (may(request, invitations.find(request)) ? { POST: {} } : undefined),
  operations: {
    POST: {
      summary,
      who: 'Whoever may invite there.',
      output: answer,
      ...(name === 'send' && { refusals: { 429: true } }),
      handle,
    },
  },
});

/** POST /api/user-invitations/<uuid>/cancel/ */
export const cancel = action('cancel', 'Cancel', 'Cancels a pending invitation.', (request) => {
  const row = pending(request, 'Only pending invitation can be canceled.');
  endInvitation(request, row.id, 'canceled');
  return json({ detail: 'Invitation has been successfully canceled.' });
});

/** POST /api/user-invitations/<uuid>/send/ */
export const send = action('send', 'Send', 'Sends the mail of a pending invitation again.', (request) => {
  const row = pending(request, 'Only pending invitation can be resent.');
  queueMail(request, row.id);
  return json({ detail: 'Invitation sending has been successfully scheduled.' });
});
