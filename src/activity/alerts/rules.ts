import type { Context } from '../../kernel/access/context.ts';
import { sql } from '../../kernel/db/sql.ts';
import { quotaContext } from '../quotas/scope.ts';
import type { QuotaRow } from '../quotas/usage.ts';
import type { ScopeKind } from '../scopes/scope.ts';
import { alertOf, closeAlert, raiseAlert } from './alert-store.ts';
import type { AutomaticAlert } from './catalogue.ts';

/** Alerts about a customer's counts: above the limit and, as advice, at zero. */
const countAlerts: Readonly<Record<string, { readonly exceeded: AutomaticAlert; readonly zero: AutomaticAlert }>> = {
  nc_project_count: { exceeded: 'customer_project_count_exceeded', zero: 'customer_has_zero_projects' },
  nc_service_count: { exceeded: 'customer_service_count_exceeded', zero: 'customer_has_zero_services' },
  nc_resource_count: { exceeded: 'customer_resource_count_exceeded', zero: 'customer_has_zero_resources' },
};

const isOver = (quota: QuotaRow): boolean => quota.threshold > 0 && quota.usage >= quota.threshold;
const isExceeded = (quota: QuotaRow): boolean => quota.limit !== -1 && quota.usage > quota.limit;

/** Raises and closes the alerts that depend on a changed quota (events.md 3.7). */
export function evaluateQuota(context: Context, before: QuotaRow, after: QuotaRow): void {
  const { scope_kind: kind } = after;
  if (kind === 'global') return;
  evaluateThreshold(context, kind, before, after);
  if (kind === 'customer') evaluateCount(context, before, after);
}

/** Raises the advisory alerts of a new, empty customer if advisory_alerts is on. */
export function raiseNewCustomerAlerts(context: Context, customer: number): void {
  if (!context.app.config.advisory_alerts) return;
  for (const { zero } of Object.values(countAlerts)) raiseAlert(context, 'customer', customer, zero);
}

function evaluateThreshold(context: Context, kind: ScopeKind, before: QuotaRow, after: QuotaRow): void {
  if (!isOver(before) && !isOver(after)) return;
  const { db } = context.app;
  const existing = alertOf(db, kind, after.scope_id, 'threshold_exceeded');
  // A changed limit raises no alert but updates an open one.
  if (before.usage === after.usage && before.threshold === after.threshold && existing?.closed !== null) return;
  const over = db.all<QuotaRow>(sql`
    SELECT * FROM quota
    WHERE scope_kind = ${kind} AND scope_id = ${after.scope_id} AND threshold > 0 AND usage >= threshold
    ORDER BY name`);
  const [first] = over;
  if (!first) {
    closeAlert(context, kind, after.scope_id, 'threshold_exceeded');
    return;
  }
  const hasCrossed = isOver(after) && !isOver(before);
  const reported: { readonly quota_uuid?: string } = existing ? JSON.parse(existing.context) : {};
  const reportedUuid = hasCrossed ? after.uuid : reported.quota_uuid;
  raiseAlert(
    context,
    kind,
    after.scope_id,
    'threshold_exceeded',
    quotaContext(over.find(({ uuid }) => uuid === reportedUuid) ?? first),
  );
}

function evaluateCount(context: Context, before: QuotaRow, after: QuotaRow): void {
  const alerts = Object.hasOwn(countAlerts, after.name) ? countAlerts[after.name] : undefined;
  if (!alerts || (before.usage === after.usage && before.limit === after.limit)) return;
  if (isExceeded(after)) raiseAlert(context, 'customer', after.scope_id, alerts.exceeded, quotaContext(after));
  else if (isExceeded(before)) closeAlert(context, 'customer', after.scope_id, alerts.exceeded);
  if (after.usage > 0 && before.usage === 0) closeAlert(context, 'customer', after.scope_id, alerts.zero);
  else if (after.usage === 0 && before.usage > 0 && context.app.config.advisory_alerts) {
    raiseAlert(context, 'customer', after.scope_id, alerts.zero);
  }
}
