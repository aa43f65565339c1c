/** Mails to users whose email or password was changed (core.md 4.6). */

import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { removeStep } from '../../kernel/db/removal.ts';
import { sql } from '../../kernel/db/sql.ts';
import { type Letter, letter } from '../../kernel/mail/letter.ts';
import { nameInMail } from '../../kernel/mail/text.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import { dueInstants, type Outcome } from '../../kernel/outbox/outcome.ts';
import { countApiKeys } from '../../kernel/security/api-keys.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';

declare module '../../kernel/outbox/outboxes.ts' {
  interface Outboxes {
    readonly notices: NoticeOutbox;
  }
}

/** Mails that a user may get within `mailSpan`. */
const maxMails = 5;
const mailSpan = hour;

/** A user before the change. */
interface Recipient {
  readonly id: number;
  readonly email: string;
  readonly email_verified: number;
  readonly password_hash: string | null;
}

/** Queues the mail about a new email address to the old address, if that was verified. */
export function notifyNewEmail(context: Context, before: Recipient, email: string): void {
  if (foldedEmail(before.email) !== foldedEmail(email)) queue(context, before, 'email');
}

/** Queues the mail about a new password, unless it is the first password. */
export function notifyNewPassword(context: Context, before: Recipient): void {
  if (before.password_hash !== null) queue(context, before, 'password');
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
  readonly what: 'email' | 'password';
  readonly email: string;
  readonly user_id: number;
  readonly attempts: number;
}

/** The mails about changes of email addresses and passwords. */
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

const names: Readonly<Record<DueNotice['what'], string>> = { email: 'email address', password: 'password' };

/** Returns the subject and both parts of the mail. */
function wordingOf(what: DueNotice['what'], username: string, product: string, keys: number): Letter {
  const sentences = [
    'Hello!',
    `The ${names[what]} of the user ${nameInMail(username)} of ${product} has been changed.`,
    ...(keys > 0 ? [`API keys of this user that remain valid: ${keys}.`] : []),
    'If nobody did that for you, please tell those who run the service.',
  ];
  return letter(`Your ${names[what]} for ${product} has been changed`, sentences);
}

export const noticeInstants: readonly StoredInstants[] = [
  { table: 'user_notice', column: 'created', ahead: 0 },
  { table: 'user_notice', column: 'finished', ahead: 0 },
  dueInstants('user_notice'),
];

/** Removes a batch of the mails that the limit no longer counts. Returns whether the batch was full. */
export function removeOldNotices({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM user_notice WHERE id IN (
          SELECT id FROM user_notice WHERE finished <= ${now - mailSpan} AND created <= ${now - mailSpan}
          ORDER BY finished LIMIT ${limit})`).changes,
  );
}
