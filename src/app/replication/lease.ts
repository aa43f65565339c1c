import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { Log } from '../../kernel/log.ts';
import { errorOf } from '../../kernel/present.ts';
import { type LeaseState, type MachineInstant, machineNow, millisecondsUntil } from './lease-file.ts';
import type { LeaseObject, Leases, StoredLease } from './lease-store.ts';

/*
 * Only one server at a time may write: the holder of the lease, an object in an object store that is only written conditionally
 * (core.md 14.8). The holder stops writing five seconds before another server may take the lease. This tolerates clock drift and
 * responses in transit. See src/decisions/lease.md.
 */

/** Seconds without a change after which another server may take the lease. */
const ttl = 30;
/** How long the holder may write after sending a renewal. */
const validMs = 25_000;
/** Interval between renewals, and delay after a failed one. */
const renewMs = 10_000;
const retryMs = 1000;
/** Maximum interval for polling a lease that another server holds. */
const lookMs = 500;
/** How long an acquisition waits for a holder that keeps renewing, or for an unresponsive store. */
const maxWaitMs = 60_000;

/** Why the previous holder must wait. */
const takeOverRuns = 'a command takes the lease over: run it again if it was interrupted';

/** Why the lease has expired while the first renewal since the last success still waits for its response. */
const noResponse = 'the object store of lease_url has not responded yet';

/** Returns the error for a write without the lease. */
export const noLease = (): StorageError =>
  new StorageError('lease', 'This server does not hold the lease and does not accept changes.');

/** Thrown if a newer holder exists: this server's data lacks its changes. */
export class Superseded extends Error {
  constructor(readonly epoch: number) {
    super(`another server holds the lease in epoch ${epoch}`);
  }
}

/** Clocks and a pause, which tests replace. */
export interface LeaseTime {
  readonly now: () => MachineInstant;
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

const realTime: LeaseTime = {
  now: machineNow,
  pause: (ms, signal) => sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
};

interface LeaseOptions {
  readonly store: Leases;
  /** The epoch and the last holder of this data. The holder is known only after an interrupted acquisition. */
  readonly own: { readonly epoch: number; readonly holder: string | undefined };
  /** Whether the data replaces that of all other servers: a promoted copy or a restored backup. */
  readonly takesOver: boolean;
  /** Resolves when the store has been checked; rejects with a readable error if it is unusable. Meanwhile, polls the object. */
  readonly checked?: Promise<void>;
  readonly log: Log;
  /** Called with `isAcquired` false before sending the acquisition, then after it and after each renewal. */
  readonly changed: (
    state: Pick<LeaseState, 'epoch' | 'holder' | 'isAcquired' | 'deadline'>,
    isSynced: boolean,
  ) => void;
  readonly time?: LeaseTime;
}

const after = ({ monotonicMs, uptimeMs }: MachineInstant, ms: number): MachineInstant => ({
  monotonicMs: monotonicMs + ms,
  uptimeMs: uptimeMs + ms,
});

/** The lease of this process. It is renewed until `release`, but may expire. */
export class Lease {
  readonly #holder = randomBytes(16).toString('hex');
  readonly #time: LeaseTime;
  #epoch = 0;
  /** The epoch before the acquisition. */
  #previousEpoch = 0;
  #etag: string | undefined;
  #deadline: MachineInstant = { monotonicMs: Number.NEGATIVE_INFINITY, uptimeMs: Number.NEGATIVE_INFINITY };
  /** Number of renewal attempts, which each written object contains, and when each attempt since the last success was sent. */
  #attempts = 0;
  readonly #sent = new Map<number, MachineInstant>();
  #supersededBy: number | undefined;
  #isExpiryReported = false;
  #lastFailure: string | undefined;
  #renewing: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  #onSuperseded: (epoch: number) => void = () => undefined;

  private constructor(private readonly options: LeaseOptions) {
    this.#time = options.time ?? realTime;
  }

