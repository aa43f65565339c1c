/**
 * Runs `work` while `setTimeout` waits a hundredth of its delay. Returns the requested delays in milliseconds, in order. Timers
 * that are already running are not affected.
 */
export async function withFastTimers(work: () => Promise<void>): Promise<number[]> {
  const waits: number[] = [];
  const { setTimeout: patient } = globalThis;
  const hasty = (run: () => void, wait = 0): NodeJS.Timeout => {
    waits.push(wait);
    return patient(run, wait / 100);
  };
  Object.assign(globalThis, { setTimeout: hasty });
  try {
    await work();
  } finally {
    Object.assign(globalThis, { setTimeout: patient });
  }
  return waits;
}
