import type { Context } from '../access/context.ts';
import type { App } from '../app.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Mail } from '../mail/letter.ts';
import { Mailer } from '../mail/mail.ts';
import { type ConcurrencyLimit, concurrencyLimit, type Outbox, type OutboxName } from './delivery-worker.ts';
import { afterAttempt, type Outcome } from './outcome.ts';

/** Mails checked in one poll. */
const maxDueMails = 1000;

/** A due mail: a row of the table of an outbox. */
interface DueMail {
  readonly id: number;
  readonly uuid: string;
  readonly attempts: number;
}

/** An outbox of mails, each of which is a separate queue: the rows of a table that are pending and meet a condition. */
export abstract class MailOutbox<Due extends DueMail> implements Outbox<Due> {
  abstract readonly name: OutboxName;
  readonly #lane = concurrencyLimit(8);
  readonly #mailer: Mailer;

  constructor(
    protected readonly app: App,
    private readonly table: string,
    private readonly condition: Sql = sql`TRUE`,
  ) {
    this.#mailer = new Mailer({ ...app.config, log: app.log, mailStore: app.mailStore, counts: app.metrics.mails });
  }

  due(now: number): { queues: readonly number[]; isMore: boolean } {
    const queues = this.app.db.values<number>(sql`
      SELECT id FROM ${raw(this.table)} WHERE status = 'pending' AND ${this.condition} AND next_attempt <= ${now}
      ORDER BY next_attempt, id
      LIMIT ${maxDueMails}`);
    // The next poll returns the others.
    return { queues, isMore: false };
  }

  next(id: number, now: number): Due | undefined {
    return this.app.db.get<Due>(sql`
      SELECT * FROM ${raw(this.table)}
      WHERE id = ${id} AND status = 'pending' AND ${this.condition} AND next_attempt <= ${now}`);
  }

  limitOf(): ConcurrencyLimit {
    return this.#lane;
  }

  abstract send(mail: Due, context: Context): Promise<Outcome>;

  /** Hands a mail to the mail server. */
  protected async post(mail: Mail): Promise<Outcome> {
    const outcome = await this.#mailer.send(mail);
    return outcome.status === 'sent' ? { status: 'delivered' } : outcome;
  }

  settle(context: Context, mail: Due, outcome: Outcome): void {
    this.app.db.update(this.table, mail.id, { ...afterAttempt(context, mail, outcome) });
  }

  close(): void {
    this.#mailer.close();
  }
}
