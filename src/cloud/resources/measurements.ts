import * as v from 'valibot';
import { type ResolvedScope, resolveScope, scopeParameter } from '../../activity/scopes/resolve.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { describeFields } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { type Field, FieldError, type Fields, messages, shown } from '../../kernel/collection/field.ts';
import { exact, type Filters, parameter } from '../../kernel/collection/filter.ts';
import {
  constant,
  type Json,
  knownText,
  numberValue,
  objectValue,
  render,
} from '../../kernel/collection/representation.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { number, text } from '../../kernel/collection/values.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { forbidden, invalid, notFound } from '../../kernel/http/error.ts';
import { pageHeaders, pageOf } from '../../kernel/http/page.ts';
import { document, empty, json, type Reply } from '../../kernel/http/reply.ts';
import { resourceLink } from '../catalogue/paths.ts';
import { periodPattern, periodRule } from './listing.ts';
import { visibleResources } from './rights.ts';

/* What staff tell of resources: SLA by period, and values of monitoring items (services.md 7.4). */

/** The resource a row is about. */
const scopeField: Field<ResolvedScope> = {
  ...shown('field', { type: 'string', format: 'uri' }, constant('null')),
  input: {
    schema: v.string(),
    nullable: false,
    required: true,
    create: true,
    update: true,
    parse: (value, request: Request) => {
      if (value === null || value === '') throw new FieldError([messages.null]);
      if (typeof value !== 'string') throw new FieldError([messages.string]);
      const scope = resolveScope(request, value, false);
      if (scope.kind !== 'resource') throw new FieldError([unrelated(value)]);
      return scope;
    },
  },
};

/** A percentage, or null. */
const percentage = (): Field<number | null> => {
  const field = number({ min: 0 });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    facts: { min_value: 0, max_value: 100 },
    input: {
      ...(input as unknown as NonNullable<Field<number | null>['input']>),
      nullable: true,
      parse: (value, request, form) => {
        if (value === null || value === '') return null;
        const given = input.parse(value, request, form);
        if (given > 100) throw new FieldError([messages.atMost(100)]);
        return given;
      },
    },
  };
};

const period = text({ max: 7, required: true, pattern: [periodPattern, periodRule] });
const itemName = text({
  max: 150,
  required: true,
  pattern: [/^[A-Za-z0-9_.-]+$/, 'Enter a name of letters, digits, "_", "." and "-".'],
});

interface Measurement {
  readonly path: string;
  readonly kind: string;
  readonly description: string;
  readonly table: string;
  /** The column that, with the resource, names a row. */
  readonly key: 'period' | 'name';
  readonly fields: Fields;
  /** A valid body for the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Columns after the key that are written and shown. */
  readonly values: readonly string[];
  readonly order: string;
}

/** Inserts or updates the row of a resource and key; answers whether it is new. */
function put(request: Request, { fields, key, table, values }: Measurement): Reply {
  if (!request.caller.isStaff) throw forbidden();
  const given = validate(fields, request, 'create') as Record<string, unknown>;
  const { db } = request;
  const { id } = given.scope as ResolvedScope;
  const where = sql`resource_id = ${id} AND ${raw(key)} = ${given[key] as string}`;
  const present = db.get<Record<string, number | null>>(sql`SELECT * FROM ${raw(table)} WHERE ${where}`);
  const row = Object.fromEntries(
    values.map((name) => [
      name,
      (given[name] === undefined ? (present?.[name] ?? null) : given[name]) as number | null,
    ]),
  );
  db.run(sql`DELETE FROM ${raw(table)} WHERE ${where}`);
  db.insert(table, { resource_id: id, [key]: given[key] as string, ...row });
  const link = db.named<string>(`SELECT ${render(resourceLink('r.id'))} FROM resource r WHERE r.id = @id`, {
    base: request.base,
    id,
  })[0] as string;
  return json({ scope: JSON.parse(link) as string, [key]: given[key], ...row }, present ? 200 : 201);
}

/** The resource that the query names; undefined when it names nothing. Throws 400. */
function resourceParameter(request: Request): ResolvedScope | undefined {
  const scope = scopeParameter(request);
  if (scope && scope.kind !== 'resource') throw invalid({ scope: [unrelated(request.query.one('scope') as string)] });
  return scope;
}

const unrelated = (link: string): string => `${link} object does not support such relationship.`;

function refuseMalformedPeriod({ query }: Request, key: Measurement['key']): void {
  const given = key === 'period' ? query.one(key) : undefined;
  if (given !== undefined && !periodPattern.test(given)) throw invalid({ period: [periodRule] });
}

