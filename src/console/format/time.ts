/** Distances in time, for relative texts. */

type TimeUnit = 'second' | 'minute' | 'hour' | 'day';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** How to format an instant: relative within seven days, by day in the same year, otherwise by month. */
type Distance =
  | { readonly kind: 'now' }
  | { readonly kind: 'past' | 'future'; readonly count: number; readonly unit: TimeUnit }
  | { readonly kind: 'day' }
  | { readonly kind: 'month' };

/** Returns the distance of an instant from now, both in milliseconds. */
export function distance(instant: number, now: number): Distance {
  const seconds = Math.round(Math.abs(now - instant) / 1000);
  if (seconds < 45) return { kind: 'now' };
  const kind = instant > now ? 'future' : 'past';
  if (seconds < hour) return { kind, count: Math.max(1, Math.round(seconds / minute)), unit: 'minute' };
  if (seconds < day) return { kind, count: Math.round(seconds / hour), unit: 'hour' };
  if (seconds < 7 * day) return { kind, count: Math.round(seconds / day), unit: 'day' };
  return { kind: new Date(instant).getFullYear() === new Date(now).getFullYear() ? 'day' : 'month' };
}

/** Splits a duration in seconds into a count and its most readable unit. */
export function durationParts(seconds: number): { readonly count: number; readonly unit: 'millisecond' | TimeUnit } {
  if (seconds < 1) return { count: Math.round(seconds * 1000), unit: 'millisecond' };
  if (seconds < 90) return { count: Math.round(seconds * 10) / 10, unit: 'second' };
  if (seconds < 90 * minute) return { count: Math.round(seconds / minute), unit: 'minute' };
  if (seconds < 36 * hour) return { count: Math.round(seconds / hour), unit: 'hour' };
  return { count: Math.round(seconds / day), unit: 'day' };
}
