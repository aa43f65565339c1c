/** Events by day in a chart, and as a list with the newest first. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Item, type Page, textOf, userName } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, place, withParameter } from '../api/route.ts';
import { Empty, ErrorCallout, Loading, NoItems } from '../components/card.tsx';
import type { DayCount } from '../components/day-bars.tsx';
import { Filters } from '../components/filters.tsx';
import { listQuery } from '../components/list.tsx';
import { ListCard } from '../components/list-card.tsx';
import { PageHeader } from '../components/page.tsx';
import { Timeline } from '../components/timeline.tsx';
import { Sentence } from '../components/values.tsx';
import { markOf } from '../format/events.ts';
import { changesOf } from '../format/sentences.ts';
import { dayText, joinedText } from '../format/text.ts';
import { instantText, numberText, plural, t } from '../i18n/words.ts';
import { EventBars, useEventCounts } from './event-counts.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { allTimes, instantIn, PeriodChip } from './event-period.tsx';
import { NewNotification } from './hooks.tsx';

const pageSize = 40;

/** Maximum page size of the API. */
const maxPageSize = 300;

/** The default period in seconds. */
const usualPeriod = 30 * 24 * 3600;

/** Query parameters that are not filters of the list. */
const ownParameters = ['event', 'shown', 'from', 'to', allTimes];

/** The events with a chart by day. Clicking an event opens its details. */
export function EventsPage({ collection }: { readonly collection: Collection | undefined }): JSX.Element {
  const { path, query } = place.value;
  const [from, to] = [query.get('from'), query.get('to')];
  const { isFiltered, isScoped, sent } = listQuery('events', collection?.filters ?? [], ownParameters);
  const now = Math.ceil(Date.now() / 1000);
  const last = instantIn(to) ?? now;
  const isUsual = from === null && to === null && !query.has(allTimes);
  // Round to the hour, so that a refresh sends the same request.
  const usualFrom = (Math.floor(now / 3600) - usualPeriod / 3600) * 3600;
  if (isUsual) sent.set('from', String(usualFrom));
  const filters = new URLSearchParams(sent);
  for (const name of ['o', 'from', 'to']) filters.delete(name);
  const shown = Math.min(maxPageSize, Number(query.get('shown')) || pageSize);
  sent.set('page_size', String(shown));
  const { newCount, page, showNew, version } = useFrozenPage(String(sent), usePage(`/api/events/?${sent}`).value);
  const counts = useEventCounts(instantIn(from) ?? last - usualPeriod, last, filters, version);
  const isNarrowed = isFiltered || !query.has(allTimes);
  const { value: total } = usePage(page && isNarrowed ? '/api/events/?page_size=1' : '');
  const groups = query.getAll('feature');
  return (
    <>
      <PageHeader
        title={t('Events')}
        actions={
          <NewNotification
            title={t('Notify me')}
            {...(groups.length > 0 && { initialValues: { event_groups: groups } })}
          />
        }
      />
      <Filters
        path={path}
        filters={collection?.filters ?? []}
        hidden={ownParameters}
        facets={['feature', 'user_username']}
        searchTitle={t('Search events')}
        count={page?.count}
        total={isNarrowed ? total?.count : undefined}
        scopeIsUsed={isScoped}
        first={<PeriodChip usual={t('last 30 days')} />}
      />
      <div class={page?.items.some(isOpen) ? 'with-drawer' : undefined}>
        <div class="stack">
          <section class="card">
            <EventBars counts={counts} filters={filters} />
          </section>
          {!page ? (
            <Loading />
          ) : page.problem ? (
            <ErrorCallout text={page.problem} />
          ) : page.items.length === 0 ? (
            <NoItems
              cleared={isNarrowed && total?.count !== 0 ? hrefOf('/events/', { [allTimes]: 'true' }) : undefined}
            >
              <Empty icon="events" title={t('Nothing has happened yet.')} />
            </NoItems>
          ) : (
            <Days
              events={page.items}
              count={page.count}
              shown={shown}
              counts={counts ?? []}
              before={isUsual && total && total.count > page.count ? usualFrom : undefined}
            >
              <NewEvents count={newCount} onShow={showNew} />
            </Days>
          )}
        </div>
        <OpenEvent events={page?.items ?? []} />
      </div>
    </>
  );
}

