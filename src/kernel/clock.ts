/** The one source of time. Instants are integers: microseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  /** The present instant in microseconds. */
  now(): number;
  /** Microseconds by a clock that nobody sets, of one that may jump. Without it every move of the clock is meant. */
  elapsed?(): number;
}

/** A clock that stands still until it is told to move; for tests and embedded fixtures. */
export interface SettableClock extends Clock {
  /** Moves to an instant: microseconds, or anything `Date` reads. */
  set(instant: number | string | Date): void;
  /** Moves forward (or back, when negative) by a number of seconds. */
  advance(seconds: number): void;
}

export const second = 1_000_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() * 1000, elapsed: () => Math.round(performance.now() * 1000) };

/** A settable clock that starts at the given instant (default: the machine's present). */
export function settableClock(start?: number | string | Date): SettableClock {
  let present = start === undefined ? systemClock.now() : instantOf(start);
  return {
    now: () => present,
    set: (instant) => {
      present = instantOf(instant);
    },
    advance: (seconds) => {
      present += Math.round(seconds * second);
    },
  };
}

function instantOf(value: number | string | Date): number {
  const instant = typeof value === 'number' ? value : new Date(value).getTime() * 1000;
  if (!Number.isSafeInteger(instant)) throw new RangeError(`not an instant: ${String(value)}`);
  return instant;
}

/** An instant as ISO 8601 in UTC, with as many fraction digits as it needs (core.md 1.6). */
export function isoTime(instant: number): string {
  const micros = ((instant % second) + second) % second;
  const whole = new Date((instant - micros) / 1000).toISOString().slice(0, 19);
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0').replace(/0+$/, '')}Z`;
}
