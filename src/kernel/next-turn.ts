import { setImmediate } from 'node:timers/promises';

/**
 * Resolves when others have had a turn of the event loop: what came in until now has been read. Whoever was called by what a socket
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
