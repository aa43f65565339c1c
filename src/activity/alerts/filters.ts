import { callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { visibleTo } from '../../kernel/access/right.ts';
import {
  booleanColumn,
  type Filter,
  type Filters,
  flagFilter,
  oneOf,
  partial,
  timestamp,
  within,
} from '../../kernel/collection/filter.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { collectErrors } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import { namesOf } from '../../kernel/present.ts';
import { scopeParameter } from '../scopes/resolve.ts';
import type { ScopeKind } from '../scopes/scope.ts';
import { isFindable, type Scopes } from '../scopes/scopes.ts';
import { severities } from './alert-store.ts';
import { typesOfGroups } from './catalogue.ts';

/** Visibility of an alert in alias `a`: users who can read its object (events.md 3.4). */
export const visibleAlerts = memoised((scopes: Scopes) =>
  visibleTo('callers who can see the object of the alert', (caller) => {
    if (seesAll(caller)) return raw('TRUE');
    const user = callerId(caller);
    const readableQuotas = sql`SELECT q.id FROM quota q WHERE ${scopes.usageReadable(user, 'q.scope_kind', 'q.scope_id')}`;
    return any([
      sql`a.scope_kind = 'user' AND a.scope_id = ${caller.id}`,
      sql`a.scope_kind <> 'user' AND (${scopes.usageReadable(user, 'a.scope_kind', 'a.scope_id')})`,
      sql`a.scope_kind = 'quota' AND a.scope_id IN (${readableQuotas})`,
    ]);
  }),
);

/** Condition: the alert is about one of these customers or their projects, services, links or resources. */
export const aboutCustomers = (scopes: Scopes, customers: Sql): Sql =>
  any([
    sql`a.scope_kind = 'customer' AND a.scope_id IN (${customers})`,
    sql`a.scope_kind = 'service' AND a.scope_id IN (${scopes.childrenOf(customers, 'service')})`,
    aboutProjects(scopes, scopes.childrenOf(customers, 'project')),
  ]);

/** Condition: the alert is about one of these projects or their links or resources. */
export const aboutProjects = (scopes: Scopes, projects: Sql): Sql =>
  any([
    sql`a.scope_kind = 'resource' AND a.scope_id IN (${scopes.childrenOf(projects, 'resource')})`,
    sql`a.scope_kind = 'project' AND a.scope_id IN (${projects})`,
    sql`a.scope_kind = 'link' AND a.scope_id IN (${scopes.childrenOf(projects, 'link')})`,
  ]);

/** `aggregate` and `uuid`: alerts of one customer or project, or of all that the caller can read. */
function aggregated(request: Request): Sql | undefined {
  const {
    app: { scopes },
    query,
  } = request;
  const [aggregate, uuid] = collectErrors(
    () => query.choice('aggregate', ['customer', 'project'] as const),
    () => query.uuid('uuid'),
  );
  if (aggregate === undefined && uuid === undefined) return undefined;
  const one = uuid === undefined ? raw('TRUE') : sql`uuid = ${uuid}`;
  const scope = scopes.of(aggregate ?? 'customer');
  const objects = sql`SELECT id FROM ${raw(scope.table)} WHERE ${one} AND ${isFindable(request, scope, 'id')}`;
  return aggregate === 'project' ? aboutProjects(scopes, objects) : aboutCustomers(scopes, objects);
}

/** Filters alerts by the full or short name of their kind of scope. */
const ofKind: Filter = {
  type: 'string',
  help: 'Kind of the object the alert is about, such as structure.customer.',
  condition: (request, name) => {
    const value = request.query.one(name);
    if (value === undefined) return undefined;
    return request.app.scopes.isNamed(value, 'a.scope_kind', 'a.scope_id');
  },
};

/** `from` and `to`: alerts active in the range. */
const activeRange = (request: Request, name: 'from' | 'to', condition: (at: number) => Sql): Sql | undefined => {
  const at = request.query.range('from', 'to')[name];
  return at === undefined ? undefined : condition(at);
};

/** Every filter of alerts (events.md 3.5). */
export const alertFilters: Filters = {
  severity: within(namesOf(severities), {
    ...oneOf('a.severity', 'Severity: Debug, Info, Warning, Error.'),
    condition: ({ query }) => {
      const requested = query.all('severity');
      if (requested.length === 0) return undefined;
      const known = namesOf(severities).filter((name) => requested.includes(name));
      return any(known.map((name) => sql`a.severity = ${severities[name]}`));
    },
  }),
  alert_type: oneOf('a.alert_type', 'Type of the alert.'),
  scope: {
    type: 'link',
    help: 'Link of the object the alert is about.',
    condition: (request) => {
      const scope = scopeParameter(request);
      return scope && sql`a.scope_kind = ${scope.kind satisfies ScopeKind} AND a.scope_id = ${scope.id}`;
    },
  },
  content_type: ofKind,
  scope_type: { ...ofKind, help: 'Deprecated: use content_type.' },
  created_from: timestamp('Created at this time or later.', (at) => sql`a.created >= ${at}`, true),
  created_to: timestamp('Created before this time.', (at) => sql`a.created < ${at}`, true),
  closed_from: timestamp('Closed at this time or later.', (at) => sql`a.closed >= ${at}`, true),
  closed_to: timestamp('Closed before this time.', (at) => sql`a.closed < ${at}`, true),
  from: {
    type: 'integer',
    help: 'Active at this UNIX timestamp or later.',
    condition: (request) => activeRange(request, 'from', (at) => sql`a.closed IS NULL OR a.closed >= ${at}`),
  },
  to: {
    type: 'integer',
    help: 'Created at this UNIX timestamp or earlier.',
    condition: (request) => activeRange(request, 'to', (at) => sql`a.created <= ${at}`),
  },
  opened: flagFilter('Only open alerts.', () => raw('a.closed IS NULL')),
  closed: flagFilter('Only closed alerts.', () => raw('a.closed IS NOT NULL')),
  acknowledged: booleanColumn('a.acknowledged'),
  aggregate: {
    type: 'string',
    help: 'customer or project: alerts about these objects and their parts.',
    condition: aggregated,
  },
  uuid: { type: 'uuid', help: 'Uuid of a customer or project; limits `aggregate` to it.', condition: () => undefined },
  exclude_features: {
    type: 'string',
    repeatable: true,
    help: 'Groups from alert_groups/ to exclude.',
    condition: ({ query }) => {
      const types = typesOfGroups(query.all('exclude_features'));
      return types.length === 0
        ? undefined
        : sql`a.alert_type NOT IN (SELECT value FROM json_each(${JSON.stringify(types)}))`;
    },
  },
  message: partial('a.message'),
};
