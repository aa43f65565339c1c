/** Sends the deliveries of an outbox, some at a time. See src/decisions/bounded-turns.md. */

import { type Context, systemContext } from '../access/context.ts';
import type { App } from '../app.ts';
import { StorageError } from '../durability/storage-error.ts';
import type { OutboxName } from './outboxes.ts';
import type { Outcome } from './outcome.ts';
import type { Rate } from './rate.ts';

/** A bound on attempts under way at once, and the queues that wait for it. */
export interface ConcurrencyLimit {
  readonly limit: number;
  /** How many may begin in a second, where that is bounded, too. */
  readonly rate?: Rate;
  running: number;
  readonly waiting: Set<number>;
}

export const concurrencyLimit = (limit: number): ConcurrencyLimit => ({ limit, running: 0, waiting: new Set() });

/** How many more may begin at this instant. */
const space = ({ limit, rate, running }: ConcurrencyLimit, at: number): number =>
  Math.max(0, Math.min(limit - running, rate?.free(at) ?? limit));

/** Rows that are to be sent: which, in what order, and how. Rows of one queue go one at a time. */
export interface Outbox<Delivery extends { readonly uuid: string }> {
  readonly name: OutboxName;
  /** Queues that may have something due by then; `isMore`: asked again at once, there are others. */
  due(now: number): { readonly queues: readonly number[]; readonly isMore: boolean };
  /** What a queue sends now. */
  next(queue: number, now: number): Delivery | undefined;
  lane(delivery: Delivery): ConcurrencyLimit;
  /** Another bound that the delivery is under besides its lane. */
  furtherLimit?(delivery: Delivery): ConcurrencyLimit | undefined;
  /** One attempt. Rejects only on a fault of the program. */
  send(delivery: Delivery, context: Context): Promise<Outcome>;
  /** Writes down how an attempt ended. Runs inside a write. */
  settle(context: Context, delivery: Delivery, outcome: Outcome): void;
  /** Aborts attempts in progress. */
  close(): void;
}

/** An attempt that has ended; without an outcome it was broken off by the shutdown. */
interface Finished<Delivery> {
  readonly queue: number;
  readonly delivery: Delivery;
  readonly limits: readonly ConcurrencyLimit[];
  readonly outcome: Outcome | undefined;
}

/** Attempts begun in one turn of the event loop: under load, requests get the greater part of it. */
const maxStartedPerTurn = 5;
/** Queues looked at in one turn, whether or not they have anything that may begin. */
const maxCheckedPerTurn = 100;
/** Milliseconds until results are saved again that could not be. */
const savePause = 1000;
/** How long, in milliseconds, a shutdown waits for attempts in progress; aborted ones are sent again by the next start. */
const shutdownTimeoutMs = 1000;

/**
 * Takes deliveries from an outbox: those that have come due, when the timer polls, and new ones when their commit wakes
 * it. Of each queue one at a time, and the next when the result of the last is on disk.
 */
export class DeliveryWorker<Delivery extends { readonly uuid: string }> {
  /** Queues that may have something to send, in the order they came. */
  readonly #ready = new Set<number>();
  readonly #busy = new Set<number>();
  #finished: Finished<Delivery>[] = [];
  #isScheduled = false;
  #isClosing = false;
  #isClosed = false;
  #idle: (() => void)[] = [];
  /** Limits that queues wait for, or have waited for. */
  readonly #contended = new Set<ConcurrencyLimit>();
  /** What wakes the queues that wait because too many have begun in the last second. */
  readonly #pauses = new Map<ConcurrencyLimit, NodeJS.Timeout>();

  constructor(
    private readonly app: App,
    private readonly outbox: Outbox<Delivery>,
  ) {}

  /** Deliveries of these queues have been committed. */
  wake(queues: readonly number[]): void {
    for (const queue of queues) this.#ready.add(queue);
    this.#schedule();
  }

