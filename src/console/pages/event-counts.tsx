/** Counts of events and failures by day. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { type Item, isItem, request } from '../api/api.ts';
import { useReading } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { DayBars, type DayCount } from '../components/day-bars.tsx';
import sentences from '../i18n/sentences.json' with { type: 'json' };
import { t } from '../i18n/words.ts';

const day = 24 * 3600;

/** Event types that report failures of resources. */
export const failedTypes: readonly string[] = Object.keys(sentences.events).filter((type) =>
  /^resource_\w+_failed$/.test(type),
);

/** Failure types by event group. */
const failures: Readonly<Record<string, readonly string[]>> = {
  resources: failedTypes,
  users: ['auth_login_failed_with_username'],
};

/** Maximum number of bars. In longer periods, a bar covers several days. */
const maxBars = 92;

/** Returns the borders of bars of one or more days between two UNIX timestamps, which are stable for a day. */
function daysBetween(from: number, to: number): readonly number[] {
  const days = (to - from) / day;
  const step = days > maxBars ? Math.max(7, Math.ceil(days / maxBars)) : 1;
  const borders: number[] = [];
  const border = new Date(from * 1000);
  border.setHours(0, 0, 0, 0);
  // Local days may have 23 or 25 hours.
  for (; border.getTime() / 1000 < to; border.setDate(border.getDate() + step)) borders.push(border.getTime() / 1000);
  return [...borders, border.getTime() / 1000];
}

const totalOf = ({ object }: Item): number => (isItem(object) ? Number(object.count) : 0);

/** Counts the events in each interval; undefined until loaded. */
function useCounts(borders: readonly number[], filters: string, version: number): readonly number[] | undefined {
  const points = borders.map((point) => `point=${point}`).join('&');
  const path = `/api/events/count/history/?${points}&${filters}`;
  const { value } = useReading(`${path} ${version}`, () => request<readonly Item[]>('GET', path));
  // Keep the bars of the previous version until the next ones are loaded.
  const latest = useRef<{ readonly path: string; readonly value: typeof value }>(undefined);
  if (value) latest.current = { path, value };
  const response = latest.current?.path === path ? latest.current.value : undefined;
  if (!response) return undefined;
  // The API counts the events before each point.
  const before = response.isOk ? response.body.map(totalOf) : [];
  return before.slice(1).map((count, index) => count - (before[index] ?? 0));
}

/** Restricts filters to failures; undefined if no failure can match. */
function failuresOf(filters: URLSearchParams): URLSearchParams | undefined {
  const features = filters.getAll('feature');
  const groups = features.length > 0 ? features : Object.keys(failures);
  const chosen = filters.getAll('event_type');
  const types = groups
    .flatMap((group) => failures[group] ?? [])
    .filter((type) => features.length > 0 || chosen.length === 0 || chosen.includes(type));
  if (types.length === 0) return undefined;
  const query = new URLSearchParams(filters);
  query.delete('feature');
  query.delete('event_type');
  for (const type of types) query.append('event_type', type);
  return query;
}

/** Counts by day and again for each version. Undefined until loaded, empty on failure. */
export function useEventCounts(
  from: number,
  to: number,
  filters: URLSearchParams,
  version = 0,
): readonly DayCount[] | undefined {
  const borders = daysBetween(from, to);
  const all = useCounts(borders, filters.toString(), version);
  const ofFailures = failuresOf(filters) ?? new URLSearchParams({ event_type: 'none' });
  const bad = useCounts(borders, ofFailures.toString(), version);
  if (!all || !bad) return undefined;
  return all.map((count, index) => ({
    from: borders[index] ?? 0,
    to: borders[index + 1] ?? 0,
    all: count,
    bad: bad[index],
  }));
}

/** The counts as bars. Each bar links to the events of its day. */
export function EventBars({
  counts,
  filters = new URLSearchParams(),
  caption,
}: {
  readonly counts: readonly DayCount[] | undefined;
  /** Content below the title. */
  readonly caption?: ComponentChildren;
  /** Filters of the list. */
  readonly filters?: URLSearchParams;
}): JSX.Element | null {
  // Reserve the height of the chart to avoid layout shifts.
  if (!counts) return <div class="chart waiting low" aria-busy="true" />;
  if (counts.length === 0) return null;
  return (
    <DayBars
      title={t('Events by day')}
      noun={t('Events')}
      bars={counts}
      caption={caption}
      hrefOfBar={({ from, to }) => {
        const query = new URLSearchParams(filters);
        query.set('from', String(from));
        query.set('to', String(to));
        return hrefOf('/events/', query);
      }}
    />
  );
}
