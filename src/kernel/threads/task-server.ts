import { parentPort } from 'node:worker_threads';
import { errorOf, present } from '../present.ts';
import type { TaskResponse } from './task-thread.ts';

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
