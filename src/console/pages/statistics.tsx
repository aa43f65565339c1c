/** Charts of quotas, machines, events, customers and projects over time. */
import type { JSX } from 'preact';
import { type Item, isItem, itemsIn, type Page, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, usePage } from '../api/reading.ts';
import { hrefOf, place, withParameter } from '../api/route.ts';
import { Bar, Card, Loading, Meter, Tile } from '../components/card.tsx';
import { Chart, daysShown, Ranges, Sparkline, span } from '../components/chart.tsx';
import { useLatest } from '../components/chooser.tsx';
import type { DayCount } from '../components/day-bars.tsx';
import { Choices, PageHeader } from '../components/page.tsx';
import { ObjectLink } from '../components/values.tsx';
import { percentText, quotaAmountText, quotaTitle, sizeText } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { instantText, numberText, plural, t, titleOf } from '../i18n/words.ts';
import { EventBars, useEventCounts } from './event-counts.tsx';

const numberOf = (item: Item, name: string): number | undefined => {
  const value = item[name];
  return typeof value === 'number' ? value : undefined;
};

/** Converts a limit for charts: -1 means none. */
const limitOf = (item: Item, name: string): number | undefined => {
  const value = numberOf(item, name);
  return value === undefined || value < 0 ? undefined : value;
};

/** The usage of a quota in the selected period. */
export function QuotaHistory({ quota }: { readonly quota: Item }): JSX.Element {
  const { from, to } = span();
  const key = textOf(quota, 'uuid');
  const params = { path: { key }, query: { start: from, end: to, points_count: 61 } };
  const { value: response } = useGet(() => api.GET('/api/quotas/{key}/history/', { params }), [key, from, to]);
  const points = response?.isOk ? response.body : [];
  const objects = points.map(({ object }) => (isItem(object) ? object : {}));
  return (
    <Card title={t('Usage over time')} isLoading={!response}>
      <Ranges />
      <Meter quota={{ ...quota, url: '' }} />
      {points.length > 0 && (
        <Chart
          title={quotaTitle(textOf(quota, 'name'))}
          isSize={isQuotaInMebibytes(textOf(quota, 'name'))}
          times={points.map(({ point }) => Number(point))}
          series={[
            { name: t('Usage'), values: objects.map((object) => numberOf(object, 'usage')) },
            { name: t('Limit'), values: objects.map((object) => limitOf(object, 'limit')), isLimit: true },
          ]}
        />
      )}
    </Card>
  );
}

/** Reads the usage of vCPUs, memory and storage in the selected period; undefined until loaded. */
function useUsage(aggregate: 'customer' | 'project', uuid?: string): readonly Item[] | undefined {
  const { from, to } = span();
  const interval = daysShown() > 200 ? 'week' : 'day';
  const query = { from, to, interval, aggregate, ...(uuid && { uuid }) };
  const { value: response } = useGet(
    () => api.GET('/api/stats/quota/timeline/', { params: { query } }),
    [from, to, aggregate, uuid ?? ''],
  );
  return response && (response.isOk ? response.body : []);
}

const measures = ['vcpu', 'ram', 'storage'] as const;
type Measure = (typeof measures)[number];

/** vCPUs, memory and storage of a customer or project over time. */
export const UsageTimeline = ({
  aggregate,
  uuid,
  sums,
}: {
  readonly aggregate: 'customer' | 'project';
  readonly uuid: string;
  /** The present usage, as quotas. */
  readonly sums: readonly Item[];
}): JSX.Element => {
  const rows = useLatest(useUsage(aggregate, uuid));
  const known = knownMeasures(rows ?? []);
  return (
    <Card
      title={t('Usage over time')}
      class="of-charts"
      actions={<Ranges days={[7, 30, 90]} />}
      isLoading={!rows}
      empty={rows && known.length === 0 ? t('No usage in this period.') : undefined}
    >
      <div class="thirds">
        {rows &&
          known.map((name) => (
            <UsageChart
              key={name}
              name={name}
              rows={rows}
              now={numberOf(sums.find((quota) => quota.name === name) ?? {}, 'usage')}
            />
          ))}
      </div>
    </Card>
  );
};

const knownMeasures = (rows: readonly Item[]): readonly Measure[] =>
  measures.filter((name) => rows.some((row) => numberOf(row, `${name}_usage`) !== undefined));

