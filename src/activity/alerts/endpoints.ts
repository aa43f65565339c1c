import type { Request } from '../../kernel/access/request.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import { type Field, type Fields, objectShape, type Values } from '../../kernel/collection/field.ts';
import { linkPath } from '../../kernel/collection/links.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { created, empty, json, type Reply } from '../../kernel/http/reply.ts';
import type { ResolvedScope } from '../scopes/resolve.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { type AlertObject, alertFields, alerts } from './alerts.ts';
import { alertGroups } from './catalogue.ts';
import { alertFilters, visibleAlerts } from './filters.ts';
import { putAlert, type Severity, severities } from './raise.ts';

const isStaff = ({ caller }: Request): boolean => caller.isStaff;

type AlertFields = ReturnType<typeof alertFields>;
type Given = Values<AlertFields>;

const fieldsOf = ({ deployment }: Request): AlertFields => alertFields(deployment.scopes);
const alertsOf = ({ deployment }: Request): ReturnType<typeof alerts> => alerts(deployment.scopes);

const optional = <T>(field: Field<T>): Field<T> => ({
  ...field,
  input: { ...(field.input as NonNullable<typeof field.input>), required: false },
});

/** The fields of a body that speaks of a present alert, which need not name it. */
const presentFields = (fields: AlertFields): AlertFields => ({
  ...fields,
  alert_type: optional(fields.alert_type),
  scope: optional(fields.scope),
});

/** Creates or updates the alert that the values name; answers 201 or 200, with Location. */
function put(request: Request, values: Given): Reply {
  const { alert_type: type, message, severity, scope } = values as Required<Given>;
  const { id, isNew } = putAlert(request, {
    kind: scope.kind,
    scope: scope.id,
    type,
    message,
    severity: severity as Severity,
    acknowledged: values.acknowledged,
  });
  const body = alertsOf(request).represent(request, id);
  const reply = created(body, (JSON.parse(body) as { url: string }).url);
  return isNew ? reply : { ...reply, status: 200 };
}

const post = (scopes: Scopes): Operation => ({
  summary: 'Creates an alert, or updates the one with this scope and type.',
  who: 'Staff.',
  input: { fields: alertFields(scopes), purpose: 'create' },
  output: { status: 201, others: [200], shape: alerts(scopes).shape },
  handle: (request) => {
    if (!isStaff(request)) throw forbidden();
    return put(request, validate(fieldsOf(request), request, 'create'));
  },
});

/** POST on the path of an alert: as on the list, for this very alert. */
const repost = (scopes: Scopes): Operation => ({
  summary: 'Updates this alert.',
  who: 'Staff.',
  input: { fields: presentFields(alertFields(scopes)), purpose: 'create' },
  output: { status: 200, shape: alerts(scopes).shape },
  handle: (request) => {
    const alert = alertsOf(request).find(request);
    if (!isStaff(request)) throw forbidden();
    const own = alertsOf(request).represent(request, alert.id);
    const values = validate(
      ownFields(fieldsOf(request), alert, (JSON.parse(own) as { scope: string }).scope),
      request,
      'create',
    );
    const scope = values.scope ?? { kind: alert.scope_kind, id: alert.scope_id };
    const type = values.alert_type ?? alert.alert_type;
    if (scope.kind !== alert.scope_kind || scope.id !== alert.scope_id || type !== alert.alert_type) {
      throw conflict('Scope and alert type of an alert can not be changed.');
    }
    return put(request, { ...values, alert_type: type, scope: scope as ResolvedScope });
  },
});

/** The fields of a body that speaks of this alert: its own scope is taken whatever its kind. */
function ownFields(fields: AlertFields, alert: AlertObject, link: string): AlertFields {
  const present = presentFields(fields);
  const { scope } = present;
  const parse = scope.input?.parse as NonNullable<typeof scope.input>['parse'];
  return {
    ...present,
    scope: {
      ...scope,
      input: {
        ...(scope.input as NonNullable<typeof scope.input>),
        parse: (value, request, form) => {
          const isOwn = typeof value === 'string' && objectPath(value.trim(), request) === objectPath(link, request);
          return isOwn
            ? ({ kind: alert.scope_kind, id: alert.scope_id } as ResolvedScope)
            : parse(value, request, form);
        },
      },
    },
  };
}

/** The path in the link of an object, whose key may be written in either case. */
const objectPath = (link: string, request: Request): string | undefined =>
  linkPath(link, request)?.replace(/[^/]+\/$/, (key) => key.toLowerCase());

