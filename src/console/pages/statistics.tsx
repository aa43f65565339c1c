/** Quotas, machines, alerts and creations over time. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, isItem, itemsIn, type Page, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, useList, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { Bar, Card, Loading, Meter, Tile } from '../components/card.tsx';
import { Behind, Chart, daysShown, Lengths, Ranges, span } from '../components/chart.tsx';
import { useLatest } from '../components/chooser.tsx';
import { PageHeader } from '../components/page.tsx';
import { Spark } from '../components/spark.tsx';
import { WordBadge } from '../components/status.tsx';
import { nameOf, ObjectLink, Time } from '../components/values.tsx';
import { percentText, quotaAmountText, quotaTitle, sizeText } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { instantText, numberText, t, titleOf } from '../i18n/words.ts';
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

/** The usage of a quota over the period of the address. */
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

/** The usage of vCPUs, memory and storage over the period of the address; undefined until it is read. */
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

/** vCPUs, memory and storage over time, of the customer or project with a uuid. */
export const UsageTimeline = ({
  aggregate,
  uuid,
}: {
  readonly aggregate: 'customer' | 'project';
  readonly uuid: string;
}): JSX.Element => {
  const rows = useLatest(useUsage(aggregate, uuid));
  const { value: sums } = useGet(
    () => api.GET('/api/stats/quota/', { params: { query: { aggregate, uuid } } }),
    [aggregate, uuid],
  );
  const isLoading = rows === undefined || sums === undefined;
  return (
    <UsageCard
      rows={isLoading ? [] : rows}
      sums={sums?.isOk ? sums.body : {}}
      isLoading={isLoading}
      actions={<Ranges days={[7, 30, 90]} />}
    />
  );
};

function UsageCard({
  rows,
  sums,
  isLoading = false,
  actions,
}: {
  readonly rows: readonly Item[];
  /** The present usage. */
  readonly sums: Item;
  readonly isLoading?: boolean;
  readonly actions?: ComponentChildren;
}): JSX.Element {
  const known = measures.filter((name) => rows.some((row) => numberOf(row, `${name}_usage`) !== undefined));
  return (
    <Card
      title={t('Usage over time')}
      class="of-charts"
      actions={actions}
      isLoading={isLoading}
      empty={!isLoading && known.length === 0 ? t('No usage in this period.') : undefined}
    >
      <div class="thirds">
        {known.map((name) => (
          <Chart
            key={name}
            title={quotaTitle(name)}
            isSize={isQuotaInMebibytes(name)}
            now={numberOf(sums, `${name}_usage`)}
            times={rows.map((row) => Number(row.from))}
            series={[
              { name: t('Usage'), values: rows.map((row) => numberOf(row, `${name}_usage`)) },
              { name: t('Limit'), values: rows.map((row) => limitOf(row, `${name}_limit`)), isLimit: true },
            ]}
          />
        ))}
      </div>
    </Card>
  );
}

/** What is used now of vCPUs, memory and storage, with its change over the period; and the number of machines. */
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
        // The rows are averages of days; a scope without a history has not changed.
        const change = Math.round(now - (values.find((value) => value !== undefined) ?? now));
        return (
          <Tile
            key={name}
            label={quotaTitle(name)}
            value={quotaAmountText(name, now)}
            unit={change === 0 ? undefined : `${change > 0 ? '+' : '−'}${quotaAmountText(name, Math.abs(change))}`}
          >
            <Spark values={values} />
          </Tile>
        );
      })}
      <Tile label={titleOf('vms')} value={numberText(machines)} href={hrefOf('/resources/', { category: 'vms' })} />
    </div>
  );
}

/** The customers that use the most storage, with their shares of the largest. */
function TopCustomers({ customers }: { readonly customers: readonly Item[] }): JSX.Element | null {
  const used = (customer: Item): number =>
    Number(itemsIn(customer.quotas).find(({ name }) => name === 'nc_volume_size')?.usage ?? 0);
  const top = [...customers]
    .filter((customer) => used(customer) > 0)
    .sort((a, b) => used(b) - used(a))
    .slice(0, 5);
  const [first = {}] = top;
  if (top.length < 2) return null;
  return (
    <Card title={t('Top customers by storage')} more={[hrefOf('/customers/'), t('All customers')]}>
      <div class="meters">
        {top.map((customer) => (
          <a key={textOf(customer, 'url')} class="meter" href={hrefOfLink(textOf(customer, 'url'))}>
            <span class="line">
              <span>{nameOf(customer)}</span>
              <span class="value">
                <b>{sizeText(used(customer))}</b>
              </span>
            </span>
            <Bar share={used(customer) / used(first)} />
          </a>
        ))}
      </div>
    </Card>
  );
}

