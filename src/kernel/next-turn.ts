import { setImmediate } from 'node:timers/promises';

/**
 * Resolves in a later iteration of the event loop, after pending input has been read. For code called by a socket
 * event, a single setImmediate would return before the next read.
 */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

let line: Promise<void> = Promise.resolve();

/** Resolves like `nextTurn`, for one caller at a time: all sliced work together gets one slice per iteration. */
export function nextSlice(): Promise<void> {
  line = line.then(nextTurn);
  return line;
}
