/**
 * The clock of the fixtures. By default it stands still until a test sets it, so that tests can assert whole bodies. With
 * TENANTRY_TEST_CLOCK=moving, each reading is a little later than the one before, as on a machine, so code that takes two
 * readings for the same instant fails. `runner/modes.ts` decides which test files run in both modes.
 */
import type { SettableClock } from '../../src/kernel/clock.ts';

/** Whether clocks move by themselves. The runner decides this for each file. */
export const isMoving = (): boolean => process.env.TENANTRY_TEST_CLOCK === 'moving';

const second = 1_000_000;
/** Microseconds between two readings: large steps first, then small ones, so that a clock never gets a whole second ahead. */
const step = { large: 1000, small: 1 };
const maxLargeDrift = 900_000;

/** A clock that a test sets. */
export interface TestClock extends SettableClock {
  /** Stops at the current time in either mode, for tests that need a single instant. */
  hold(): void;
}

/** The times to which tests set the clocks of this process, as fractions of a second, and their drift. */
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

/** Returns the fraction to which a clock was set before it drifted to this one. */
function knownFraction(time: number): number | undefined {
  const set = [...drifts.fractions].filter((fraction) => fraction <= time && time <= fraction + drifts.drift);
  return set.length === 0 ? undefined : Math.max(...set);
}

/** Returns a text of the server with the instants of a clock without drift. */
export function withoutDrift(text: string): string {
  if (!isMoving()) return text;
  return text.replace(
    /(@timestamp":")?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{1,6})Z/g,
    (_, event = '', time: string, digits: string) => {
      const micros = Number(digits.padEnd(6, '0'));
      const fraction = String(knownFraction(micros) ?? micros).padStart(6, '0');
      // Instants of events always have three digits, others as many as they need.
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
