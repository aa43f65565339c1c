import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { escaped, type Mail, nameInMail, withoutLinks } from '../../kernel/mail/letter.ts';
import { Mailer } from '../../kernel/mail/mail.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import { contextOf } from '../events/damaged.ts';
import { confirmationOf, unsubscribeLinks } from './confirmation.ts';
import type { DueDelivery } from './due.ts';
import { type Digest, loadDigest } from './mail-hours.ts';
import type { Sender } from './sender.ts';

/** Delivers to email hooks, one mail per event. */
export class EmailSender implements Sender {
  readonly #mailer: Mailer;

  constructor(private readonly app: App) {
    this.#mailer = new Mailer({ ...app.config, log: app.log, mailStore: app.mailStore, counts: app.metrics.mails });
  }

  async send(delivery: DueDelivery, { now }: Context): Promise<Outcome> {
    const content = this.#content(delivery);
    if (!content) return { status: 'skipped', error: 'The confirmation is no longer needed.' };
    const headers = unsubscribeLinks.headers(this.app, { uuid: delivery.hook_uuid, email: content.to });
    const outcome = await this.#mailer.send({ ...content, id: delivery.uuid, at: now, headers });
    if (outcome.status === 'sent') return { status: 'delivered' };
    return outcome;
  }

  close(): void {
    this.#mailer.close();
  }

  /** Returns receiver, subject and text of the mail; undefined if its confirmation is no longer needed. */
  #content(delivery: DueDelivery): Pick<Mail, 'to' | 'subject' | 'text' | 'html'> | undefined {
    const title = `Notifications from ${this.app.config.product_name}`;
    if (delivery.confirmation !== null) {
      const confirmation = confirmationOf(this.app, delivery.confirmation);
      return confirmation && { to: confirmation.email, ...confirmationMail(title, confirmation.link) };
    }
    if (delivery.is_digest) {
      const events = loadDigest(this.app.db, delivery);
      return { to: present(delivery.email), ...digestMail(title, events) };
    }
    return {
      to: present(delivery.email),
      subject: title,
      text: wordsOf(delivery),
      html: `<h1>${escaped(title)}</h1>\n${itemsOf([delivery])}`,
    };
  }
}

/**
 * Returns the message of an event for a mail, with sanitised names and without links. A custom notification stays unchanged,
 * because staff may include links (events.md 5.7).
 */
function wordsOf({ context, message, type }: Digest['listed'][number]): string {
  if (type === 'custom_notification') return message;
  const names = Object.values(contextOf(context) ?? {}).filter((text) => nameInMail(text) !== text);
  // Replace the longest names first, because they may contain shorter ones.
  names.sort((a, b) => b.length - a.length);
  return withoutLinks(names.reduce((words, name) => words.replaceAll(name, () => nameInMail(name)), message));
}

const itemsOf = (events: Digest['listed']): string =>
  `<ul>\n${events.map((event) => `<li>${escaped(wordsOf(event))} <time>${shortTime(event.at)}</time></li>\n`).join('')}</ul>\n`;

/** Renders the mail that lists the events above the hourly limit. */
function digestMail(title: string, { listed, others }: Digest): Pick<Mail, 'subject' | 'text' | 'html'> {
  const rest = others === 0 ? '' : `and ${others} more`;
  return {
    subject: title,
    text: [...listed.map((event) => `${shortTime(event.at)} ${wordsOf(event)}`), ...(rest ? ['', rest] : [])].join(
      '\n',
    ),
    html: `<h1>${escaped(title)}</h1>\n${itemsOf(listed)}${rest && `<p>${rest}</p>\n`}`,
  };
}

/** Renders the confirmation mail. It contains no text from users, who could abuse it. */
function confirmationMail(title: string, link: string): Pick<Mail, 'subject' | 'text' | 'html'> {
  const request = 'Someone requested notifications to this address. Confirm within 7 days:';
  const alternative = 'If you did not expect this, ignore this mail, and no notifications will be sent.';
  return {
    subject: `${title}: please confirm`,
    text: `${request}\n\n${link}\n\n${alternative}\n`,
    html: `<h1>${escaped(title)}</h1>\n<p>${request}</p>\n<p><a href="${escaped(link)}">${escaped(link)}</a></p>\n<p>${alternative}</p>\n`,
  };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Jan 05 04:47`, in UTC. */
function shortTime(at: number): string {
  const [, month, date, time] = /-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(new Date(at / 1000).toISOString()) ?? [];
  return `${months[Number(month) - 1]} ${date} ${time}`;
}
