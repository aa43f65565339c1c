import { rightVia } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import { messageShape, objectShape } from '../../kernel/collection/field.ts';
import { json } from '../../kernel/http/reply.ts';
import { endInvitation, type InvitationRow, invitations, inviters, targetOf } from './invitations.ts';
import { isMailed, issueLink, queueMail } from './mails.ts';

/** The response of an action. */
export const response = { status: 200, shape: messageShape };

/** The common part of both actions. */
const onPending = {
  on: invitations,
  right: rightVia(targetOf, inviters.as('users who may invite there')),
  output: response,
};

const isPending = ({ state }: InvitationRow): boolean => state === 'pending';

/** POST /api/user-invitations/<uuid>/cancel/ */
export const cancel = action({
  ...onPending,
  name: 'cancel',
  summary: 'Cancels a pending invitation.',
  denialReason: (_, row) => (isPending(row) ? undefined : 'Only pending invitation can be canceled.'),
  run: (request, row) => {
    endInvitation(request, row.id, 'canceled');
    return json({ detail: 'Invitation has been successfully canceled.' });
  },
});

const sentShape = objectShape({
  detail: { type: 'string' },
  link: { type: 'string', format: 'uri' },
  is_mailed: { type: 'boolean' },
});

/** POST /api/user-invitations/<uuid>/send/ */
export const send = action({
  ...onPending,
  name: 'send',
  summary: 'Sends the mail of a pending invitation again, and creates a new link to share.',
  output: { status: 200, shape: sentShape },
  rejections: { 429: true },
  denialReason: (_, row) => (isPending(row) ? undefined : 'Only pending invitation can be resent.'),
  run: (request, row) => {
    queueMail(request, row.id);
    return json({
      detail: 'Invitation sending has been successfully scheduled.',
      link: issueLink(request, row.id),
      is_mailed: isMailed(request),
    });
  },
});
