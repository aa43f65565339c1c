import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { type ConcurrencyLimit, concurrencyLimit, type Outbox } from '../../kernel/outbox/delivery-worker.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { type DueDelivery, type HookKind, hooksWithDue, nextDelivery, readyDue } from './due.ts';
import { HostLimits } from './host-limits.ts';
import { settle } from './outcome.ts';
import { EmailSender } from './send-email.ts';
import { PushSender } from './send-push.ts';
import { WebSender } from './send-web.ts';
import type { Sender } from './sender.ts';

declare module '../../kernel/outbox/delivery-worker.ts' {
  interface Outboxes {
    readonly hooks: HookOutbox;
  }
}

/**
 * Deliveries of hooks. Each hook is a queue in event order. Failing hooks have a separate lane, so that working hooks do not wait
 * for their timeouts.
 */
export class HookOutbox implements Outbox<DueDelivery> {
  readonly name = 'hooks';
  readonly #senders: Readonly<Record<HookKind, Sender>>;
  readonly #lanes = {
    web: concurrencyLimit(500),
    push: concurrencyLimit(50),
    email: concurrencyLimit(8),
    failing: concurrencyLimit(100),
  };
  readonly #hosts: HostLimits;
  /** Hooks whose last delivery was recovered. */
  readonly #lastRecovered = new Set<number>();

  /** Throws a readable error if a setting is invalid. */
  constructor(private readonly app: App) {
    this.#hosts = new HostLimits(app.config, app.resolve);
    this.#senders = {
      web: new WebSender(app, this.#hosts.resolve),
      push: new PushSender(app),
      email: new EmailSender(app),
    };
  }

  due(now: number): { queues: readonly number[]; isMore: boolean } {
    const { db } = this.app;
    const isMore = readyDue(db, now);
    return { queues: hooksWithDue(db), isMore };
  }

  /** Alternates between recovered and other deliveries, so that new ones wait for at most one recovered delivery. */
  next(hook: number): DueDelivery | undefined {
    const isRecovered = !this.#lastRecovered.has(hook);
    return nextDelivery(this.app, hook, isRecovered) ?? nextDelivery(this.app, hook, !isRecovered);
  }

  limitOf({ failing_since: failingSince, kind }: DueDelivery): ConcurrencyLimit {
    return this.#lanes[failingSince !== null && kind !== 'email' ? 'failing' : kind];
  }

  /** Web hooks share the limit of their host. The push gateway has none, because the operator chose it. */
  additionalLimitOf({ destination_url: url }: DueDelivery): ConcurrencyLimit | undefined {
    return url === null ? undefined : this.#hosts.of(url);
  }

  async send(delivery: DueDelivery, context: Context): Promise<Outcome> {
    if (delivery.recovered) this.#lastRecovered.add(delivery.hook_id);
    else this.#lastRecovered.delete(delivery.hook_id);
    if (delivery.is_lost && !delivery.is_digest)
      return { status: 'failed', error: 'The event is no longer kept.', final: true };
    return this.#senders[delivery.kind].send(delivery, context);
  }

  settle(context: Context, delivery: DueDelivery, outcome: Outcome): void {
    settle(context, delivery, outcome);
  }

  close(): void {
    for (const sender of Object.values(this.#senders)) sender.close();
  }
}
