import { type Context, systemContext } from '../access/context.ts';
import type { App } from '../app.ts';
import { second } from '../clock.ts';
import { StorageError } from '../durability/storage-error.ts';
import { nextTurn } from '../next-turn.ts';

/** Work that is due at a time, not on a request. */
export interface Task {
  readonly name: string;
  /** Minimum time between two runs, in microseconds. */
  readonly every: number;
  /** Whether it removes old data, which waits when the clock has jumped (core.md 13). */
  readonly removes?: true;
  /** Whether a read that needs the result does the work itself. */
  readonly isOnDemand?: true;
  /** Runs a bounded piece of work in a separate transaction. Returns true if more is left. */
  readonly run: ((context: Context) => boolean) | ((context: Context) => void);
}

/** Pause between two pieces of a task, for requests. */
const pauseMs = 10;

/**
 * Polls the tasks once a second. A task with more work continues in further pieces, one at a time and with pauses, so that
 * the writer is never blocked for long. A failing task is logged and retried, and does not stop the others.
 */
export class Timer {
  readonly #last = new Map<Task, number>();
  /** Tasks with more to do, the next one first. */
  readonly #unfinished = new Set<Task>();
  #finishing: Promise<void> | undefined;
  /** Callers of `idle`: no pause while there are any. */
  #waiting = 0;
  #endPause: (() => void) | undefined;
  #interval: NodeJS.Timeout | undefined;
  /** By a monotonic clock, in milliseconds. */
  #ran = performance.now();

  constructor(
    private readonly app: App,
    private readonly tasks: readonly Task[],
  ) {}

  start(): void {
    this.#ran = performance.now();
    this.#interval = setInterval(() => this.tick(), second / 1000).unref();
  }

  stop(): void {
    clearInterval(this.#interval);
    this.#unfinished.clear();
  }

  /** Milliseconds since the last run. */
  millisecondsSinceRun(): number {
    return performance.now() - this.#ran;
  }

  /** Runs every due task, or only those that no read does on demand. */
  tick(includesOnDemand = true): void {
    this.#ran = performance.now();
    const context = systemContext(this.app);
    for (const task of this.tasks) {
      if (task.isOnDemand && !includesOnDemand) continue;
      const last = this.#last.get(task);
      if (last !== undefined && context.now >= last && context.now - last < task.every) continue;
      this.#last.set(task, context.now);
      if (!this.#unfinished.has(task)) this.#run(task, context);
    }
    if (this.#unfinished.size > 0) this.#finishing ??= this.#finish();
  }

  /** Resolves when no task has anything left to do. */
  async idle(): Promise<void> {
    this.#waiting++;
    this.#endPause?.();
    try {
      await this.#finishing;
    } finally {
      this.#waiting--;
    }
  }

  /** Lets requests run between two pieces of a task. */
  #pause(): Promise<void> {
    if (this.#waiting > 0) return nextTurn();
    return new Promise((resolve) => {
      this.#endPause = resolve;
      setTimeout(resolve, pauseMs).unref();
    });
  }

  async #finish(): Promise<void> {
    // A task that is added again comes last: the iteration of a set continues with new entries.
    for (const task of this.#unfinished) {
      await this.#pause();
      await this.app.db.checkpointed();
      if (this.#unfinished.delete(task)) this.#run(task, systemContext(this.app));
    }
    this.#finishing = undefined;
  }

  #run(task: Task, context: Context): void {
    if (task.removes && this.app.isClockDoubtful()) return;
    const { trail } = this.app;
    trail.task = task.name;
    try {
      if (task.run(context) !== true) return;
      this.#unfinished.add(task);
      // A whole piece takes as long as the writer may be blocked: the next task does not add to it.
      this.app.db.commit();
    } catch (error) {
      // Work that the storage rejects is retried at the next tick; the storage reports the error.
      if (error instanceof StorageError) this.#last.delete(task);
      else this.app.log.error({ task: task.name, err: error }, 'task failed');
    } finally {
      trail.task = undefined;
    }
  }
}