/**
 * Freezes the events of a query until the user asks for new ones, so that no row moves under the pointer.
 */
function useFrozenPage(
  query: string,
  latest: Page | undefined,
): {
  readonly page: Page | undefined;
  readonly newCount: number;
  readonly showNew: () => void;
  /** Incremented when new events are shown. */
  readonly version: number;
} {
  const visible = useRef<{ readonly query: string; readonly page: Page }>(undefined);
  const [version, setVersion] = useState(0);
  const page = visible.current?.query === query ? visible.current.page : undefined;
  const newCount = page && latest && !latest.problem ? countNew(page, latest) : 0;
  const show = (): void => {
    if (latest) visible.current = { query, page: latest };
  };
  if (newCount === 0) show();
  return {
    page: newCount > 0 ? page : latest,
    newCount,
    showNew: () => {
      show();
      setVersion(version + 1);
    },
    version,
  };
}

/** Counts the events that are newer than all visible ones. */
function countNew(visible: Page, latest: Page): number {
  const [first] = visible.items;
  if (!first) return 0;
  const known = new Set(visible.items.map((event) => textOf(event, 'uuid')));
  const since = textOf(first, '@timestamp');
  const arrived = latest.items.filter(
    (event) => !known.has(textOf(event, 'uuid')) && textOf(event, '@timestamp') >= since,
  );
  // If the whole page is new, there are more new events than it has.
  return arrived.length < latest.items.length ? arrived.length : latest.count - visible.count;
}

/** A button above the list with the number of new events. The status line announces it. */
const NewEvents = ({ count, onShow }: { readonly count: number; readonly onShow: () => void }): JSX.Element => (
  <div class="arrivals" role="status">
    {count > 0 && (
      <button type="button" class="btn sm" onClick={onShow}>
        {plural(count, 'Show {count} new event', 'Show {count} new events')}
      </button>
    )}
  </div>
);

const isOpen = (event: Item): boolean => textOf(event, 'uuid') === place.value.query.get('event');

/** The address of the page with an event open beside the list; an empty uuid closes it. */
const withEvent = (uuid: string): string => hrefOf('/events/', withParameter('event', uuid));

/** The details of the event in the address, if it is in the list. */
function OpenEvent({ events }: { readonly events: readonly Item[] }): JSX.Element | null {
  const index = events.findIndex(isOpen);
  const event = events[index];
  if (!event) return null;
  return (
    <EventDrawer
      event={event}
      onClose={() => {
        location.hash = withEvent('');
      }}
      onMove={(steps) => {
        const next = events[index + steps];
        if (next) location.hash = withEvent(textOf(next, 'uuid'));
      }}
    />
  );
}

/** Formats a day: today, yesterday, or date and weekday. */
function dayTitle(instant: number): string {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  const days = Math.round((today.getTime() - new Date(instant).setHours(0, 0, 0, 0)) / (24 * 3600 * 1000));
  if (days === 0) return t('Today');
  if (days === 1) return t('Yesterday');
  return days < 7 && days > 0
    ? instantText(instant, { weekday: 'long', day: 'numeric', month: 'short' })
    : dayText(instant);
}

/** Groups events by the start of their local day. */
function byDay(events: readonly Item[]): ReadonlyMap<number, readonly Item[]> {
  const days = new Map<number, Item[]>();
  for (const event of events) {
    const day = new Date(textOf(event, '@timestamp')).setHours(0, 0, 0, 0) / 1000;
    days.set(day, [...(days.get(day) ?? []), event]);
  }
  return days;
}

