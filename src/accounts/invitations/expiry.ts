import { notify } from '../../activity/notifications/notify.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { endInvitation } from './invitations.ts';

/** Ends every expired invitation. */
export function expireInvitations(context: Context): void {
  const due = context.app.db.all<ExpiredInvitation>(sql`
    SELECT id, uuid, email, customer_id AS customer, project_id AS project, inviter_id AS inviter
    FROM invitation WHERE state = 'pending' AND expires <= ${context.now}`);
  for (const invitation of due) {
    endInvitation(context, invitation.id, 'expired');
    notifyInviter(context, invitation);
  }
}

/** Notifies the inviter, if that user still exists. */
function notifyInviter(context: Context, { customer, email, inviter, project, uuid }: ExpiredInvitation): void {
  const { app } = context;
  if (inviter === null) return;
  const [kind, place] = project === null ? (['customer', customer] as const) : (['project', project] as const);
  if (place === null) return;
  notify(context, 'invitation_expired', {
    context: { ...app.scopes.of(kind).own(app.db, place), invitation_uuid: uuid },
    users: sql`SELECT ${inviter}`,
    about: uuid,
    detail: email,
  });
}

interface ExpiredInvitation {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly customer: number | null;
  readonly project: number | null;
  readonly inviter: number | null;
}

/** Returns when the next invitation expires; undefined if none will. */
export const nextInvitationExpiry = (db: Database): number | undefined =>
  db.value<number | null>(sql`SELECT min(expires) FROM invitation WHERE state = 'pending'`) ?? undefined;

/** Expiries of pending invitations, at most one invitation lifetime ahead. */
export const invitationInstants = ({ invitation_lifetime: lifetime }: Config): StoredInstants => ({
  table: 'invitation',
  column: 'expires',
  ahead: lifetime,
  where: "state = 'pending'",
});
