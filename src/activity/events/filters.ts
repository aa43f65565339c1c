import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type Filter, type Filters, parameter, requireWords } from '../../kernel/collection/filter.ts';
import { among, any, caseFold, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { collectErrors } from '../../kernel/http/error.ts';
import { namesOf } from '../../kernel/present.ts';
import { scopeParameter } from '../scopes/resolve.ts';
import type { TypedScope } from '../scopes/scope.ts';
import { plainName } from '../scopes/scopes.ts';
import { eventGroups, eventTypes, typesOfGroups } from './catalogue.ts';
import {
  aboutKind,
  aboutObject,
  byColumn,
  matchingPhrases,
  type Predicate,
  type Selection,
  select,
} from './query-plan.ts';
import { type SubjectKind, subjectKeys } from './record.ts';
import { phrasesOf, wordsOf } from './search.ts';
import { namesCustomerOf, namesProjectOf, namesUser, visibleEvents } from './visibility.ts';

type ContextKey = keyof typeof subjectKeys | 'service_type';

const has = (key: ContextKey): Sql => raw(`e.context ->> '${key}' IS NOT NULL`);
const is = (key: ContextKey, value: string): Sql => sql`${raw(`e.context ->> '${key}'`)} = ${value}`;

/** A condition that no event meets. With its empty list of scans, it leads, and nothing is read. */
const nothing: Predicate = { condition: raw('FALSE'), scans: [] };

/** Events whose context names an object under a key of its kind or, for users, as the affected user. */
function about(kind: SubjectKind, uuid: string): Predicate {
  const keys = namesOf(subjectKeys).filter((key) => subjectKeys[key] === kind);
  return { condition: any(keys.map((key) => is(key, uuid))), scans: [aboutObject(kind, uuid)] };
}

/** Events that name any object of a kind. */
const aboutAny = (kind: Exclude<SubjectKind, 'user'>, key: keyof typeof subjectKeys): Predicate => ({
  condition: has(key),
  scans: [aboutKind(kind)],
});

const ofResourceType = (type: string): Predicate => ({
  condition: sql`e.resource_type = ${type}`,
  scans: [byColumn('event_resource', 'e.resource_type', [type])],
});

/** Events with these whole words, adjacent and in order, in one searched text. */
function matching({ db }: Request, text: string): Predicate[] {
  if (text.trim() === '') return [];
  const words = wordsOf(text);
  if (words.length === 0) return [nothing];
  const scan = matchingPhrases(phrasesOf(db, words));
  // The unary plus stops SQLite from using the subquery as the outer loop.
  return [
    {
      condition: sql`+e.id IN (SELECT ${raw(scan.id)} FROM ${scan.table} WHERE ${scan.where})`,
      isPrepared: true,
      scans: [scan],
    },
  ];
}

/** Combines `event_type`, `feature` and `exclude_features` into the remaining types. */
function ofTypes(request: Request): Predicate[] {
  const { query } = request;
  const named = query.all('event_type');
  const features = query.all('feature');
  const excluded = query.all('exclude_features');
  requireWords(request, 'event_type', (type) => eventTypes.some((known) => known === type));
  requireWords(request, 'feature', (feature) => Object.hasOwn(eventGroups, feature));
  if (named.length + features.length + excluded.length === 0) return [];
  const included: readonly string[] =
    features.length > 0 ? typesOfGroups(features) : named.length > 0 ? named : eventTypes;
  const excludedTypes = typesOfGroups(excluded);
  const remaining = eventTypes.filter((type) => included.includes(type) && !excludedTypes.includes(type));
  return remaining.length === 0
    ? [nothing]
    : [{ condition: among('e.type', remaining), scans: [byColumn('event_type', 'e.type', remaining)] }];
}

/** Events about the object that the parameter `scope` links to. */
function ofScope(request: Request): Predicate[] {
  const object = scopeParameter(request);
  if (!object) return [];
  if (object.kind !== 'link') return [about(object.kind, object.uuid)];
  const { project_uuid: project, service_uuid: service } = object.scope.own(request.db, object.id);
  return [about('service', String(service)), about('project', String(project))];
}

/** Events related to objects of a type. Callers other than staff and support have a narrower rule (events.md 4.7). */
function ofScopeType(request: Request, value: string): Predicate[] {
  const {
    app: { scopes },
    caller,
  } = request;
  const isNamed = ({ name }: TypedScope): boolean => plainName(name) === plainName(value);
  const resource = scopes.typesOf('resource').find((typed) => !typed.isPart && isNamed(typed));
  if (resource) return [ofResourceType(resource.type)];
  const link = scopes.typesOf('link').find(isNamed);
  const service = link ?? scopes.typesOf('service').find(isNamed);
  if (service) {
    const ofService = [aboutAny('service', 'service_uuid'), { condition: is('service_type', service.type) }];
    return link ? [...ofService, { condition: has('project_uuid') }] : ofService;
  }
  const [kind] = scopes.named(value);
  switch (kind) {
    case 'user':
      return [
        { condition: seesAll(caller) ? sql`e.actor IS NOT NULL OR ${has('affected_user_uuid')}` : namesUser(caller) },
      ];
    case 'customer':
      return [seesAll(caller) ? aboutAny('customer', 'customer_uuid') : { condition: namesCustomerOf(request) }];
    case 'project':
      return [seesAll(caller) ? aboutAny('project', 'project_uuid') : { condition: namesProjectOf(request) }];
    case 'key':
      return [aboutAny('key', 'ssh_key_uuid')];
    case 'quota':
      return [aboutAny('quota', 'quota_uuid')];
    case 'settings':
      return [aboutAny('settings', 'settings_uuid')];
    default:
      return [nothing];
  }
}

interface EventFilter extends Pick<Filter, 'type' | 'help' | 'repeatable'> {
  /** Builds the predicates. Filters that combine are built by the first of them. Throws 400. */
  readonly criteria: (request: Request) => readonly Predicate[];
}

/** A filter with one text value. */
const byText = (
  name: string,
  help: string,
  criteria: (value: string, request: Request) => readonly Predicate[],
): Readonly<Record<string, EventFilter>> => ({
  [name]: {
    type: 'string',
    help,
    criteria: (request) => {
      const value = request.query.one(name);
      return value === undefined ? [] : criteria(value, request);
    },
  },
});

/** For filters that `event_type` handles. */
const combined = (): readonly Predicate[] => [];

/** Every filter of the list and the counts (events.md 4.7), except the time range. */
const filters: Readonly<Record<string, EventFilter>> = {
  event_type: { type: 'string', repeatable: true, help: 'Types of events.', criteria: ofTypes },
  feature: {
    type: 'string',
    repeatable: true,
    help: 'Groups from event_groups/ to include; replaces event_type.',
    criteria: combined,
  },
  exclude_features: {
    type: 'string',
    repeatable: true,
    help: 'Groups from event_groups/ to exclude.',
    criteria: combined,
  },
  ...byText('search', 'Adjacent words in a text of the event.', (value, request) => matching(request, value)),
  scope: { type: 'link', help: 'Link of the object the events are about.', criteria: ofScope },
  ...byText('scope_type', 'Type of scope_types/ of an object the events are about.', (value, request) =>
    ofScopeType(request, value),
  ),
  ...byText('user_username', 'Username of the actor; ignores case.', (value) => {
    const actor = caseFold(value);
    return [{ condition: sql`e.actor = ${actor}`, scans: [byColumn('event_actor', 'e.actor', [actor])] }];
  }),
  ...byText('resource_type', 'Type of the resource, such as OpenStack.Instance.', (value, request) => {
    const types = request.app.scopes.typesOf('resource').map(({ type }) => type);
    requireWords(request, 'resource_type', (type) => types.includes(type));
    return [ofResourceType(value)];
  }),
  resource_uuid: {
    type: 'uuid',
    help: 'Uuid of the resource.',
    criteria: ({ query }) => {
      const uuid = query.uuid('resource_uuid');
      return uuid === undefined ? [] : [about('resource', uuid)];
    },
  },
};

/** Query parameters, for the documentation. */
export const eventParameters: Filters = {
  ...Object.fromEntries(
    Object.entries(filters).map(([name, { help, repeatable, type }]) => [name, parameter(type, help, repeatable)]),
  ),
  from: parameter('integer', 'Not before this UNIX timestamp.'),
  to: parameter('integer', 'Before this UNIX timestamp.'),
};

/** Parses the parameters of a request into a time range and predicates, without the caller's visibility. Throws 400. */
function parseFilters(request: Request, known: readonly EventFilter[]) {
  const [range, ...criteria] = collectErrors(
    () => request.query.range('from', 'to'),
    ...known.map((filter) => () => filter.criteria(request)),
  );
  return { range, criteria: criteria.flat() };
}

/** Conditions on `event e` from every parameter except `search`, without the caller's visibility. Throws 400. */
export function conditionsOf(request: Request): Sql[] {
  const { search: _, ...others } = filters;
  const { criteria, range } = parseFilters(request, Object.values(others));
  return [
    ...(range.from === undefined ? [] : [sql`e.at >= ${range.from}`]),
    ...(range.to === undefined ? [] : [sql`e.at < ${range.to}`]),
    ...criteria.map(({ condition }) => condition),
  ];
}

/** Selects the events that match the request and that the caller can see. Throws 400 with every invalid parameter. */
export function selected(request: Request): Selection {
  const { criteria, range } = parseFilters(request, Object.values(filters));
  const visible = visibleEvents(request);
  return select(request.db, [...(visible ? [visible] : []), ...criteria], range);
}
