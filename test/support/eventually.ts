import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something holds; throws when it does not within ten seconds. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`within ten seconds this did not come true: ${what}`);
    await sleep(5);
  }
}