interface Action {
  readonly name: string;
  readonly summary: string;
  readonly who: string;
  readonly status: number;
  readonly may: (request: Request) => boolean;
  readonly run: (request: Request, alert: AlertObject) => void;
}

const everybody = (): boolean => true;

const actions: readonly Action[] = [
  {
    name: 'acknowledge',
    summary: 'Acknowledges an alert.',
    who: 'Everybody who sees the alert.',
    status: 200,
    may: everybody,
    run: ({ db }, alert) => {
      if (alert.acknowledged) throw conflict('Alert is already acknowledged.');
      db.update('alert', alert.id, { acknowledged: 1 });
    },
  },
  {
    name: 'cancel_acknowledgment',
    summary: 'Takes an acknowledgment back.',
    who: 'Everybody who sees the alert.',
    status: 200,
    may: everybody,
    run: ({ db }, alert) => {
      if (!alert.acknowledged) throw conflict('Alert is not acknowledged.');
      db.update('alert', alert.id, { acknowledged: 0 });
    },
  },
  {
    name: 'close',
    summary: 'Closes an alert.',
    who: 'Staff.',
    status: 204,
    may: isStaff,
    run: ({ db, now }, alert) => {
      if (alert.closed !== null) throw conflict('Alert is already closed.');
      db.update('alert', alert.id, { closed: now });
    },
  },
];

const actionEndpoint = ({ may, name, run, status, summary, who }: Action): Endpoint => ({
  path: `/api/alerts/:key/${name}/`,
  name: `Alert ${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
  description: summary,
  actions: (request) => {
    alertsOf(request).find(request);
    return may(request) ? { POST: {} } : undefined;
  },
  operations: {
    POST: {
      summary,
      who,
      output: { status },
      handle: (request) => {
        const alert = alertsOf(request).find(request);
        if (!may(request)) throw forbidden();
        run(request, alert);
        return empty(status);
      },
    },
  },
});

/** How many of the visible alerts that pass the filters there are of each severity. */
function stats(request: Request): Reply {
  const rows = request.db.all<{ severity: number; count: number }>(
    sql`SELECT a.severity, count(*) AS count FROM alert a WHERE ${alertsOf(request).listing.condition(request, [visibleAlerts(request.deployment.scopes, request.caller)])} GROUP BY a.severity`,
  );
  const counts = new Map(rows.map(({ count, severity }) => [severity, count]));
  return json(
    Object.fromEntries(
      (['Debug', 'Error', 'Info', 'Warning'] as const).map((name) => [
        name.toLowerCase(),
        counts.get(severities[name]) ?? 0,
      ]),
    ),
  );
}

const describePost =
  (posted: Fields) =>
  (request: Request): Record<string, unknown> | undefined =>
    isStaff(request) ? { POST: describeFields(posted, request, 'create') } : undefined;

/** Every path of alerts. */
export function alertEndpoints(scopes: Scopes): readonly Endpoint[] {
  const fields = alertFields(scopes);
  const [list, detail] = alerts(scopes).endpoints() as [Endpoint, Endpoint];
  const listed: Endpoint = {
    ...list,
    operations: { ...list.operations, POST: post(scopes) },
    actions: describePost(fields),
  };
  return [
    listed,
    { ...listed, path: '/api/stats/alerts/', name: 'Alert Statistics List' },
    {
      path: '/api/alerts/stats/',
      name: 'Alert Statistics',
      description: 'Counts of alerts by severity.',
      operations: {
        GET: {
          summary: 'Counts the visible alerts by severity.',
          who: 'Everybody.',
          filters: alertFilters,
          output: {
            status: 200,
            shape: objectShape(
              Object.fromEntries(['debug', 'error', 'info', 'warning'].map((name) => [name, { type: 'integer' }])),
            ),
          },
          handle: stats,
        },
      },
    },
    {
      path: '/api/alerts/alert_groups/',
      name: 'Alert Groups',
      description: 'Groups of alert types, for `exclude_features`.',
      operations: {
        GET: {
          summary: 'Lists the groups of alert types.',
          who: 'Everybody.',
          output: {
            status: 200,
            shape: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
          },
          handle: () => json(alertGroups),
        },
      },
    },
    {
      ...detail,
      operations: { ...detail.operations, POST: repost(scopes) },
      actions: (request) => {
        alertsOf(request).find(request);
        return describePost(presentFields(fields))(request);
      },
    },
    ...actions.map(actionEndpoint),
  ];
}
