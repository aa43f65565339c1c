import type { Request } from '../../kernel/access/request.ts';
import { second } from '../../kernel/clock.ts';
import { gather } from '../../kernel/http/error.ts';
import { historyPoints } from '../../kernel/http/history.ts';
import { selected } from './filters.ts';
import { count, isByTime, type Selection, times } from './query-plan.ts';

interface Count {
  /** UNIX timestamp in seconds. */
  readonly point: number;
  readonly object: { readonly count: number };
}

/** How many of the events that the request asks for were there before each point, in its order (events.md 4.6). Throws 400. */
export function countHistory(request: Request): Count[] {
  const [points, selection] = gather(
    () => historyPoints((name) => request.query.all(name)),
    () => selected(request),
  );
  const ascending = [...new Set(points)].sort((a, b) => a - b);
  const counts = isByTime(selection)
    ? countedBetween(request, selection, ascending)
    : countedOnce(request, selection, ascending);
  return points.map((point) => ({ point, object: { count: counts.get(point) ?? 0 } }));
}

/** Every range between two points is counted by itself, so that no event is counted twice. */
function countedBetween({ db }: Request, selection: Selection, ascending: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  const latest = selection.to ?? Infinity;
  let [sum, from] = [0, selection.from];
  for (const point of ascending) {
    const to = Math.min(point * second, latest);
    if (from === undefined || to > from) {
      sum += count(db, { ...selection, from, to });
      from = to;
    }
    counts.set(point, sum);
  }
  return counts;
}

/** Where looking at a range costs as much as looking at everything, everything is looked at once. */
function countedOnce({ db }: Request, selection: Selection, ascending: readonly number[]): Map<number, number> {
  const at = Float64Array.from(times(db, selection)).sort();
  let before = 0;
  return new Map(
    ascending.map((point) => {
      while ((at[before] ?? Infinity) < point * second) before++;
      return [point, before];
    }),
  );
}
