import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import { day, hour } from '../../kernel/clock.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { removeStep } from '../../kernel/db/removal.ts';
import { sql } from '../../kernel/db/sql.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/mailed-secrets.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { samlRegistration } from '../users/registration.ts';
import type { UserRow } from '../users/users.ts';

/** How long a link works. */
const lifetime = hour;
/** So many mails in this span a user gets at most. */
const mailsAtMost = 3;
const mailSpan = hour;
/** Long enough for every limit, and for the operator to see what became of a mail. */
const keptFor = day;

/** A user who can set another password by mail: active, and not one whom an identity provider knows. */
const canReset = sql`is_active AND registration_method <> ${samlRegistration}`;

/** Stores that somebody asks for a link to this address: the same work whether or not a user has it. */
export function askForLink(context: Context, email: string): void {
  const { app, now } = context;
  const [uuid, secret] = [newUuid(app), newMailedSecret(app)];
  const id = app.db.insert('password_reset', {
    uuid,
    email,
    secret_digest: digestOfSecret(secret),
    secret: app.secrets.seal(secret, uuid),
    created: now,
    next_attempt: now,
  });
  app.db.afterCommit((error) => error === undefined && app.wakeOutbox('passwords', [id]));
}

/**
 * The user whose password a link is to set, which ends earlier links; undefined when the mail is not to be sent: nobody has
 * the address, its time is over, or there were too many mails. Must run inside a write.
 */
export function claimLink(
  { app: { db }, now }: Context,
  link: { readonly id: number; readonly email: string; readonly created: number },
): UserRow | undefined {
  if (now >= link.created + lifetime) return undefined;
  const user = db.get<UserRow>(sql`SELECT * FROM user WHERE email_folded = ${foldedEmail(link.email)} AND ${canReset}`);
  if (!user) return undefined;
  const others = db.scalar<number>(sql`
    SELECT count(*) FROM password_reset
    WHERE user_id = ${user.id} AND created > ${now - mailSpan} AND id <> ${link.id}`);
  if (others >= mailsAtMost) return undefined;
  db.update('password_reset', link.id, { user_id: user.id });
  db.run(sql`
    UPDATE password_reset SET secret_digest = NULL
    WHERE user_id = ${user.id} AND id < ${link.id} AND secret_digest IS NOT NULL`);
  return user;
}

/** The user whose password a secret sets now; undefined when it is unknown, used or ended. */
export const userOfSecret = ({ app: { db }, now }: Context, secret: string): UserRow | undefined =>
  db.get<UserRow>(sql`
    SELECT * FROM user
    WHERE ${canReset} AND id = (
      SELECT user_id FROM password_reset
      WHERE secret_digest = ${digestOfSecret(secret)} AND created > ${now - lifetime}
    )`);

/** Ends every link whose time is over, for good: a clock that is set back makes none of them work again. */
export function endRunOutLinks({ app: { db }, now }: Context): void {
  db.run(sql`
    UPDATE password_reset SET secret_digest = NULL
    WHERE user_id IS NOT NULL AND secret_digest IS NOT NULL AND created <= ${now - lifetime}`);
}

export const linkInstants: readonly StoredInstants[] = [
  { table: 'password_reset', column: 'created', ahead: 0 },
  dueInstants('password_reset'),
];

/** Removes what no limit looks back at any more, a bounded number at a time. Answers whether it was that many. */
export function removeOldResets({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM password_reset WHERE id IN (
          SELECT id FROM password_reset WHERE created <= ${now - keptFor} ORDER BY created LIMIT ${limit}
        )`).changes,
  );
}
