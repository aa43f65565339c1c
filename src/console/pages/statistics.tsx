/** Quotas, machines, alerts and creations over time. */
import type { JSX } from 'preact';
import { type Item, isItem, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, useList } from '../api/reading.ts';
import { Card, Fact, Facts, Meter } from '../components/card.tsx';
import { Behind, Chart, daysShown, Lengths, Ranges, span } from '../components/chart.tsx';
import { PageHeader } from '../components/page.tsx';
import { WordBadge } from '../components/status.tsx';
import { ObjectLink, Time } from '../components/values.tsx';
import { quotaTitle } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { numberText, t, titleOf } from '../i18n/words.ts';
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

/** Cores, memory and storage over time: in total, or of the customer or project with a uuid. */
export function UsageTimeline({
  aggregate,
  uuid,
}: {
  readonly aggregate: 'customer' | 'project';
  readonly uuid?: string;
}): JSX.Element {
  const { from, to } = span();
  const days = daysShown();
  const interval = days > 200 ? 'week' : 'day';
  const query = { from, to, interval, aggregate, ...(uuid && { uuid }) };
  const { value: response } = useGet(
    () => api.GET('/api/stats/quota/timeline/', { params: { query } }),
    [from, to, aggregate, uuid ?? ''],
  );
  const rows = response?.isOk ? response.body : [];
  const known = ['vcpu', 'ram', 'storage'].filter((name) =>
    rows.some((row) => numberOf(row, `${name}_usage`) !== undefined),
  );
  return (
    <Card
      title={t('Usage over time')}
      isLoading={!response}
      empty={response && known.length === 0 ? t('No usage in this period.') : undefined}
    >
      <div class="thirds">
        {known.map((name) => (
          <Chart
            key={name}
            title={quotaTitle(name)}
            isSize={isQuotaInMebibytes(name)}
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

/** The number of created customers or projects. */
function Made({ type, title }: { readonly type: 'customer' | 'project'; readonly title: string }): JSX.Element {
  const { from, to } = span();
  const params = { query: { type, from, to, datapoints: 30 } };
  const { value: response } = useGet(() => api.GET('/api/stats/creation-time/', { params }), [type, from, to]);
  const rows = response?.isOk ? response.body : [];
  const values = rows.map(({ value }) => value ?? 0);
  return (
    <Card title={title} isLoading={!response}>
      {rows.length > 0 && (
        <Chart
          title={title}
          caption={t('{count} in all', { count: values.reduce((sum, value) => sum + value, 0) })}
          times={rows.map((row) => Number(row.from))}
          series={[{ name: t('Count'), values }]}
          isCount
        />
      )}
    </Card>
  );
}

/** The sums of all visible quotas. */
function Sums(): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/stats/quota/'));
  const sums = response?.isOk ? response.body : {};
  const names = Object.keys(sums).filter((name) => `${name}_usage` in sums);
  return (
    <Card
      title={t('Quotas')}
      isLoading={!response}
      empty={response && names.length === 0 ? t('No usage in this period.') : undefined}
    >
      <div class="meters">
        {names.map((name) => (
          <Meter key={name} quota={{ name, limit: sums[name], usage: sums[`${name}_usage`] }} />
        ))}
      </div>
    </Card>
  );
}

/** The alerts of a period, as bars from their creation to their closing. */
function AlertsOverTime(): JSX.Element {
  const { from, to } = span();
  const params = { query: { from, to, o: ['-severity' as const], page_size: 30 } };
  const { value: page } = useList(() => api.GET('/api/stats/alerts/', { params }), [from, to]);
  const alerts = page?.items ?? [];
  const at = (text: string): number => (text === '' ? to : Date.parse(text) / 1000);
  const rows = alerts.map((alert) => ({
    start: at(textOf(alert, 'created')),
    end: at(textOf(alert, 'closed')),
    token: { Error: '--bad-solid', Warning: '--warn-solid' }[textOf(alert, 'severity')] ?? '--series-1',
  }));
  return (
    <Card
      title={t('Alerts over time')}
      problem={page?.problem}
      isLoading={!page}
      empty={page?.count === 0 ? t('No alerts in this period.') : undefined}
    >
      {alerts.length > 0 && (
        <Lengths title={t('Alerts over time')} from={from} to={to} rows={rows}>
          <Behind
            title={t('Alerts over time')}
            heads={[titleOf('message'), titleOf('severity'), titleOf('created'), titleOf('closed')]}
          >
            {alerts.map((alert) => (
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
      )}
    </Card>
  );
}

export function StatisticsPage(): JSX.Element {
  const { from, to } = span();
  return (
    <>
      <PageHeader title={titleOf('statistics')} actions={<Ranges />} />
      <div class="halves">
        <Made type="customer" title={t('New customers')} />
        <Made type="project" title={t('New projects')} />
        <Sums />
        <AlertsOverTime />
      </div>
      <UsageTimeline aggregate="customer" />
      <section class="card">
        <EventBars counts={useEventCounts(from, to, new URLSearchParams())} />
      </section>
    </>
  );
}

/** The measurements of a resource: its availability by month, and its latest values. */
export function Measurements({ resource }: { readonly resource: Item }): JSX.Element {
  const scope = textOf(resource, 'url');
  const params = { query: { scope, page_size: 24 } };
  const { value: months } = useList(() => api.GET('/api/resource-sla/', { params }), [scope]);
  const { value: items } = useList(() => api.GET('/api/monitoring-items/', { params }), [scope]);
  const rows = [...(months?.items ?? [])].filter(({ period }) => period.includes('-')).reverse();
  const reached = rows.map((row) => numberOf(row, 'value'));
  const agreed = rows.map((row) => numberOf(row, 'agreed_value'));
  return (
    <>
      {rows.length > 1 && (
        <Card title={t('Availability by month')}>
          <Chart
            title={t('Availability, %')}
            times={rows.map((row) => Date.parse(row.period) / 1000)}
            series={[
              { name: t('Reached'), values: reached },
              { name: t('Agreed'), values: agreed, isLimit: true },
            ]}
            // Near 100 %, an axis from 0 would hide the differences.
            min={Math.floor(Math.min(99, ...[...reached, ...agreed].filter((value) => value !== undefined)))}
          />
        </Card>
      )}
      <MonitoringHistory scope={scope} />
      {items && items.count > 0 && (
        <Card title={t('Monitoring')}>
          <Facts>
            {items.items.map((item) => (
              <Fact key={textOf(item, 'name')} label={monitoringTitle(textOf(item, 'name'))}>
                {numberText(Number(item.value))}
              </Fact>
            ))}
          </Facts>
        </Card>
      )}
    </>
  );
}

/** The title of a monitoring item: agents of operators choose the names. */
export const monitoringTitle = (name: string): string =>
  ({ cpu_usage: t('CPU'), ram_usage: t('Memory'), disk_usage: t('Disk') })[name] ?? titleOf(name);

/** The period of monitoring charts: a week, with a point every two hours. */
const monitoringSeconds = 7 * 24 * 3600;
const monitoringPoints = 85;

/** The history of the monitoring items of a resource, each in a separate chart: their units differ. */
function MonitoringHistory({ scope }: { readonly scope: string }): JSX.Element {
  const end = Math.ceil(Date.now() / 3_600_000) * 3600;
  const params = { query: { scope, start: end - monitoringSeconds, end, points_count: monitoringPoints } };
  const { value: response } = useGet(() => api.GET('/api/monitoring-items/history/', { params }), [scope, end]);
  return (
    <>
      {(response?.isOk ? response.body : [])
        .filter(({ history }) => history.some(({ value }) => value !== undefined))
        .map(({ history, name }) => (
          <Card key={name} title={t('{name}, the last week', { name: monitoringTitle(name) })}>
            <Chart
              title={monitoringTitle(name)}
              times={history.map(({ point }) => point)}
              series={[{ name: monitoringTitle(name), values: history.map(({ value }) => value) }]}
              min={Math.min(0, ...history.map(({ value }) => value ?? 0))}
            />
          </Card>
        ))}
    </>
  );
}
