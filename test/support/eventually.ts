import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something holds, and looks every so many milliseconds; throws when it does not within so many seconds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 10,
  everyMs = 5,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`within ${seconds} seconds this did not come true: ${what}`);
    await sleep(everyMs);
  }
}
