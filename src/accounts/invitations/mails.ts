import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { newUuid } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import { tooMany } from '../../kernel/http/error.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/digests.ts';
import { linkOf } from './link-template.ts';

/** The time span of the setting invitation_mail_limit. */
const limitSpan = hour;

/**
 * Queues the mail of an invitation with a new secret. Cancels an unsent mail and invalidates the previous secret. The caller
 * becomes the inviter. Throws 429 if the caller has caused too many mails.
 */
export function queueMail(request: Request, invitation: number): void {
  const { caller, db, now } = request;
  if (!caller.isStaff) rejectTooMany(request);
  cancelMails(request, invitation);
  const uuid = newUuid(request.app);
  const secret = newMailedSecret(request.app);
  db.update('invitation', invitation, { secret_digest: digestOfSecret(secret), inviter_id: caller.userId });
  const id = db.insert('invitation_mail', {
    uuid,
    invitation_id: invitation,
    user_id: caller.userId,
    secret: request.app.secrets.seal(secret, uuid),
    created: now,
    next_attempt: now,
  });
  db.onceStored(() => request.app.wakeOutbox('invitations', [id]));
}

/**
 * Creates a link for the caller to share, and invalidates an earlier one. Stores only the digest of its secret. The secret
 * differs from the one in the mail, which proves that the user can read mail at that address.
 */
export function issueLink({ app, db }: Request, invitation: number): string {
  const secret = newMailedSecret(app);
  db.update('invitation', invitation, { link_digest: digestOfSecret(secret) });
  return linkOf(db.scalar<string>(sql`SELECT link_template FROM invitation WHERE id = ${invitation}`), secret);
}

/** Whether mails are sent. Without a mail server, they are only written to files. */
export const isMailed = ({ config }: Pick<Request, 'config'>): boolean => config.smtp_url !== null;

/** Cancels the unsent mails of an invitation. */
export function cancelMails({ app, now }: Pick<Context, 'app' | 'now'>, invitation: number): void {
  app.db.run(sql`
    UPDATE invitation_mail SET status = 'canceled', next_attempt = NULL, finished = ${now}, secret = NULL
    WHERE invitation_id = ${invitation} AND status = 'pending'`);
}

function rejectTooMany({ caller, config, db, now }: Request): void {
  const { invitation_mail_limit: limit } = config;
  const since = now - limitSpan;
  // The next mail is allowed an hour after the oldest of the counted mails.
  const recent = db.values<number>(sql`
    SELECT created FROM invitation_mail
    WHERE user_id = ${caller.userId} AND created > ${since}
    ORDER BY created DESC
    LIMIT ${limit}`);
  if (recent.length < limit) return;
  throw tooMany('Too many invitations. Try again later.', (recent.at(-1) ?? now) - since);
}

export const invitationMailInstants: readonly StoredInstants[] = [
  { table: 'invitation_mail', column: 'created', ahead: 0 },
  dueInstants('invitation_mail'),
];

/** Removes a batch of mails that the limit no longer counts, from deleted invitations. Returns whether the batch was full. */
export function removeLeftMails({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM invitation_mail WHERE id IN (
          SELECT id FROM invitation_mail
          WHERE invitation_id IS NULL AND created <= ${now - limitSpan}
          LIMIT ${limit}
        )`).changes,
  );
}
