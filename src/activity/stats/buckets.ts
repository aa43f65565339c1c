import { day, hour, second } from '../../kernel/clock.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
type Interval = (typeof intervals)[number];

export interface Bucket {
  /** Instants in microseconds; the end is not part of it. */
  readonly from: number;
  readonly to: number;
}

/**
 * The buckets of a range: borders at UTC hours, days, ISO weeks (Monday) or calendar months, the first and last clipped to
 * the range, none of length zero. Undefined when there are more than `most`.
 */
export function bucketsOf(from: number, to: number, interval: Interval, most: number): Bucket[] | undefined {
  const buckets: Bucket[] = [];
  for (let at = from; at < to; ) {
    if (buckets.length === most) return undefined;
    const end = Math.min(nextBorder(at, interval), to);
    buckets.push({ from: at, to: end });
    at = end;
  }
  return buckets;
}

/** 1970-01-05, the first Monday of the calendar that timestamps count. */
const firstMonday = 4 * day;

function nextBorder(at: number, interval: Interval): number {
  switch (interval) {
    case 'hour':
      return (Math.floor(at / hour) + 1) * hour;
    case 'day':
      return (Math.floor(at / day) + 1) * day;
    case 'week':
      return firstMonday + (Math.floor((at - firstMonday) / (7 * day)) + 1) * 7 * day;
    case 'month': {
      const date = new Date(at / 1000);
      return (Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000) * second;
    }
  }
}