/** The lowest availability of this month, of the resources that it is reported for. */
const lowestAvailability = '/api/resources/?o=actual_sla&field=url&field=name&field=sla&page_size=5';

/** The availability of resources beside what was agreed, the lowest first; nothing where none is reported. */
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

/** How many customers or projects were created over the period; undefined until they are read. */
function useCreated(type: 'customer' | 'project'): Created | undefined {
  const { from, to } = span();
  const params = { query: { type, from, to, datapoints: 30 } };
  const { value: response } = useGet(() => api.GET('/api/stats/creation-time/', { params }), [type, from, to]);
  return response && (response.isOk ? response.body : []);
}

function CreatedCard({ title, rows }: { readonly title: string; readonly rows: Created }): JSX.Element {
  const values = rows.map(({ value }) => value ?? 0);
  const count = values.reduce((sum, value) => sum + value, 0);
  return (
    <Card title={title} empty={count === 0 ? t('None in this period.') : undefined}>
      <Chart
        title={title}
        caption={t('{count} in all', { count })}
        times={rows.map((row) => Number(row.from))}
        series={[{ name: t('Count'), values }]}
        isCount
      />
    </Card>
  );
}

/** The sums of the quotas that have limits; the tiles show the others. */
function Sums({ sums }: { readonly sums: Item }): JSX.Element | null {
  const names = Object.keys(sums).filter((name) => `${name}_usage` in sums && limitOf(sums, name) !== undefined);
  if (names.length === 0) return null;
  return (
    <Card title={t('Quotas')}>
      <div class="meters">
        {names.map((name) => (
          <Meter key={name} quota={{ name, limit: sums[name], usage: sums[`${name}_usage`] }} />
        ))}
      </div>
    </Card>
  );
}

/** The alerts of a period, as bars from their creation to their closing. */
function AlertsOverTime({ page }: { readonly page: Page }): JSX.Element {
  const { from, to } = span();
  const at = (text: string): number => (text === '' ? to : Date.parse(text) / 1000);
  const rows = page.items.map((alert) => ({
    start: at(textOf(alert, 'created')),
    end: at(textOf(alert, 'closed')),
    token: { Error: '--bad-solid', Warning: '--warn-solid' }[textOf(alert, 'severity')] ?? '--series-1',
  }));
  return (
    <Card
      title={t('Alerts over time')}
      problem={page.problem}
      empty={page.count === 0 ? t('No alerts in this period.') : undefined}
    >
      <Lengths title={t('Alerts over time')} from={from} to={to} rows={rows}>
        <Behind
          title={t('Alerts over time')}
          heads={[titleOf('message'), titleOf('severity'), titleOf('created'), titleOf('closed')]}
        >
          {page.items.map((alert) => (
            <tr key={textOf(alert, 'url')}>
              <td>
                <ObjectLink item={alert} />
              </td>
              <td>
                <WordBadge word={textOf(alert, 'severity')} />
              </td>
              <td>
                <Time value={textOf(alert, 'created')} />
              </td>
              <td>{textOf(alert, 'closed') === '' ? '–' : <Time value={textOf(alert, 'closed')} />}</td>
            </tr>
          ))}
        </Behind>
      </Lengths>
    </Card>
  );
}

/** Reads all that the page shows; undefined until everything is read, so that it appears as a whole. */
function useStatistics() {
  const { from, to } = span();
  const alertsOf = { query: { from, to, o: ['-severity' as const], page_size: 30 } };
  const usage = useUsage('customer');
  const { value: sums } = useGet(() => api.GET('/api/stats/quota/'));
  const { value: alerts } = useList(() => api.GET('/api/stats/alerts/', { params: alertsOf }), [from, to]);
  const { value: customers } = usePage('/api/customers/?field=url&field=name&field=quotas&page_size=300');
  const { value: machines } = usePage('/api/resources/?category=vms&page_size=1');
  const { value: available } = usePage(lowestAvailability);
  const events = useEventCounts(from, to, new URLSearchParams());
  const newCustomers = useCreated('customer');
  const newProjects = useCreated('project');
  const isRead = usage && sums && alerts && customers && machines && available && events && newCustomers && newProjects;
  return useLatest(
    isRead && {
      usage,
      sums: sums.isOk ? sums.body : {},
      alerts,
      customers,
      machines,
      available: available.items,
      events,
      newCustomers,
      newProjects,
    },
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
            <TopCustomers customers={all.customers.items} />
            <section class="card">
              <EventBars counts={all.events} />
            </section>
            <AvailabilityCard resources={all.available} />
            <Sums sums={all.sums} />
            <AlertsOverTime page={all.alerts} />
            <CreatedCard title={t('New customers')} rows={all.newCustomers} />
            <CreatedCard title={t('New projects')} rows={all.newProjects} />
          </div>
        </div>
      ) : (
        <Loading />
      )}
    </>
  );
}
