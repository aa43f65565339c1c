import { day, hour, second } from '../../kernel/clock.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
type Interval = (typeof intervals)[number];

export interface Bucket {
  /** Microseconds. `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Divides a range into buckets at UTC hours, days, ISO weeks (Monday) or calendar months. The first and the last are clipped to
 * the range; none is empty. Returns undefined if there would be more than `maxBuckets`.
 */
export function bucketsOf(from: number, to: number, interval: Interval, maxBuckets: number): Bucket[] | undefined {
  const buckets: Bucket[] = [];
  for (let at = from; at < to; ) {
    if (buckets.length === maxBuckets) return undefined;
    const end = Math.min(nextBorder(at, interval), to);
    buckets.push({ from: at, to: end });
    at = end;
  }
  return buckets;
}

/** 1970-01-05, the first Monday after the epoch. */
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
