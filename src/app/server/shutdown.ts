import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageError } from '../../kernel/durability/storage-error.ts';

/** How long to wait for a server to close after a disk failure. The disk may never respond. */
const maxCloseMs = 800;

/** Grace period for work in progress after a disk failure. */
const failureGraceMs = 100;

/** Closes one part of a server, giving work in progress `graceMs` or the part's default. */
type Closer = (graceMs: number | undefined) => void | Promise<void>;

/**
 * Closes a server: on `close`, or after a failed write or sync of its database. Each part of a server adds a closer when it
 * opens.
 */
export class Shutdown {
  /** Resolves after `close`. Rejects with its error or the database's error. */
  readonly closed: Promise<void>;
  readonly #closers: Closer[] = [];
  /** The error that stops the server; undefined while the disk works. */
  #failure: StorageError | undefined;
  #isStarted = false;
  #closing: Promise<void> | undefined;
  #settle: (outcome: Promise<void>) => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve) => (this.#settle = resolve));
    // An embedding program may ignore it.
    this.closed.catch(() => undefined);
  }

  get hasBegun(): boolean {
    return this.#closing !== undefined;
  }

  /** Adds a closer. Closers run in reverse order. */
  add(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Marks the server as started. Throws the storage failure if there was one during the start. */
  start(): void {
    if (this.#failure) throw this.#failure;
    this.#isStarted = true;
  }

  /** Closes the parts of a server that failed to start. Never rejects, because the caller reports the failed start. */
  async undoStart(): Promise<void> {
    await this.#runClosers().catch(() => undefined);
  }

  /** Stops the server after responding to the requests of the failed commit. During the start, `start` throws instead. */
  readonly fail = (error: StorageError): void => {
    this.#failure ??= error;
    if (!this.#closing) setImmediate(() => void this.close().catch(() => undefined));
  };

  /** Closes the server. Rejects if pending work cannot be saved. */
  readonly close = (): Promise<void> => {
    if (!this.#isStarted) return Promise.resolve();
    if (this.#closing) return this.#closing;
    this.#closing = this.#runClosers();
    this.#settle(this.#outcomeOf(this.#closing));
    return this.#closing;
  };

  /** Runs every closer, then throws the first error. */
  async #runClosers(): Promise<void> {
    const errors: unknown[] = [];
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closer(this.#failure && failureGraceMs);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  async #outcomeOf(closing: Promise<void>): Promise<void> {
    if (!this.#failure) await closing;
    else await Promise.race([closing, sleep(maxCloseMs, undefined, { ref: false })]).catch(() => undefined);
    if (this.#failure) throw this.#failure;
  }
}
