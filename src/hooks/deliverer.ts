import { type Deployment, ownContext } from '../access/deployment.ts';
import { type DueDelivery, type HookKind, hooksWithDue, nextDelivery, readyDue } from './due.ts';
import { type Outcome, settle } from './outcome.ts';
import { EmailSender } from './send-email.ts';
import { PushSender } from './send-push.ts';
import { WebSender } from './send-web.ts';
import type { Sender } from './sender.ts';

/** A bound on attempts under way at once, and the hooks that wait for it. */
interface Lane {
  readonly limit: number;
  running: number;
  readonly waiting: Set<number>;
}

const lane = (limit: number): Lane => ({ limit, running: 0, waiting: new Set() });

/** An attempt that has ended; without an outcome it was broken off by the shutdown. */
interface Finished {
  readonly delivery: DueDelivery;
  readonly lane: Lane;
  readonly outcome: Outcome | undefined;
}

/** Attempts begun in one turn of the event loop: under load, requests get the greater part of it. */
const begunInTurn = 8;
/** How long, in milliseconds, a shutdown waits for attempts under way; what is broken off is sent again by the next start. */
const shutdownPatience = 1000;

/**
 * Takes deliveries from the outbox: those that have come due, when the timer polls, and new ones when their commit wakes
 * it. Of each hook one at a time, in the order of the events, and the next when the result of the last is on disk. Hooks
 * that fail have a lane of their own, so that however many of them time out, the others do not wait.
 */
export class Deliverer {
  readonly #senders: Readonly<Record<HookKind, Sender>>;
  readonly #lanes = { web: lane(500), push: lane(50), email: lane(8), failing: lane(100) };
  /** Hooks that may have something to send, in the order they came. */
  readonly #ready = new Set<number>();
  readonly #busy = new Set<number>();
  #finished: Finished[] = [];
  #isScheduled = false;
  #isClosing = false;
  #isClosed = false;
  #idle: (() => void)[] = [];

  /** Throws with a sentence when a setting is of no use. */
  constructor(private readonly deployment: Deployment) {
    this.#senders = { web: new WebSender(deployment), push: new PushSender(deployment), email: new EmailSender(deployment) };
  }

  /** Deliveries to these hooks have been committed. */
  wake(hooks: readonly number[]): void {
    for (const hook of hooks) this.#ready.add(hook);
    this.#schedule();
  }

  /** Takes whatever is due by the clock. */
  poll(): void {
    const { clock, db } = this.deployment;
    const isMore = readyDue(db, clock.now());
    this.wake(hooksWithDue(db));
    if (isMore) setImmediate(() => this.#isClosing || this.poll());
  }

  /** Resolves when nothing is under way and nothing is due. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#schedule();
    });
  }

  /** Begins nothing more, waits a little for what is under way and breaks off the rest. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#ready.clear();
    for (const { waiting } of Object.values(this.#lanes)) waiting.clear();
    let patience: NodeJS.Timeout | undefined;
    await Promise.race([this.idle(), new Promise((resolve) => (patience = setTimeout(resolve, shutdownPatience)))]);
    clearTimeout(patience);
    this.#isClosed = true;
    for (const sender of Object.values(this.#senders)) sender.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  /** Once a turn of the event loop: writes the results that came in, and when they are committed begins what is due. */
  #turn(): void {
    const { db, log } = this.deployment;
    const finished = this.#finished;
    this.#finished = [];
    let failure: unknown;
    try {
      if (finished.some(({ outcome }) => outcome)) db.write(() => this.#settle(finished));
    } catch (error) {
      failure = error;
    }
    // Also what others have written must be committed before it is sent.
    db.settled((error) => {
      failure ??= error;
      if (failure !== undefined) log.error({ err: failure }, 'results of deliveries could not be saved');
      this.#isScheduled = false;
      this.#release(finished, failure === undefined);
      this.#begin();
    });
  }

  #settle(finished: readonly Finished[]): void {
    const context = ownContext(this.deployment);
    for (const { delivery, outcome } of finished) if (outcome) settle(context, delivery, outcome);
  }

  /** Lets the hooks of attempts that have ended, and those that waited for their lanes, begin another. */
  #release(finished: readonly Finished[], isSaved: boolean): void {
    for (const { delivery, lane } of finished) {
      this.#busy.delete(delivery.hook_id);
      lane.running--;
      const [waiting] = lane.waiting;
      if (waiting !== undefined) {
        lane.waiting.delete(waiting);
        this.#ready.add(waiting);
      }
      // An attempt whose result could not be saved is repeated, but not before the next poll.
      if (isSaved && !this.#isClosing) this.#ready.add(delivery.hook_id);
    }
    if (this.#finished.length > 0) this.#schedule();
  }

  #begin(): void {
    let begun = 0;
    for (const hook of this.#ready) {
      if (begun === begunInTurn) return this.#schedule();
      this.#ready.delete(hook);
      if (this.#busy.has(hook) || this.#isClosing) continue;
      const delivery = nextDelivery(this.deployment.db, hook);
      if (!delivery) continue;
      const lane = this.#lanes[delivery.failing_since !== null && delivery.kind !== 'email' ? 'failing' : delivery.kind];
      if (lane.running >= lane.limit) lane.waiting.add(hook);
      else {
        begun++;
        void this.#attempt(delivery, lane);
      }
    }
    if (this.#busy.size > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  async #attempt(delivery: DueDelivery, lane: Lane): Promise<void> {
    this.#busy.add(delivery.hook_id);
    lane.running++;
    const outcome = await this.#send(delivery);
    this.#finished.push({ delivery, lane, outcome });
    this.#schedule();
  }

  /** How an attempt ended; undefined when it was broken off by the shutdown. */
  async #send(delivery: DueDelivery): Promise<Outcome | undefined> {
    if (delivery.is_lost) return { status: 'failed', error: 'The event is no longer kept.', final: true };
    let outcome: Outcome;
    try {
      outcome = await this.#senders[delivery.kind].send(delivery, ownContext(this.deployment));
    } catch (error) {
      this.deployment.log.error({ delivery: delivery.uuid, err: error }, 'delivery failed');
      outcome = { status: 'failed', error: 'Internal error.' };
    }
    return this.#isClosed || (this.#isClosing && outcome.status === 'failed') ? undefined : outcome;
  }
}
