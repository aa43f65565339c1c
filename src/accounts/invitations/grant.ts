import type { Context } from '../../kernel/access/context.ts';
import { conflict } from '../../kernel/http/error.ts';
import { rolesGrantedUntil } from '../permissions/permissions.ts';
import { grantRole } from '../roles/roles.ts';
import { actorOf } from '../users/users.ts';
import { endInvitation, type InvitationRow, inviterOf, targetOf } from './invitations.ts';

/** An inviter with their current right. */
export interface Inviter {
  /** When the inviter's right, and therefore the roles that they grant, ends; null for never. */
  readonly until: number | null;
  readonly user: NonNullable<ReturnType<typeof inviterOf>>;
}

/** Returns the inviter of an invitation. Throws 409 if they may no longer invite (services.md 10.4). */
export function currentInviter({ app }: Pick<Context, 'app'>, row: InvitationRow): Inviter {
  const user = inviterOf(app.db, row);
  const { scope, structure } = targetOf(row);
  const until = user && rolesGrantedUntil(app, user, structure, scope);
  if (!user || until === undefined) throw conflict('The inviter may not invite any more.');
  return { user, until };
}

/** Grants a user the role of an invitation and ends it. The actor is the inviter, not the caller. */
export function grantInvited({ app, now }: Context, row: InvitationRow, inviter: Inviter, user: number): void {
  grantRole(
    { app, now, actor: actorOf(inviter.user), address: null },
    { ...targetOf(row), user, expires: inviter.until, author: inviter.user.id },
  );
  endInvitation({ app, now }, row.id, 'accepted');
}
