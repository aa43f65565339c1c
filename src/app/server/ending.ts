import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageError } from '../../kernel/durability/storage-error.ts';

/** Milliseconds after which a server whose disk has failed counts as closed: the disk may never respond. */
const maxCloseMs = 800;

/** Milliseconds that such a server gives work in progress. */
const failureGraceMs = 100;

/** How a server ends: by `close`, or by itself after a failed write or sync of its database. */
export class Ending {
  /** Resolves after `close`, rejects with its error or with that of the database. */
  readonly closed: Promise<void>;
  /** The error that stops the server; undefined while the disk works. */
  failure: StorageError | undefined;
  #close: (() => Promise<void>) | undefined;
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

  /** Milliseconds that closing gives work in progress; undefined for the default. */
  get graceMs(): number | undefined {
    return this.failure && failureGraceMs;
  }

  /** Called once the server has started, with what closes it. */
  begin(close: () => Promise<void>): void {
    this.#close = close;
  }

  /** Stops the server after the responses to the failed commit. Before `begin`, `createServer` rejects instead. */
  readonly fail = (error: StorageError): void => {
    this.failure ??= error;
    if (!this.#closing) setImmediate(() => void this.close().catch(() => undefined));
  };

  /** Closes the server. Rejects if pending work cannot be saved. */
  readonly close = (): Promise<void> => {
    if (!this.#close) return Promise.resolve();
    if (this.#closing) return this.#closing;
    this.#closing = this.#close();
    this.#settle(this.#outcomeOf(this.#closing));
    return this.#closing;
  };

  async #outcomeOf(closing: Promise<void>): Promise<void> {
    if (!this.failure) await closing;
    else await Promise.race([closing, sleep(maxCloseMs, undefined, { ref: false })]).catch(() => undefined);
    if (this.failure) throw this.failure;
  }
}
