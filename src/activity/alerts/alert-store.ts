import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { changesOf } from '../../kernel/collection/changes.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { namesOf } from '../../kernel/present.ts';
import { notify, responsibleFor } from '../notifications/notify.ts';
import type { EventContext, ScopeKind } from '../scopes/scope.ts';
import { type AutomaticAlert, automaticAlerts } from './catalogue.ts';

/** Severities by name. The numbers define their order. */
export const severities = { Debug: 10, Info: 20, Warning: 30, Error: 40 } as const;

type Severity = keyof typeof severities;

const maxMessageLength = 255;

export interface AlertRow {
  readonly id: number;
  readonly uuid: string;
  readonly scope_kind: ScopeKind;
  readonly scope_id: number;
  readonly alert_type: string;
  readonly closed: number | null;
  readonly acknowledged: number;
  readonly severity: number;
  readonly message: string;
  readonly context: string;
}

export interface AlertContent {
  readonly kind: ScopeKind;
  readonly scope: number;
  readonly type: string;
  readonly message: string;
  readonly severity: Severity;
  /** Default: unchanged while the alert is open, otherwise false. */
  readonly acknowledged?: boolean | undefined;
  /** Context keys besides those of the scope. */
  readonly extra?: EventContext;
}

/** Returns the open or closed alert of a scope and type. */
export const alertOf = (db: Database, kind: ScopeKind, scope: number, type: string): AlertRow | undefined =>
  db.get<AlertRow>(
    sql`SELECT * FROM alert WHERE scope_kind = ${kind} AND scope_id = ${scope} AND alert_type = ${type}`,
  );

/** Creates the alert of a scope and type, or updates and reopens it (events.md 3.2). Returns its id and whether it is new. */
export function putAlert(context: Context, alert: AlertContent): { id: number; isNew: boolean } {
  const { db } = context.app;
  const existing = alertOf(db, alert.kind, alert.scope, alert.type);
  const scopeContext = contextOf(context.app, alert.kind, alert.scope, alert.extra);
  const values = {
    message: alert.message,
    severity: severities[alert.severity],
    context: JSON.stringify(scopeContext),
  };
  const report = (uuid: string): void =>
    notifyOf(context, 'alert_opened', { uuid, alert_type: alert.type, ...values }, scopeContext);
  if (existing) {
    const isAcknowledged = alert.acknowledged ?? (existing.closed === null && existing.acknowledged === 1);
    // Each synchronisation raises the alerts of its resources again, and most of them are unchanged.
    const changes = changesOf(existing, { ...values, closed: null, acknowledged: Number(isAcknowledged) });
    db.update('alert', existing.id, changes);
    if (existing.closed !== null) report(existing.uuid);
    return { id: existing.id, isNew: false };
  }
  const uuid = newUuid(context.app);
  const id = db.insert('alert', {
    uuid,
    scope_kind: alert.kind,
    scope_id: alert.scope,
    alert_type: alert.type,
    created: context.now,
    acknowledged: Number(alert.acknowledged ?? false),
    ...values,
  });
  report(uuid);
  return { id, isNew: true };
}

type ReportedAlert = Pick<AlertRow, 'uuid' | 'alert_type' | 'severity' | 'message'>;

/** Notifies the users responsible for the scope of an alert. */
function notifyOf(
  context: Context,
  kind: 'alert_opened' | 'alert_closed',
  alert: ReportedAlert,
  scopeContext: Readonly<Record<string, string>>,
): void {
  const severity = namesOf(severities).find((name) => severities[name] === alert.severity) ?? 'Info';
  notify(context, kind, {
    context: { ...scopeContext, alert_uuid: alert.uuid, alert_type: alert.alert_type, severity },
    users: responsibleFor(context.app, scopeContext),
    about: alert.uuid,
    detail: alert.message,
    ...(kind === 'alert_opened' && { level: levelOf[severity] }),
  });
}

const levelOf = { Debug: 'debug', Info: 'info', Warning: 'warning', Error: 'error' } as const;

/** Raises an automatic alert or updates an open one. */
export function raiseAlert(
  context: Context,
  kind: ScopeKind,
  scope: number,
  type: AutomaticAlert,
  extra: EventContext = {},
): void {
  const values = contextOf(context.app, kind, scope, extra);
  putAlert(context, { kind, scope, type, extra, severity: 'Warning', message: messageOf(type, values) });
}

/** Closes an automatic alert whose condition has ended. Does nothing if it is not open. */
export function closeAlert(context: Context, kind: ScopeKind, scope: number, type: AutomaticAlert): void {
  const alert = alertOf(context.app.db, kind, scope, type);
  if (alert?.closed === null) endAlert(context, alert);
}

/** Closes an open alert. */
export function endAlert(context: Context, alert: AlertRow): void {
  context.app.db.update('alert', alert.id, { closed: context.now });
  notifyOf(context, 'alert_closed', alert, contextOf(context.app, alert.scope_kind, alert.scope_id));
}

export const alertInstants: StoredInstants = { table: 'alert', column: 'closed', ahead: 0 };

/**
 * Deletes a batch of alerts that have been closed for longer than closed_alerts_lifetime. Returns whether the batch was full.
 */
export function removeClosedAlerts({ app: { config, db }, now }: Context): boolean {
  return removeStep((limit) => {
    const { changes } = db.run(sql`
      DELETE FROM alert WHERE id IN (
        SELECT id FROM alert
        WHERE closed < ${now - config.closed_alerts_lifetime}
        ORDER BY closed
        LIMIT ${limit})`);
    return changes;
  });
}

/** Returns the context keys SCOPE, OWN and `extra` as strings, without null values. */
function contextOf({ db, scopes }: App, kind: ScopeKind, id: number, extra: EventContext = {}): Record<string, string> {
  const scope = scopes.of(kind);
  const values = { ...scope.scope(db, id), ...scope.own(db, id), ...extra };
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [[key, String(value)]],
    ),
  );
}

/** Renders the message of an automatic alert. Truncates names to fit the maximum length. */
function messageOf(type: AutomaticAlert, values: Readonly<Record<string, string>>): string {
  const template = automaticAlerts[type].message;
  const [, named = ''] = /\{(\w+)\}/.exec(template) ?? [];
  const fill = (name: string): string =>
    template.replace(/\{(\w+)\}/g, (_, key: string) => (key === named ? name : (values[key] ?? '')));
  const maxNameLength = maxMessageLength - [...fill('')].length;
  return fill([...(values[named] ?? '')].slice(0, maxNameLength).join(''));
}
