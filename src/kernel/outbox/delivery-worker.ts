/** Sends the deliveries of an outbox with bounded concurrency. See src/decisions/bounded-turns.md. */

import { type Context, systemContext } from '../access/context.ts';
import type { App } from '../app.ts';
import { StorageError } from '../durability/storage-error.ts';
import type { Outcome } from './outcome.ts';

/** The outboxes by name. Modules add theirs by module augmentation. */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface Outboxes {}

export type OutboxName = keyof Outboxes;

declare module '../app.ts' {
  interface App {
    /** Wakes an outbox for queues whose new rows are committed. */
    readonly wakeOutbox: (outbox: OutboxName, queues: readonly number[]) => void;
  }
}

/** A limit on concurrent attempts, and the queues that wait for it. */
export interface ConcurrencyLimit {
  readonly limit: number;
  /** An additional limit on attempts started per second. */
  readonly rate?: Rate;
  running: number;
  readonly waiting: Set<number>;
}

export const concurrencyLimit = (limit: number): ConcurrencyLimit => ({ limit, running: 0, waiting: new Set() });

/** Returns how many more attempts may start at this instant. */
const freeSlots = ({ limit, rate, running }: ConcurrencyLimit, at: number): number =>
  Math.max(0, Math.min(limit - running, rate?.free(at) ?? limit));

/** A table of rows to send. Rows of one queue are sent one at a time. */
export interface Outbox<Delivery extends { readonly uuid: string }> {
  readonly name: OutboxName;
  /** Returns queues that may have rows due at `now`; `isMore` means that there are others: the worker calls again immediately. */
  due(now: number): { readonly queues: readonly number[]; readonly isMore: boolean };
  /** Returns the next row of a queue that is due at `now`. */
  next(queue: number, now: number): Delivery | undefined;
  /** Returns the limit on concurrent deliveries of its kind. */
  limitOf(delivery: Delivery): ConcurrencyLimit;
  /** Returns an additional limit, such as that of its host. */
  additionalLimitOf?(delivery: Delivery): ConcurrencyLimit | undefined;
  /** Makes one attempt. Rejects only on a bug. */
  send(delivery: Delivery, context: Context): Promise<Outcome>;
  /** Stores the outcome of an attempt, inside a write transaction. */
  settle(context: Context, delivery: Delivery, outcome: Outcome): void;
  /** Aborts attempts in progress. */
  close(): void;
}

/** A finished attempt; without an outcome the shutdown aborted it. */
interface Finished<Delivery> {
  readonly queue: number;
  readonly delivery: Delivery;
  readonly limits: readonly ConcurrencyLimit[];
  readonly outcome: Outcome | undefined;
}

/** Attempts started in one iteration of the event loop, so that requests get most of it under load. */
const maxStartedPerCycle = 5;
/** Queues checked in one iteration, whether or not they have a row that may be sent. */
const maxCheckedPerCycle = 100;
/** Milliseconds until results that could not be stored are stored again. */
const savePauseMs = 1000;
/** Milliseconds that a shutdown waits for running attempts. The next start repeats the aborted ones. */
const shutdownTimeoutMs = 1000;

/**
 * Sends the deliveries of an outbox: due ones when the timer polls, and new ones when their commit wakes the worker. Sends one
 * at a time per queue, and the next one after the result of the last is on disk.
 */
export class DeliveryWorker<Delivery extends { readonly uuid: string }> {
  /** Queues that may have a row to send, in order of arrival. */
  readonly #ready = new Set<number>();
  readonly #busy = new Set<number>();
  #finished: Finished<Delivery>[] = [];
  #isScheduled = false;
  #isClosing = false;
  #isClosed = false;
  #idle: (() => void)[] = [];
  /** Limits that queues wait for or have waited for. */
  readonly #contended = new Set<ConcurrencyLimit>();
  /** Timers that wake the queues that wait for a rate limit. */
  readonly #pauses = new Map<ConcurrencyLimit, NodeJS.Timeout>();

  constructor(
    private readonly app: App,
    private readonly outbox: Outbox<Delivery>,
  ) {}

  /** Wakes the worker for queues whose new rows are committed. */
  wake(queues: readonly number[]): void {
    for (const queue of queues) this.#ready.add(queue);
    this.#schedule();
  }

