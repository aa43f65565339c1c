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

/**
 * Has a thread move the write-ahead log into the file of the database. That takes 10 ms and more, and as long as the disk
 * likes; a checkpoint keeps no writer out, but the thread that makes it. The thread starts when it is first needed, and ends
 * after some seconds without writes.
 */
export class Checkpoints {
  #thread: Worker | undefined;
  #ended: Promise<void> | undefined;
  #isBusy = false;
  #waiting: (() => void)[] = [];
  #rows = 0;

  /** `failed` is told once when no thread can do it. */
  constructor(
    private readonly order: CheckpointOrder,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** To be told after every commit how many rows it changed. */
  committed(rows: number): void {
    this.#rows += rows;
    if (this.#isBusy || this.#rows < rowsBetween) return;
    this.#rows = 0;
    this.#isBusy = true;
    this.#thread ??= this.#start();
    this.#thread?.postMessage('checkpoint');
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
      thread.on('message', ({ checkpointed, log }: CheckpointResult) => {
        this.#rest();
        if (log >= longLog && checkpointed > 0) this.#rows = rowsBetween;
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
