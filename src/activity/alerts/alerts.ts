import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import {
  type Field,
  FieldError,
  type Fields,
  messages,
  objectShape,
  shown,
  shownTime,
  uuidField,
  type Values,
} from '../../kernel/collection/field.ts';
import { linkPath, selfLink } from '../../kernel/collection/links.ts';
import { computedValue, timeValue } from '../../kernel/collection/representation.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { boolean, choice, text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { created, empty, json, type Reply } from '../../kernel/http/reply.ts';
import { scopeLink } from '../quotas/quotas.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import { alertGroups } from './catalogue.ts';
import { alertFilters, visibleAlerts } from './filters.ts';
import { type AlertRow, putAlert, type Severity, severities } from './raise.ts';

type AlertObject = AlertRow & Row;

const severityNames = Object.keys(severities).map((name) => [name, name] as const);

/** The link of the object an alert is about. */
const scopeField: Field<ResolvedScope> = {
  ...shown(
    'field',
    { type: 'string', format: 'uri', examples: [exampleLink('projects')] },
    scopeLink('a.scope_kind', 'a.scope_id'),
  ),
  input: {
    schema: v.string(),
    nullable: false,
    required: true,
    create: true,
    update: true,
    parse: (value, request) => {
      const link = typeof value === 'string' ? value.trim() : value;
      if (link === null || link === '') throw new FieldError([messages.null]);
      if (typeof link !== 'string') throw new FieldError([messages.string]);
      return resolveScope(request, link, true);
    },
  },
};

const fields = {
  url: selfLink('alerts', 'a.uuid'),
  uuid: uuidField(),
  alert_type: text({ max: 50, required: true, example: 'budget_nearly_spent' }),
  message: text({ max: 255, required: true, example: '95 % of the budget are spent.' }),
  severity: {
    ...choice({ required: true, choices: () => severityNames, example: 'Warning' }),
    json: () =>
      computedValue(
        `CASE a.severity ${Object.entries(severities)
          .map(([name, code]) => `WHEN ${code} THEN '"${name}"'`)
          .join(' ')} END`,
      ),
  },
  scope: scopeField,
  created: shownTime(),
  closed: shownTime(timeValue),
  context: shown(
    'nested object',
    { type: 'object', additionalProperties: { type: 'string' } },
    computedValue('a.context'),
  ),
  acknowledged: boolean(),
};

const optional = <T>(field: Field<T>): Field<T> => ({
  ...field,
  input: { ...(field.input as NonNullable<typeof field.input>), required: false },
});

/** The fields of a body that speaks of a present alert, which need not name it. */
const presentFields = { ...fields, alert_type: optional(fields.alert_type), scope: optional(scopeField) };

export const alerts = collection<AlertObject>()({
  path: 'alerts',
  kind: 'Alert',
  description: 'Conditions attached to objects. Whoever sees an object sees its alerts.',
  table: 'alert',
  alias: 'a',
  fields,
  visible: visibleAlerts,
  who: { read: 'Everybody who sees the object the alert is about.' },
  filters: alertFilters,
  orderings: { severity: 'a.severity', created: 'a.created' },
  order: '-a.created',
});

const isStaff = ({ caller }: Request): boolean => caller.isStaff;

type Given = Values<typeof fields>;

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
  const body = alerts.represent(request, id);
  const reply = created(body, (JSON.parse(body) as { url: string }).url);
  return isNew ? reply : { ...reply, status: 200 };
}

const post: Operation = {
  summary: 'Creates an alert, or updates the one with this scope and type.',
  who: 'Staff.',
  input: { fields, purpose: 'create' },
  output: { status: 201, others: [200], shape: alerts.shape },
  handle: (request) => {
    if (!isStaff(request)) throw forbidden();
    return put(request, validate(fields, request, 'create'));
  },
};

/** POST on the path of an alert: as on the list, for this very alert. */
const repost: Operation = {
  summary: 'Updates this alert.',
  who: 'Staff.',
  input: { fields: presentFields, purpose: 'create' },
  output: { status: 200, shape: alerts.shape },
  handle: (request) => {
    const alert = alerts.find(request);
    if (!isStaff(request)) throw forbidden();
    const own = alerts.represent(request, alert.id);
    const values = validate(ownFields(alert, (JSON.parse(own) as { scope: string }).scope), request, 'create');
    const scope = values.scope ?? { kind: alert.scope_kind, id: alert.scope_id };
    const type = values.alert_type ?? alert.alert_type;
    if (scope.kind !== alert.scope_kind || scope.id !== alert.scope_id || type !== alert.alert_type) {
      throw conflict('Scope and alert type of an alert can not be changed.');
    }
    return put(request, { ...values, alert_type: type, scope: scope as ResolvedScope });
  },
};

/** The fields of a body that speaks of this alert: its own scope is taken whatever its kind. */
function ownFields(alert: AlertObject, link: string): typeof fields {
  const { scope } = presentFields;
  const parse = scope.input?.parse as NonNullable<typeof scope.input>['parse'];
  return {
    ...presentFields,
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
    alerts.find(request);
    return may(request) ? { POST: {} } : undefined;
  },
  operations: {
    POST: {
      summary,
      who,
      output: { status },
      handle: (request) => {
        const alert = alerts.find(request);
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
    sql`SELECT a.severity, count(*) AS count FROM alert a WHERE ${alerts.listing.condition(request, [visibleAlerts(request.caller)])} GROUP BY a.severity`,
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

const [list, detail] = alerts.endpoints() as [Endpoint, Endpoint];
const describePost =
  (posted: Fields) =>
  (request: Request): Record<string, unknown> | undefined =>
    isStaff(request) ? { POST: describeFields(posted, request, 'create') } : undefined;
const listed: Endpoint = { ...list, operations: { ...list.operations, POST: post }, actions: describePost(fields) };

/** Every path of alerts. */
export const alertEndpoints: readonly Endpoint[] = [
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
    operations: { ...detail.operations, POST: repost },
    actions: (request) => {
      alerts.find(request);
      return describePost(presentFields)(request);
    },
  },
  ...actions.map(actionEndpoint),
];
