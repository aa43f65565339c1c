import { authorityOf } from '../../kernel/config/address.ts';
import type { Setup } from './setup.ts';

/** The part of Prometheus' configuration that reads the metrics. Throws with a sentence when there are none to read. */
export function prometheusScrape({ admin }: Setup): string {
  if (!admin) throw new Error('admin_listen is off: there are no metrics to read');
  return `# In /etc/prometheus/prometheus.yml; tenantry example alerts prints the file of rules.
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
  readonly when: string;
  /** How long it must last. */
  readonly lasting: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

const alerts: readonly Alert[] = [
  {
    name: 'TenantryDown',
    when: 'up{job="tenantry"} == 0',
    lasting: '2m',
    severity: 'critical',
    summary: 'Tenantry does not answer.',
  },
  {
    name: 'TenantryCannotStore',
    when: 'increase(tenantry_commit_failures_total{reason=~"full|broken"}[5m]) > 0',
    lasting: '0m',
    severity: 'critical',
    summary: 'Nothing can be stored: the disk is full or fails. The log says what is needed.',
  },
  {
    name: 'TenantryDiskNearlyFull',
    when: 'tenantry_disk_free_bytes < 1e9',
    lasting: '10m',
    severity: 'warning',
    summary: 'Less than 1 GB is free on the disk of the data folder.',
  },
  {
    name: 'TenantryTimerStandsStill',
    when: 'tenantry_timer_age_seconds > 10',
    lasting: '1m',
    severity: 'critical',
    summary: 'What comes due by time is not done: roles do not end, nothing is sent.',
  },
  {
    name: 'TenantryFaults',
    when: 'sum(rate(tenantry_http_requests_total{status="500"}[5m])) > 0',
    lasting: '5m',
    severity: 'warning',
    summary: 'Requests are answered with 500; the log has the errors.',
  },
  {
    name: 'TenantrySlow',
    when: 'histogram_quantile(0.99, sum by (le) (rate(tenantry_http_request_duration_seconds_bucket[5m]))) > 0.5',
    lasting: '10m',
    severity: 'warning',
    summary: 'One request in a hundred takes longer than half a second.',
  },
  {
    name: 'TenantryOutboxStands',
    when: 'tenantry_outbox_oldest_age_seconds{outbox!="hooks"} > 3600',
    lasting: '5m',
    severity: 'warning',
    summary: 'Mails have waited for an hour; tenantry doctor lists them.',
  },
  {
    name: 'TenantryProviderRefuses',
    when: 'increase(tenantry_provider_failures_total{error="unauthorized"}[30m]) > 0',
    lasting: '0m',
    severity: 'warning',
    summary: 'A provider refuses the credentials of an account.',
  },
  {
    name: 'TenantryCertificateEnds',
    when: 'tenantry_tls_certificate_expiry_timestamp_seconds - time() < 14 * 86400',
    lasting: '1h',
    severity: 'warning',
    summary: 'The certificate ends within two weeks.',
  },
];

/** Rules of Prometheus: what somebody should be told of. */
export const prometheusAlerts = (): string => `# /etc/prometheus/tenantry-alerts.yml
groups:
  - name: tenantry
    rules:
${alerts
  .map(
    ({ lasting, name, severity, summary, when }) => `      - alert: ${name}
        expr: ${JSON.stringify(when)}
        for: ${lasting}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(summary)}
`,
  )
  .join('')}`;
