/** Open alerts by severity, each with the action that fixes it, followed by recently closed ones. */
import { Fragment, type JSX } from 'preact';
import { type Item, isItem, pathOf, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { collections, isStaff } from '../api/session.ts';
import { Empty, ErrorCallout, Loading, NoItems } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { DayBars } from '../components/day-bars.tsx';
import { Filters } from '../components/filters.tsx';
import { Icon } from '../components/icons.tsx';
import { listQuery, Pager, pageSize } from '../components/list.tsx';
import { Menu } from '../components/menu.tsx';
import { PageHeader, Tabs } from '../components/page.tsx';
import { PostButton, post } from '../components/post.tsx';
import { Badge } from '../components/status.tsx';
import { nameOf, Sentence, Time } from '../components/values.tsx';
import { kindOfType } from '../format/kinds.ts';
import { fixOf } from '../format/sentences.ts';
import { durationText, quotaText } from '../format/text.ts';
import { actionTitle, numberText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';

const path = '/alerts/';

/** The views of the page with their parameters. */
const views = (): readonly (readonly [title: string, query: Readonly<Record<string, string>>])[] => [
  [t('Open'), { opened: 'true' }],
  [titleOf('acknowledged'), { opened: 'true', acknowledged: 'true' }],
  [t('Closed'), { closed: 'true' }],
  [t('All'), {}],
];

/** The query parameters of the current scope. */
type Scoped = Readonly<Record<string, string>>;

const viewParameters = ['opened', 'closed', 'acknowledged'];

export function AlertsPage(): JSX.Element {
  const { query } = place.value;
  const collection = collections.value.get('alerts');
  const filters = collection?.filters ?? [];
  const { isFiltered, isScoped, scoped, sent } = listQuery('alerts', filters, [...viewParameters, 'aggregate', 'uuid']);
  const isClosed = query.has('closed');
  // The worst first.
  if (!sent.has('o')) sent.set('o', isClosed ? '-created' : '-severity,-created');
  sent.set('page_size', String(pageSize));
  const { value: page } = usePage(`/api/alerts/?${sent}`);
  // An alert that the user has just closed appears below.
  const alerts = (page?.items ?? []).filter((alert) => !query.has('opened') || textOf(alert, 'closed') === '');
  return (
    <>
      <PageHeader
        title={titleOf('alerts')}
        lead={t('Current problems. Alerts close when the cause is resolved.')}
        actions={
          <>
            <a class="btn" href={hrefOf('/notifications/')}>
              <Icon name="hooks" />
              {t('Notify me')}
            </a>
            {collection && <Creation collection={collection} />}
          </>
        }
      />
      <Views scoped={scoped} />
      <Filters
        path={path}
        filters={filters}
        hidden={[...viewParameters, 'aggregate', 'uuid']}
        facets={['severity', 'alert_type']}
        searchTitle={t('Search alerts')}
        scopeIsUsed={isScoped}
      />
      <div class="stack">
        {!page ? (
          <Loading />
        ) : page.problem ? (
          <ErrorCallout text={page.problem} />
        ) : alerts.length === 0 ? (
          <NoItems cleared={isFiltered ? hrefOf(path) : undefined}>
            <Empty icon="good" title={isClosed ? t('No recently closed alerts.') : t('No alert is open.')} />
          </NoItems>
        ) : (
          <>
            {groupsOf(alerts).map(([title, alerts]) => (
              <Group key={title} title={title} alerts={alerts} />
            ))}
            {page.count > pageSize && (
              <div class="card">
                <Pager path={path} number={Number(query.get('page') ?? 1) || 1} page={page} />
              </div>
            )}
          </>
        )}
        {query.has('opened') && !query.has('acknowledged') && !isFiltered && (
          <>
            <RecentlyClosed scoped={scoped} />
            <OpenByDay scoped={scoped} />
          </>
        )}
      </div>
    </>
  );
}

/** The views with their numbers of alerts. */
function Views({ scoped }: { readonly scoped: Scoped }): JSX.Element {
  const { query } = place.value;
  const all = views();
  const inScope = new URLSearchParams({ ...scoped, page_size: '1' });
  const counts = [
    usePage(`/api/alerts/?opened=true&${inScope}`),
    usePage(`/api/alerts/?opened=true&acknowledged=true&${inScope}`),
    usePage(`/api/alerts/?closed=true&${inScope}`),
  ];
  return (
    <Tabs
      label={t('Views')}
      tabs={all.map(([title, parameters], index) => ({
        href: hrefOf(path, parameters),
        title,
        count: counts[index]?.value?.count,
        isCurrent: viewParameters.every((name) => query.has(name) === Object.hasOwn(parameters, name)),
      }))}
    />
  );
}

/** Groups alerts by severity, closed ones last. */
function groupsOf(alerts: readonly Item[]): readonly (readonly [title: string, alerts: readonly Item[]])[] {
  const groups = new Map<string, Item[]>();
  const ordered = [...alerts].sort((a, b) => Number(textOf(a, 'closed') !== '') - Number(textOf(b, 'closed') !== ''));
  for (const alert of ordered) {
    const title = textOf(alert, 'closed') === '' ? t(textOf(alert, 'severity')) : t('Closed');
    groups.set(title, [...(groups.get(title) ?? []), alert]);
  }
  return [...groups];
}

function Group({
  title,
  alerts,
  more,
}: {
  readonly title: string;
  readonly alerts: readonly Item[];
  readonly more?: string | undefined;
}): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <h2 class="day">
        {title} <span>{more === undefined ? numberText(alerts.length) : <a href={more}>{t('Show all')}</a>}</span>
      </h2>
      <ul class="lines even">
        {alerts.map((alert) => (
          <Alert key={textOf(alert, 'url')} alert={alert} />
        ))}
      </ul>
    </section>
  );
}

