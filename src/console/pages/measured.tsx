/** Current and past measurements and availability of a resource. */
import type { JSX } from 'preact';
import { api } from '../api/connection.ts';
import { useGet, useList } from '../api/reading.ts';
import { hrefOf, place } from '../api/route.ts';
import { Card, Loading } from '../components/card.tsx';
import { Chart, Sparkline } from '../components/chart.tsx';
import { joinedText, monthText, percentText } from '../format/text.ts';
import { numberText, t, titleOf } from '../i18n/words.ts';
import { type Item, isItem, textOf } from '../item.ts';

/** Returns the latest measured values of a resource by name. */
const measurementsOf = (resource: Item): readonly (readonly [name: string, value: number])[] =>
  Object.entries(isItem(resource.monitoring_items) ? resource.monitoring_items : {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );

/** Whether a resource has measurements or a known availability. */
export const isMeasured = (resource: Item): boolean => measurementsOf(resource).length > 0 || isItem(resource.sla);

const daySeconds = 24 * 3600;
const sparkPoints = 25;

/** Usage from which a meter warns, and from which it is critical, in percent. */
const warningPercent = 80;
const criticalPercent = 95;

/** The latest measurements with sparklines of the last day. */
export function Usage({ resource }: { readonly resource: Item }): JSX.Element | null {
  const measured = measurementsOf(resource);
  return measured.length === 0 ? null : <UsageCard scope={textOf(resource, 'url')} measured={measured} />;
}

function UsageCard({
  scope,
  measured,
}: {
  readonly scope: string;
  readonly measured: ReturnType<typeof measurementsOf>;
}): JSX.Element {
  const end = Math.ceil(Date.now() / 3_600_000) * 3600;
  const params = { query: { scope, start: end - daySeconds, end, points_count: sparkPoints } };
  const { value: response } = useGet(() => api.GET('/api/monitoring-items/history/', { params }), [scope, end]);
  const histories = new Map((response?.isOk ? response.body : []).map(({ history, name }) => [name, history]));
  return (
    <Card
      title={t('Monitoring')}
      note={t('last 24 hours')}
      more={[hrefOf(place.value.path, { tab: 'monitoring' }), t('History')]}
    >
      <div class="stack">
        {measured.map(([name, value]) => (
          <ShareMeter
            key={name}
            title={monitoringTitle(name)}
            value={value}
            isShare={name.endsWith('_usage')}
            history={histories.get(name)?.map((point) => point.value) ?? []}
          />
        ))}
      </div>
    </Card>
  );
}

function ShareMeter({
  title,
  value,
  isShare,
  history,
}: {
  readonly title: string;
  readonly value: number;
  readonly isShare: boolean;
  readonly history: readonly (number | undefined)[];
}): JSX.Element {
  const tone = !isShare || value < warningPercent ? '' : value < criticalPercent ? 'warn' : 'bad';
  return (
    <div>
      <div class={`meter ${tone}`}>
        <span class="line">
          <span>{title}</span>
          <span class="value">
            <b>{isShare ? percentText(value / 100, 1) : numberText(value)}</b>
          </span>
        </span>
        {isShare && (
          <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
            <rect x="0" y="0" width={Math.min(100, Math.max(0, value))} height="6" />
          </svg>
        )}
      </div>
      {/* With few values, a line shows no more than the meter. */}
      {history.filter((one) => one !== undefined).length > sparkPoints / 2 && <Sparkline values={history} />}
    </div>
  );
}

export function Availability({ resource }: { readonly resource: Item }): JSX.Element | null {
  const sla = isItem(resource.sla) ? resource.sla : {};
  if (typeof sla.value !== 'number') return null;
  const agreed = typeof sla.agreed_value === 'number' ? sla.agreed_value : undefined;
  const isMet = agreed === undefined || sla.value >= agreed;
  const period = textOf(sla, 'period');
  return (
    <Card title={t('Availability')} more={[hrefOf(place.value.path, { tab: 'monitoring' }), t('History')]}>
      <p>
        <b class={isMet ? 'good-ink' : 'bad-ink'}>{percentText(sla.value / 100, 2)}</b>{' '}
        <span class="muted small">
          {joinedText([
            /^\d{4}-\d\d$/.test(period) ? monthText(`${period}-15`, 'long') : period,
            agreed === undefined ? '' : t('agreed {share}', { share: percentText(agreed / 100, 2) }),
          ])}
        </span>
      </p>
    </Card>
  );
}

/** Period and resolution of monitoring charts: a week in steps of two hours. */
const monitoringSeconds = 7 * daySeconds;
const monitoringPoints = 85;

/** Availability by month, and a chart for each monitoring item, because their units differ. */
export function Measurements({ resource }: { readonly resource: Item }): JSX.Element {
  const scope = textOf(resource, 'url');
  const end = Math.ceil(Date.now() / 3_600_000) * 3600;
  const params = { query: { scope, page_size: 24 } };
  const period = { query: { scope, start: end - monitoringSeconds, end, points_count: monitoringPoints } };
  const { value: months } = useList(() => api.GET('/api/resource-sla/', { params }), [scope]);
  const { value: response } = useGet(() => api.GET('/api/monitoring-items/history/', { params: period }), [scope, end]);
  if (!months || !response) return <Loading />;
  const rows = months.items.filter((row) => row.period.includes('-')).reverse();
  const reached = rows.map(({ value }) => value ?? undefined);
  const agreed = rows.map(({ agreed_value: value }) => value ?? undefined);
  const histories = (response.isOk ? response.body : []).filter(({ history }) =>
    history.some(({ value }) => value !== undefined),
  );
  return (
    <>
      {rows.length > 0 && (
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
      <div class="halves">
        {histories.map(({ history, name }) => (
          <Card key={name} title={t('{name}, the last week', { name: monitoringTitle(name) })}>
            <Chart
              title={name.endsWith('_usage') ? t('{name}, %', { name: monitoringTitle(name) }) : monitoringTitle(name)}
              times={history.map(({ point }) => point)}
              series={[{ name: monitoringTitle(name), values: history.map(({ value }) => value) }]}
              min={Math.min(0, ...history.map(({ value }) => value ?? 0))}
            />
          </Card>
        ))}
      </div>
    </>
  );
}

/** Returns the title of a monitoring item. Operators choose the names. */
const monitoringTitle = (name: string): string =>
  ({ cpu_usage: t('CPU'), ram_usage: t('Memory'), disk_usage: t('Disk') })[name] ?? titleOf(name);
