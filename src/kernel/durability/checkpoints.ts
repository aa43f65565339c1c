/** Checkpoints of the write-ahead log, by a thread or by commits. See src/decisions/checkpoint-thread.md. */
import { Worker } from 'node:worker_threads';
import type SQLite from 'better-sqlite3';
import { embeddedThread } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { present } from '../present.ts';
import { type AddonFile, addonFile } from './handle.ts';
import type { LogRepair } from './log-repair.ts';
import { isFor, storageError } from './storage-error.ts';

/** Input of the thread. */
export interface CheckpointOrder {
  readonly file: string;
  readonly addon: AddonFile | undefined;
}

/** The number of pages in the log, and of those already in the file. */
export interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/** Log size in pages from which commits checkpoint without a thread. SQLite's default, 1,000, took up to 30 ms. */
const commitPages = 300;
/** Unmoved pages from which the thread checkpoints (8 MB). A larger number saves writes of frequently changing pages. */
const longLag = 2000;
/** Log size in pages from which every commit requests a checkpoint, until a pause in writes lets the log restart. */
const longLog = 6000;
/** Log size in pages from which the writer moves the rest itself, because continuous writes leave no such pause. */
const maxLogPages = 16_000;
/** Unmoved pages from which the external checkpointing program counts as gone (400 MB). */
const abandonedLag = 100_000;

/**
 * Moves the write-ahead log into the file of the database, which takes 10 ms or much longer, depending on the disk. A
 * checkpoint blocks no writer except the thread that makes it: a database that stays open has a separate thread. It starts
 * on first use and ends after some seconds without writes. Otherwise commits checkpoint; SQLite's automatic checkpoints
 * would not report a failed sync.
 *
 * A long reader, such as a backup, keeps new pages in the log. When it ends, the thread
 * moves all of it, however long the log is.
 */
export class Checkpoints {
  /** Input of the thread, if there is one. */
  #order: CheckpointOrder | undefined;
  #failed: (error: unknown) => void = () => undefined;
  /** Whether another program checkpoints. */
  #isLeft = false;
  readonly #look: SQLite.Statement<[], LogState>;
  readonly #move: SQLite.Statement<[], LogState>;
  #thread: Worker | undefined;
  #ended: Promise<void> | undefined;
  #isBusy = false;
  #waiting: (() => void)[] = [];
  /** Pages of the log at the last checkpoint, and the number of unmoved ones. */
  #requested = { log: 0, lag: Number.POSITIVE_INFINITY };
  /** Whether a reader blocked the last checkpoint. */
  #isHeld = false;

  constructor(
    private readonly handle: SQLite.Database,
    /** After a failure, no checkpoint runs: a power failure during one would leave a half-updated file beside a log with a hole. */
    private readonly log: Pick<LogRepair, 'fail' | 'failure'>,
  ) {
    this.#look = handle.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#move = handle.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Starts the checkpoint thread. Calls `failed` once if none can run; commits then checkpoint again. */
  useThread(addon: Addon | undefined, failed: (error: unknown) => void): void {
    this.#order = { file: this.handle.name, addon: addonFile(addon) };
    this.#failed = failed;
  }

  /** Leaves the log to another program; a thread moves it only if that program seems to have gone. */
  leave(): void {
    this.#isLeft = true;
  }

  /** Call it after every commit, even a failed one: on a full disk, the next commit has space once the log restarts. */
  committed(isDone: boolean): void {
    if (this.#isBusy || this.log.failure) return;
    try {
      const { checkpointed, log } = present(this.#look.get());
      const lag = log - checkpointed;
      if (this.#order === undefined) {
        if (!this.#isLeft && log >= commitPages) this.#move.get();
      } else if (this.#isLeft ? lag >= abandonedLag : !isDone || lag >= longLag || log >= longLog)
        this.#moveLog(log, lag, this.#order);
    } catch (error) {
      this.#stopAfter(error);
    }
  }

  /** Resolves when the thread has finished all requested work. */
  async idle(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the thread has ended, after its current checkpoint; later pages are checkpointed by commits. */
  async stop(): Promise<void> {
    // A running checkpoint keeps the process alive.
    this.#thread?.ref();
    this.#thread?.postMessage('end');
    await this.#ended;
    this.#order = undefined;
  }

  #moveLog(log: number, lag: number, order: CheckpointOrder): void {
    // While each round leaves less than half of the previous one, the thread catches up, and the wait is short.
    if (log >= maxLogPages && !this.#isHeld && lag >= this.#requested.lag / 2) {
      this.#requested.lag = Number.POSITIVE_INFINITY;
      this.#move.get();
      return;
    }
    this.#requested = { log, lag };
    this.#isBusy = true;
    if (this.#thread) this.#thread.postMessage('checkpoint');
    else this.#thread = this.#start(order);
  }

  #start(order: CheckpointOrder): Worker | undefined {
    try {
      const thread = new Worker(embeddedThread('kernel/durability/checkpoint-thread'), {
        eval: true,
        execArgv: [],
        workerData: order,
      });
      thread.on('message', (reports: 'ready' | (LogState & { readonly code?: string })) => {
        // The kernel reports future sync failures to the thread as well, but no earlier ones.
        if (reports === 'ready') return this.log.failure ? this.#rest() : thread.postMessage('checkpoint');
        const { checkpointed, code, log } = reports;
        if (code !== undefined) this.#stopAfter(Object.assign(new Error('A checkpoint failed'), { code }));
        // A failed checkpoint does not report how long the log is.
        this.#isHeld = log >= this.#requested.log && checkpointed < this.#requested.log;
        this.#rest();
      });
      thread.on('error', (error) => this.#giveUp(error));
      this.#ended = new Promise((resolve) => {
        // The next commit repeats requests that arrived while the thread ended.
        thread.on('exit', () => {
          this.#thread = undefined;
          this.#rest();
          resolve();
        });
      });
      // Called after the listeners are added, because each of them would keep the process alive again.
      thread.unref();
      return thread;
    } catch (error) {
      this.#giveUp(error);
      return undefined;
    }
  }

  /** Stops all writing unless the disk is full or another process holds a lock: then the next commit tries again. */
  #stopAfter(error: unknown): void {
    const failure = storageError(error);
    if (isFor(failure, 'broken')) this.log.fail(failure);
  }

  #giveUp(error: unknown): void {
    this.#order = undefined;
    this.#rest();
    this.#failed(error);
  }

  #rest(): void {
    this.#isBusy = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
