import type { Request } from '../../kernel/access/request.ts';
import { messages } from '../../kernel/collection/field.ts';
import {
  exact,
  exactUuid,
  type Filters,
  ofName,
  oneOf,
  parameter,
  partial,
  uuidOf,
  within,
} from '../../kernel/collection/filter.ts';
import { all, any, join, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { pageHeaders, pageOf } from '../../kernel/http/query.ts';
import { document, type Reply } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import { resourceStates } from '../catalogue/resource-row.ts';

/*
 * Filters and orderings of all lists of resources: the summary of all kinds, and the lists of one kind (services.md 7.3). Unlike
 * elsewhere, unknown orderings are ignored, and some orderings omit rows.
 */

const customer = (column: string): string => `(SELECT ${column} FROM customer WHERE id = r.customer_id)`;
const project = (column: string): string => `(SELECT ${column} FROM project WHERE id = r.project_id)`;
const settings = (column: string): string => `(SELECT ${column} FROM service_settings WHERE id = r.settings_id)`;

/** Filters of every list of resources. */
export const resourceFilters: Filters = {
  customer: uuidOf('r.customer_id', 'customer'),
  customer_uuid: uuidOf('r.customer_id', 'customer'),
  project: uuidOf('r.project_id', 'project'),
  project_uuid: uuidOf('r.project_id', 'project'),
  service_uuid: uuidOf('r.service_id', 'service'),
  service_settings_uuid: uuidOf('r.settings_id', 'service_settings'),
  settings_uuid: uuidOf('r.settings_id', 'service_settings'),
  uuid: exactUuid('r.uuid'),
  customer_name: partial(customer('name')),
  customer_native_name: partial(customer('native_name')),
  customer_abbreviation: partial(customer('abbreviation')),
  project_name: partial(project('name')),
  service_name: partial(settings('name')),
  service_settings_name: partial(settings('name')),
  ...ofName('r.name'),
  description: partial('r.description'),
  backend_id: exact('r.backend_id'),
  state: within(resourceStates, oneOf('r.state', 'State.')),
  runtime_state: oneOf('r.runtime_state', 'State at the provider.'),
  tag: {
    type: 'string',
    repeatable: true,
    help: 'Full tags; resources with any of them.',
    condition: ({ query }) => (query.all('tag').length === 0 ? undefined : any(query.all('tag').map(hasTag))),
  },
  rtag: {
    type: 'string',
    repeatable: true,
    help: 'Full tags; resources with all of them.',
    condition: ({ query }) => (query.all('rtag').length === 0 ? undefined : all(query.all('rtag').map(hasTag))),
  },
  actual_sla: {
    type: 'number',
    help: 'SLA of the period.',
    condition: (request, name) => {
      const value = numberParameter(request, name);
      return value === undefined
        ? undefined
        : sql`r.id IN (SELECT resource_id FROM resource_sla WHERE period = ${periodOf(request)} AND value = ${value})`;
    },
  },
};

const hasTag = (tag: string): Sql => sql`r.id IN (SELECT resource_id FROM resource_tag WHERE tag = ${tag})`;

function numberParameter({ query }: Request, name: string): number | undefined {
  const text = query.one(name);
  if (text === undefined) return undefined;
  if (!/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) || !Number.isFinite(Number(text)))
    throw invalid({ [name]: [messages.number] });
  return Number(text);
}

/** Returns the conditions of `tag__<prefix>=<value>` and `monitoring__<item>=<number>`. */
function namedFilters(request: Request): Sql[] {
  return [...request.query.names()].flatMap((name) => {
    const value = request.query.one(name);
    if (value === undefined) return [];
    if (name.startsWith('tag__')) return [hasTag(`${name.slice('tag__'.length)}:${value}`)];
    if (!name.startsWith('monitoring__')) return [];
    const item = name.slice('monitoring__'.length);
    const wanted = present(numberParameter(request, name));
    return [sql`r.id IN (SELECT resource_id FROM monitoring_item WHERE name = ${item} AND value = ${wanted})`];
  });
}

export const periodParameter = parameter('string', 'SLA period, YYYY-MM or YYYY; default: the present month.');

/** Parameters of lists of resources other than the filters of their kinds. */
export const listParameters: Filters = {
  period: periodParameter,
  named: {
    ...parameter(
      'named',
      'tag__<prefix>=<value>: having the tag prefix:value; monitoring__<item>=<number>: where the item has this value.',
    ),
    prefixes: ['tag__', 'monitoring__'],
  },
};

/** The format of an SLA period. */
export const periodPattern = /^\d{4}(-(0[1-9]|1[0-2]))?$/;
export const periodRule = 'Enter a period as YYYY-MM or YYYY.';

/** Returns the SLA period of a request (default: the current month in UTC). Throws 400. */
export function periodOf(request: Request): string {
  const period = request.query.one('period');
  if (period === undefined) return new Date(request.now / 1000).toISOString().slice(0, 7);
  if (!periodPattern.test(period)) throw invalid({ period: [periodRule] });
  return period;
}

/** Returns when the response changes to another period: the next month, unless the request names a period. */
export function periodEnd({ now, query }: Request): number | undefined {
  if (query.one('period') !== undefined) return undefined;
  const today = new Date(now / 1000);
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1) * 1000;
}

/** Orderings across all kinds. */
const common: ReadonlyMap<string, string> = new Map(
  Object.entries({
    name: 'r.name COLLATE NOCASE',
    state: 'r.state',
    created: 'r.created',
    customer_name: `${customer('name')} COLLATE NOCASE`,
    customer_native_name: `${customer('native_name')} COLLATE NOCASE`,
    customer_abbreviation: `${customer('abbreviation')} COLLATE NOCASE`,
    project_name: `${project('name')} COLLATE NOCASE`,
    service_name: `${settings('name')} COLLATE NOCASE`,
    service_uuid: '(SELECT uuid FROM service WHERE id = r.service_id)',
  }),
);