/** One measure over time, with its current value. */
const UsageChart = ({
  name,
  rows,
  now,
}: {
  readonly name: Measure;
  readonly rows: readonly Item[];
  /** The present usage. */
  readonly now: number | undefined;
}): JSX.Element => (
  <Chart
    title={quotaTitle(name)}
    isSize={isQuotaInMebibytes(name)}
    now={now}
    times={rows.map((row) => Number(row.from))}
    series={[
      { name: t('Usage'), values: rows.map((row) => numberOf(row, `${name}_usage`)) },
      { name: t('Limit'), values: rows.map((row) => limitOf(row, `${name}_limit`)), isLimit: true },
    ]}
  />
);

/** One measure in a wide chart. The address selects it. */
function UsageCard({ rows, sums }: { readonly rows: readonly Item[]; readonly sums: Item }): JSX.Element {
  const { path, query } = place.value;
  const known = knownMeasures(rows);
  const name = known.find((one) => one === query.get('measure')) ?? known[0];
  return (
    <Card
      title={t('Usage over time')}
      actions={
        known.length > 1 && (
          <Choices
            label={t('Measure')}
            tabs={known.map((one) => ({
              href: hrefOf(path, withParameter('measure', one)),
              title: quotaTitle(one),
              isCurrent: one === name,
            }))}
          />
        )
      }
      empty={name === undefined ? t('No usage in this period.') : undefined}
    >
      {name && <UsageChart name={name} rows={rows} now={numberOf(sums, `${name}_usage`)} />}
    </Card>
  );
}

/** Current vCPUs, memory and storage with their change over the period, and the number of machines. */
function UsageTiles({
  rows,
  sums,
  machines,
}: {
  readonly rows: readonly Item[];
  readonly sums: Item;
  readonly machines: number;
}): JSX.Element {
  return (
    <div class="tiles">
      {measures.map((name) => {
        const values = rows.map((row) => numberOf(row, `${name}_usage`));
        const now = numberOf(sums, `${name}_usage`) ?? 0;
        // The rows are daily averages. A scope without history has no change.
        const change = Math.round(now - (values.find((value) => value !== undefined) ?? now));
        return (
          <Tile
            key={name}
            label={quotaTitle(name)}
            value={now === 0 ? numberText(0) : quotaAmountText(name, now)}
            unit={change === 0 ? undefined : `${change > 0 ? '+' : '−'}${quotaAmountText(name, Math.abs(change))}`}
          >
            <Sparkline values={values} />
          </Tile>
        );
      })}
      <Tile label={titleOf('vms')} value={numberText(machines)} href={hrefOf('/resources/', { category: 'vms' })} />
    </div>
  );
}

