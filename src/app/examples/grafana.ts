/** A Grafana dashboard to import, with three graphs in each row. */

interface Graph {
  readonly title: string;
  readonly unit: string;
  /** PromQL expressions by legend. */
  readonly lines: Readonly<Record<string, string>>;
}

const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (share: number, metric: string): string =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, 'le')})`;
const hitRate = (cache: string): string =>
  `sum(rate(tenantry_cache_requests_total{cache="${cache}",result="hit"}[$__rate_interval])) / sum(rate(tenantry_cache_requests_total{cache="${cache}"}[$__rate_interval]))`;

const graphs: readonly Graph[] = [
  {
    title: 'Requests by status',
    unit: 'reqps',
    lines: { '{{status}}': rate('tenantry_http_requests_total', 'status') },
  },
  {
    title: 'Request duration',
    unit: 's',
    lines: {
      median: quantile(0.5, 'tenantry_http_request_duration_seconds'),
      '99 %': quantile(0.99, 'tenantry_http_request_duration_seconds'),
    },
  },
  {
    title: 'Routes by total time',
    unit: 'percentunit',
    lines: { '{{route}}': `topk(8, ${rate('tenantry_http_request_seconds_total', 'route')})` },
  },
  { title: 'Event loop delay', unit: 's', lines: { '{{percentile}} %': 'tenantry_event_loop_delay_seconds' } },
  {
    title: 'CPU and memory',
    unit: 'short',
    lines: {
      cores: 'rate(process_cpu_seconds_total{job="tenantry"}[$__rate_interval])',
      'GB resident': 'process_resident_memory_bytes{job="tenantry"} / 1e9',
      'GB of JavaScript': 'nodejs_heap_size_used_bytes{job="tenantry"} / 1e9',
    },
  },
  {
    title: 'Cache hits',
    unit: 'percentunit',
    lines: { responses: hitRate('answers'), representations: hitRate('texts'), tokens: hitRate('tokens') },
  },
  {
    title: 'Commits',
    unit: 's',
    lines: {
      median: quantile(0.5, 'tenantry_commit_duration_seconds'),
      '99 %': quantile(0.99, 'tenantry_commit_duration_seconds'),
    },
  },
  {
    title: 'Writes per commit',
    unit: 'short',
    lines: {
      mean: 'rate(tenantry_commit_writes_sum[$__rate_interval]) / rate(tenantry_commit_writes_count[$__rate_interval])',
      'failures, {{reason}}': rate('tenantry_commit_failures_total', 'reason'),
    },
  },
  {
    title: 'On disk',
    unit: 'bytes',
    lines: {
      database: 'tenantry_database_bytes',
      'write-ahead log': 'tenantry_write_ahead_log_bytes',
      free: 'tenantry_disk_free_bytes',
    },
  },
  {
    title: 'Age of the newest backup',
    unit: 's',
    lines: {
      complete: 'time() - tenantry_backup_last_success_timestamp_seconds',
      verified: 'time() - tenantry_backup_last_verified_timestamp_seconds',
    },
  },
  { title: 'Write lease', unit: 's', lines: { left: 'tenantry_lease_seconds_left' } },
  {
    title: 'Pending messages',
    unit: 'short',
    lines: { '{{outbox}}': 'tenantry_outbox_depth', '{{outbox}}, oldest in s': 'tenantry_outbox_oldest_age_seconds' },
  },
  {
    title: 'Sent messages',
    unit: 'short',
    lines: {
      '{{outbox}}, {{result}}': rate('tenantry_deliveries_total', 'outbox, result'),
      'mails, {{result}}': rate('tenantry_mails_total', 'result'),
    },
  },
  {
    title: 'Audit sinks',
    unit: 'short',
    lines: {
      '{{sink}}, records behind': 'tenantry_audit_sink_lag_records',
      '{{sink}}, seconds behind': 'tenantry_audit_sink_lag_seconds',
    },
  },
  { title: 'Event streams', unit: 'short', lines: { open: 'tenantry_event_streams' } },
  {
    title: 'Providers, jobs, rejected logins',
    unit: 'short',
    lines: {
      '{{provider}}': rate('tenantry_provider_calls_total', 'provider'),
      '{{provider}}: {{error}}': rate('tenantry_provider_failures_total', 'provider, error'),
      'jobs {{state}}': 'tenantry_jobs',
      'rejected logins, {{reason}}': rate('tenantry_logins_refused_total', 'reason'),
    },
  },
];

/** Width of a panel in a grid of 24 columns. */
const width = 8;
const height = 8;
const perRow = 3;
const datasource = { type: 'prometheus', uid: '$source' };

/** Returns the dashboard as JSON. Importing it asks for the Prometheus data source. */
export function grafanaDashboard(): string {
  const panels = graphs.map(({ lines, title, unit }, i) => ({
    id: i + 1,
    type: 'timeseries',
    title,
    datasource,
    gridPos: { w: width, h: height, x: (i % perRow) * width, y: Math.floor(i / perRow) * height },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(lines).map(([legendFormat, expr], line) => ({
      refId: String.fromCharCode(65 + line),
      datasource,
      expr,
      legendFormat,
    })),
  }));
  const source = { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' };
  const dashboard = {
    uid: 'tenantry',
    title: 'Tenantry',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: [source] },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
