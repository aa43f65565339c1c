import type { App, Context } from '../../kernel/access/app.ts';
import { type ConcurrencyLimit, concurrencyLimit, type Outbox } from '../../kernel/outbox/delivery-worker.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { type DueDelivery, type HookKind, hooksWithDue, nextDelivery, readyDue } from './due.ts';
import { settle } from './outcome.ts';
import { EmailSender } from './send-email.ts';
import { PushSender } from './send-push.ts';
import { WebSender } from './send-web.ts';
import type { Sender } from './sender.ts';

/**
 * The deliveries of hooks: each hook is a queue, in the order of the events. Hooks that fail have a lane of their own, so
 * that however many of them time out, the others do not wait.
 */
export class HookOutbox implements Outbox<DueDelivery> {
  readonly #senders: Readonly<Record<HookKind, Sender>>;
  readonly #lanes = {
    web: concurrencyLimit(500),
    push: concurrencyLimit(50),
    email: concurrencyLimit(8),
    failing: concurrencyLimit(100),
  };
  readonly lanes = Object.values(this.#lanes);

  /** Throws with a sentence when a setting is of no use. */
  constructor(private readonly app: App) {
    this.#senders = { web: new WebSender(app), push: new PushSender(app), email: new EmailSender(app) };
  }

  due(now: number): { queues: readonly number[]; isMore: boolean } {
    const { db } = this.app;
    const isMore = readyDue(db, now);
    return { queues: hooksWithDue(db), isMore };
  }

  next(hook: number): DueDelivery | undefined {
    return nextDelivery(this.app.db, hook);
  }

  lane({ failing_since: failingSince, kind }: DueDelivery): ConcurrencyLimit {
    return this.#lanes[failingSince !== null && kind !== 'email' ? 'failing' : kind];
  }

  async send(delivery: DueDelivery, context: Context): Promise<Outcome> {
    if (delivery.is_lost) return { status: 'failed', error: 'The event is no longer kept.', final: true };
    return this.#senders[delivery.kind].send(delivery, context);
  }

  settle(context: Context, delivery: DueDelivery, outcome: Outcome): void {
    settle(context, delivery, outcome);
  }

  close(): void {
    for (const sender of Object.values(this.#senders)) sender.close();
  }
}
