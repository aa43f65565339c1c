import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between polls: a tenth of the time waited so far, within these limits. */
const [shortest, longest] = [5, 25];

/** Polls a condition until it holds; throws when it does not within so many seconds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 10,
  everyMs?: number,
): Promise<void> {
  const start = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - start;
    if (waited > seconds * 1000) throw new Error(`not within ${seconds} seconds: ${what}`);
    // A poll is often a request: frequent ones take the CPU time that the awaited work needs.
    await sleep(everyMs ?? Math.min(Math.max(waited / 10, shortest), longest));
  }
}
