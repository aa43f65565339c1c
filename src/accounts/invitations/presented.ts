import { digestOfSecret } from '../../kernel/access/mailed-secrets.ts';
import type { Request } from '../../kernel/access/request.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { notFound } from '../../kernel/http/error.ts';
import { type InvitationRow, invitations } from './invitations.ts';

/** Who may accept an invitation and look at one, in words. */
export const knowing = 'who knows the secret of the mail, or the uuid with the setting invitation_accept_by_uuid';

/** The invitation whose secret stands in the path; undefined when it is nobody's. */
export const invitationOfSecret = ({ db, params }: Request): InvitationRow | undefined =>
  db.get<InvitationRow>(sql`SELECT * FROM invitation WHERE secret_digest = ${digestOfSecret(params.key ?? '')}`);

/** The invitation that a link leads to: by its secret, or by its uuid where the deployment takes that. Throws 404. */
export function presentedInvitation(request: Request): InvitationRow {
  const known = invitationOfSecret(request);
  if (known) return known;
  if (!request.config.invitation_accept_by_uuid) throw notFound();
  return invitations.find(request, raw('TRUE'));
}