/** Removes the row that the query names. */
function remove(request: Request, { key, table }: Measurement): Reply {
  if (!request.caller.isStaff) throw forbidden();
  const missing = ['scope', key].filter((name) => request.query.one(name) === undefined);
  if (missing.length > 0) throw invalid(Object.fromEntries(missing.map((name) => [name, [messages.required]])));
  const { id } = resourceParameter(request) as ResolvedScope;
  refuseMalformedPeriod(request, key);
  const { changes } = request.db.run(
    sql`DELETE FROM ${raw(table)} WHERE resource_id = ${id} AND ${raw(key)} = ${request.query.one(key) as string}`,
  );
  if (changes === 0) throw notFound();
  return empty();
}

function list(request: Request, measurement: Measurement): Reply {
  const { db, query } = request;
  const { key, order, table } = measurement;
  const conditions: Sql[] = [
    sql`m.resource_id IN (SELECT r.id FROM resource r WHERE ${visibleResources(request.caller)})`,
  ];
  const scope = resourceParameter(request);
  if (scope) conditions.push(sql`m.resource_id = ${scope.id}`);
  refuseMalformedPeriod(request, key);
  const exactKey = exact(`m.${key}`).condition(request, key);
  if (exactKey) conditions.push(exactKey);
  const condition = conditions.reduce((a, b) => sql`${a} AND ${b}`);
  const total = db.count(sql`SELECT count(*) FROM ${raw(table)} m WHERE ${condition}`);
  const page = pageOf(query, total);
  const keys = db.all<{
    id: number;
    key: string;
  }>(sql`SELECT m.resource_id AS id, m.${raw(key)} AS key FROM ${raw(table)} m WHERE ${condition}
    ORDER BY ${raw(order)}, m.resource_id LIMIT ${page.size} OFFSET ${page.offset}`);
  const rows = db.named<string>(
    `SELECT ${render(representation(measurement))} FROM json_each(@keys) k CROSS JOIN ${table} m ON m.resource_id = k.value ->> 'id' AND m.${key} = k.value ->> 'key'`,
    { base: request.base, keys: JSON.stringify(keys) },
  );
  return document(`[${rows.join(',')}]`, pageHeaders(page, total, request.url, query));
}

const representation = ({ key, values }: Measurement): Json =>
  objectValue({
    scope: resourceLink('m.resource_id'),
    [key]: knownText(`m.${key}`),
    ...Object.fromEntries(values.map((name) => [name, numberValue(`m.${name}`)])),
  });

function endpoint(measurement: Measurement): Endpoint {
  const { description, example, fields, key, kind, path } = measurement;
  const filters: Filters = {
    scope: parameter('link', 'Link of the resource.'),
    [key]: parameter('string', 'The exact value.'),
  };
  const shape = { title: kind.replaceAll(' ', ''), ...representation(measurement).shape };
  return {
    path: `/api/${path}/`,
    name: `${kind} List`,
    description,
    actions: (request) => (request.caller.isStaff ? { PUT: describeFields(fields, request, 'create') } : undefined),
    operations: {
      GET: {
        summary: description,
        who: 'Everybody who sees the resource.',
        filters,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: shape } },
        handle: (request) => list(request, measurement),
      },
      PUT: {
        summary: `Stores a ${kind.toLowerCase()}.`,
        who: 'Staff.',
        input: { fields, purpose: 'create', example },
        output: { status: 200, others: [201], shape },
        handle: (request) => put(request, measurement),
      },
      DELETE: {
        summary: `Removes a ${kind.toLowerCase()}.`,
        who: 'Staff.',
        filters,
        output: { status: 204 },
        refusals: { 404: true },
        handle: (request) => remove(request, measurement),
      },
    },
  };
}

export const slaEndpoint = endpoint({
  path: 'resource-sla',
  kind: 'Resource SLA',
  description: 'SLA of resources by period.',
  table: 'resource_sla',
  key: 'period',
  fields: { scope: scopeField, period, value: percentage(), agreed_value: percentage() },
  example: { scope: exampleLink('digitalocean-droplets'), period: '2026-01', value: 99.95, agreed_value: 99.9 },
  values: ['value', 'agreed_value'],
  order: 'm.period DESC',
});

export const monitoringEndpoint = endpoint({
  path: 'monitoring-items',
  kind: 'Monitoring Item',
  description: 'Values of monitoring items of resources.',
  table: 'monitoring_item',
  key: 'name',
  fields: { scope: scopeField, name: itemName, value: number({ required: true }) },
  example: { scope: exampleLink('digitalocean-droplets'), name: 'response_time', value: 120 },
  values: ['value'],
  order: 'm.name',
});
