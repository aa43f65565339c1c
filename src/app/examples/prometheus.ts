import { authorityOf } from '../../kernel/config/address.ts';
import type { Setup } from './setup.ts';

/** Returns a scrape configuration for Prometheus. Throws a readable error if the server has no metrics. */
export function prometheusScrape({ admin }: Setup): string {
  if (!admin) throw new Error('admin_listen is off, so the server has no metrics');
  return `# In /etc/prometheus/prometheus.yml; tenantry example alerts prints the rules.
rule_files:
  - tenantry-alerts.yml
scrape_configs:
  - job_name: tenantry
    scrape_interval: 15s
    static_configs:
      - targets: ['${authorityOf(admin)}']
`;
}

interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must be true. */
  readonly duration: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

const alerts: readonly Alert[] = [
  {
    name: 'TenantryDown',
    expression: 'up{job="tenantry"} == 0',
    duration: '2m',
    severity: 'critical',
    summary: 'Tenantry does not respond.',
  },
  {
    name: 'TenantryCannotStore',
    expression: 'increase(tenantry_commit_failures_total{reason=~"full|broken"}[5m]) > 0',
    duration: '0m',
    severity: 'critical',
    summary: 'Nothing can be stored, because the disk is full or fails. The log has the details.',
  },
  {
    name: 'TenantryDiskNearlyFull',
    expression: 'tenantry_disk_free_bytes < 1e9',
    duration: '10m',
    severity: 'warning',
    summary: 'Less than 1 GB is free on the disk of the data folder.',
  },
  {
    name: 'TenantryTimerStopped',
    expression: 'tenantry_timer_age_seconds > 10',
    duration: '1m',
    severity: 'critical',
    summary: 'Pending work does not run: roles do not end, and no messages are sent.',
  },
  {
    name: 'TenantryErrors',
    expression: 'sum(rate(tenantry_http_requests_total{status="500"}[5m])) > 0',
    duration: '5m',
    severity: 'warning',
    summary: 'Requests fail with status 500. The log has the errors.',
  },
  {
    name: 'TenantrySlow',
    expression: 'histogram_quantile(0.99, sum by (le) (rate(tenantry_http_request_duration_seconds_bucket[5m]))) > 0.5',
    duration: '10m',
    severity: 'warning',
    summary: 'One request in a hundred takes longer than half a second.',
  },
  {
    name: 'TenantryOutboxStuck',
    expression: 'tenantry_outbox_oldest_age_seconds{outbox!="hooks"} > 3600',
    duration: '5m',
    severity: 'warning',
    summary: 'Mails have been pending for an hour. tenantry doctor lists them.',
  },
  {
    name: 'TenantryAuditSinkBehind',
    expression: 'tenantry_audit_sink_lag_seconds > 900',
    duration: '1m',
    severity: 'warning',
    summary: 'A sink of the audit trail is 15 minutes behind. tenantry doctor has the reason.',
  },
  {
    name: 'TenantryProviderUnauthorized',
    expression: 'increase(tenantry_provider_failures_total{error="unauthorized"}[30m]) > 0',
    duration: '0m',
    severity: 'warning',
    summary: 'A provider rejects the credentials of an account.',
  },
  {
    name: 'TenantryCertificateExpires',
    expression: 'tenantry_tls_certificate_expiry_timestamp_seconds - time() < 14 * 86400',
    duration: '1h',
    severity: 'warning',
    summary: 'The certificate expires within two weeks.',
  },
];

/** Returns alerting rules for Prometheus. */
export const prometheusAlerts = (): string => `# /etc/prometheus/tenantry-alerts.yml
groups:
  - name: tenantry
    rules:
${alerts
  .map(
    ({ duration, expression, name, severity, summary }) => `      - alert: ${name}
        expr: ${JSON.stringify(expression)}
        for: ${duration}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(summary)}
`,
  )
  .join('')}`;
