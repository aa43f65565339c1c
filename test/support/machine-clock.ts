import { type TestClock, testClock } from './test-clock.ts';

/** The clock of a machine, on which time passes when a test advances it, and which an operator sets. */
export interface MachineClock extends TestClock {
  /** An operator sets it forward by so many seconds, or back when negative, while no time passes. */
  jump(seconds: number): void;
}

export function machineClock(start: string): MachineClock {
  const clock = testClock(start);
  let elapsed = 0;
  return {
    ...clock,
    elapsed: () => elapsed,
    advance: (seconds) => {
      clock.advance(seconds);
      elapsed += seconds * 1_000_000;
    },
    jump: clock.advance,
  };
}
