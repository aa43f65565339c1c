import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageError } from '../../kernel/durability/storage-error.ts';

/** Milliseconds after which a server whose disk has failed counts as closed: the disk may never respond. */
const maxCloseMs = 800;

/** Milliseconds that such a server gives work in progress. */
const failureGraceMs = 100;

/** Closes one part of a server. Gives work in progress `graceMs`, or its default time. */
type Closer = (graceMs: number | undefined) => void | Promise<void>;

/**
 * The end of a server: by `close`, or by itself after a failed write or sync of its database. Each part of a server adds its
 * closer when it opens.
 */
export class Shutdown {
  /** Resolves after `close`, rejects with its error or with that of the database. */
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

  /** Adds a closer. The last one runs first. */
  add(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Marks the server as started. Throws the storage failure if there was one during the start. */
  start(): void {
    if (this.#failure) throw this.#failure;
    this.#isStarted = true;
  }

  /** Closes the parts of a server that failed to start. Never rejects: the reason of the failed start is the error to report. */
  async undoStart(): Promise<void> {
    await this.#runClosers().catch(() => undefined);
  }

  /** Stops the server after the responses to the failed commit. During the start, `start` throws instead. */
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
