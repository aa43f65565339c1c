import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { foldedEmail, hasEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { notifyNewEmail } from './notices.ts';
import type { UserRow } from './users.ts';

/**
 * Changes the email address of a user. No other user may have it. Does nothing if it is unchanged. `isVerified` means that the
 * user is known to receive mail there (core.md 4.1 "email").
 */
export function replaceEmail(request: Request, user: UserRow, address: string, isVerified: boolean): void {
  if (user.email === address) {
    if (isVerified) verifyEmail(request, user.id);
    return;
  }
  request.db.update('user', user.id, {
    email: address,
    email_folded: foldedEmail(address),
    email_verified: Number(isVerified),
  });
  notifyNewEmail(request, user, address);
  record(request, 'user_update_succeeded', affectedUser(user));
}

/** Marks the current email address of a user as verified. Records no event. */
export const verifyEmail = ({ db }: Pick<Request, 'db'>, user: number): void => {
  db.run(sql`UPDATE user SET email_verified = 1 WHERE id = ${user} AND NOT email_verified`);
};

/** Returns the email address of a user if it is verified (core.md 4.1 "email"). */
export const verifiedEmail = ({
  email,
  email_verified: isVerified,
}: Pick<UserRow, 'email' | 'email_verified'>): string | undefined => (email !== '' && isVerified ? email : undefined);

/** Whether another user has this email address. */
export const isEmailTaken = ({ db }: Pick<Request, 'db'>, user: UserRow, address: string): boolean =>
  db.value(sql`SELECT 1 FROM user WHERE ${hasEmail(address)} AND id <> ${user.id}`) !== undefined;
