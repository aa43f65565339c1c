import { type TestClock, testClock } from './test-clock.ts';

/** The clock of a machine. Tests advance it, or set it as an operator would. */
export interface MachineClock extends TestClock {
  /** Sets the clock this many seconds forward, or back if negative, while no time passes. */
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
