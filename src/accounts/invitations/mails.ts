import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { newUuid } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { removeStep } from '../../kernel/db/removal.ts';
import { sql } from '../../kernel/db/sql.ts';
import { tooMany } from '../../kernel/http/error.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { digestOfSecret, newMailedSecret } from '../../kernel/security/mailed-secrets.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { linkOf } from './link-template.ts';

/** The span of time of the setting invitation_mail_limit. */
const limitSpan = hour;

/**
 * Queues the mail of an invitation with a new secret, in place of one that is still to be sent and of its secret. The caller
 * is the inviter from now on. Throws 429 when the caller has caused too many.
 */
export function queueMail(request: Request, invitation: number): void {
  const { caller, db, now } = request;
  if (!caller.isStaff) rejectTooMany(request);
  cancelMails(request, invitation);
  const uuid = newUuid(request.app);
  const secret = newMailedSecret(request.app);
  db.update('invitation', invitation, { secret_digest: digestOfSecret(secret), inviter_id: caller.id });
  const id = db.insert('invitation_mail', {
    uuid,
    invitation_id: invitation,
    user_id: caller.id,
    secret: request.app.secrets.seal(secret, uuid),
    created: now,
    next_attempt: now,
  });
  db.afterCommit((error) => error === undefined && request.app.wakeOutbox('invitations', [id]));
}

/**
 * Makes a link that the caller may pass on, instead of an earlier one, and returns it: only its digest is stored. Its secret
 * is not the one in the mail, which proves that the email address is read.
 */
export function issueLink({ app, db }: Request, invitation: number): string {
  const secret = newMailedSecret(app);
  db.update('invitation', invitation, { link_digest: digestOfSecret(secret) });
  return linkOf(db.scalar<string>(sql`SELECT link_template FROM invitation WHERE id = ${invitation}`), secret);
}

/** Whether mails are sent, rather than written to a file for want of a mail server. */
export const isMailed = ({ config }: Pick<Request, 'config'>): boolean => config.smtp_url !== null;

/** Gives up what is still to be sent of an invitation. */
export function cancelMails({ app, now }: Pick<Context, 'app' | 'now'>, invitation: number): void {
  app.db.run(sql`
    UPDATE invitation_mail SET status = 'canceled', next_attempt = NULL, finished = ${now}, secret = NULL
    WHERE invitation_id = ${invitation} AND status = 'pending'`);
}

function rejectTooMany({ caller, config, db, now }: Request): void {
  const { invitation_mail_limit: limit } = config;
  const since = now - limitSpan;
  // The mail that must be an hour old before the next one: the oldest of as many as are allowed.
  const recent = db.values<number>(sql`
    SELECT created FROM invitation_mail
    WHERE user_id = ${caller.id} AND created > ${since}
    ORDER BY created DESC
    LIMIT ${limit}`);
  if (recent.length < limit) return;
  throw tooMany('Too many invitations. Try again later.', (recent.at(-1) ?? now) - since);
}

export const invitationMailInstants: readonly StoredInstants[] = [
  { table: 'invitation_mail', column: 'created', ahead: 0 },
  dueInstants('invitation_mail'),
];

/** Removes the mails of deleted invitations, which were kept to be counted for the limit, a bounded number at a time. Answers whether it was that many. */
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
