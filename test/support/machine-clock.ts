import { type SettableClock, second, settableClock } from '../../src/kernel/clock.ts';

/** The clock of a machine, on which time passes when it is told to, and which somebody sets. */
export interface MachineClock extends SettableClock {
  /** Somebody sets it forward by so many seconds, or back when negative, while no time passes. */
  jump(seconds: number): void;
}

export function machineClock(start: string): MachineClock {
  const clock = settableClock(start);
  let elapsed = 0;
  return {
    ...clock,
    elapsed: () => elapsed,
    advance: (seconds) => {
      clock.advance(seconds);
      elapsed += seconds * second;
    },
    jump: clock.advance,
  };
}
