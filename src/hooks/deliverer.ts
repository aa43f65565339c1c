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

/** Attempts begun in one turn of the event loop; requests are answered in between. */
const begunInTurn = 32;
/** How long, in milliseconds, a shutdown waits for attempts under way; what is broken off is sent again by the next start. */
const shutdownPatience = 1000;

/**
 * Takes deliveries from the outbox: those that have come due, when the timer polls, and new ones when their commit wakes
 * it. Of each hook one at a time, in the order of the events, and the next when the result of the last is on disk. Hooks
 * that fail have a lane of their own, so that however many of them time out, the others do not wait.
 */
export class Deliverer {
  readonly #senders: Readonly<Record<HookKind, Sender>>;
  readonly #lanes = { web: lane(200), push: lane(50), email: lane(8), failing: lane(50) };
  /** Hooks that may have something to send, in the order they came. */
  readonly #ready = new Set<number>();
  readonly #busy = new Set<number>();
  #isScheduled = false;
  #isClosing = false;
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
    for (const sender of Object.values(this.#senders)) sender.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After the replies of this turn; and what has not been committed must not be sent.
    setImmediate(() => this.deployment.db.settled(() => {
      this.#isScheduled = false;
      this.#begin();
    }));
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
    const { db } = this.deployment;
    const hook = delivery.hook_id;
    this.#busy.add(hook);
    lane.running++;
    const outcome = await this.#send(delivery);
    const isWritten = outcome !== undefined && this.#write(delivery, outcome);
    // An attempt whose result can not be saved is repeated, but not before the next poll.
    db.settled((error) => {
      this.#busy.delete(hook);
      lane.running--;
      this.#admit(lane);
      if (isWritten && error === undefined && !this.#isClosing) this.#ready.add(hook);
      this.#schedule();
    });
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
    return this.#isClosing && outcome.status === 'failed' ? undefined : outcome;
  }

  #write(delivery: DueDelivery, outcome: Outcome): boolean {
    const { db, log } = this.deployment;
    try {
      db.write(() => settle(ownContext(this.deployment), delivery, outcome));
      return true;
    } catch (error) {
      log.error({ delivery: delivery.uuid, err: error }, 'result of a delivery could not be saved');
      return false;
    }
  }

  /** Lets the hook that has waited longest into a lane with room. */
  #admit({ waiting }: Lane): void {
    const [hook] = waiting;
    if (hook === undefined) return;
    waiting.delete(hook);
    this.#ready.add(hook);
  }
}
