import * as v from 'valibot';
import { type ResolvedScope, resolveScope, scopeParameter, unrelated } from '../../activity/scopes/resolve.ts';
import type { Request } from '../../kernel/access/request.ts';
import { staff, visibleTo } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import {
  FieldError,
  type Fields,
  inputOf,
  messages,
  readOnly,
  refine,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { exact, type Filters, parameter, required } from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { emptyAsNull } from '../../kernel/collection/links.ts';
import {
  constant,
  type Json,
  notNullText,
  numberValue,
  objectValue,
  render,
  textsWithChosen,
} from '../../kernel/collection/representation.ts';
import { rowPage } from '../../kernel/collection/row-page.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { number, orNull, text } from '../../kernel/collection/values.ts';
import { nounOf, withArticle } from '../../kernel/collection/wording.ts';
import { all, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid, notFound } from '../../kernel/http/error.ts';
import { document, empty, json, type Reply } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { resourceLink } from '../catalogue/catalogue.ts';
import { periodPattern, periodRule } from './listing.ts';
import { visibleResources } from './rights.ts';

/* Measurements that staff report for resources: SLA by period, and values of monitoring items (services.md 7.4). */

/** The resource of a row. */
export const scopeField: WritableField<ResolvedScope, true> = {
  ...readOnly('field', { type: 'string', format: 'uri' }, constant('null')),
  input: inputOf(
    { required: true },
    {
      schema: v.string(messages.string),
      coerce: emptyAsNull,
      resolve: (link, request) => {
        const scope = resolveScope(request, link, false);
        if (scope.kind !== 'resource') throw new FieldError([unrelated(link)]);
        return scope;
      },
    },
  ),
};

/** A percentage, or null. */
const percentage = (): WritableField<number | null, false> => ({
  ...orNull(
    refine(number({ min: 0 }), (passed) => {
      if (passed > 100) throw new FieldError([messages.atMost(100)]);
    }),
  ),
  constraints: { min_value: 0, max_value: 100 },
});

const period = text({ max: 7, required: true, pattern: [periodPattern, periodRule] });
const itemName = text({
  max: 150,
  required: true,
  pattern: [/^[A-Za-z0-9_.-]+$/, 'Enter a name of letters, digits, "_", "." and "-".'],
});

/** A request body: the resource, the period or item name, and the values by column. */
interface ReportedValues {
  readonly scope: ResolvedScope;
  readonly key: string;
  readonly values: Readonly<Record<string, number | null | undefined>>;
}

interface Measurement {
  readonly path: string;
  readonly kind: string;
  readonly description: string;
  readonly table: string;
  /** The column that identifies a row together with the resource. */
  readonly key: 'period' | 'name';
  readonly fields: Fields;
  /** A valid body for the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Reads a body. Throws 400. */
  readonly read: (request: Request) => ReportedValues;
  /** Other writable columns. */
  readonly values: readonly string[];
  readonly order: string;
}

/** The right to report them. */
const writers = staff;

/** Visibility of rows in alias `m`. */
export const readers = visibleTo(
  'callers who can see the resource',
  (caller) => sql`m.resource_id IN (SELECT r.id FROM resource r WHERE ${visibleResources(caller)})`,
);

/** Inserts or updates the row of a resource and key. Responds with 201 or 200. */
function put(request: Request, { key, read, table, values }: Measurement): Reply {
  writers.require(request, undefined);
  const reported = read(request);
  const { db } = request;
  const { id } = reported.scope;
  const where = sql`resource_id = ${id} AND ${raw(key)} = ${reported.key}`;
  const stored = db.get<Record<string, number | null>>(sql`SELECT * FROM ${raw(table)} WHERE ${where}`);
  const row = Object.fromEntries(
    values.map((name) => {
      const value = reported.values[name];
      return [name, value === undefined ? (stored?.[name] ?? null) : value];
    }),
  );
  db.run(sql`DELETE FROM ${raw(table)} WHERE ${where}`);
  db.insert(table, { resource_id: id, [key]: reported.key, ...row });
  if (table === 'monitoring_item') recordValue(request, id, reported.key, present(row.value));
  return json({ scope: linkOfResource(request, id), [key]: reported.key, ...row }, stored ? 200 : 201);
}

/** The link of the resource with this id. */
export function linkOfResource({ base, db }: Request, id: number): string {
  const [link] = db.named<string>(`SELECT ${render(resourceLink('r.id'))} FROM resource r WHERE r.id = @id`, {
    base,
    id,
  });
  return JSON.parse(present(link));
}

/** Returns the resource in the query; undefined if there is none. Throws 400. */
function resourceParameter(request: Request): ResolvedScope | undefined {
  const scope = scopeParameter(request);
  if (scope && scope.kind !== 'resource') throw invalid({ scope: [unrelated(present(request.query.one('scope')))] });
  return scope;
}

function rejectMalformedPeriod({ query }: Request, key: Measurement['key']): void {
  const requested = key === 'period' ? query.one(key) : undefined;
  if (requested !== undefined && !periodPattern.test(requested)) throw invalid({ period: [periodRule] });
}

/** Removes the row in the query. */
function remove(request: Request, { key, table }: Measurement): Reply {
  writers.require(request, undefined);
  const missing = ['scope', key].filter((name) => request.query.one(name) === undefined);
  if (missing.length > 0) throw invalid(Object.fromEntries(missing.map((name) => [name, [messages.required]])));
  const { id } = present(resourceParameter(request));
  rejectMalformedPeriod(request, key);
  const named = present(request.query.one(key));
  const { changes } = request.db.run(
    sql`DELETE FROM ${raw(table)} WHERE resource_id = ${id} AND ${raw(key)} = ${named}`,
  );
  if (changes === 0) throw notFound();
  if (table === 'monitoring_item') deleteValues(request, id, named);
  return empty();
}

/** Condition on alias `m`: the caller can see the row and the query selects it. Throws 400. */
function parameters(request: Request, key: Measurement['key']): Sql {
  const conditions: Sql[] = [readers.condition(request.caller, request.config)];
  const scope = resourceParameter(request);
  if (scope) conditions.push(sql`m.resource_id = ${scope.id}`);
  rejectMalformedPeriod(request, key);
  const exactKey = exact(`m.${key}`).condition(request, key);
  if (exactKey) conditions.push(exactKey);
  return all(conditions);
}

/** The same of monitoring items. */
export const requestedItems = (request: Request): Sql => parameters(request, 'name');

function list(request: Request, measurement: Measurement): Reply {
  const { key, order, table } = measurement;
  const { headers, rows: keys } = rowPage<{ id: number; key: string }>(
    request,
    sql`m.resource_id AS id, m.${raw(key)} AS key`,
    sql`FROM ${raw(table)} m WHERE ${parameters(request, key)}`,
    raw(`${order}, m.resource_id`),
  );
  const rows = request.db.named<string>(
    `
    SELECT ${render(representation(measurement))}
    FROM json_each(@keys) k
      CROSS JOIN ${table} m ON m.resource_id = k.value ->> 'id' AND m.${key} = k.value ->> 'key'`,
    { base: request.base, keys: JSON.stringify(keys) },
  );
  return document(`[${textsWithChosen(request, rows).join(',')}]`, headers);
}

const representation = ({ key, values }: Measurement): Json =>
  objectValue({
    scope: resourceLink('m.resource_id'),
    [key]: notNullText(`m.${key}`),
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
    actions: (request) =>
      writers.may(request, undefined) ? { PUT: describeFields(fields, request, 'create') } : undefined,
    operations: {
      GET: {
        summary: description,
        allowedFor: readers.allowedFor,
        filters,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: shape } },
        handle: (request) => list(request, measurement),
      },
      PUT: {
        summary: `Stores ${withArticle(nounOf(kind))}.`,
        allowedFor: writers.allowedFor,
        input: { fields, purpose: 'create', example },
        output: { status: 200, others: [201], shape },
        handle: (request) => put(request, measurement),
      },
      DELETE: {
        summary: `Removes ${withArticle(nounOf(kind))}.`,
        allowedFor: writers.allowedFor,
        filters: Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, required(filter)])),
        output: { status: 204 },
        rejections: { 404: true },
        handle: (request) => remove(request, measurement),
      },
    },
  };
}

