import type { Request } from '../../kernel/access/request.ts';
import { second } from '../../kernel/clock.ts';
import { collectErrors } from '../../kernel/http/error.ts';
import { historyPoints } from '../../kernel/http/history.ts';
import { selected } from './filters.ts';
import { counts, countsBefore, isByTime, type Selection } from './query-plan.ts';

interface Count {
  /** UNIX timestamp in seconds. */
  readonly point: number;
  readonly object: { readonly count: number };
}

/** Counts the selected events before each point, in the order of the request (events.md 4.6). Throws 400. */
export function countHistory(request: Request): Count[] {
  const [points, selection] = collectErrors(
    () => historyPoints(request.query),
    () => selected(request),
  );
  const ascending = [...new Set(points)].sort((a, b) => a - b);
  const before = isByTime(selection)
    ? countRanges(request, selection, ascending)
    : countInOnePass(request, selection, ascending);
  return points.map((point) => ({ point, object: { count: before.get(point) ?? 0 } }));
}

/** Counts the ranges between the points separately and adds them up, so that no event is read twice. */
function countRanges({ db }: Request, selection: Selection, ascending: readonly number[]): Map<number, number> {
  const latest = selection.to ?? Infinity;
  const ranges: { readonly point: number; readonly within: Selection }[] = [];
  let { from } = selection;
  for (const point of ascending) {
    const to = Math.min(point * second, latest);
    if (from !== undefined && to <= from) continue;
    ranges.push({ point, within: { ...selection, from, to } });
    from = to;
  }
  const rangeCounts = counts(
    db,
    ranges.map(({ within }) => within),
  );
  const between = new Map(ranges.map(({ point }, i) => [point, rangeCounts[i] ?? 0]));
  const before = new Map<number, number>();
  let sum = 0;
  for (const point of ascending) {
    sum += between.get(point) ?? 0;
    before.set(point, sum);
  }
  return before;
}

/** Counts all points in one pass, for selections where reading a range costs as much as reading everything. */
function countInOnePass({ db }: Request, selection: Selection, ascending: readonly number[]): Map<number, number> {
  const before = countsBefore(
    db,
    selection,
    ascending.map((point) => point * second),
  );
  return new Map(ascending.map((point, i) => [point, before[i] ?? 0]));
}