const tones: Readonly<Record<string, string>> = { Error: 'bad', Warning: 'warn' };

function Alert({ alert }: { readonly alert: Item }): JSX.Element {
  const closed = textOf(alert, 'closed');
  const tone = closed === '' ? (ownValue(tones, textOf(alert, 'severity')) ?? '') : 'good';
  return (
    <li>
      <span class={`kind ${tone}`}>
        <Icon name={tone || 'alerts'} />
      </span>
      <span class="words">
        <a href={hrefOfLink(textOf(alert, 'url'))}>
          <Sentence item={alert} isPlain />
        </a>
        <span class="sub">
          <About alert={alert} />
        </span>
      </span>
      <span class="end">
        {alert.acknowledged === true && <Badge>{titleOf('acknowledged')}</Badge>}
        <Time value={closed || textOf(alert, 'created')} />
        <AlertActions alert={alert} />
      </span>
    </li>
  );
}

/** The subject of an alert: type and place of its object, usage of its quota, and how long it was open. */
function About({ alert }: { readonly alert: Item }): JSX.Element {
  const context = isItem(alert.context) ? alert.context : {};
  const type = textOf(context, 'resource_type');
  const quota = textOf(context, 'quota_name');
  const { limit, used } = quotaText(
    quota,
    Number(textOf(context, 'quota_usage')),
    Number(textOf(context, 'quota_limit')),
  );
  const closed = textOf(alert, 'closed');
  const seconds = (Date.parse(closed) - Date.parse(textOf(alert, 'created'))) / 1000;
  const parts = [
    type === '' ? textOf(context, 'service_type') : t(kindOfType(type).word),
    quota === '' ? '' : `${used} ${limit}`,
    placeOf(context, 'project'),
    placeOf(context, 'customer'),
    closed === '' ? '' : t('open for {duration}', { duration: durationText(seconds) }),
  ].filter((part) => part !== '');
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </>
  );
}

/** Links to the project or customer of an alert. */
function placeOf(context: Item, kind: 'project' | 'customer'): JSX.Element | string {
  const [name, uuid] = [textOf(context, `${kind}_name`), textOf(context, `${kind}_uuid`)];
  return uuid === '' ? name : <a href={hrefOf(`/${kind}s/${uuid}/`)}>{name}</a>;
}

/** Any user who sees an alert can acknowledge it. Only staff can close it (events.md 3.3). */
function AlertActions({ alert }: { readonly alert: Item }): JSX.Element {
  const own = pathOf(textOf(alert, 'url'));
  const isOpen = textOf(alert, 'closed') === '';
  const fix = isOpen ? fixOf(alert) : undefined;
  const action = alert.acknowledged === true ? 'cancel_acknowledgment' : 'acknowledge';
  return (
    <>
      {fix && (
        <a class="btn sm" href={hrefOf(fix.path)} aria-label={`${fix.title}: ${nameOf(alert)}`}>
          {fix.title}
        </a>
      )}
      {isOpen && (
        <PostButton
          title={actionTitle(action)}
          icon="acknowledge"
          path={`${own}${action}/`}
          about={nameOf(alert)}
          expected={{ path: own, change: { acknowledged: alert.acknowledged !== true } }}
        />
      )}
      {isStaff.value && isOpen && (
        <Menu
          class="btn quiet icon-only sm"
          label={t('Actions for {name}', { name: nameOf(alert) })}
          items={[
            {
              title: actionTitle('close'),
              icon: 'close',
              onSelect: () =>
                void post({
                  title: actionTitle('close'),
                  path: `${own}close/`,
                  expected: { path: own, change: { closed: new Date().toISOString() } },
                }),
            },
          ]}
        />
      )}
    </>
  );
}

/** Days after which closed alerts are deleted (events.md 3.6). */
const retentionDays = 7;

function RecentlyClosed({ scoped }: { readonly scoped: Scoped }): JSX.Element | null {
  const query = new URLSearchParams({ ...scoped, closed: 'true', o: '-created', page_size: '5' });
  const { value: page } = usePage(`/api/alerts/?${query}`);
  if (!page || page.items.length === 0) return null;
  return (
    <Group
      title={t('Closed in the last {days} days', { days: retentionDays })}
      alerts={page.items}
      more={page.count > page.items.length ? hrefOf(path, { closed: 'true' }) : undefined}
    />
  );
}

/** Maximum page size of the API. */
const maxAlerts = 300;

/** The number of open alerts per day, for as long as closed alerts are stored. Renders nothing without alerts. */
function OpenByDay({ scoped }: { readonly scoped: Scoped }): JSX.Element | null {
  const days = Array.from({ length: retentionDays + 1 }, (_, index) => {
    const day = new Date();
    day.setHours(0, 0, 0, 0);
    day.setDate(day.getDate() + index - retentionDays + 1);
    return day.getTime() / 1000;
  });
  const query = new URLSearchParams({ ...scoped, from: String(days[0]), page_size: String(maxAlerts) });
  const { value: page } = usePage(`/api/alerts/?${query}`);
  if (!page || page.problem || page.count === 0 || page.count > maxAlerts) return null;
  const spans = page.items.map((alert) => [textOf(alert, 'created'), textOf(alert, 'closed')].map(Date.parse));
  const bars = days.slice(0, -1).map((from, index) => {
    const to = days[index + 1] ?? from;
    const open = spans.filter(([created = 0, closed = 0]) => created < to * 1000 && !(closed < from * 1000));
    return { from, to, all: open.length };
  });
  return (
    <section class="card">
      <DayBars
        title={t('Open alerts, last {days} days', { days: retentionDays })}
        noun={titleOf('alerts')}
        bars={bars}
      />
    </section>
  );
}
