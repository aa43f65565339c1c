import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { type Letter, letter, nameInMail } from '../../kernel/mail/letter.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import { afterAttempt, type Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import type { UserRow } from '../users/users.ts';
import { claimLink } from './password-resets.ts';

declare module '../../kernel/outbox/delivery-worker.ts' {
  interface Outboxes {
    readonly passwords: PasswordOutbox;
  }
}

/** A due mail. */
interface DueLink {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly secret: Uint8Array | null;
  readonly attempts: number;
  readonly created: number;
}

/** The mails with links that set a new password. */
export class PasswordOutbox extends MailOutbox<DueLink> {
  readonly name = 'passwords';

  constructor(app: App) {
    super(app, 'password_reset');
  }

  async send(link: DueLink, context: Context): Promise<Outcome> {
    const { password_reset_url: template } = this.app.config;
    const user = template === null ? undefined : await this.#claim(link, context);
    if (template === null || !user) return { status: 'skipped', error: 'There is no recipient.' };
    const secret = this.app.secrets.open(present(link.secret), link.uuid);
    return this.post({
      ...wordingOf(user, template.replaceAll('{secret}', secret), this.app.config.product_name),
      to: user.email,
      id: link.uuid,
      at: context.now,
    });
  }

  /** Assigns the link to its user and waits until this is on disk, so that a mailed link always works. */
  async #claim(link: DueLink, context: Context): Promise<UserRow | undefined> {
    const { db } = this.app;
    const user = db.write(() => claimLink(context, link));
    await new Promise<void>((resolve, reject) =>
      db.afterCommit((error) => (error === undefined ? resolve() : reject(error))),
    );
    return user;
  }

  override settle(context: Context, link: DueLink, outcome: Outcome): void {
    const result = afterAttempt(context, link, outcome);
    const isOver = result.next_attempt === null;
    this.app.db.update('password_reset', link.id, { ...result, ...(isOver && { secret: null }) });
  }
}

/** Returns the subject and both parts of the mail (core.md 2.5). */
function wordingOf({ username }: UserRow, link: string, product: string): Letter {
  const sentences = [
    'Hello!',
    `A new password was asked for the user ${nameInMail(username)} of ${product}.`,
    'Please visit this page within an hour to set it. If you did not ask for it, nothing needs to be done:',
  ];
  return letter(`New password for ${product}`, sentences, link);
}