/** The customers that use the most storage, with bars relative to the largest. */
function TopCustomers({ page }: { readonly page: Page }): JSX.Element | null {
  const used = (customer: Item): number =>
    Number(itemsIn(customer.quotas).find(({ name }) => name === 'nc_volume_size')?.usage ?? 0);
  const top = page.items
    .filter((customer) => used(customer) > 0)
    .sort((a, b) => used(b) - used(a))
    .slice(0, 5);
  const [first = {}] = top;
  if (top.length < 2) return null;
  return (
    <Card
      title={t('Top customers by storage')}
      more={[hrefOf('/customers/'), t('All {count} customers', { count: page.count })]}
      isFlush
    >
      <table class="table">
        <tbody>
          {top.map((customer) => (
            <tr key={textOf(customer, 'url')}>
              <td>
                <ObjectLink item={customer} />
              </td>
              <td class="num">{sizeText(used(customer))}</td>
              <td class="share">
                <Bar share={used(customer) / used(first)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** The resources with the lowest reported availability this month. */
const lowestAvailability = '/api/resources/?o=actual_sla&field=url&field=name&field=sla&page_size=5';

/** Actual and agreed availability of resources, lowest first. Renders nothing if none is reported. */
function AvailabilityCard({ resources }: { readonly resources: readonly Item[] }): JSX.Element | null {
  if (resources.length === 0) return null;
  return (
    <Card
      title={t('Availability')}
      note={instantText(Date.now(), { month: 'long', timeZone: 'UTC' })}
      more={hrefOf('/resources/', { o: 'actual_sla' })}
      isFlush
    >
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t('Resource')}</th>
            <th scope="col" class="num">
              {t('Reached')}
            </th>
            <th scope="col" class="num">
              {t('Agreed')}
            </th>
          </tr>
        </thead>
        <tbody>
          {resources.map((resource) => {
            const sla = isItem(resource.sla) ? resource.sla : {};
            const [reached = 0, agreed] = [numberOf(sla, 'value'), numberOf(sla, 'agreed_value')];
            return (
              <tr key={textOf(resource, 'url')}>
                <td>
                  <ObjectLink item={resource} />
                </td>
                <td class={`num ${agreed === undefined ? '' : reached < agreed ? 'bad-ink' : 'good-ink'}`}>
                  {percentText(reached / 100, 2, 2)}
                </td>
                <td class="num">{agreed === undefined ? '–' : percentText(agreed / 100, 2, 2)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Card>
  );
}

type Created = readonly { readonly from?: number; readonly value?: number }[];

/** Counts customers or projects created in the period; undefined until loaded. */
function useCreated(type: 'customer' | 'project'): Created | undefined {
  const { from, to } = span();
  const params = { query: { type, from, to, datapoints: 30 } };
  const { value: response } = useGet(() => api.GET('/api/stats/creation-time/', { params }), [type, from, to]);
  return response && (response.isOk ? response.body : []);
}

/** Converts creation counts to the number of current objects that existed at the start of each interval. */
function existing(created: Created, count: number): readonly number[] {
  let later = created.reduce((sum, { value = 0 }) => sum + value, 0);
  return created.map(({ value = 0 }) => {
    const before = count - later;
    later -= value;
    return before;
  });
}

/** The growth in customers and projects. */
function Growth({
  customers,
  projects,
  newCustomers,
  newProjects,
}: {
  readonly customers: number;
  readonly projects: number;
  readonly newCustomers: Created;
  readonly newProjects: Created;
}): JSX.Element {
  const added = (rows: Created): number => rows.reduce((sum, { value = 0 }) => sum + value, 0);
  const line = (name: string, rows: Created, count: number) => ({ name, values: [...existing(rows, count), count] });
  return (
    <section class="card" aria-label={t('Customers and projects')}>
      <Chart
        title={t('Customers and projects')}
        caption={
          <span class="now">
            {plural(projects, '{count} project', '{count} projects')}{' '}
            <small>
              {[
                plural(customers, '{count} customer', '{count} customers'),
                t('{count} created in this period', { count: numberText(added(newProjects) + added(newCustomers)) }),
              ].join(', ')}
            </small>
          </span>
        }
        times={[...newProjects.map(({ from = 0 }) => from), span().to]}
        series={[line(titleOf('projects'), newProjects, projects), line(titleOf('customers'), newCustomers, customers)]}
      />
    </section>
  );
}

/** Reads all data of the page. Undefined until everything is loaded, so that the page appears at once. */
function useStatistics() {
  const { from, to } = span();
  const usage = useUsage('customer');
  const { value: sums } = useGet(() => api.GET('/api/stats/quota/'));
  const { value: customers } = usePage('/api/customers/?field=url&field=name&field=quotas&page_size=300');
  const { value: projects } = usePage('/api/projects/?field=url&page_size=1');
  const { value: machines } = usePage('/api/resources/?category=vms&page_size=1');
  const { value: available } = usePage(lowestAvailability);
  const events = useEventCounts(from, to, new URLSearchParams());
  const newCustomers = useCreated('customer');
  const newProjects = useCreated('project');
  const isRead =
    usage && sums && customers && projects && machines && available && events && newCustomers && newProjects;
  return useLatest(
    isRead && {
      usage,
      sums: sums.isOk ? sums.body : {},
      customers,
      projects,
      machines,
      available: available.items,
      events,
      newCustomers,
      newProjects,
    },
  );
}

/** The total numbers of events and failures. */
function EventTotals({ counts }: { readonly counts: readonly DayCount[] }): JSX.Element {
  const sum = (name: 'all' | 'bad'): number => counts.reduce((total, count) => total + (count[name] ?? 0), 0);
  return (
    <span class="now">
      {numberText(sum('all'))} <small>{t('{count} failed', { count: numberText(sum('bad')) })}</small>
    </span>
  );
}

export function StatisticsPage(): JSX.Element {
  const all = useStatistics();
  return (
    <>
      <PageHeader
        title={titleOf('statistics')}
        lead={t('All customers and projects that you can access.')}
        actions={<Ranges />}
      />
      {all ? (
        <div class="stack">
          <UsageTiles rows={all.usage} sums={all.sums} machines={all.machines.count} />
          <UsageCard rows={all.usage} sums={all.sums} />
          <div class="halves">
            <TopCustomers page={all.customers} />
            <section class="card">
              <EventBars counts={all.events} caption={<EventTotals counts={all.events} />} />
            </section>
            {all.customers.count + all.projects.count > 0 && (
              <Growth
                customers={all.customers.count}
                projects={all.projects.count}
                newCustomers={all.newCustomers}
                newProjects={all.newProjects}
              />
            )}
            <AvailabilityCard resources={all.available} />
          </div>
        </div>
      ) : (
        <Loading />
      )}
    </>
  );
}
