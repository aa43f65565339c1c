import type { Request } from '../../kernel/access/request.ts';
import { authenticated, staff } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import { type Fields, objectShape, optional } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict } from '../../kernel/http/error.ts';
import { empty, json, type Reply } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import { namesOf } from '../../kernel/present.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { type AlertContent, type AlertRow, endAlert, putAlert, severities } from './alert-store.ts';
import { alertFields, alerts, scopeField } from './alerts.ts';
import { alertGroups } from './catalogue.ts';
import { alertFilters, visibleAlerts } from './filters.ts';

/** The right to post and close alerts. */
const posters = staff;

const isAbout = (alert: AlertRow, { id, kind }: ResolvedScope): boolean =>
  alert.scope_kind === kind && alert.scope_id === id;

/** Fields of a body that updates an alert. Scope and type are optional. The alert's own scope is valid whatever its kind. */
const updateFields = memoised((scopes: Scopes) => ({
  ...alertFields(scopes),
  alert_type: optional(alertFields(scopes).alert_type),
  scope: optional(
    scopeField(scopes, (link, request) => {
      const scope = resolveScope(request, link, false);
      return isAbout(alerts(scopes).find(request), scope) ? scope : resolveScope(request, link, true);
    }),
  ),
}));

/** Creates or updates an alert. Responds with 201 or 200, and Location. */
function put(request: Request, alert: AlertContent): Reply {
  const { id, isNew } = putAlert(request, alert);
  const reply = alerts(request.app.scopes).created(request, id);
  return isNew ? reply : { ...reply, status: 200 };
}

const post = (scopes: Scopes): Operation => ({
  summary: 'Creates an alert, or updates the one with this scope and type.',
  allowedFor: posters.allowedFor,
  input: { fields: alertFields(scopes), purpose: 'create' },
  output: { status: 201, others: [200], shape: alerts(scopes).shape },
  handle: (request) => {
    posters.require(request, undefined);
    const { alert_type: type, scope, ...content } = validate(alertFields(scopes), request, 'create');
    return put(request, { ...content, type, kind: scope.kind, scope: scope.id });
  },
});

/** POST on the path of an alert: the same as on the list, but only for this alert. */
const updateThroughPost = (scopes: Scopes): Operation => ({
  summary: 'Updates this alert.',
  allowedFor: posters.allowedFor,
  input: { fields: updateFields(scopes), purpose: 'create' },
  output: { status: 200, shape: alerts(scopes).shape },
  handle: (request) => {
    const alert = alerts(scopes).find(request);
    posters.require(request, undefined);
    const {
      alert_type: type = alert.alert_type,
      scope,
      ...content
    } = validate(updateFields(scopes), request, 'create');
    if ((scope && !isAbout(alert, scope)) || type !== alert.alert_type)
      throw conflict('Scope and alert type of an alert can not be changed.');
    return put(request, { ...content, type, kind: alert.scope_kind, scope: alert.scope_id });
  },
});

const acknowledgers = authenticated.as('callers who can see the alert');

const acknowledge = (scopes: Scopes) =>
  action({
    on: alerts(scopes),
    name: 'acknowledge',
    summary: 'Acknowledges an alert.',
    right: acknowledgers,
    denialReason: (_, alert) => (alert.acknowledged ? 'Alert is already acknowledged.' : undefined),
    output: { status: 200 },
    run: ({ db }, alert) => {
      db.update('alert', alert.id, { acknowledged: 1 });
      return empty(200);
    },
  });

const cancelAcknowledgment = (scopes: Scopes) =>
  action({
    on: alerts(scopes),
    name: 'cancel_acknowledgment',
    title: 'Cancel acknowledgment',
    summary: 'Cancels an acknowledgment.',
    right: acknowledgers,
    denialReason: (_, alert) => (alert.acknowledged ? undefined : 'Alert is not acknowledged.'),
    output: { status: 200 },
    run: ({ db }, alert) => {
      db.update('alert', alert.id, { acknowledged: 0 });
      return empty(200);
    },
  });

const close = (scopes: Scopes) =>
  action({
    on: alerts(scopes),
    name: 'close',
    summary: 'Closes an alert.',
    right: posters,
    denialReason: (_, alert) => (alert.closed === null ? undefined : 'Alert is already closed.'),
    output: { status: 204 },
    run: (request, alert) => {
      endAlert(request, alert);
      return empty();
    },
  });

const severityNames = namesOf(severities).sort();

/** Counts the visible alerts that match the filters by severity. */
function stats(request: Request): Reply {
  const { scopes } = request.app;
  const rows = request.db.deferrableAll<{ severity: number; count: number }>(sql`
    SELECT a.severity, count(*) AS count
    FROM alert a
    WHERE ${alerts(scopes).listing.condition(request, [visibleAlerts(scopes).condition(request.caller, request.config)])}
    GROUP BY a.severity`);
  const counts = new Map(rows.map(({ count, severity }) => [severity, count]));
  return json(Object.fromEntries(severityNames.map((name) => [name.toLowerCase(), counts.get(severities[name]) ?? 0])));
}

const postMetadata =
  (posted: Fields) =>
  (request: Request): Record<string, unknown> | undefined =>
    posters.may(request, undefined) ? { POST: describeFields(posted, request, 'create') } : undefined;

/** Every endpoint of alerts. */
export function alertEndpoints(scopes: Scopes): readonly Endpoint[] {
  const [list, detail] = alerts(scopes).endpoints();
  const listed: Endpoint = {
    ...list,
    operations: { ...list.operations, POST: post(scopes) },
    actions: postMetadata(alertFields(scopes)),
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
          allowedFor: authenticated.allowedFor,
          filters: alertFilters,
          output: {
            status: 200,
            shape: objectShape(
              Object.fromEntries(severityNames.map((name) => [name.toLowerCase(), { type: 'integer' }])),
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
          allowedFor: authenticated.allowedFor,
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
      operations: { ...detail.operations, POST: updateThroughPost(scopes) },
      actions: (request) => {
        alerts(scopes).find(request);
        return postMetadata(updateFields(scopes))(request);
      },
    },
    ...[acknowledge, cancelAcknowledgment, close].map((declared) => declared(scopes).endpoint),
  ];
}
