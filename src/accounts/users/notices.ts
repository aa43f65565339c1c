/** Mails to users about changes of their email, password and second factors (core.md 4.6). */

import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { type Letter, letter, nameInMail } from '../../kernel/mail/letter.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import { dueInstants, type Outcome } from '../../kernel/outbox/outcome.ts';
import { countApiKeys } from '../../kernel/security/api-keys.ts';

declare module '../../kernel/outbox/delivery-worker.ts' {
  interface Outboxes {
    readonly notices: NoticeOutbox;
  }
}

/** Maximum number of mails per user within `mailSpan`. */
const maxMails = 5;
const mailSpan = hour;

/** Kinds of mails about second factors. */
type SecurityNotice =
  | 'second_factor_added'
  | 'second_factor_removed'
  | 'recovery_codes_replaced'
  | 'recovery_code_used'
  | 'codes_locked';

/** A user before the change. */
interface Recipient {
  readonly id: number;
  readonly email: string;
  readonly email_verified: number;
  readonly password_hash: string | null;
}

/** Queues the mail about a new email address to the old address, if the old one was verified. */
export function notifyNewEmail(context: Context, before: Recipient, email: string): void {
  if (foldedEmail(before.email) !== foldedEmail(email)) queue(context, before, 'email');
}

/** Queues the mail about a new password, unless it is the first password. */
export function notifyNewPassword(context: Context, before: Recipient): void {
  if (before.password_hash !== null) queue(context, before, 'password');
}

/** Queues the mail about a change or use of second factors. */
export function notifySecurity(context: Context, user: Recipient, what: SecurityNotice): void {
  queue(context, user, what);
}

function queue(
  { app, now }: Context,
  { email, email_verified: isVerified, id: user }: Recipient,
  what: DueNotice['what'],
) {
  const { db } = app;
  if (email === '' || !isVerified) return;
  const recent = db.scalar<number>(
    sql`SELECT count(*) FROM user_notice WHERE user_id = ${user} AND created > ${now - mailSpan}`,
  );
  if (recent >= maxMails) return;
  const id = db.insert('user_notice', {
    uuid: newUuid(app),
    user_id: user,
    what,
    email,
    created: now,
    next_attempt: now,
  });
  db.onceStored(() => app.wakeOutbox('notices', [id]));
}

/** A due mail. */
interface DueNotice {
  readonly id: number;
  readonly uuid: string;
  readonly what: 'email' | 'password' | SecurityNotice;
  readonly email: string;
  readonly user_id: number;
  readonly attempts: number;
}

/** The mails about changes of email addresses, passwords and second factors. */
export class NoticeOutbox extends MailOutbox<DueNotice> {
  readonly name = 'notices';

  constructor(app: App) {
    super(app, 'user_notice');
  }

  async send({ email, user_id: user, uuid, what }: DueNotice, { now }: Context): Promise<Outcome> {
    const username = this.app.db.scalar<string>(sql`SELECT username FROM user WHERE id = ${user}`);
    const keys = what === 'password' ? countApiKeys(this.app.db, user) : 0;
    const wording = wordingOf(what, username, this.app.config.product_name, keys);
    return this.post({ ...wording, to: email, id: uuid, at: now });
  }
}

/** Subject and text by kind of mail. */
const wordings: Readonly<Record<DueNotice['what'], (user: string, product: string) => readonly [string, string]>> = {
  email: (user, product) => [
    `Your email address for ${product} has been changed`,
    `The email address of the user ${user} of ${product} has been changed.`,
  ],
  password: (user, product) => [
    `Your password for ${product} has been changed`,
    `The password of the user ${user} of ${product} has been changed.`,
  ],
  second_factor_added: (user, product) => [
    `A second factor for ${product} has been added`,
    `A second factor has been added to the user ${user} of ${product}.`,
  ],
  second_factor_removed: (user, product) => [
    `A second factor for ${product} has been removed`,
    `A second factor has been removed from the user ${user} of ${product}.`,
  ],
  recovery_codes_replaced: (user, product) => [
    `Your recovery codes for ${product} have been replaced`,
    `The recovery codes of the user ${user} of ${product} have been replaced. The old ones are no longer valid.`,
  ],
  recovery_code_used: (user, product) => [
    `A recovery code for ${product} has been used`,
    `A recovery code of the user ${user} of ${product} has been used.`,
  ],
  codes_locked: (user, product) => [
    `Codes for ${product} are locked for an hour`,
    `The codes of the user ${user} of ${product} are locked for an hour after ten wrong second factors. Another person may know the password.`,
  ],
};

/** Returns the subject and both parts of the mail. */
function wordingOf(what: DueNotice['what'], username: string, product: string, keys: number): Letter {
  const [subject, sentence] = wordings[what](nameInMail(username), product);
  const advice = 'If no one did this on your behalf, please notify the operator of the service.';
  const keyNotes = keys > 0 ? [`API keys of this user that remain valid: ${keys}.`] : [];
  return letter(subject, ['Hello!', sentence, ...keyNotes, advice]);
}

export const noticeInstants: readonly StoredInstants[] = [
  { table: 'user_notice', column: 'created', ahead: 0 },
  { table: 'user_notice', column: 'finished', ahead: 0 },
  dueInstants('user_notice'),
];

/** Removes a batch of mails that the limit no longer counts. Returns whether the batch was full. */
export function removeOldNotices({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM user_notice WHERE id IN (
          SELECT id FROM user_notice WHERE finished <= ${now - mailSpan} AND created <= ${now - mailSpan}
          ORDER BY finished LIMIT ${limit})`).changes,
  );
}
