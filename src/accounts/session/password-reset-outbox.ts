import type { App, Context } from '../../kernel/access/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { escaped } from '../../kernel/mail/html.ts';
import { Mailer } from '../../kernel/mail/mail.ts';
import { nameInMail } from '../../kernel/mail/names.ts';
import { type ConcurrencyLimit, concurrencyLimit, type Outbox } from '../../kernel/outbox/delivery-worker.ts';
import { afterAttempt, type Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import type { UserRow } from '../users/users.ts';
import { claimLink } from './password-resets.ts';

/** A mail that is to be sent now. */
interface DueLink {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly secret: Uint8Array | null;
  readonly attempts: number;
  readonly created: number;
}

/** So many mails are looked at in one poll. */
const dueAtOnce = 1000;

/** The mails with links that set another password; each is a queue of its own. */
export class PasswordOutbox implements Outbox<DueLink> {
  readonly #lane = concurrencyLimit(8);
  readonly lanes = [this.#lane];
  readonly #mailer: Mailer;

  constructor(private readonly app: App) {
    this.#mailer = new Mailer({ ...app.config, log: app.log, kept: app.keptMails });
  }

  due(now: number): { queues: readonly number[]; isMore: boolean } {
    const queues = this.app.db.values<number>(sql`
      SELECT id FROM password_reset WHERE status = 'pending' AND next_attempt <= ${now}
      ORDER BY next_attempt, id
      LIMIT ${dueAtOnce}`);
    // The others come with the next poll.
    return { queues, isMore: false };
  }

  next(id: number, now: number): DueLink | undefined {
    return this.app.db.get<DueLink>(sql`
      SELECT id, uuid, email, secret, attempts, created FROM password_reset
      WHERE id = ${id} AND status = 'pending' AND next_attempt <= ${now}`);
  }

  lane(): ConcurrencyLimit {
    return this.#lane;
  }

  async send(link: DueLink, context: Context): Promise<Outcome> {
    const { password_reset_url: template } = this.app.config;
    const user = template === null ? undefined : await this.#claim(link, context);
    if (template === null || !user) return { status: 'skipped', error: 'There is nobody to send it to.' };
    const secret = this.app.secrets.open(present(link.secret), link.uuid);
    const outcome = await this.#mailer.send({
      ...wordingOf(user, template.replaceAll('{secret}', secret), this.app.config.product_name),
      to: user.email,
      id: link.uuid,
      at: context.now,
    });
    return outcome.status === 'sent' ? { status: 'delivered' } : outcome;
  }

  /** The user of the link, who is on disk with it before the mail goes out: from then on it works. */
  async #claim(link: DueLink, context: Context): Promise<UserRow | undefined> {
    const { db } = this.app;
    const user = db.write(() => claimLink(context, link));
    await new Promise<void>((resolve, reject) =>
      db.afterCommit((error) => (error === undefined ? resolve() : reject(error))),
    );
    return user;
  }

  settle(context: Context, link: DueLink, outcome: Outcome): void {
    const result = afterAttempt(context, link, outcome);
    const isOver = result.next_attempt === null;
    this.app.db.update('password_reset', link.id, { ...result, ...(isOver && { secret: null }) });
  }

  close(): void {
    this.#mailer.close();
  }
}

/** Subject and both parts of the mail (core.md 2.5). */
function wordingOf(
  { username }: UserRow,
  link: string,
  product: string,
): { readonly subject: string; readonly text: string; readonly html: string } {
  const sentences = [
    'Hello!',
    `A new password was asked for the user ${nameInMail(username)} of ${product}.`,
    'Please visit this page within an hour to set it. If you did not ask for it, nothing needs to be done:',
  ];
  const href = escaped(link);
  return {
    subject: `New password for ${product}`,
    text: [...sentences, link].join('\n'),
    html: `${sentences.map((sentence) => `<p>${escaped(sentence)}</p>\n`).join('')}<p><a href="${href}">${href}</a></p>\n`,
  };
}
