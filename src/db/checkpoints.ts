import { Worker } from 'node:worker_threads';
import { embeddedCheckpointThread } from '../embedded.ts';
import type { Addon } from './handle.ts';

/** What the thread is given. */
export interface CheckpointOrder {
  readonly file: string;
  readonly addon: Omit<Addon, 'exports'> | undefined;
}

/** Pages of the log, and how many of them are in the file. */
export interface CheckpointResult {
  readonly log: number;
  readonly checkpointed: number;
}

/** Changed rows after which the log is moved, some megabytes of it: the fewer the oftener a page is written that changes again. */
const rowsBetween = 2000;
/** Pages of the log from which on it is moved after every commit, until a moment without writes lets it begin anew. */
const longLog = 6000;
/** Pages from which on the writer moves what the thread has left, for under writes without end that moment never comes. */
const longestLog = 16_000;

/**
 * Has a thread move the write-ahead log into the file of the database. That takes 10 ms and more, and as long as the disk
 * likes; a checkpoint keeps no writer out, but the thread that makes it. The thread starts when it is first needed, and ends
 * after some seconds without writes.
 *
 * Whoever reads for long, such as a backup, keeps what is written meanwhile in the log. When he goes it is the thread that
 * moves all of it, however long the log is.
 */
export class Checkpoints {
  #thread: Worker | undefined;
  #ended: Promise<void> | undefined;
  #isBusy = false;
  #waiting: (() => void)[] = [];
  #rows = 0;
  /** Pages of the log when it was last to be moved, how many of them are in the file since, and how many of these were new. */
  #asked = 0;
  #done = 0;
  #moved = Number.POSITIVE_INFINITY;
  #isHeld = false;

  /** `move` makes a checkpoint in the thread of the caller; `failed` is told once when no other thread can do it. */
  constructor(
    private readonly order: CheckpointOrder,
    private readonly move: () => CheckpointResult,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** To be told after every commit how many rows it changed, and the pages of the log: few rows may be long. */
  committed(rows: number, log: number): void {
    this.#rows += rows;
    if (this.#rows >= rowsBetween || log >= longLog) this.#moveLog(log);
  }

  /** To be told after a commit that failed: on a full disk the next one has room where the log begins anew. */
  refused(log: number): void {
    this.#moveLog(log);
  }

  #moveLog(log: number): void {
    if (this.#isBusy) return;
    this.#rows = 0;
    this.#asked = log;
    // As long as much less was written meanwhile than it moved, the thread comes close to the end, and little is left to wait for.
    if (log >= longestLog && !this.#isHeld && log - this.#done >= this.#moved / 2) return this.#note(this.move());
    this.#isBusy = true;
    this.#thread ??= this.#start();
    this.#thread?.postMessage('checkpoint');
  }

  #note({ checkpointed, log }: CheckpointResult): void {
    // What somebody reads nobody can move. A checkpoint that failed does not tell how long the log is.
    this.#isHeld = log >= this.#asked && checkpointed < this.#asked;
    this.#moved = checkpointed - this.#done;
    this.#done = checkpointed;
  }

  /** Resolves when the thread has done what it was asked for so far. */
  async idle(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the thread, after the checkpoint that it is making; it starts again when it is needed. */
  async stop(): Promise<void> {
    // The process stays for it, though nothing else may keep it.
    this.#thread?.ref();
    this.#thread?.postMessage('end');
    await this.#ended;
  }

  #rest(): void {
    this.#isBusy = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #start(): Worker | undefined {
    try {
      const thread = new Worker(embeddedCheckpointThread(), { eval: true, execArgv: [], workerData: this.order });
      thread.on('message', (result: CheckpointResult) => {
        this.#note(result);
        this.#rest();
      });
      thread.on('error', (error) => this.failed(error));
      this.#ended = new Promise((resolve) => {
        // What it was asked for while it ended is done after the next rows.
        thread.on('exit', () => {
          this.#thread = undefined;
          this.#rest();
          resolve();
        });
      });
      // After the listeners: each of them would keep the process alive anew.
      thread.unref();
      return thread;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }
}
