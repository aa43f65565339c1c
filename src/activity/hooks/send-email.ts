import type { App, Context } from '../../kernel/access/app.ts';
import { escaped } from '../../kernel/mail/html.ts';
import { Mailer } from '../../kernel/mail/mail.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import type { DueDelivery } from './due.ts';
import type { Sender } from './sender.ts';

/** Delivers to email hooks: one mail for each event. */
export class EmailSender implements Sender {
  readonly #mailer: Mailer;

  constructor(private readonly app: App) {
    this.#mailer = new Mailer({ ...app.config, log: app.log, kept: app.keptMails });
  }

  async send(delivery: DueDelivery, { now }: Context): Promise<Outcome> {
    const title = `Notifications from ${this.app.config.product_name}`;
    const outcome = await this.#mailer.send({
      to: present(delivery.email),
      subject: title,
      text: delivery.message,
      html: `<h1>${escaped(title)}</h1>\n<ul>\n<li>${escaped(delivery.message)} <time>${shortTime(delivery.at)}</time></li>\n</ul>\n`,
      id: delivery.uuid,
      at: now,
    });
    if (outcome.status === 'sent') return { status: 'delivered' };
    return outcome;
  }

  close(): void {
    this.#mailer.close();
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Jan 05 04:47`, in UTC. */
function shortTime(at: number): string {
  const [, month, date, time] = /-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(new Date(at / 1000).toISOString()) ?? [];
  return `${months[Number(month) - 1]} ${date} ${time}`;
}