  /** Takes whatever is due by the clock. */
  poll(): void {
    const { isMore, queues } = this.outbox.due(this.app.clock.now());
    this.wake(queues);
    if (isMore) setImmediate(() => this.#isClosing || this.poll());
  }

  /** Resolves when nothing is under way and nothing is due. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#schedule();
    });
  }

  /** Starts nothing more, waits so many milliseconds for attempts in progress and aborts the rest. */
  async close(milliseconds = shutdownTimeoutMs): Promise<void> {
    this.#isClosing = true;
    this.#ready.clear();
    for (const { waiting } of this.#contended) waiting.clear();
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    this.#pauses.clear();
    let timeout: NodeJS.Timeout | undefined;
    await Promise.race([this.idle(), new Promise((resolve) => (timeout = setTimeout(resolve, milliseconds)))]);
    clearTimeout(timeout);
    this.#isClosed = true;
    this.outbox.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  /** Once per event-loop iteration: writes the results that came in, and after their commit starts due deliveries. */
  #turn(): void {
    const { db, log } = this.app;
    const finished = this.#finished;
    this.#finished = [];
    let failure: unknown;
    try {
      if (finished.some(({ outcome }) => outcome)) db.write(() => this.#settle(finished));
    } catch (error) {
      failure = error;
    }
    // Also what others have written must be committed before it is sent.
    db.afterCommit((error) => {
      failure ??= error;
      this.#isScheduled = false;
      if (failure instanceof StorageError && !this.#isClosing) {
        // The results stay in memory, and their queues stay busy: nothing is sent twice, and nothing more, until they can be saved.
        this.#finished.unshift(...finished);
        setTimeout(() => this.#schedule(), savePause).unref();
        return;
      }
      if (failure !== undefined) log.error({ err: failure }, 'results of deliveries could not be saved');
      this.#release(finished, failure === undefined);
      this.#begin();
    });
  }

  #settle(finished: readonly Finished<Delivery>[]): void {
    const context = systemContext(this.app);
    for (const { delivery, outcome } of finished) if (outcome) this.outbox.settle(context, delivery, outcome);
  }

  /** Lets the queues of attempts that have ended, and those that waited for their limits, begin another. */
  #release(finished: readonly Finished<Delivery>[], isSaved: boolean): void {
    for (const { limits, queue } of finished) {
      this.#busy.delete(queue);
      for (const limit of limits) {
        limit.running--;
        this.#wake(limit, 1);
      }
      // An attempt whose result could not be saved is repeated, but not before the next poll.
      if (isSaved && !this.#isClosing) this.#ready.add(queue);
    }
    if (this.#finished.length > 0) this.#schedule();
  }

  /** Whether none of these limits is in the way; else the queue waits for the first that is. */
  #hasSpace(queue: number, limits: readonly ConcurrencyLimit[]): boolean {
    const at = performance.now();
    const full = limits.find((limit) => space(limit, at) === 0);
    if (!full) {
      for (const { rate } of limits) rate?.note(at);
      return true;
    }
    full.waiting.add(queue);
    this.#contended.add(full);
    return false;
  }

  /** Lets so many of the queues that wait for a limit try again. */
  #wake({ waiting }: ConcurrencyLimit, count: number): void {
    let left = count;
    for (const queue of waiting) {
      if (left-- === 0) return;
      waiting.delete(queue);
      this.#ready.add(queue);
    }
  }

  /**
   * Retries as many of the waiting queues as their limits allow; returns whether there are any. Called whenever
   * nothing else is ready: a queue that had waited may have nothing to send any more, or have begun by another way, and
   * the slot it was given belongs to another queue.
   */
  #wakeWaiting(): boolean {
    const at = performance.now();
    for (const limit of this.#contended) {
      const free = space(limit, at);
      if (free === 0 && limit.running < limit.limit) this.#pause(limit, limit.rate?.wait(at) ?? 0);
      this.#wake(limit, free);
      if (limit.waiting.size === 0) this.#contended.delete(limit);
    }
    return this.#ready.size > 0;
  }

  /** Looks at what waits again when another may begin. */
  #pause(limit: ConcurrencyLimit, wait: number): void {
    if (this.#pauses.has(limit) || this.#isClosing) return;
    const wake = (): void => {
      this.#pauses.delete(limit);
      this.#schedule();
    };
    this.#pauses.set(limit, setTimeout(wake, Math.ceil(wait)));
  }

  #begin(): void {
    let begun = 0;
    let lookedAt = 0;
    // What cannot be written down is not begun; the next poll asks again.
    if (this.app.db.trouble) this.#ready.clear();
    const now = this.app.clock.now();
    for (const queue of this.#ready) {
      if (begun === maxStartedPerTurn || lookedAt++ === maxCheckedPerTurn) {
        this.#schedule();
        return;
      }
      this.#ready.delete(queue);
      if (this.#busy.has(queue) || this.#isClosing) continue;
      const delivery = this.outbox.next(queue, now);
      if (!delivery) continue;
      const further = this.outbox.furtherLimit?.(delivery);
      const limits = [this.outbox.lane(delivery), ...(further ? [further] : [])];
      if (!this.#hasSpace(queue, limits)) continue;
      begun++;
      void this.#attempt(queue, delivery, limits);
    }
    if (this.#wakeWaiting()) this.#schedule();
    if (this.#isScheduled || this.#busy.size > 0 || this.#pauses.size > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  async #attempt(queue: number, delivery: Delivery, limits: readonly ConcurrencyLimit[]): Promise<void> {
    this.#busy.add(queue);
    for (const limit of limits) limit.running++;
    const outcome = await this.#send(delivery);
    this.#finished.push({ queue, delivery, limits, outcome });
    this.#schedule();
  }

  /** How an attempt ended; undefined when it was broken off by the shutdown. */
  async #send(delivery: Delivery): Promise<Outcome | undefined> {
    let outcome: Outcome;
    try {
      outcome = await this.outbox.send(delivery, systemContext(this.app));
    } catch (error) {
      this.app.log.error({ delivery: delivery.uuid, err: error }, 'delivery failed');
      outcome = { status: 'failed', error: 'Internal error.' };
    }
    this.app.metrics.deliveries.add(this.outbox.name, outcome.status);
    return this.#isClosed || (this.#isClosing && outcome.status === 'failed') ? undefined : outcome;
  }
}
