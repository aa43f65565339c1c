import * as v from 'valibot';
import { personalUuid, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated, authenticatedOver } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import { type Field, inputOf, jsonOrText } from '../../kernel/collection/field.ts';
import { type Filter, historyParameters } from '../../kernel/collection/filter.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import {
  computedValue,
  constant,
  objectValue,
  plainValue,
  renderPieces,
  textsWithChosen,
  textValue,
} from '../../kernel/collection/representation.ts';
import { raw } from '../../kernel/db/sql.ts';
import type { Body } from '../../kernel/http/body.ts';
import { invalid } from '../../kernel/http/error.ts';
import { pageHeaders, pageOf, Query } from '../../kernel/http/query.ts';
import { document, json, type Reply } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { eventGroups, eventTypes, type Importance, importances } from './catalogue.ts';
import { despiteDamage, isReadable } from './damaged.ts';
import { eventParameters, selected } from './filters.ts';
import { countHistory } from './history.ts';
import { notificationFields, notifiers, postNotification } from './notifications.ts';
import { count, pageIds } from './query-plan.ts';
import { contextFor, type EventAudience } from './visibility.ts';

const byLevel = (value: (importance: Importance) => string | number): string =>
  `CASE e.level ${Object.entries(importances)
    .map(([level, importance]) => `WHEN '${level}' THEN '${value(importance)}'`)
    .join(' ')} END`;

/** Members of every event, in order; the keys of its context follow. */
const fixed = {
  '@timestamp': plainValue(
    "concat(strftime('%Y-%m-%dT%H:%M:%S', e.at / 1000000, 'unixepoch'), printf('.%03dZ', e.at % 1000000 / 1000))",
  ),
  '@version': constant('1'),
  uuid: plainValue('e.uuid'),
  message: textValue('e.message'),
  level: plainValue('e.level'),
  levelname: plainValue('upper(e.level)'),
  importance: plainValue(byLevel(({ name }) => name)),
  importance_code: computedValue(byLevel(({ code }) => code)),
  event_type: plainValue('e.type'),
  type: plainValue('e.type'),
};

/** The names of the members of every event. */
export const eventMembers: readonly string[] = Object.keys(fixed);

/** Builds the representation. As in every list, the page's ids lead a CROSS JOIN, which SQLite never reorders. */
const representationWith = (context: string): string => {
  // Parsing fails on a damaged context, so that it never produces an invalid response.
  const members = computedValue(
    `CASE WHEN e.context = '{}' THEN '}' WHEN ${isReadable.text} THEN ',' || substr(${context}, 2) ELSE json('') END`,
  );
  return `SELECT ${renderPieces([...objectValue(fixed).pieces.slice(0, -1), ...members.pieces])}
  FROM json_each(@ids) AS page CROSS JOIN event e ON e.id = page.value`;
};

const fullRepresentation = representationWith('e.context');
const representationFor = memoised((audience: EventAudience) =>
  representationWith(contextFor({ id: raw('@caller'), uuid: raw('@uuid') }, audience).text),
);

const shape: JsonSchema = {
  title: 'Event',
  type: 'object',
  properties: {
    '@timestamp': { type: 'string', format: 'date-time' },
    '@version': { type: 'integer' },
    uuid: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    message: { type: 'string' },
    level: { type: 'string', enum: Object.keys(importances) },
    levelname: { type: 'string', enum: Object.keys(importances).map((level) => level.toUpperCase()) },
    importance: { type: 'string', enum: Object.values(importances).map(({ name }) => name) },
    importance_code: { type: 'integer' },
    event_type: { type: 'string', enum: eventTypes },
    type: { type: 'string', enum: eventTypes },
  },
  required: eventMembers,
  // Also applies to the members above.
  additionalProperties: { type: ['string', 'integer'] },
};

/** Responds with a page of the events that the caller can see, newest first unless `o` says otherwise. */
function list(request: Request): Reply {
  const { db, query, url } = request;
  const direction = directionOf(query);
  const selection = selected(request);
  const total = count(db, selection);
  const page = pageOf(query, total);
  const ids = pageIds(db, selection, page, total, direction);
  const rows = ids.length === 0 ? [] : represent(request, JSON.stringify(ids));
  return document(`[${textsWithChosen(request, rows).join(',')}]`, pageHeaders(page, total, url, query));
}

/** Renders events as the caller may read them. `ids` is a JSON array that sets the order. */
export const represent = ({ app, caller, db }: Request, ids: string): string[] =>
  seesAll(caller)
    ? db.named<string>(fullRepresentation, { ids })
    : db.named<string>(representationFor(app.eventAudience), { ids, caller: caller.id, uuid: personalUuid(caller) });

