/**
 * The clock of fixtures. By default it stands still until a test sets it, so that tests can assert whole bodies. With
 * TENANTRY_TEST_CLOCK=moving, every reading is slightly later than the last, which exposes code that expects two readings to be
 * equal. `runner/modes.ts` decides which test files run in both modes.
 */
import type { SettableClock } from '../../src/kernel/clock.ts';

/** Whether clocks move by themselves. The runner sets this for each file. */
export const isMoving = (): boolean => process.env.TENANTRY_TEST_CLOCK === 'moving';

const second = 1_000_000;
/** Microseconds between readings: large steps first, then small ones, so that a clock never drifts by a whole second. */
const step = { large: 1000, small: 1 };
const maxLargeDrift = 900_000;

export interface TestClock extends SettableClock {
  /** Stops the clock in either mode, for tests that need a single instant. */
  hold(): void;
}

/** The fractions of a second to which tests set the clocks of this process, and their current drift. */
const drifts = { fractions: new Set<number>(), drift: 0 };

/** Creates a clock for a fixture that starts at an instant. */
export function testClock(start: string): TestClock {
  drifts.fractions.clear();
  drifts.drift = 0;
  let drift = 0;
  let isHeld = !isMoving();
  let base: number;
  const setBase = (instant: number): void => {
    const fraction = ((instant % second) + second) % second;
    const known = isHeld ? undefined : knownFraction(fraction);
    // An instant computed from a reading already includes the drift.
    base = instant - (known === undefined ? 0 : fraction - known);
    if (known === undefined) drifts.fractions.add(fraction);
  };
  setBase(instantOf(start));
  return {
    now: () => {
      const present = base + drift;
      if (!isHeld) drift += drift < maxLargeDrift ? step.large : step.small;
      drifts.drift = Math.max(drifts.drift, drift);
      return present;
    },
    // Keep the drift, so that at least the requested time passes.
    set: (instant) => setBase(instantOf(instant)),
    advance: (seconds) => setBase(base + Math.round(seconds * second)),
    hold: () => {
      isHeld = true;
      drift = 0;
      drifts.drift = 0;
    },
  };
}

/** Returns the fraction to which a clock was set before it drifted to this time. */
function knownFraction(time: number): number | undefined {
  const set = [...drifts.fractions].filter((fraction) => fraction <= time && time <= fraction + drifts.drift);
  return set.length === 0 ? undefined : Math.max(...set);
}

/** Removes the drift of the clock from the times in a response. */
export function withoutDrift(text: string): string {
  if (!isMoving()) return text;
  return text.replace(
    /(@timestamp":")?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{1,6})Z/g,
    (_, event = '', time: string, digits: string) => {
      const micros = Number(digits.padEnd(6, '0'));
      const fraction = String(knownFraction(micros) ?? micros).padStart(6, '0');
      // Times of events always have three decimals; others have no trailing zeros.
      const fewest = event ? fraction.slice(0, 3) : fraction.replace(/0+$/, '');
      return `${event}${time}${fewest === '' ? '' : `.${fewest}`}Z`;
    },
  );
}

function instantOf(value: number | string | Date): number {
  const instant = typeof value === 'number' ? value : new Date(value).getTime() * 1000;
  if (!Number.isSafeInteger(instant)) throw new RangeError(`not an instant: ${String(value)}`);
  return instant;
}
