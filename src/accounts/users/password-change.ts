import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import { sql } from '../../kernel/db/sql.ts';
import { revokeTokensOf } from '../../kernel/security/tokens.ts';
import { notifyNewPassword } from './notices.ts';
import type { UserRow } from './users.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** Called after a user's password has changed. */
    readonly passwordChanged: (username: string) => void;
  }
}

/**
 * Stores a hashed password, queues the mail, records the event and revokes every token except `exceptToken` (core.md 4.4, 4.6).
 * `user` is the row before the change, although the same operation may already have verified its email.
 */
export function changePassword(context: Context, user: UserRow, hash: string, exceptToken?: number | null): void {
  const { app } = context;
  app.db.update('user', user.id, { password_hash: hash });
  revokeTokensOf(context, user.id, exceptToken);
  // End pending logins with the old password.
  app.db.run(sql`DELETE FROM pending_login WHERE user_id = ${user.id}`);
  notifyNewPassword(context, user);
  record(context, 'user_password_updated', affectedUser(user));
  app.passwordChanged(user.username);
}
