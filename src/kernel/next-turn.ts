import { setImmediate } from 'node:timers/promises';

/**
 * Resolves in a later iteration of the event loop: pending input has been read. Code that was called by a socket
 * brought would be back before any is read again with the first of these alone.
 */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

let line: Promise<void> = Promise.resolve();

/** Resolves like `nextTurn`, for one caller at a time: work in slices has one slice a turn, however many do such work. */
export function nextSlice(): Promise<void> {
  line = line.then(nextTurn);
  return line;
}
