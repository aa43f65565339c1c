import type { Request } from '../../kernel/access/request.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { notFound } from '../../kernel/http/error.ts';
import { digestOfSecret } from '../../kernel/security/mailed-secrets.ts';
import { type InvitationRow, invitations } from './invitations.ts';

/** Who may accept an invitation and look at one, in words. */
export const knowing =
  'who knows the secret of the mail or of the link, or the uuid with the setting invitation_accept_by_uuid';

/** An invitation whose secret a caller knows. */
export type KnownInvitation = InvitationRow & {
  /** Whether it is the secret of the mail, so that the caller reads that email address. */
  readonly is_from_mail: number;
};

/** The invitation whose secret is in the path, that of its mail or of the link to pass on; undefined if there is none. */
export function invitationOfSecret({ db, params }: Request): KnownInvitation | undefined {
  const digest = digestOfSecret(params.key ?? '');
  return db.get<KnownInvitation>(sql`
    SELECT *, secret_digest IS ${digest} AS is_from_mail FROM invitation
    WHERE secret_digest = ${digest} OR link_digest = ${digest}`);
}

/** The invitation that a link leads to: by its secret, or by its uuid where the deployment takes that. Throws 404. */
export function presentedInvitation(request: Request): InvitationRow {
  const known = invitationOfSecret(request);
  if (known) return known;
  if (!request.config.invitation_accept_by_uuid) throw notFound();
  return invitations.find(request, raw('TRUE'));
}
