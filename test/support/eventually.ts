import { setTimeout as sleep } from 'node:timers/promises';

/** Polls a condition until it holds; throws when it does not within so many seconds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 10,
  everyMs = 5,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${seconds} seconds: ${what}`);
    await sleep(everyMs);
  }
}
