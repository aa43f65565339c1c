import { type Deployment, ownContext } from '../access/deployment.ts';
import type { Context } from '../access/deployment.ts';
import { second } from '../clock.ts';

/** Work that comes due by time, not by a request. */
export interface Task {
  readonly name: string;
  /** Least time between two runs, in microseconds. */
  readonly every: number;
  /** Does a bounded piece of it, inside a transaction of its own. */
  readonly run: (context: Context) => void;
}

/** Polls the tasks once a second; a failing task is logged and tried again, and stops nobody else. */
export class Timer {
  readonly #last = new Map<Task, number>();
  #interval: NodeJS.Timeout | undefined;

  constructor(
    private readonly deployment: Deployment,
    private readonly tasks: readonly Task[],
  ) {}

  start(): void {
    this.#interval = setInterval(() => this.tick(), second / 1000).unref();
  }

  stop(): void {
    clearInterval(this.#interval);
  }

  /** Runs every task that is due at the deployment's present. */
  tick(): void {
    const context = ownContext(this.deployment);
    for (const task of this.tasks) {
      const last = this.#last.get(task);
      if (last !== undefined && context.now >= last && context.now - last < task.every) continue;
      this.#last.set(task, context.now);
      try {
        task.run(context);
      } catch (error) {
        this.deployment.log.error({ task: task.name, err: error }, 'task failed');
      }
    }
  }
}
