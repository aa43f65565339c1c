import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between polls: a tenth of the elapsed time, within these limits. */
const [shortest, longest] = [5, 25];

/** Polls a condition until it holds. Throws after this many seconds. */
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
    // Polls are often requests. Frequent ones take CPU time from the awaited work.
    await sleep(everyMs ?? Math.min(Math.max(waited / 10, shortest), longest));
  }
}