/** Returns the direction of the first term of `o`; there is only one column to order by. Throws 400. */
function directionOf(query: Query): 'ASC' | 'DESC' {
  const terms = query.list('o');
  if (terms.length === 0) return 'DESC';
  const unknown = terms.find((term) => !/^-?@timestamp$/.test(term));
  if (unknown !== undefined) throw invalid({ o: [`"${unknown.replace(/^-/, '')}" is not a valid choice.`] });
  return terms[0]?.startsWith('-') ? 'DESC' : 'ASC';
}

const histories: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      point: { type: 'integer' },
      object: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    },
    required: ['point', 'object'],
  },
};

const counters = authenticatedOver('events');

const historyFilters = { ...eventParameters, ...historyParameters };

const history: Operation = {
  summary: 'Counts the events before points in time.',
  allowedFor: counters.allowedFor,
  filters: historyFilters,
  output: { status: 200, shape: histories },
  handle: despiteDamage((request) => json(countHistory(request))),
};

const scalar = ['string', 'integer', 'boolean'];

/** Describes a query parameter as a member of a body, for the documentation. */
const memberOf = ({ help, repeatable }: Filter): Field => ({
  type: 'field',
  help,
  constraints: {},
  shape: {},
  input: inputOf(
    {},
    {
      schema: v.unknown(),
      shape: repeatable ? { type: [...scalar, 'array'], items: { type: scalar } } : { type: scalar },
    },
  ),
});

/** Returns the members of a body that are parameters. A form sends a list as JSON text or repeats the field. */
function membersOf({ form, values }: Body): Readonly<Record<string, unknown>> {
  const known = Object.entries(historyFilters).filter(([name]) => values[name] !== undefined);
  return Object.fromEntries(
    known.map(([name, { repeatable }]) => [name, form && repeatable ? itemsOfForm(values[name]) : values[name]]),
  );
}

const itemsOfForm = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*\[/.test(value) ? jsonOrText(value) : value;

/** The same operation with parameters in the body. */
const historyByBody: Operation = {
  unaudited: 'It reads events.',
  summary: 'Counts the events before points in time. Takes the parameters of GET as members of the body.',
  allowedFor: counters.allowedFor,
  input: {
    fields: Object.fromEntries(Object.entries(historyFilters).map(([name, filter]) => [name, memberOf(filter)])),
    purpose: 'create',
    example: { event_type: ['project_creation_succeeded'], point: [1_767_225_600, 1_769_904_000] },
  },
  output: { status: 200, shape: histories },
  handle: (request) => {
    const withParameters = request.withQuery(Query.of(membersOf(request.body())));
    return json(countHistory(withParameters));
  },
};

/** An endpoint with only GET. */
const read = (name: string, title: string, operation: Omit<Operation, 'who'>): Endpoint => ({
  path: `/api/events/${name}/`,
  name: title,
  description: operation.summary,
  operations: { GET: { allowedFor: authenticated.allowedFor, ...operation } },
});

/** Type names that the filter scope_type accepts and lists. It also accepts links and parts, which are not listed. */
const scopeTypes = (scopes: Scopes): string[] =>
  [
    ...scopes.entries.flatMap(([, { name }]) => name ?? []),
    ...scopes.typesOf('service').map(({ name }) => name),
    ...scopes
      .typesOf('resource')
      .filter(({ isPart }) => !isPart)
      .map(({ name }) => name),
  ].sort();

/** Every endpoint of the event log except the stream (events.md 4.6). */
export const eventEndpoints: readonly Endpoint[] = [
  {
    path: '/api/events/',
    name: 'Event List',
    description:
      'The event log. A user sees an event that names them, or that is about an object in which they have a role.',
    actions: (request) =>
      notifiers.may(request, undefined) ? { POST: describeFields(notificationFields, request, 'create') } : undefined,
    operations: {
      GET: {
        summary: 'Lists every event the caller can see.',
        allowedFor: authenticated.allowedFor,
        handle: despiteDamage(list),
        filters: eventParameters,
        orderings: ['@timestamp'],
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: shape } },
      },
      POST: postNotification,
    },
  },
  read('count', 'Event Count', {
    summary: 'Counts the events that the list would return.',
    filters: eventParameters,
    output: { status: 200, shape: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } },
    handle: despiteDamage((request) => json({ count: count(request.db, selected(request)) })),
  }),
  // The older path of the next endpoint.
  { ...read('count_history', 'Event Count History', history), operationIdBase: 'Event History' },
  { ...read('count/history', 'Event Count History', history), operations: { GET: history, POST: historyByBody } },
  read('event_groups', 'Event Groups', {
    summary: 'Lists the groups of event types.',
    output: {
      status: 200,
      shape: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    },
    handle: () => json(eventGroups),
  }),
  read('scope_types', 'Event Scope Types', {
    summary: 'Lists the types of object that the filter scope_type knows.',
    output: { status: 200, shape: { type: 'array', items: { type: 'string' } } },
    handle: ({ app }) => json(scopeTypes(app.scopes)),
  }),
];
