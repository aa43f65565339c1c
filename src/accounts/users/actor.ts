import type { Actor } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { UserRow } from './users.ts';

/** A user as whoever does something, where that is not the caller of the request. */
export const actorOf = (user: UserRow): Actor => ({
  uuid: user.uuid,
  username: user.username,
  fullName: user.full_name,
  nativeName: user.native_name,
});

/** What somebody does who has no token yet, such as whoever logs in (events.md 4.1). */
export const actedBy = ({ address, app, now }: Context, user: UserRow): Context => ({
  app,
  address,
  now,
  actor: actorOf(user),
});
