/** Mails to users whose email or password was changed (core.md 4.6). */

import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { removeStep } from '../../kernel/db/removal.ts';
import { sql } from '../../kernel/db/sql.ts';
import { type Letter, letter } from '../../kernel/mail/letter.ts';
import { nameInMail } from '../../kernel/mail/names.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import { afterAttempt, dueInstants, type Outcome } from '../../kernel/outbox/outcome.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';

declare module '../../kernel/outbox/outboxes.ts' {
  interface Outboxes {
    readonly notices: NoticeOutbox;
  }
}

/** So many mails in this span a user gets. */
const atMost = 5;
const span = hour;

/** A user as before the change. */
interface LoggedFields {
  readonly id: number;
  readonly email: string;
  readonly email_verified: number;
  readonly password_hash: string | null;
}

/** Queues the mail about a new email, to the old one where that was verified. */
export function notifyNewEmail(context: Context, before: LoggedFields, email: string): void {
  if (foldedEmail(before.email) !== foldedEmail(email)) queue(context, before, 'email');
}

/** Queues the mail about a new password, unless it is the first. */
export function notifyNewPassword(context: Context, before: LoggedFields): void {
  if (before.password_hash !== null) queue(context, before, 'password');
}

function queue(
  { app, now }: Context,
  { email, email_verified: isVerified, id: user }: LoggedFields,
  what: DueNotice['what'],
) {
  const { db } = app;
  if (email === '' || !isVerified) return;
  const recent = db.scalar<number>(
    sql`SELECT count(*) FROM user_notice WHERE user_id = ${user} AND created > ${now - span}`,
  );
  if (recent >= atMost) return;
  const id = db.insert('user_notice', {
    uuid: newUuid(app),
    user_id: user,
    what,
    email,
    created: now,
    next_attempt: now,
  });
  db.afterCommit((error) => error === undefined && app.wakeOutbox('notices', [id]));
}

/** A mail that is to be sent now. */
interface DueNotice {
  readonly id: number;
  readonly uuid: string;
  readonly what: 'email' | 'password';
  readonly email: string;
  readonly username: string;
  readonly attempts: number;
}

/** The mails about changes. */
export class NoticeOutbox extends MailOutbox<DueNotice> {
  readonly name = 'notices';

  constructor(app: App) {
    super(app, sql`user_notice WHERE status = 'pending'`);
  }

  next(id: number, now: number): DueNotice | undefined {
    return this.app.db.get<DueNotice>(sql`
      SELECT n.id, n.uuid, n.what, n.email, n.attempts, u.username
      FROM user_notice n JOIN user u ON u.id = n.user_id
      WHERE n.id = ${id} AND n.status = 'pending' AND n.next_attempt <= ${now}`);
  }

  async send({ email, username, uuid, what }: DueNotice, { now }: Context): Promise<Outcome> {
    const wording = wordingOf(what, username, this.app.config.product_name);
    return this.post({ ...wording, to: email, id: uuid, at: now });
  }

  settle(context: Context, notice: DueNotice, outcome: Outcome): void {
    this.app.db.update('user_notice', notice.id, { ...afterAttempt(context, notice, outcome) });
  }
}

const names: Readonly<Record<DueNotice['what'], string>> = { email: 'email address', password: 'password' };

/** Subject and both parts of the mail. */
function wordingOf(what: DueNotice['what'], username: string, product: string): Letter {
  const sentences = [
    'Hello!',
    `The ${names[what]} of the user ${nameInMail(username)} of ${product} has been changed.`,
    'If nobody did that for you, please tell those who run the service.',
  ];
  return letter(`Your ${names[what]} for ${product} has been changed`, sentences);
}

export const noticeInstants: readonly StoredInstants[] = [
  { table: 'user_notice', column: 'created', ahead: 0 },
  { table: 'user_notice', column: 'finished', ahead: 0 },
  dueInstants('user_notice'),
];

/** Removes mails that no limit counts any more, a bounded number at a time. Answers whether it was that many. */
export function removeOldNotices({ app: { db }, now }: Context): boolean {
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM user_notice WHERE id IN (
          SELECT id FROM user_notice WHERE finished <= ${now - span} AND created <= ${now - span}
          ORDER BY finished LIMIT ${limit})`).changes,
  );
}
