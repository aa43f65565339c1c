/** The only source of time. Instants are integers: microseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  /** Returns the current instant in microseconds. */
  now(): number;
  /** Returns microseconds of a monotonic clock, for a clock that may jump. Without it, every jump is intended. */
  elapsed?(): number;
}

/** A clock that a caller can set, for tests and embedded fixtures. */
export interface SettableClock extends Clock {
  /** Sets the clock to an instant: microseconds, or anything that `Date` accepts. */
  set(instant: number | string | Date): void;
  /** Advances the clock by a number of seconds, which may be negative. */
  advance(seconds: number): void;
}

export const second = 1_000_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() * 1000, elapsed: () => Math.round(performance.now() * 1000) };

/** Creates a stopped clock that starts at an instant (default: the machine's time). */
export function settableClock(start?: number | string | Date): SettableClock {
  let current = start === undefined ? systemClock.now() : instantOf(start);
  return {
    now: () => current,
    set: (instant) => {
      current = instantOf(instant);
    },
    advance: (seconds) => {
      current += Math.round(seconds * second);
    },
  };
}

/** Creates a clock that runs like the machine's from any instant that it is set to. Setting it is not a jump. */
export function runningClock(): SettableClock {
  let ahead = 0;
  const clock: SettableClock = {
    now: () => systemClock.now() + ahead,
    elapsed: () => Math.round(performance.now() * 1000) + ahead,
    set: (instant) => {
      ahead += instantOf(instant) - clock.now();
    },
    advance: (seconds) => {
      ahead += Math.round(seconds * second);
    },
  };
  return clock;
}

/** Whether a clock is settable. */
export const isSettable = (clock: Clock): clock is SettableClock => 'set' in clock && typeof clock.set === 'function';

function instantOf(value: number | string | Date): number {
  const instant = typeof value === 'number' ? value : new Date(value).getTime() * 1000;
  if (!Number.isSafeInteger(instant)) throw new RangeError(`not an instant: ${String(value)}`);
  return instant;
}

/** Formats an instant as ISO 8601 in UTC, with as many fraction digits as necessary (core.md 1.6). */
export function isoTime(instant: number): string {
  const micros = ((instant % second) + second) % second;
  const whole = new Date((instant - micros) / 1000).toISOString().slice(0, 19);
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0').replace(/0+$/, '')}Z`;
}

const datetimePattern =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** The end of the year 9999, rounded: from 2255 on, numbers cannot represent every microsecond. */
const lastInstant = 253_402_300_800_000_000 - 32;

/** Parses a datetime (core.md 1.4) to an instant in microseconds. Without a zone, it is UTC. */
export function parseDatetime(text: string): number | undefined {
  const match = datetimePattern.exec(text);
  if (!match) return undefined;
  const [, year, month, date, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  const parts = {
    year: Number(year),
    month: Number(month),
    date: Number(date),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const moment = new Date(0);
  moment.setUTCFullYear(parts.year, parts.month - 1, parts.date);
  moment.setUTCHours(parts.hour, parts.minute, parts.second);
  const exists =
    moment.getUTCMonth() === parts.month - 1 &&
    moment.getUTCDate() === parts.date &&
    parts.hour < 24 &&
    parts.minute < 60 &&
    parts.second < 60;
  const offset = zoneMinutes(zone);
  if (!exists || offset === undefined) return undefined;
  const instant = moment.getTime() - offset * 60_000;
  // An offset may result in a year that a response cannot represent.
  const utcYear = new Date(instant).getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return undefined;
  return Math.min(instant * 1000 + Number(fraction.padEnd(6, '0')), lastInstant);
}

function zoneMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