const virtualMachine: Readonly<Record<string, string>> = {
  start_time: 'r.start_time',
  internal_ips: "ifnull(r.internal_ips ->> 0, '')",
  external_ips: "ifnull(r.external_ips ->> 0, '')",
  cores: 'r.cores',
  ram: 'r.ram',
  disk: 'r.disk',
};

interface Order {
  readonly terms: Sql;
  /** Joins with the values to order by. They omit rows without a value, and an index may provide the order. */
  readonly joins: Sql;
}

/** Maximum number of orderings that join another table. SQLite joins at most 64. */
const maxJoins = 40;

/** Orders a list of these kinds by `o` (default: newest first). */
function orderOf(request: Request, kinds: readonly TypedKind[]): Order {
  const terms: Sql[] = [];
  const joins: Sql[] = [];
  for (const requested of new Set(request.query.list('o'))) {
    const name = requested.replace(/^-/, '');
    const direction = raw(requested.startsWith('-') ? 'DESC' : 'ASC');
    const joined = `ordered${joins.length}`;
    const values = valuesNamed(request, name);
    if (values) {
      if (joins.length === maxJoins)
        throw invalid({ o: [`Ensure this list has no more than ${maxJoins} values of SLA, monitoring and tags.`] });
      joins.push(sql` JOIN ${values} ${raw(joined)} ON ${raw(joined)}.resource_id = r.id`);
      terms.push(sql`${raw(joined)}.value ${direction}`);
    } else {
      const column = common.get(name);
      terms.push(...(column === undefined ? kindOrder(name, direction, kinds) : [sql`${raw(column)} ${direction}`]));
    }
  }
  return { terms: join([...terms, raw('r.created DESC, r.id DESC')], ', '), joins: join(joins, '') };
}

/** Returns the join with one value per resource of actual_sla, monitoring__<item> or tag__<prefix>. */
function valuesNamed(request: Request, name: string): Sql | undefined {
  if (name === 'actual_sla')
    return sql`(SELECT resource_id, value FROM resource_sla WHERE period = ${periodOf(request)} AND value IS NOT NULL)`;
  if (name.startsWith('monitoring__'))
    return sql`(SELECT resource_id, value FROM monitoring_item WHERE name = ${name.slice('monitoring__'.length)})`;
  if (name.startsWith('tag__'))
    return sql`(
      SELECT resource_id, min(value) AS value FROM resource_tag
      WHERE prefix = ${name.slice('tag__'.length)}
      GROUP BY resource_id)`;
  return undefined;
}

/** Additional orderings of a kind. */
const ownOrderings = ({ kind }: TypedKind): ReadonlyMap<string, string> =>
  new Map([
    ...Object.entries(kind.isVirtualMachine ? virtualMachine : {}),
    ...Object.entries(kind.runtime ? { runtime_state: 'r.runtime_state' } : {}),
    ...Object.entries(kind.orderings ?? {}),
  ]);

/** Kinds with the field come first, in its order, followed by the others in the default order. */
function kindOrder(name: string, direction: Sql, kinds: readonly TypedKind[]): Sql[] {
  const expressions = kinds.flatMap((typed) => {
    const expression = ownOrderings(typed).get(name);
    return expression === undefined ? [] : [{ kind: typed.name, expression }];
  });
  if (expressions.length === 0) return [];
  const value = raw(
    `CASE r.kind ${expressions.map(({ expression, kind }) => `WHEN '${kind}' THEN ${expression}`).join(' ')} END`,
  );
  const has = raw(`r.kind IN (${expressions.map(({ kind }) => `'${kind}'`).join(', ')}) DESC`);
  // An empty value sorts like null in SQLite: first in ascending and last in descending order.
  return [has, sql`${value} ${direction}`];
}

/** Returns the names of these kinds' orderings, for the documentation. */
export const orderingNames = (kinds: readonly TypedKind[]): string[] => [
  ...new Set([...common.keys(), 'actual_sla', ...kinds.flatMap((typed) => [...ownOrderings(typed).keys()])]),
  'tag__*',
  'monitoring__*',
];

/** Combines conditions with the request's filters, including those named after tags and items. */
export function resourceCondition(request: Request, conditions: readonly Sql[], filters: Filters): Sql {
  const requested = Object.entries(filters).flatMap(([name, filter]) => filter.condition(request, name) ?? []);
  const real = [...conditions, ...requested, ...namedFilters(request)].filter(({ text }) => text !== 'TRUE');
  periodOf(request);
  return all(real);
}

/** Returns a page of resources. `represent` converts ids to JSON texts in their order. */
export function resourcePage(
  request: Request,
  list: {
    conditions: readonly Sql[];
    filters: Filters;
    kinds: readonly TypedKind[];
    represent: (ids: readonly number[]) => readonly string[];
  },
): Reply {
  const { db, query } = request;
  const order = orderOf(request, list.kinds);
  const condition = resourceCondition(request, list.conditions, list.filters);
  const from = sql`FROM resource r${order.joins} WHERE ${condition}`;
  const total = db.count(sql`SELECT count(*) ${from}`);
  const page = pageOf(query, total);
  const existing = db.deferrableValues<number>(
    sql`SELECT r.id ${from} ORDER BY ${order.terms} LIMIT ${page.size} OFFSET ${page.offset}`,
  );
  const ids = db.keepMatching(existing, 'resource', 'r', condition);
  return document(
    `[${list.represent(ids).join(',')}]`,
    pageHeaders(page, total, request.url, query),
    periodEnd(request),
  );
}