  /** Wakes the worker for queues with due rows. */
  poll(): void {
    const { isMore, queues } = this.outbox.due(this.app.clock.now());
    this.wake(queues);
    if (isMore) setImmediate(() => this.#isClosing || this.poll());
  }

  /** Resolves when no attempt is running and no row is due. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#schedule();
    });
  }

  /** Starts no more attempts, waits for running ones until the timeout, and aborts the rest. */
  async close(timeoutMs = shutdownTimeoutMs): Promise<void> {
    this.#isClosing = true;
    this.#ready.clear();
    for (const { waiting } of this.#contended) waiting.clear();
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    this.#pauses.clear();
    let timeout: NodeJS.Timeout | undefined;
    await Promise.race([this.idle(), new Promise((resolve) => (timeout = setTimeout(resolve, timeoutMs)))]);
    clearTimeout(timeout);
    this.#isClosed = true;
    this.outbox.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#cycle());
  }

  /** Runs once per event-loop iteration: stores finished results, and after their commit starts due deliveries. */
  #cycle(): void {
    const { db, log } = this.app;
    const finished = this.#finished;
    this.#finished = [];
    let failure: unknown;
    try {
      if (finished.some(({ outcome }) => outcome)) db.write(() => this.#settle(finished));
    } catch (error) {
      failure = error;
    }
    // Rows that other writers have added must also be committed before they are sent.
    db.afterCommit((error) => {
      failure ??= error;
      this.#isScheduled = false;
      if (failure instanceof StorageError && !this.#isClosing) {
        // Until the results can be stored they stay in memory and their queues stay busy, so that nothing is sent twice.
        this.#finished.unshift(...finished);
        setTimeout(() => this.#schedule(), savePauseMs).unref();
        return;
      }
      if (failure !== undefined) log.error({ err: failure }, 'failed to store results of deliveries');
      this.#release(finished, failure === undefined);
      this.#startDue();
    });
  }

  #settle(finished: readonly Finished<Delivery>[]): void {
    const context = systemContext(this.app);
    for (const { delivery, outcome } of finished) if (outcome) this.outbox.settle(context, delivery, outcome);
  }

  /** Releases the queues of finished attempts and wakes queues that wait for their limits. */
  #release(finished: readonly Finished<Delivery>[], isSaved: boolean): void {
    for (const { limits, queue } of finished) {
      this.#busy.delete(queue);
      for (const limit of limits) {
        limit.running--;
        this.#wake(limit, 1);
      }
      // An attempt whose result could not be stored is repeated at the next poll.
      if (isSaved && !this.#isClosing) this.#ready.add(queue);
    }
    if (this.#finished.length > 0) this.#schedule();
  }

  /** Returns whether all limits have a free slot. Otherwise the queue waits for the first one that does not. */
  #hasSlots(queue: number, limits: readonly ConcurrencyLimit[]): boolean {
    const at = performance.now();
    const full = limits.find((limit) => freeSlots(limit, at) === 0);
    if (!full) {
      for (const { rate } of limits) rate?.note(at);
      return true;
    }
    full.waiting.add(queue);
    this.#contended.add(full);
    return false;
  }

  /** Wakes at most `count` queues that wait for a limit. */
  #wake({ waiting }: ConcurrencyLimit, count: number): void {
    let freeSlotCount = count;
    for (const queue of waiting) {
      if (freeSlotCount-- === 0) return;
      waiting.delete(queue);
      this.#ready.add(queue);
    }
  }

  /**
   * Wakes as many waiting queues as their limits allow; returns whether there are any. Runs when no other queue is ready,
   * because a woken queue may have had nothing left to send, and its slot is then free for another one.
   */
  #wakeWaiting(): boolean {
    const at = performance.now();
    for (const limit of this.#contended) {
      const free = freeSlots(limit, at);
      if (free === 0 && limit.running < limit.limit) this.#pause(limit, limit.rate?.wait(at) ?? 0);
      this.#wake(limit, free);
      if (limit.waiting.size === 0) this.#contended.delete(limit);
    }
    return this.#ready.size > 0;
  }

  /** Schedules another cycle for the time when a rate limit allows the next attempt. */
  #pause(limit: ConcurrencyLimit, waitMs: number): void {
    if (this.#pauses.has(limit) || this.#isClosing) return;
    const wake = (): void => {
      this.#pauses.delete(limit);
      this.#schedule();
    };
    this.#pauses.set(limit, setTimeout(wake, Math.ceil(waitMs)));
  }

  #startDue(): void {
    let startedCount = 0;
    let checkedCount = 0;
    // Start no attempt whose result cannot be stored; the next poll tries again.
    if (this.app.db.trouble) this.#ready.clear();
    const now = this.app.clock.now();
    for (const queue of this.#ready) {
      if (startedCount === maxStartedPerCycle || checkedCount++ === maxCheckedPerCycle) {
        this.#schedule();
        return;
      }
      this.#ready.delete(queue);
      if (this.#busy.has(queue) || this.#isClosing) continue;
      const delivery = this.outbox.next(queue, now);
      if (!delivery) continue;
      const further = this.outbox.additionalLimitOf?.(delivery);
      const limits = [this.outbox.limitOf(delivery), ...(further ? [further] : [])];
      if (!this.#hasSlots(queue, limits)) continue;
      startedCount++;
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

  /** Returns the outcome of an attempt, or undefined if the shutdown aborted it. */
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

const windowMs = 1000;

/** A limit on starts per second, over a sliding window. Instants are milliseconds of a monotonic clock. */
export class Rate {
  /** Instants of the latest starts, as a ring buffer. */
  readonly #starts: number[] = [];
  #next = 0;

  constructor(private readonly perSecond: number) {}

  /** Returns the milliseconds until the next start is allowed. */
  wait(at: number): number {
    const oldest = this.#starts[this.#next];
    return oldest === undefined ? 0 : Math.max(0, oldest + windowMs - at);
  }

  /** Returns how many starts are allowed now. */
  free(at: number): number {
    return this.perSecond - this.#starts.filter((start) => start + windowMs > at).length;
  }

  /** Counts a start. */
  note(at: number): void {
    this.#starts[this.#next] = at;
    this.#next = (this.#next + 1) % this.perSecond;
  }
}
