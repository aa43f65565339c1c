/** Simulates the lease protocol: two servers, an object store, the network between them, and time. */
import { Lease, type LeaseTime } from '../../src/app/replication/lease.ts';
import type { LeaseObject, Leases } from '../../src/app/replication/lease-store.ts';
import type { Log } from '../../src/kernel/log.ts';

/** Simulated time in milliseconds, with scheduled events. */
export class Simulation {
  at = 0;
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  /** The lease object in the store. Its ETag is its content, as in stores that use digests. */
  object: string | undefined;

  after(ms: number, run: () => void): void {
    this.#events.push({ at: this.at + ms, run });
  }

  /** Advances time. The work of each event finishes before the next event. */
  async pass(ms: number): Promise<void> {
    const end = this.at + ms;
    for (;;) {
      this.#events.sort((a, b) => a.at - b.at);
      if ((this.#events[0]?.at ?? Number.POSITIVE_INFINITY) > end) break;
      const event = this.#events.shift();
      this.at = Math.max(this.at, event?.at ?? 0);
      event?.run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.at = end;
  }
}

/** A server with its connection to the store. */
export class Machine {
  /** The outcome of a request: lost before or after the store executes it, or delayed by this many milliseconds. */
  outcome: () => { readonly lost?: 'request' | 'response'; readonly ms: number } = () => ({ ms: 20 });
  /** Time until which the process is stopped. */
  stoppedUntil = 0;
  /** Total milliseconds for which the machine was suspended. Only the time since boot includes them. */
  suspended = 0;
  lease: Lease | undefined;
  error: unknown;
  epoch = 0;
  /** Logged errors, with their times. */
  readonly errors: { readonly at: number; readonly message: string }[] = [];

  constructor(readonly simulation: Simulation) {}

  readonly time: LeaseTime = {
    now: () => ({ monotonicMs: this.simulation.at - this.suspended, uptimeMs: this.simulation.at }),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve(undefined);
        signal?.addEventListener('abort', resolve, { once: true });
        this.#later(ms, () => {
          signal?.removeEventListener('abort', resolve);
          resolve(undefined);
        });
      }),
  };

  /** Runs work after this many milliseconds, but not before the process continues. */
  #later(ms: number, run: () => void): void {
    this.simulation.after(ms, () => {
      if (this.simulation.at < this.stoppedUntil) this.#later(this.stoppedUntil - this.simulation.at, run);
      else run();
    });
  }

  #request<T>(execute: () => T): Promise<T> {
    const { lost, ms } = this.outcome();
    return new Promise((resolve, reject) => {
      this.#later(4000, () => reject(new Error('no response')));
      if (lost === 'request') return;
      this.simulation.after(ms / 2, () => {
        const result = execute();
        if (lost !== 'response') this.#later(ms / 2, () => resolve(result));
      });
    });
  }

  readonly store: Leases = {
    read: () =>
      this.#request(() => {
        const { object } = this.simulation;
        return object === undefined ? undefined : { lease: JSON.parse(object) as LeaseObject, etag: object };
      }),
    write: (lease, etag) =>
      this.#request(() => {
        if (this.simulation.object !== etag) return undefined;
        this.simulation.object = JSON.stringify(lease);
        return this.simulation.object;
      }),
  };

  /** Starts to acquire the lease. */
  acquire(takesOver = false, holder?: string): void {
    this.error = undefined;
    const { store, time } = this;
    const skip = (): void => undefined;
    const error = (_details: object, message: string): void =>
      void this.errors.push({ at: this.simulation.at, message });
    const log = { info: skip, warn: skip, error } as unknown as Log;
    const own = { epoch: this.epoch, holder };
    void Lease.acquire({ store, own, takesOver, log, time, changed: () => undefined }).then(
      (lease) => {
        this.lease = lease;
        this.epoch = lease.epoch;
      },
      (error: unknown) => (this.error = error),
    );
  }

  get isWriting(): boolean {
    return this.simulation.at >= this.stoppedUntil && this.lease !== undefined && this.lease.failure() === undefined;
  }
}

export const pair = (): { readonly simulation: Simulation; readonly a: Machine; readonly b: Machine } => {
  const simulation = new Simulation();
  return { simulation, a: new Machine(simulation), b: new Machine(simulation) };
};

/** Returns a generator of numbers from 0 to 1, reproducible by seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/**
 * Runs two servers for some minutes with lost and late requests and responses, stopped processes and suspended machines. Returns
 * how often the lease changed hands.
 */
export async function leaseRound(seed: number): Promise<number> {
  const random = randomFrom(seed);
  const { a, b, simulation } = pair();
  const machines = [a, b];
  let newest = 0;
  a.acquire();
  for (let step = 0; step < 600; step++) {
    await simulation.pass(250);
    for (const machine of machines) {
      if (machine.isWriting) {
        const { epoch = 0 } = machine.lease ?? {};
        if (epoch < newest) throw new Error(`seed ${seed}: a write in epoch ${epoch} after one in ${newest}`);
        newest = epoch;
      }
      if (random() < 0.01) {
        const quality = random();
        machine.outcome = () => {
          const lost = random() < quality ? undefined : random() < 0.5 ? 'request' : 'response';
          return { ...(lost && { lost }), ms: random() < 0.2 ? 20_000 * random() : 50 };
        };
      }
      if (random() < 0.004) machine.stoppedUntil = simulation.at + 60_000 * random();
      if (random() < 0.003) {
        const ms = 40_000 * random();
        simulation.at += ms;
        for (const one of machines) if (one === machine || random() < 0.5) one.suspended += ms;
      }
      const isIdle = machine.lease === undefined || machine.lease.secondsLeft() === 0;
      if (isIdle && random() < 0.02) {
        void machine.lease?.release();
        machine.lease = undefined;
        machine.acquire(true);
      }
    }
  }
  return newest;
}
