import { day } from '../../kernel/clock.ts';

/** Number of recent days, ISO weeks and months that each retain their newest backup. */
interface Retention {
  readonly d: number;
  readonly w: number;
  readonly m: number;
}

/** Parses `7d,4w,6m`; parts may be missing. Throws a readable error. */
export function parseRetention(text: string): Retention {
  const result = { d: 0, w: 0, m: 0 };
  for (const part of text.split(',')) {
    const [, count, unit] = /^(\d{1,4})([dwm])$/.exec(part.trim()) ?? [];
    if (unit !== 'd' && unit !== 'w' && unit !== 'm')
      throw new Error('must be numbers of days, weeks and months, such as 7d,4w,6m');
    result[unit] = Number(count);
  }
  if (result.d + result.w + result.m === 0) throw new Error('must keep at least one backup');
  return result;
}

const dayMs = day / 1000;

/** Names the day, week and month of an instant (milliseconds, UTC). */
const periods: Readonly<Record<keyof Retention, (at: number) => string>> = {
  d: (at) => new Date(at).toISOString().slice(0, 10),
  // The Monday of the week.
  w: (at) => new Date(at - ((new Date(at).getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10),
  m: (at) => new Date(at).toISOString().slice(0, 7),
};

/** Returns the instants (milliseconds) that a retention keeps: the newest of each period. */
export function keptInstants(instants: readonly number[], retention: Retention): ReadonlySet<number> {
  const newestFirst = [...instants].sort((a, b) => b - a);
  const kept = new Set<number>();
  for (const unit of ['d', 'w', 'm'] as const) {
    const seen = new Set<string>();
    for (const at of newestFirst) {
      const period = periods[unit](at);
      if (seen.has(period) || seen.size >= retention[unit]) continue;
      seen.add(period);
      kept.add(at);
    }
  }
  return kept;
}
