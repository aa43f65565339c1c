import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import type { UserRow } from './users.ts';

/** Gives a user another email address, which must not be somebody else's; does nothing when it is theirs already. */
export function replaceEmail(request: Request, user: UserRow, address: string): void {
  if (user.email === address) return;
  request.db.update('user', user.id, { email: address, email_folded: caseFold(address) });
  record(request, 'user_update_succeeded', affectedUser(user));
}

/** Whether an email address is that of a user other than this one. */
export const isEmailTaken = ({ db }: Pick<Request, 'db'>, user: UserRow, address: string): boolean =>
  db.value(sql`SELECT 1 FROM user WHERE email_folded = ${caseFold(address)} AND id <> ${user.id}`) !== undefined;
