import type { JSX } from 'preact';
import { type Item, isItem, textOf } from './api.ts';
import type { Collection } from './document.ts';
import { Filters, Listed } from './list.tsx';
import { useAnswer } from './reading.ts';
import { hrefOf, place } from './route.ts';
import { State, Time } from './shown.tsx';
import { t } from './words/words.ts';

const hour = 3600;
const ranges = (): readonly (readonly [title: string, seconds: number])[] => [
  [t('Last hour'), hour],
  [t('Last day'), 24 * hour],
  [t('Last week'), 7 * 24 * hour],
  [t('Last 30 days'), 30 * 24 * hour],
];

/** The events with how many there were over the time that is looked at, and ways to look at another time. */
export function EventsPage({ collection }: { readonly collection: Collection | undefined }): JSX.Element {
  const { path, query } = place.value;
  // To the minute, so that the same is not asked for anew with every look at it.
  const now = Math.ceil(Date.now() / 60_000) * 60;
  const at = (seconds: number | undefined): string => {
    const parameters = new URLSearchParams(query);
    for (const name of ['page', 'from', 'to']) parameters.delete(name);
    if (seconds !== undefined) parameters.set('from', String(now - seconds));
    return hrefOf(path, parameters);
  };
  const filters = new URLSearchParams(query);
  for (const name of ['page', 'from', 'to', 'o']) filters.delete(name);
  const from = Number(query.get('from') ?? now - 30 * 24 * hour);
  return (
    <>
      <h1 tabIndex={-1}>{t('Events')}</h1>
      <nav aria-label={t('Time range')} class="lists">
        <a href={at(undefined)} aria-current={query.has('from') ? undefined : 'true'}>
          {t('Any time')}
        </a>
        {ranges().map(([title, seconds]) => (
          <a key={title} href={at(seconds)}>
            {title}
          </a>
        ))}
      </nav>
      <EventCounts from={from} to={now} filters={filters.toString()} />
      {collection && <Filters key={path} path={path} filters={collection.filters} />}
      <Listed path={path} orderings={collection?.orderings ?? []} />
    </>
  );
}

/** Events as lines of words. */
export function EventLines({ events }: { readonly events: readonly Item[] }): JSX.Element {
  return (
    <ul class="lines">
      {events.map((event) => (
        <li key={textOf(event, 'uuid')}>
          <Time value={textOf(event, '@timestamp')} />
          <span class="text">{textOf(event, 'message')}</span>
          {textOf(event, 'level') !== 'info' && <State value={textOf(event, 'level')} />}
        </li>
      ))}
    </ul>
  );
}

/** How many events there were in parts of a time. */
export function EventCounts({
  from,
  to,
  filters = '',
}: {
  /** UNIX timestamps. */
  readonly from: number;
  readonly to: number;
  /** What else the list is narrowed to, as its query. */
  readonly filters?: string;
}): JSX.Element | null {
  const parts = 31;
  const { value: answer } = useAnswer<readonly Item[]>(
    'GET',
    `/api/events/count/history/?start=${from}&end=${to}&points_count=${parts}&${filters}`,
  );
  // Each point tells how many there were before it.
  const before = answer?.isOk ? answer.body.map(totalOf) : [];
  const counts = before.slice(1).map((count, index) => count - (before[index] ?? 0));
  if (counts.length === 0) return null;
  const most = Math.max(1, ...counts);
  return (
    <svg class="counts" viewBox={`0 0 ${counts.length * 10} 40`} preserveAspectRatio="none" role="img">
      <title>{t('Events over time, from {least} to {most} at a time', { least: Math.min(...counts), most })}</title>
      {counts.map((count, index) => {
        const height = (count / most) * 38;
        return <rect key={index} x={index * 10 + 1} y={40 - height} width={8} height={height} />;
      })}
    </svg>
  );
}

const totalOf = ({ object }: Item): number => (isItem(object) ? Number(object.count) : 0);
