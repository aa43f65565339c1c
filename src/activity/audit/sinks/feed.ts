import type { App } from '../../../kernel/app.ts';
import { second } from '../../../kernel/clock.ts';
import { StorageError } from '../../../kernel/durability/storage-error.ts';
import { errorOf } from '../../../kernel/present.ts';
import { type Destination, hasMore, type Mark, movePosition, readBatch, storeFailure } from './positions.ts';
import type { Sink } from './sink.ts';

/** First retry delay of a batch. It doubles with each failure, up to the sink's maximum. */
const minRetryDelay = 5 * second;

/**
 * Sends the trail to one sink in order, one batch at a time. Stores the end of a batch on disk before sending it, so that the
 * same batch is retried until the sink has received it, even after a restart. Never sends records that are not on disk.
 */
export class SinkFeed {
  #running: Promise<void> | undefined;
  /** The confirmed position, if it is not stored yet. */
  #received: Mark | undefined;
  /** Time of the last failure, and delay of the next attempt. Not stored, so that a restart retries at once. */
  #failure: { readonly at: number; readonly delay: number } | undefined;
  #isClosed = false;

  constructor(
    private readonly app: App,
    readonly destination: Destination,
    private readonly sink: Sink,
  ) {}

  /** Starts sending if there is anything to send and no attempt is running or delayed. */
  poll(): void {
    if (this.#running || this.#isClosed || this.#mustWait()) return;
    if (!this.#received && !hasMore(this.app, this.destination)) return;
    this.#running = this.#run().finally(() => (this.#running = undefined));
  }

  /** Reopens the file of the sink and retries at once. */
  reopen(): void {
    if (!this.sink.reopen) return;
    this.sink.reopen();
    this.#failure = undefined;
  }

  /** Resolves when no attempt is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Stops and aborts a running attempt, which the next start repeats. */
  close(): void {
    this.#isClosed = true;
    this.sink.close();
  }

  #mustWait(): boolean {
    if (!this.#failure) return false;
    const waited = this.app.clock.now() - this.#failure.at;
    // Setting the clock back must not extend the delay.
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
      // Storage errors are reported elsewhere, and the next poll retries storing.
      if (!(error instanceof StorageError) && !this.#isClosed)
        this.app.log.error({ sink: this.sink.name, err: error }, 'audit sink failed');
    }
  }

  /** Stores the confirmed position and the end of the next batch. Resolves with the batch once they are on disk. */
  async #nextBatch(): Promise<ReturnType<typeof readBatch>> {
    const { app, destination } = this;
    const { db } = app;
    // Send nothing without the lease, or while receipts cannot be stored.
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
