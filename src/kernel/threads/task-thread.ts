/** A thread for work that would block all requests on the main thread. See src/decisions/login-queues.md. */
import { parentPort, Worker } from 'node:worker_threads';
import { errorOf, present } from '../present.ts';
import { FairQueue } from './fair-queue.ts';

/** The response of the thread to a task: `displayed` is the message of the task's error for users. */
type TaskResponse<T> = { readonly value: T } | { readonly error: string; readonly displayed: string | undefined };

/** Thrown if the thread rejected a task or did not finish it in time. */
export class TaskError extends Error {
  constructor(
    message: string,
    /** The message for users in the error of a task; undefined if it has none. */
    readonly displayed?: string,
  ) {
    super(message);
  }
}

/** Thrown if a task did not finish in time. */
export class TaskTimeoutError extends TaskError {}

/** Maximum number of waiting tasks. */
const maxWaiting = 64;
/** Milliseconds without a task after which the thread ends. */
const timeout = 30_000;

/** Scheduling of a task: its holder, and the time limit in milliseconds once it has started. */
export interface TaskOptions {
  readonly holder: string;
  readonly milliseconds: number;
  /** Called when the task is next. If it returns false, the task is skipped. Default: true. */
  readonly isWanted?: () => boolean;
}

/**
 * Runs tasks on a thread, one at a time. The thread starts with the first task, ends after half a minute without one, and is
 * stopped and restarted when a task takes too long. The queue is fair between the holders of tasks.
 */
export class TaskThread {
  #thread: Promise<Worker> | undefined;
  #isBusy = false;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;
  /** The end of the previous thread: work that cannot be interrupted continues until then. */
  #ending: Promise<unknown> | undefined;
  readonly #waiting = new FairQueue(maxWaiting);

  constructor(
    /** Text of the program, which serves tasks (`serveTasks`). */
    private readonly program: () => string,
    /** Returns the error for a holder when the queue is full. */
    private readonly crowded: () => Error,
    /** The workerData of the thread. */
    private readonly order?: unknown,
  ) {}

  /**
   * Resolves with the result of a task (input and result are copied); undefined if the task is no longer needed. Rejects with
   * TaskError, and with `crowded`.
   */
  run<T>(task: unknown, terms: TaskOptions & { readonly isWanted: () => boolean }): Promise<T | undefined>;
  run<T>(task: unknown, terms: TaskOptions): Promise<T>;
  async run<T>(task: unknown, { holder, isWanted, milliseconds }: TaskOptions): Promise<T | undefined> {
    if (this.#isBusy)
      await new Promise<void>((begin, reject) =>
        this.#waiting.add(holder, { begin, drop: () => reject(this.crowded()) }),
      );
    this.#isBusy = true;
    clearTimeout(this.#idle);
    try {
      return isWanted && !isWanted() ? undefined : await this.#perform<T>(task, milliseconds);
    } finally {
      this.#isBusy = false;
      const next = this.#waiting.next();
      if (next) {
        // Set immediately, because callers may check it before the next task runs.
        this.#isBusy = true;
        next.begin();
      } else this.#idle = setTimeout(() => void this.#end(), timeout).unref();
    }
  }

  /** Terminates the thread and rejects its tasks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#end();
  }

  async #perform<T>(task: unknown, milliseconds: number): Promise<T> {
    if (this.#isClosed) throw new TaskError('the service is stopping');
    this.#thread ??= this.#start();
    const thread = await this.#thread;
    return new Promise<T>((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(limit);
        thread.off('message', take).off('error', fail).off('exit', stop);
        thread.unref();
        then();
      };
      const take = (response: TaskResponse<T>): void =>
        settle(() =>
          'value' in response ? resolve(response.value) : reject(new TaskError(response.error, response.displayed)),
        );
      const fail = (error: unknown): void => settle(() => reject(new TaskError(errorOf(error).message)));
      const stop = (): void => fail(new Error('its thread has ended'));
      // Terminating also frees the memory of the thread.
      const limit = setTimeout(() => {
        settle(() => reject(new TaskTimeoutError('it takes too long')));
        void this.#end();
      }, milliseconds);
      thread.on('message', take).on('error', fail).on('exit', stop);
      // A running task keeps the process alive; an idle thread does not.
      thread.ref();
      thread.postMessage(task);
    });
  }

  /** Resolves when the program is ready for tasks: its loading time does not count for any task. */
  #start(): Promise<Worker> {
    const forget = (): void => {
      if (this.#thread === starting) this.#thread = undefined;
    };
    const start = (resolve: (thread: Worker) => void, reject: (error: unknown) => void): void => {
      const thread = new Worker(this.program(), { eval: true, execArgv: [], workerData: this.order });
      const fail = (error: unknown): void => reject(new TaskError(`the thread failed: ${errorOf(error).message}`));
      thread.once('message', () => resolve(thread));
      thread.on('error', fail).on('exit', (code) => fail(new Error(`it exited with code ${code}`)));
      // Do this before notifying the holder of the current task, which may add another one.
      thread.on('error', forget).on('exit', forget);
    };
    const starting = Promise.resolve(this.#ending).then(() => new Promise<Worker>(start));
    starting.catch(forget);
    return starting;
  }

  async #end(): Promise<void> {
    const starting = this.#thread;
    this.#thread = undefined;
    if (!starting) return;
    const ending = starting.then(
      (thread) => thread.terminate(),
      () => undefined,
    );
    this.#ending = ending;
    await ending;
  }
}

/** Serves the tasks of a thread (task-thread.ts), one at a time: returns the result of `perform`, or its error. */
export function serveTasks<T>(perform: (task: T) => unknown): void {
  const port = present(parentPort);
  port.on('message', async (task: T) => port.postMessage(await respondTo(perform, task)));
  port.postMessage('ready');
}

async function respondTo<T>(perform: (task: T) => unknown, task: T): Promise<TaskResponse<unknown>> {
  try {
    return { value: await perform(task) };
  } catch (thrown) {
    const error = errorOf(thrown);
    return { error: error.message, displayed: 'displayed' in error ? String(error.displayed) : undefined };
  }
}
