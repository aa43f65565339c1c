import type { Context } from '../../kernel/access/context.ts';
import { conflict } from '../../kernel/http/error.ts';
import { rolesGrantedUntil } from '../permissions/permissions.ts';
import { grantRole } from '../roles/roles.ts';
import { actorOf } from '../users/actor.ts';
import { endInvitation, type InvitationRow, inviterOf, targetOf } from './invitations.ts';

/** Somebody who invites, as of now. */
export interface Inviter {
  /** The inviter's right ends then, and so does what it gives; null: never. */
  readonly until: number | null;
  readonly user: NonNullable<ReturnType<typeof inviterOf>>;
}

/** The inviter of an invitation, whose right is looked at again. Throws 409 when it is gone (services.md 10.4). */
export function presentInviter({ app }: Pick<Context, 'app'>, row: InvitationRow): Inviter {
  const user = inviterOf(app.db, row);
  const { scope, structure } = targetOf(row);
  const until = user && rolesGrantedUntil(app, user, structure, scope);
  if (!user || until === undefined) throw conflict('The inviter may not invite any more.');
  return { user, until };
}

/** Gives a user the role of an invitation, which ends. It is the inviter who grants it, whoever asks for it now. */
export function grantInvited({ app, now }: Context, row: InvitationRow, inviter: Inviter, user: number): void {
  grantRole(
    { app, now, actor: actorOf(inviter.user), address: null },
    { ...targetOf(row), user, expires: inviter.until, author: inviter.user.id },
  );
  endInvitation({ app, now }, row.id, 'accepted');
}
