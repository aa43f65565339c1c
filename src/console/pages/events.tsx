import type { JSX } from 'preact';
import { type Item, isItem, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import type { Collection } from '../api/document.ts';
import { useGet, useRequest } from '../api/reading.ts';
import { go, hrefOf, place } from '../api/route.ts';
import { Chart } from '../components/chart.tsx';
import { fieldColumn } from '../components/columns.tsx';
import { Drawer } from '../components/drawer.tsx';
import { List } from '../components/list.tsx';
import { Choices, PageHeader, Tabs } from '../components/page.tsx';
import { Sentence } from '../components/sentence.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { Timeline } from '../components/timeline.tsx';
import { Details, Time } from '../components/values.tsx';
import { markOf } from '../format/events.ts';
import { changesOf } from '../format/sentences.ts';
import { t, titleOf } from '../i18n/words.ts';

const hour = 3600;
const ranges = (): readonly (readonly [title: string, seconds: number])[] => [
  [t('Last hour'), hour],
  [t('Last day'), 24 * hour],
  [t('Last week'), 7 * 24 * hour],
  [t('Last 30 days'), 30 * 24 * hour],
];

/** The events with how many happened over time, and ways to look at another time. */
export function EventsPage({ collection }: { readonly collection: Collection | undefined }): JSX.Element {
  const { path, query } = place.value;
  // To the minute, so that a refresh reads the same.
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
      <PageHeader title={t('Events')} />
      <Features at={filters} from={query.get('from')} to={query.get('to')} />
      <div class="row">
        <Choices
          label={t('Time range')}
          tabs={[
            { href: at(undefined), title: t('Any time'), isCurrent: !query.has('from') },
            ...ranges().map(([title, seconds]) => ({ href: at(seconds), title, isCurrent: false })),
          ]}
        />
        <Dates />
      </div>
      <EventCounts from={from} to={Number(query.get('to') ?? now)} filters={filters.toString()} />
      <List
        path={path}
        collection={collection}
        hiddenFilters={['feature', 'event']}
        columns={columns}
        openKey={query.get('event') ?? undefined}
        hrefOfItem={(event) => withEvent(textOf(event, 'uuid'))}
        drawer={query.has('event') ? (events) => <EventDrawer events={events} /> : undefined}
      />
    </>
  );
}

/** The address of the list with an event open beside it; an empty uuid closes it. */
function withEvent(uuid: string): string {
  const parameters = new URLSearchParams(place.value.query);
  if (uuid === '') parameters.delete('event');
  else parameters.set('event', uuid);
  return hrefOf('/events/', parameters);
}

/** The details of the event in the address, if the list shows it. */
function EventDrawer({ events }: { readonly events: readonly Item[] }): JSX.Element | null {
  const at = events.findIndex((event) => textOf(event, 'uuid') === place.value.query.get('event'));
  const event = events[at];
  if (!event) return null;
  const open = (uuid: string): void => {
    location.hash = withEvent(uuid);
  };
  return (
    <Drawer
      key="drawer"
      title={titleOf('event')}
      onClose={() => open('')}
      onMove={(steps) => {
        const next = events[at + steps];
        if (next) open(textOf(next, 'uuid'));
      }}
    >
      <div class="in stack">
        <Sentence item={event} />
        <Details item={event} hidden={['message', '@version', 'levelname', 'importance', 'importance_code', 'type']} />
      </div>
    </Drawer>
  );
}

/** What an event changed, where it happened and who caused it. */
const placeOf = (event: Item): string =>
  [
    changesOf(event),
    textOf(event, 'project_name') || textOf(event, 'customer_name'),
    textOf(event, 'user_full_name') || textOf(event, 'user_username'),
  ]
    .filter((text) => text !== '')
    .join(' · ');

const columns = (): readonly Column[] => [
  {
    key: 'message',
    title: titleOf('message'),
    class: 'name',
    cell: (event) => (
      <NameCell href={withEvent(textOf(event, 'uuid'))} name={<Sentence item={event} isPlain />} sub={placeOf(event)} />
    ),
  },
  fieldColumn('level'),
  { ...fieldColumn('event_type'), class: 'cut short when-wide gone' },
  {
    key: '@timestamp',
    title: titleOf('@timestamp'),
    sort: '@timestamp',
    class: 'muted',
    cell: (event) => <Time value={textOf(event, '@timestamp')} />,
  },
];

/** The groups of event types. */
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
  const { value: response } = useGet(() => api.GET('/api/events/event_groups/'));
  const groups = response?.isOk ? Object.keys(response.body) : [];
  const link = (group: string): string => {
    const parameters = new URLSearchParams(at);
    for (const name of ['feature', 'event_type']) parameters.delete(name);
    if (group !== '') parameters.set('feature', group);
    if (from !== null) parameters.set('from', from);
    if (to !== null) parameters.set('to', to);
    return hrefOf('/events/', parameters);
  };
  return (
    <Tabs
      label={t('Kinds of events')}
      tabs={['', ...groups].map((group) => ({
        href: link(group),
        title: group === '' ? t('All') : titleOf(group),
        isCurrent: (at.get('feature') ?? '') === group,
      }))}
    />
  );
}

/** The first and the last day of the period. */
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
      // Only a changed period resets the fields: a change of the other filters keeps the typed days.
      key={`${query.get('from')} ${query.get('to')}`}
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const parameters = new URLSearchParams(query);
        for (const name of ['page', 'from', 'to']) parameters.delete(name);
        for (const [name, days] of [
          ['from', 0],
          ['to', 1],
        ] as const) {
          const day = new Date(`${String(data.get(name))}T00:00`);
          day.setDate(day.getDate() + days);
          if (!Number.isNaN(day.getTime())) parameters.set(name, String(day.getTime() / 1000));
        }
        go(path, parameters);
      }}
    >
      <label class="row tight small">
        {t('First day')} <input class="input" type="date" name="from" defaultValue={dayOf('from')} />
      </label>
      <label class="row tight small">
        {t('Last day')} <input class="input" type="date" name="to" defaultValue={dayOf('to', 1)} />
      </label>
      <button type="submit" class="btn">
        {t('Show')}
      </button>
    </form>
  );
}

/** Events as a timeline. */
export const EventTimeline = ({ events }: { readonly events: readonly Item[] }): JSX.Element => (
  <Timeline
    entries={events.map((event) => ({
      key: textOf(event, 'uuid'),
      ...markOf(event),
      title: <Sentence item={event} />,
      sub: placeOf(event),
      time: textOf(event, '@timestamp'),
    }))}
  />
);

/** A chart of the number of events over time. */
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
  const { value: response } = useRequest<readonly Item[]>(
    'GET',
    `/api/events/count/history/?start=${from}&end=${to}&points_count=${parts}&${filters}`,
  );
  // Each point counts the events before it.
  const before = response?.isOk ? response.body.map(totalOf) : [];
  const counts = before.slice(1).map((count, index) => count - (before[index] ?? 0));
  // As high as the chart, so that nothing moves when it comes.
  if (!response) return <div class="chart waiting" aria-busy="true" />;
  if (!response.isOk || counts.length === 0) return null;
  return (
    <Chart
      title={t('Events over time')}
      times={response.body.slice(0, -1).map(({ point }) => Number(point))}
      series={[{ name: titleOf('count'), values: counts }]}
      isCount
    />
  );
}

const totalOf = ({ object }: Item): number => (isItem(object) ? Number(object.count) : 0);