function Days({
  events,
  count,
  shown,
  counts,
  before,
  children,
}: {
  readonly events: readonly Item[];
  /** Total number of matches. */
  readonly count: number;
  readonly shown: number;
  readonly counts: readonly DayCount[];
  /** The start of the default period, if earlier events exist outside of it. */
  readonly before: number | undefined;
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <section class="card" aria-label={t('Events')}>
      {children}
      {[...byDay(events)].map(([day, ofDay]) => (
        <>
          <h2 key={`day ${day}`} class="day">
            {dayTitle(day * 1000)}{' '}
            <DayCounts bar={counts.find(({ from, to }) => from === day && to - from <= 25 * 3600)} />
          </h2>
          <Timeline
            key={day}
            hasClock
            entries={ofDay.map((event) => ({
              ...entryOf(event),
              href: withEvent(textOf(event, 'uuid')),
              isOpen: isOpen(event),
            }))}
          />
        </>
      ))}
      <Older events={events} count={count} shown={shown} before={before} />
    </section>
  );
}

function DayCounts({ bar }: { readonly bar: DayCount | undefined }): JSX.Element | null {
  if (!bar) return null;
  const words = plural(bar.all, '{count} event', '{count} events');
  return <span>{bar.bad ? t('{events}, {count} failed', { events: words, count: bar.bad }) : words}</span>;
}

/** Shows more events. At the maximum page size or the end of the default period, links to earlier events. */
function Older({
  events,
  count,
  shown,
  before,
}: {
  readonly events: readonly Item[];
  readonly count: number;
  readonly shown: number;
  readonly before: number | undefined;
}): JSX.Element | null {
  const query = new URLSearchParams(place.value.query);
  const isEnd = events.length >= count;
  if (isEnd && before !== undefined) query.set('to', String(before));
  else if (shown < maxPageSize) query.set('shown', String(Math.min(maxPageSize, shown + 2 * pageSize)));
  else {
    const oldest = Date.parse(textOf(events.at(-1) ?? {}, '@timestamp'));
    query.delete('shown');
    query.set('to', String(Math.floor(oldest / 1000) + 1));
  }
  return (
    <div class="pager">
      <span>{t('{count} of {total}', { count: numberText(events.length), total: numberText(count) })}</span>
      {(!isEnd || before !== undefined) && (
        <a class="btn sm" href={hrefOf('/events/', query)}>
          {t('Show older')}
        </a>
      )}
    </div>
  );
}

/** Describes the changes, the place (unless it is `within`) and the actor of an event. */
const aboutOf = (event: Item, within: Item = {}): string =>
  joinedText([
    changesOf(event),
    ...['project_name', 'customer_name'].map((name) =>
      textOf(event, name) === textOf(within, name) ? '' : textOf(event, name),
    ),
    userName(event),
  ]);

const entryOf = (event: Item, within?: Item) => ({
  key: textOf(event, 'uuid'),
  ...markOf(event),
  title: <Sentence item={event} />,
  sub: aboutOf(event, within),
  time: textOf(event, '@timestamp'),
});

/** Events as a timeline. Omits the project and customer of `within`, the object of the page. */
export const EventTimeline = ({
  events,
  within,
}: {
  readonly events: readonly Item[];
  readonly within?: Item;
}): JSX.Element => <Timeline entries={events.map((event) => entryOf(event, within))} />;

/** Returns the path of an object's latest events. */
export const eventsPath = (item: Item): string =>
  `/api/events/?${new URLSearchParams({ scope: textOf(item, 'url'), page_size: '5' })}`;

/** A card with the latest events of an object. */
export const Activity = ({
  item,
  within = item,
  firstPage,
  ...rest
}: {
  readonly item: Item;
  readonly within?: Item;
  /** Default: Activity. */
  readonly title?: string;
  /** Maximum number of events. Default: 5. */
  readonly size?: number;
  /** The events, if the page reads them itself. */
  readonly firstPage?: Page;
}): JSX.Element => (
  <ListCard
    title={t('Activity')}
    path="/events/"
    query={new URLSearchParams({ scope: textOf(item, 'url') }).toString()}
    empty={t('Nothing has happened yet.')}
    all={t('All events')}
    lines={(events) => <EventTimeline events={events} within={within} />}
    firstPage={firstPage}
    {...rest}
  />
);
