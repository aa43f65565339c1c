import type { JSX } from 'preact';
import { type Item, isItem, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import type { Collection } from '../api/document.ts';
import { useAnswer, useGet } from '../api/reading.ts';
import { go, hrefOf, place } from '../api/route.ts';
import { Chart } from '../components/chart.tsx';
import { Filters, Listed } from '../components/list.tsx';
import { State, Time, Told } from '../components/shown.tsx';
import { t, titleOf } from '../i18n/words.ts';

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
      <Features at={filters} from={query.get('from')} to={query.get('to')} />
      <Dates />
      <EventCounts from={from} to={Number(query.get('to') ?? now)} filters={filters.toString()} />
      {collection && (
        <Filters key={path} path={path} filters={collection.filters} elsewhere={['feature', 'from', 'to']} />
      )}
      <Listed path={path} orderings={collection?.orderings ?? []} />
    </>
  );
}

/** What events are about, as groups of their types. */
function Features({
  at,
  from,
  to,
}: {
  /** What else the list is narrowed to. */
  readonly at: URLSearchParams;
  readonly from: string | null;
  readonly to: string | null;
}): JSX.Element {
  const { value: answer } = useGet(() => api.GET('/api/events/event_groups/'));
  const groups = answer?.isOk ? Object.keys(answer.body) : [];
  const link = (group: string): string => {
    const parameters = new URLSearchParams(at);
    for (const name of ['feature', 'event_type']) parameters.delete(name);
    if (group !== '') parameters.set('feature', group);
    if (from !== null) parameters.set('from', from);
    if (to !== null) parameters.set('to', to);
    return hrefOf('/events/', parameters);
  };
  return (
    <nav aria-label={t('What they are about')} class="lists">
      {['', ...groups].map((group) => (
        <a key={group} href={link(group)} aria-current={(at.get('feature') ?? '') === group ? 'true' : undefined}>
          {group === '' ? t('All') : titleOf(group)}
        </a>
      ))}
    </nav>
  );
}

/** The first and the last day that are looked at. */
function Dates(): JSX.Element {
  const { path, query } = place.value;
  const dayOf = (name: string, back = 0): string => {
    const seconds = query.get(name);
    const date = new Date((Number(seconds) - back) * 1000);
    return seconds === null
      ? ''
      : [date.getFullYear(), date.getMonth() + 1, date.getDate()]
          .map((part) => String(part).padStart(2, '0'))
          .join('-');
  };
  return (
    <form
      // Only other days fill the fields again: days that are being typed survive a change of the other filters.
      key={`${query.get('from')} ${query.get('to')}`}
      class="find dates"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const parameters = new URLSearchParams(query);
        for (const name of ['page', 'from', 'to']) parameters.delete(name);
        for (const [name, days] of [
          ['from', 0],
          ['to', 1],
        ] as const) {
          const day = new Date(`${String(given.get(name))}T00:00`);
          day.setDate(day.getDate() + days);
          if (!Number.isNaN(day.getTime())) parameters.set(name, String(day.getTime() / 1000));
        }
        go(path, parameters);
      }}
    >
      <label>
        {t('First day')} <input type="date" name="from" defaultValue={dayOf('from')} />
      </label>
      <label>
        {t('Last day')} <input type="date" name="to" defaultValue={dayOf('to', 1)} />
      </label>
      <button type="submit" class="outline secondary">
        {t('Show')}
      </button>
    </form>
  );
}

/** Events as lines of words. */
export function EventLines({ events }: { readonly events: readonly Item[] }): JSX.Element {
  return (
    <ul class="lines">
      {events.map((event) => (
        <li key={textOf(event, 'uuid')}>
          <Time value={textOf(event, '@timestamp')} />
          <Told text={textOf(event, 'message')} />
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
  if (!answer?.isOk || counts.length === 0) return null;
  return (
    <Chart
      title={t('Events over time')}
      times={answer.body.slice(0, -1).map(({ point }) => Number(point))}
      series={[{ name: titleOf('count'), values: counts }]}
      isCount
    />
  );
}

const totalOf = ({ object }: Item): number => (isItem(object) ? Number(object.count) : 0);
