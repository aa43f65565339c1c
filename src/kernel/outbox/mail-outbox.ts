import type { Context } from '../access/context.ts';
import type { App } from '../app.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Mail } from '../mail/letter.ts';
import { Mailer } from '../mail/mail.ts';
import { type ConcurrencyLimit, concurrencyLimit, type Outbox } from './delivery-worker.ts';
import type { OutboxName } from './outboxes.ts';
import type { Outcome } from './outcome.ts';

/** So many mails are looked at in one poll. */
const maxDueMails = 1000;

/** An outbox of mails, each of which is a separate queue; `waiting` is their table with the condition of unfinished ones. */
export abstract class MailOutbox<Due extends { readonly uuid: string }> implements Outbox<Due> {
  abstract readonly name: OutboxName;
  readonly #lane = concurrencyLimit(8);
  readonly #mailer: Mailer;

  constructor(
    protected readonly app: App,
    private readonly waiting: Sql,
  ) {
    this.#mailer = new Mailer({ ...app.config, log: app.log, mailStore: app.mailStore, counts: app.metrics.mails });
  }

  due(now: number): { queues: readonly number[]; isMore: boolean } {
    const queues = this.app.db.values<number>(sql`
      SELECT id FROM ${this.waiting} AND next_attempt <= ${now}
      ORDER BY next_attempt, id
      LIMIT ${maxDueMails}`);
    // The others come with the next poll.
    return { queues, isMore: false };
  }

  abstract next(id: number, now: number): Due | undefined;

  lane(): ConcurrencyLimit {
    return this.#lane;
  }

  abstract send(mail: Due, context: Context): Promise<Outcome>;

  /** Hands a mail to the mail server. */
  protected async post(mail: Mail): Promise<Outcome> {
    const outcome = await this.#mailer.send(mail);
    return outcome.status === 'sent' ? { status: 'delivered' } : outcome;
  }

  abstract settle(context: Context, mail: Due, outcome: Outcome): void;

  close(): void {
    this.#mailer.close();
  }
}
