import type { Actor } from '../../kernel/access/caller.ts';
import type { UserRow } from './users.ts';

/** A user as whoever does something, where that is not the caller of the request. */
export const actorOf = (user: UserRow): Actor => ({
  uuid: user.uuid,
  username: user.username,
  fullName: user.full_name,
  nativeName: user.native_name,
});
