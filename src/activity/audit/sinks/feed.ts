import type { App } from '../../../kernel/app.ts';
import { second } from '../../../kernel/clock.ts';
import { StorageError } from '../../../kernel/durability/storage-error.ts';
import { errorOf } from '../../../kernel/present.ts';
import { type Destination, hasMore, type Mark, movePosition, readBatch, storeFailure } from './positions.ts';
import type { Sink } from './sink.ts';

/** Time until a batch is sent again, which doubles with each failure up to the maximum of the sink. */
const minRetryDelay = 5 * second;

/**
 * Sends the trail to one sink, a batch at a time and in order. The end of a batch is on disk before the batch is sent, so that
 * the same batch is sent until the sink has received it, also after a restart. Records that are not on disk are never sent.
 */
export class SinkFeed {
  #running: Promise<void> | undefined;
  /** Positions that the sink has confirmed but that are not stored yet. */
  #received: Mark | undefined;
  /** After a failure: when it was, and how long the next attempt waits. Starts with every process, so that a restart retries. */
  #failure: { readonly at: number; readonly delay: number } | undefined;
  #isClosed = false;

  constructor(
    private readonly app: App,
    readonly destination: Destination,
    private readonly sink: Sink,
  ) {}

  /** Starts to send if there is anything to send and no attempt is running or must wait. */
  poll(): void {
    if (this.#running || this.#isClosed || this.#mustWait()) return;
    if (!this.#received && !hasMore(this.app, this.destination)) return;
    this.#running = this.#run().finally(() => (this.#running = undefined));
  }

  /** Opens the file of the sink again, and does not wait for the next retry. */
  reopen(): void {
    if (!this.sink.reopen) return;
    this.sink.reopen();
    this.#failure = undefined;
  }

  /** Resolves when no attempt is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Stops, and aborts a running attempt, which the next start repeats. */
  close(): void {
    this.#isClosed = true;
    this.sink.close();
  }

  #mustWait(): boolean {
    if (!this.#failure) return false;
    const waited = this.app.clock.now() - this.#failure.at;
    // A clock that was set back delays nothing.
    return waited >= 0 && waited < this.#failure.delay;
  }

  async #run(): Promise<void> {
    try {
      for (let batch = await this.#nextBatch(); batch && !this.#isClosed; batch = await this.#nextBatch()) {
        const error = await this.sink.send(batch).then(() => undefined, errorOf);
        if (this.#isClosed) return;
        if (error) return this.#fail(error.message);
        this.#received = batch.mark;
        if (this.#failure) this.app.log.info({ sink: this.sink.name }, 'audit sink receives records again');
        this.#failure = undefined;
      }
    } catch (error) {
      // The storage reports its own errors; the next poll stores again what could not be stored.
      if (!(error instanceof StorageError) && !this.#isClosed)
        this.app.log.error({ sink: this.sink.name, err: error }, 'audit sink failed');
    }
  }

  /** Stores what the sink has received and where the next batch ends. Resolves with that batch once this is on disk. */
  async #nextBatch(): Promise<ReturnType<typeof readBatch>> {
    const { app, destination } = this;
    const { db } = app;
    // Nothing is sent without the lease, or when its receipt could not be stored.
    if (this.#isClosed || db.trouble) return undefined;
    const position = db.write(() => movePosition(app, destination, this.#received));
    await new Promise<void>((resolve, reject) =>
      db.afterCommit((error) => (error === undefined ? resolve() : reject(error))),
    );
    this.#received = undefined;
    return readBatch(app, position);
  }

  #fail(reason: string): void {
    const { app, destination, sink } = this;
    const { clock, db, log } = app;
    if (!this.#failure) log.warn({ sink: sink.name, reason }, 'audit sink does not receive records');
    const delay = this.#failure ? this.#failure.delay * 2 : minRetryDelay;
    this.#failure = { at: clock.now(), delay: Math.min(delay, sink.maxRetryDelay) };
    db.write(() => storeFailure(app, destination, reason));
  }
}
