import { setImmediate } from 'node:timers/promises';

/**
 * Resolves when others have had a turn of the event loop: what came in until now has been read. Whoever was called by what a socket
 * brought would be back before any is read again with the first of these alone.
 */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
