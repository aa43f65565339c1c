/** What moves the write-ahead log into the file: a thread, seen from the writer, or commits. See src/decisions/checkpoint-thread.md. */
import { Worker } from 'node:worker_threads';
import type SQLite from 'better-sqlite3';
import { embeddedThread } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { type AddonFile, addonFile } from '../native/thread-addon.ts';
import { present } from '../present.ts';
import type { LogRepair } from './log-repair.ts';
import { isFor, storageError } from './storage-error.ts';

/** What the thread is given. */
export interface CheckpointOrder {
  readonly file: string;
  readonly addon: AddonFile | undefined;
}

/** Pages of the log, and how many of them are in the file. */
export interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/** Pages of the log from which on commits move it, where no thread does: SQLite's default, 1,000, took up to 30 ms. */
const commitPages = 300;
/** Pages that are in the log alone from which on they are moved, 8 MB: the more, the rarer a page is written that changes again. */
const longLag = 2000;
/** Pages of the log from which on every commit checkpoints, until a moment without writes lets the log restart. */
const longLog = 6000;
/** Pages from which on the writer moves what the thread has left, for under writes without end that moment never comes. */
const maxLogPages = 16_000;
/** Pages that are in the log alone from which on the program to which it is left seems to have gone, 400 MB. */
const abandonedLag = 100_000;

/**
 * Moves the write-ahead log into the file of the database, which takes 10 ms and more, and as long as the disk likes. A
 * checkpoint blocks no writer except the thread that makes it: a database that stays open has a separate thread. It starts
 * when it is first needed, and ends after some seconds without writes. Else commits do it, and not those of SQLite, which
 * would not report a failed sync.
 *
 * A long reader, such as a backup, keeps new pages in the log. When it ends, the thread
 * moves all of it, however long the log is.
 */
export class Checkpoints {
  /** Of the thread, where there is to be one. */
  #order: CheckpointOrder | undefined;
  #failed: (error: unknown) => void = () => undefined;
  /** Whether another program moves the log. */
  #isLeft = false;
  readonly #look: SQLite.Statement<[], LogState>;
  readonly #move: SQLite.Statement<[], LogState>;
  #thread: Worker | undefined;
  #ended: Promise<void> | undefined;
  #isBusy = false;
  #waiting: (() => void)[] = [];
  /** Pages of the log when it was last to be moved, and how many of them were not in the file. */
  #requested = { log: 0, lag: Number.POSITIVE_INFINITY };
  /** Whether a reader blocked the last checkpoint. */
  #isHeld = false;

  constructor(
    private readonly handle: SQLite.Database,
    /** No checkpoint is made after a failure: a power failure in the middle would leave the file half moved beside a log with a hole. */
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

  /** From now on the log is left to another program; only a thread moves it when that one seems to have gone. */
  leave(): void {
    this.#isLeft = true;
  }

  /** To be called after every commit, also a failed one: on a full disk the next one has space once the log restarts. */
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
    // The process stays for it, though nothing else may keep it.
    this.#thread?.ref();
    this.#thread?.postMessage('end');
    await this.#ended;
    this.#order = undefined;
  }

  #moveLog(log: number, lag: number, order: CheckpointOrder): void {
    // As long as it is less than half of what the last time began with, the thread comes closer, and little is left to wait for.
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
        // The kernel reports a sync that fails from now on to the thread as well, but not one that failed before.
        if (reports === 'ready') return this.log.failure ? this.#rest() : thread.postMessage('checkpoint');
        const { checkpointed, code, log } = reports;
        if (code !== undefined) this.#stopAfter(Object.assign(new Error('A checkpoint failed'), { code }));
        // A failed checkpoint does not report how long the log is.
        this.#isHeld = log >= this.#requested.log && checkpointed < this.#requested.log;
        this.#rest();
      });
      thread.on('error', (error) => this.#giveUp(error));
      this.#ended = new Promise((resolve) => {
        // What it was asked for while it ended is done after the next commit.
        thread.on('exit', () => {
          this.#thread = undefined;
          this.#rest();
          resolve();
        });
      });
      // After the listeners: each of them would keep the process alive again.
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
