import type { Context } from '../../kernel/access/context.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { endInvitation } from './invitations.ts';

/** Ends every expired invitation. */
export function expireInvitations(context: Context): void {
  const due = context.app.db.values<number>(
    sql`SELECT id FROM invitation WHERE state = 'pending' AND expires <= ${context.now}`,
  );
  for (const id of due) endInvitation(context, id, 'expired');
}

/** Returns when the next invitation expires; undefined if none will. */
export const nextInvitationExpiry = (db: Database): number | undefined =>
  db.value<number | null>(sql`SELECT min(expires) FROM invitation WHERE state = 'pending'`) ?? undefined;

/** The ends of pending invitations, at most the lifetime of invitations ahead. */
export const invitationInstants = ({ invitation_lifetime: lifetime }: Config): StoredInstants => ({
  table: 'invitation',
  column: 'expires',
  ahead: lifetime,
  where: "state = 'pending'",
});
