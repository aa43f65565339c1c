import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import { day, hour } from '../../kernel/clock.ts';
import { hasEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/digests.ts';
import { oidcRegistration, samlRegistration, type UserRow } from '../users/users.ts';

/** Lifetime of a link. */
const lifetime = hour;
/** Maximum number of mails per user within `mailSpan`. */
const maxMails = 3;
const mailSpan = hour;
/** Long enough for every limit, and for operators to look up the outcome of a mail. */
const retention = day;

/** SQL condition: the user can reset their password by mail. Excludes users from identity providers. */
const canReset = sql`is_active AND registration_method NOT IN (${samlRegistration}, ${oidcRegistration})`;

/** Queues a reset link for an address. Does the same work whether or not a user has the address. */
export function queueResetLink(context: Context, email: string): void {
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
  app.db.onceStored(() => app.wakeOutbox('passwords', [id]));
}

/**
 * Assigns a link to the user with its address and invalidates earlier links. Returns undefined if the mail must not be sent: no
 * user has the address, the link has expired, or the user has received too many mails. Must run inside a write.
 */
export function claimLink(
  { app: { db }, now }: Context,
  link: { readonly id: number; readonly email: string; readonly created: number },
): UserRow | undefined {
  if (now >= link.created + lifetime) return undefined;
  const user = db.get<UserRow>(sql`SELECT * FROM user WHERE ${hasEmail(link.email)} AND ${canReset}`);
  if (!user) return undefined;
  const others = db.scalar<number>(sql`
    SELECT count(*) FROM password_reset
    WHERE user_id = ${user.id} AND created > ${now - mailSpan} AND id <> ${link.id}`);
  if (others >= maxMails) return undefined;
  db.update('password_reset', link.id, { user_id: user.id });
  db.run(sql`
    UPDATE password_reset SET secret_digest = NULL
    WHERE user_id = ${user.id} AND id < ${link.id} AND secret_digest IS NOT NULL`);
  return user;
}

/** Returns the user of a reset secret; undefined if it is unknown, used or expired. */
export const userOfSecret = ({ app: { db }, now }: Context, secret: string): UserRow | undefined =>
  db.get<UserRow>(sql`
    SELECT * FROM user
    WHERE ${canReset} AND id = (
      SELECT user_id FROM password_reset
      WHERE secret_digest = ${digestOfSecret(secret)} AND created > ${now - lifetime}
    )`);

/** Invalidates expired links permanently, so that setting the clock back does not make them valid again. */
export function invalidateExpiredLinks({ app: { db }, now }: Context): void {
  db.run(sql`
    UPDATE password_reset SET secret_digest = NULL
    WHERE user_id IS NOT NULL AND secret_digest IS NOT NULL AND created <= ${now - lifetime}`);
}

export const linkInstants: readonly StoredInstants[] = [
  { table: 'password_reset', column: 'created', ahead: 0 },
  dueInstants('password_reset'),
];

/** Removes a batch of resets that no limit needs anymore. Returns whether the batch was full. */
export function removeOldResets({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM password_reset WHERE id IN (
          SELECT id FROM password_reset WHERE created <= ${now - retention} ORDER BY created LIMIT ${limit}
        )`).changes,
  );
}