const slaFields = { scope: scopeField, period, value: percentage(), agreed_value: percentage() };

export const slaEndpoint = endpoint({
  path: 'resource-sla',
  kind: 'Resource SLA',
  description: 'SLA of resources by period.',
  table: 'resource_sla',
  key: 'period',
  fields: slaFields,
  example: { scope: exampleLink('digitalocean-droplets'), period: '2026-01', value: 99.95, agreed_value: 99.9 },
  read: (request) => {
    const { period: key, scope, ...values } = validate(slaFields, request, 'create');
    return { scope, key, values };
  },
  values: ['value', 'agreed_value'],
  order: 'm.period DESC',
});

const monitoringFields = { scope: scopeField, name: itemName, value: number({ required: true }) };

export const monitoringEndpoint = endpoint({
  path: 'monitoring-items',
  kind: 'Monitoring Item',
  description: 'Values of monitoring items of resources.',
  table: 'monitoring_item',
  key: 'name',
  fields: monitoringFields,
  example: { scope: exampleLink('digitalocean-droplets'), name: 'response_time', value: 120 },
  read: (request) => {
    const { name: key, scope, ...values } = validate(monitoringFields, request, 'create');
    return { scope, key, values };
  },
  values: ['value'],
  order: 'm.name',
});

/** Number of stored values per item: a week of values reported every ten minutes. */
const maxValuesPerItem = 1000;

/** Stores a value of a monitoring item, replacing the oldest at the limit. Must run inside a write. */
function recordValue({ db, now }: Request, resource: number, name: string, value: number): void {
  db.run(sql`
    INSERT OR REPLACE INTO monitoring_value (resource_id, name, at, value)
    VALUES (${resource}, ${name}, ${now}, ${value})`);
  db.run(sql`
    DELETE FROM monitoring_value
    WHERE resource_id = ${resource} AND name = ${name} AND at <= (
      SELECT at FROM monitoring_value
      WHERE resource_id = ${resource} AND name = ${name}
      ORDER BY at DESC
      LIMIT 1 OFFSET ${maxValuesPerItem})`);
}

/** Removes the state of an item that no longer exists. */
const deleteValues = ({ db }: Request, resource: number, name: string): void =>
  void db.run(sql`DELETE FROM monitoring_value WHERE resource_id = ${resource} AND name = ${name}`);