  /**
   * Waits until no other server holds the lease, acquires it, and renews it from then on. Rejects with `Superseded` if another
   * server has held it since this data was written, and with a readable error if a holder keeps renewing or the store does not
   * respond.
   */
  static async acquire(options: LeaseOptions): Promise<Lease> {
    const lease = new Lease(options);
    await lease.#acquire();
    lease.#renewing = lease.#keepRenewing();
    void lease.#watchDeadline();
    return lease;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Seconds for which this process may write; 0 without the lease. */
  secondsLeft(): number {
    if (this.#supersededBy !== undefined) return 0;
    return Math.max(0, millisecondsUntil(this.#deadline, this.#time.now()) / 1000);
  }

  /** Returns the error for a write now; undefined while this process holds the lease. */
  readonly failure = (): StorageError | undefined => (this.secondsLeft() > 0 ? undefined : noLease());

  /** Returns a message for operators if the lease has expired; undefined while this process holds it. */
  problem(): string | undefined {
    if (this.secondsLeft() > 0) return undefined;
    return `the lease has expired, and no changes are accepted: ${this.#lastFailure ?? noResponse}`;
  }

  /** Sets the callback for a newer holder, and calls it immediately if one exists. */
  onSuperseded(callback: (epoch: number) => void): void {
    this.#onSuperseded = callback;
    if (this.#supersededBy !== undefined) callback(this.#supersededBy);
  }

  /**
   * Stops renewing and releases the lease, so that the next server need not wait. If `isUsed` is false, nothing was written under
   * the lease, and the object gets its previous epoch back, so that the previous holder is not fenced. Never rejects.
   */
  async release(isUsed = true): Promise<void> {
    this.#ending.abort();
    await this.#renewing;
    if (this.#supersededBy !== undefined) return;
    this.#deadline = after(this.#time.now(), -1);
    this.#store(isUsed);
    try {
      const epoch = isUsed ? this.#epoch : this.#previousEpoch;
      const released: LeaseObject = { epoch, holder: null, ttl: 0 };
      if ((await this.options.store.write(released, this.#etag)) !== undefined) return;
      const found = await this.options.store.read();
      if (found?.lease.holder === this.#holder) await this.options.store.write(released, found.etag);
    } catch (error) {
      this.options.log.warn(
        { reason: errorOf(error).message },
        'failed to release the lease: the next start waits for it',
      );
    }
  }

  async #acquire(): Promise<void> {
    const { log, store } = this.options;
    let unusable: unknown;
    const checked = this.options.checked?.catch((error: unknown) => {
      unusable = error;
    });
    const started = this.#time.now().monotonicMs;
    let seen: (StoredLease & { readonly at: number }) | undefined;
    let sentAt: MachineInstant | undefined;
    let failure = 'another server holds the lease of lease_url and renews it: stop that server first';
    let isReported = false;
    for (;;) {
      if (unusable !== undefined) throw unusable;
      try {
        // The conditional write fails if the object has changed, so there is no need to read it again after the wait.
        const isExpired = seen !== undefined && this.#millisecondsToWait(seen) <= 0;
        const found = isExpired ? seen : await store.read();
        if (found?.lease.holder === this.#holder && sentAt) return this.#acquired(found.etag, sentAt);
        const isReplaced = found !== undefined && this.#isReplaced(found.lease);
        if (isReplaced && !found.lease.isTakeOver) throw new Superseded(found.lease.epoch);
        if (seen?.etag !== found?.etag) seen = found && { ...found, at: this.#time.now().monotonicMs };
        if (isReplaced) failure = takeOverRuns;
        else if (!found || found.lease.holder === null || isExpired) {
          await checked;
          if (unusable !== undefined) continue;
          this.#previousEpoch = found?.lease.epoch ?? 0;
          this.#epoch = Math.max(this.#previousEpoch, this.options.own.epoch) + 1;
          this.#store(false);
          sentAt ??= this.#time.now();
          const etag = await store.write(this.#object(), found?.etag);
          if (etag !== undefined) return this.#acquired(etag, sentAt);
          seen = undefined;
          continue;
        }
        if (!isReported) log.info({ ttl: found?.lease.ttl }, 'waiting for the lease of another server to end');
        isReported = true;
      } catch (error) {
        if (error instanceof Superseded) throw error;
        failure = errorOf(error).message;
      }
      if (this.#time.now().monotonicMs - started > maxWaitMs) throw new Error(failure);
      await this.#time.pause(Math.min(lookMs, seen ? Math.max(1, this.#millisecondsToWait(seen)) : lookMs));
    }
  }

  /** Returns the milliseconds until an unchanged object may be replaced. */
  #millisecondsToWait({ at, lease }: StoredLease & { readonly at: number }): number {
    return at + Math.max(ttl, lease.ttl) * 1000 - this.#time.now().monotonicMs;
  }

  /** Whether another server has held the lease since this server's data was written, or a command is replacing the data. */
  #isReplaced({ epoch, holder }: LeaseObject): boolean {
    const { own, takesOver } = this.options;
    return !takesOver && epoch > own.epoch && (holder === null || holder !== own.holder);
  }

  #acquired(etag: string, sentAt: MachineInstant): void {
    this.#etag = etag;
    this.#deadline = after(sentAt, validMs);
    this.#store(true, true);
  }

  #object(): LeaseObject {
    const { takesOver } = this.options;
    return {
      epoch: this.#epoch,
      holder: this.#holder,
      ttl,
      renewals: this.#attempts,
      ...(takesOver && { isTakeOver: true }),
    };
  }

  async #keepRenewing(): Promise<void> {
    const { signal } = this.#ending;
    let wait = this.#millisecondsToRenewal();
    while (!signal.aborted && this.#supersededBy === undefined) {
      await this.#time.pause(wait, signal);
      if (signal.aborted) return;
      wait = (await this.#renew()) ? this.#millisecondsToRenewal() : retryMs;
      this.#report();
    }
  }

  /**
   * Returns the time until the next renewal, which counts from the sending of the last successful one: the store may have executed
   * it long after that, for example when it continues after an outage. Then the deadline is near.
   */
  #millisecondsToRenewal(): number {
    return Math.max(0, millisecondsUntil(this.#deadline, this.#time.now()) - validMs + renewMs);
  }

  /** Reports the end of the lease when it happens, although a renewal is still waiting for its response. */
  async #watchDeadline(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && this.#supersededBy === undefined) {
      const left = this.secondsLeft() * 1000;
      // After a suspension of the machine, the end comes earlier than by the clock of the timer.
      await this.#time.pause(left > 0 ? Math.min(Math.ceil(left), retryMs) : retryMs, signal);
      if (!signal.aborted) this.#report();
    }
  }

  /** Returns whether the store has confirmed the renewal. */
  async #renew(): Promise<boolean> {
    const { store } = this.options;
    const attempt = ++this.#attempts;
    const sentAt = this.#time.now();
    this.#sent.set(attempt, sentAt);
    try {
      const etag = await store.write(this.#object(), this.#etag);
      if (etag !== undefined) return this.#renewed(etag, sentAt);
      const found = await store.read();
      // If the object is gone, the next attempt creates it.
      if (!found) this.#etag = undefined;
      else if (found.lease.holder === this.#holder) {
        // An earlier attempt succeeded, but its response was lost.
        const earlier = this.#sent.get(found.lease.renewals ?? 0);
        this.#etag = found.etag;
        if (earlier) return this.#renewed(found.etag, earlier);
      } else if (found.lease.isTakeOver) this.#lastFailure = takeOverRuns;
      else if (found.lease.epoch > this.#epoch) this.#end(found.lease.epoch);
      // A command took the lease over, failed, and restored it: the next attempt acquires it.
      else if (found.lease.holder === null && found.lease.epoch === this.#epoch) this.#etag = found.etag;
      else this.#lastFailure = 'another program has changed the object of lease_url';
    } catch (error) {
      this.#lastFailure = errorOf(error).message;
    }
    return false;
  }

  #renewed(etag: string, sentAt: MachineInstant): true {
    this.#etag = etag;
    this.#deadline = after(sentAt, validMs);
    this.#lastFailure = undefined;
    this.#sent.clear();
    this.#store(true);
    return true;
  }

  #end(epoch: number): void {
    this.#supersededBy = epoch;
    this.#deadline = after(this.#time.now(), -1);
    this.#store(true);
    this.#onSuperseded(epoch);
  }

  /** Logs when the lease expires and when this process holds it again. */
  #report(): void {
    const { log } = this.options;
    const problem = this.problem();
    if (this.#isExpiryReported === (problem !== undefined)) return;
    this.#isExpiryReported = !this.#isExpiryReported;
    if (problem === undefined) log.warn('the lease is held again: changes are accepted');
    else log.error({ reason: this.#lastFailure ?? noResponse }, 'the lease has expired: no changes are accepted');
  }

  #store(isAcquired: boolean, isSynced = !isAcquired): void {
    const state = { epoch: this.#epoch, holder: this.#holder, isAcquired, deadline: this.#deadline };
    try {
      this.options.changed(state, isSynced);
    } catch (error) {
      // Only an interrupted acquisition needs the stored state.
      if (!isAcquired) throw error;
      this.options.log.warn({ reason: errorOf(error).message }, 'failed to store the deadline of the lease');
    }
  }
}
