import type { Request } from '../../kernel/access/request.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { notFound } from '../../kernel/http/error.ts';
import { digestOfSecret } from '../../kernel/security/digests.ts';
import { type InvitationRow, invitations } from './invitations.ts';

/** Describes the callers who may accept and check an invitation, for the documentation. */
export const secretHolders =
  'who knows the secret of the mail or of the link, or the uuid with the setting invitation_accept_by_uuid';

/** An invitation whose secret a caller knows. */
export type KnownInvitation = InvitationRow & {
  /** Whether the secret is from the mail, which proves that the caller can read mail at that address. */
  readonly is_from_mail: number;
};

/** Returns the invitation whose secret, from the mail or a shared link, is in the path. */
export function invitationOfSecret({ db, params }: Request): KnownInvitation | undefined {
  const digest = digestOfSecret(params.key ?? '');
  return db.get<KnownInvitation>(sql`
    SELECT *, secret_digest IS ${digest} AS is_from_mail FROM invitation
    WHERE secret_digest = ${digest} OR link_digest = ${digest}`);
}

/** Returns the invitation of a link by its secret, or by its uuid if the settings allow that. Throws 404. */
export function presentedInvitation(request: Request): InvitationRow {
  const known = invitationOfSecret(request);
  if (known) return known;
  if (!request.config.invitation_accept_by_uuid) throw notFound();
  return invitations.find(request, raw('TRUE'));
}
