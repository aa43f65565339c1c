import { type TestClock, testClock } from './test-clock.ts';

/** The clock of a machine, which time advances and an operator can set. */
export interface MachineClock extends TestClock {
  /** Sets the clock forward by this many seconds, or back if negative, while no time passes. */
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
