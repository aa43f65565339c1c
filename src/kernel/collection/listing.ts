/** Lists: the ids of a page first, then its objects. See src/decisions/query-plans.md. */
import { seesAll } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Visibility } from '../access/right.ts';
import { CacheBudget } from '../cache/generational-cache.ts';
import { all, type Sql, type Value } from '../db/sql.ts';
import { collectErrors, invalid } from '../http/error.ts';
import { type Page, pageHeaders, pageOf } from '../http/query.ts';
import { document, type Reply, secret } from '../http/reply.ts';
import type { Fields } from './field.ts';
import type { Filters } from './filter.ts';
import type { JsonSchema } from './json-schema.ts';
import { chosenNames, type Member, renderObject, type ViewerParameters } from './representation.ts';

/** A row of a table that is addressed by uuid, or by its id as `pk`. */
export interface Row {
  readonly id: number;
  readonly uuid: string;
}

/** Values of named parameters in the expressions of fields. */
export type Parameters = Readonly<Record<string, Value>>;

const none: Parameters = {};

/** The cached objects of a list. Pages are assembled from their representations. */
export interface CachedObjects {
  /** Returns the cached response for the object in the path. */
  fromCache(request: Request): Reply | undefined;
  /** Caches the representation of an object that the caller can see; undefined if it cannot be cached. */
  store(request: Request, row: Row, text: string): Reply | undefined;
  /** Responds with 200 and a page of the objects with these ids. */
  page(request: Request, ids: readonly number[], headers: Reply['headers']): Reply;
}

declare module '../app.ts' {
  interface App {
    /** Returns the cached objects of a list with `invalidatedBy`. */
    readonly cachedObjectsOf: (list: Listing) => CachedObjects;
  }
}

/** The declaration of a list. Column names in it include the alias. See also cached-objects.ts. */
export interface ListSpec {
  readonly table: string;
  readonly alias: string;
  /** Name of its objects, for the schema in the documentation. */
  readonly title: string;
  readonly fields: Fields;
  /** Joins with one row per object, for values that several fields use. */
  readonly parents?: string;
  /** Who can see an object. */
  readonly visible?: Visibility;
  readonly filters: Filters;
  /** Columns or expressions to order by, by their names in `o=`. */
  readonly orderings: Readonly<Record<string, string>>;
  /** Further orderings, only for callers who see everything. */
  readonly privilegedOrderings?: Readonly<Record<string, string>>;
  /** Default order: `column` or `-column` of the table, as SQL. */
  readonly order: string;
  /** Whether the list, or the object with this id, contains values that must not be cached. */
  readonly isSecret?: (request: Request, id?: number) => boolean;
  /** Additional parameters of the fields' expressions. */
  readonly parameters?: (request: Request) => Parameters;
}

/** Query parameters of a list, for the documentation. */
interface ListParameters {
  readonly filters: Filters;
  readonly orderings: readonly string[];
}

/** Texts of queries. */
interface PageTexts {
  readonly count: string;
  readonly ids: string;
}

/** Maximum number of query texts that a list caches. */
const maxPageTexts = 200;

/** Converts rows to pages of JSON in two steps: one query finds the ids, another represents the objects. */
export class Listing {
  #cachedMembers: readonly Member[] | undefined;
  /** Object queries by selected members. */
  readonly #queries = new Map<string, string>();
  readonly #queriesOfPages = new CacheBudget(maxPageTexts).cache<string, PageTexts>(() => 1);
  /** Name prefixes of the filters that follow a naming scheme. */
  readonly #prefixes: readonly string[];
  readonly #defaultOrder: string;
  #shape: JsonSchema | undefined;

  constructor(readonly spec: ListSpec) {
    this.#prefixes = Object.values(spec.filters).flatMap((filter) => filter.prefixes ?? []);
    this.#defaultOrder = this.#orderOf([spec.order]);
  }

  /** Returns a page of the objects that satisfy the conditions and the request's filters. Throws 400, 404. */
  page(request: Request, conditions: readonly Sql[], parameters: Parameters = none): Reply {
    const { headers, ids } = this.pageIds(request, conditions);
    const cached = this.#cachedObjects(request);
    if (cached) return cached.page(request, ids, headers);
    const rows = this.representMany(request, ids, parameters);
    return this.respond(request, `[${rows.join(',')}]`, { headers });
  }

  /** Returns the ids of that page, in order, and the paging headers. Throws 400, 404. */
  pageIds(
    request: Request,
    conditions: readonly Sql[],
  ): { readonly ids: readonly number[]; readonly headers: Readonly<Record<string, string>> } {
    const { db, query } = request;
    const [condition, order] = collectErrors(
      () => this.condition(request, conditions),
      () => this.#order(request),
      () => request.rejectUnknownNames(),
    );
    const { text, values } = condition;
    const texts = this.#pageTexts(text, order);
    const idsOf = ({ offset, size }: Page): Sql => ({ text: texts.ids, values: [...values, size, offset] });
    const isAll = text === 'TRUE';
    const total = isAll
      ? db.rowsIn(this.spec.table)
      : db.count({ text: texts.count, values }, () => {
          const expectedPage = pageOf(query, Number.POSITIVE_INFINITY);
          // The last page depends on the total.
          return Number.isFinite(expectedPage.offset) ? [idsOf(expectedPage)] : [];
        });
    const page = pageOf(query, total);
    const result = db.cachedNumbers(idsOf(page), isAll ? page.offset + page.size : undefined);
    const ids = db.keepMatching(result, this.spec.table, this.spec.alias, condition);
    return { ids, headers: pageHeaders(page, total, request.url, query) };
  }

  /** Returns the queries of a page: the total, and the ids. */
  #pageTexts(condition: string, order: string): PageTexts {
    // Filters produce many different conditions, visibility only a few, always the same strings.
    const key = order === this.#defaultOrder ? condition : `${condition} ORDER BY ${order}`;
    const known = this.#queriesOfPages.get(key);
    if (known) return known;
    const { alias, table } = this.spec;
    const from = `FROM ${table} ${alias}${condition === 'TRUE' ? '' : ` WHERE ${condition}`}`;
    const texts = {
      count: `SELECT count(*) ${from}`,
      ids: `SELECT ${alias}.id ${from} ORDER BY ${order} LIMIT ? OFFSET ?`,
    };
    this.#queriesOfPages.set(key, texts);
    return texts;
  }

  /** Returns the cached response for the object in the path. */
  fromCache(request: Request): Reply | undefined {
    // An object that the caller cannot see is a 404, even if the selection of fields is invalid.
    if (request.query.has('field') || request.query.has('fields')) return undefined;
    return this.#cachedObjects(request)?.fromCache(request);
  }

  /** Responds with 200 and the JSON of an object that the caller can see, cached if possible. */
  respondWith(request: Request, row: Row, text: string, until: number | undefined): Reply {
    return (
      this.#cachedObjects(request)?.store(request, row, text) ?? this.respond(request, text, { id: row.id, until })
    );
  }

  /** Responds with 200 and a page, or the object with this id. */
  respond(
    request: Request,
    text: string,
    {
      headers = {},
      id,
      until,
    }: { readonly headers?: Reply['headers']; readonly id?: number; readonly until?: number | undefined },
  ): Reply {
    return this.spec.isSecret?.(request, id) ? secret(text, headers) : document(text, headers, until);
  }

  /** Adds the request's filters to the conditions. Throws 400. */
  condition(request: Request, conditions: readonly Sql[]): Sql {
    const some = this.#hasFilters(request) ? [...conditions, ...this.#filterConditions(request)] : conditions;
    const [first, ...others] = some.filter((condition) => condition.text !== 'TRUE');
    return first && others.length === 0 ? first : all(first ? [first, ...others] : []);
  }

  /** Returns the JSON texts of the objects with these ids, in order. Applies `field=`. */
  represent(request: Request, ids: readonly number[], parameters: Parameters = none): string[] {
    const text = this.#queryOf(request);
    if (ids.length === 0) return [];
    const viewer = { ...viewerParameters(request), ids: `[${ids.join()}]` };
    const own = this.spec.parameters?.(request);
    // Most lists have none, and a spread costs as much as the rest.
    const isPlain = own === undefined && parameters === none;
    return request.db.named<string>(text, isPlain ? viewer : { ...viewer, ...own, ...parameters });
  }

  /** Like `represent`, in steps that yield the event loop. Throws DeferredRead. */
  representMany(request: Request, ids: readonly number[], parameters?: Parameters): readonly string[] {
    return request.db.inSteps(this.#queryOf(request), ids, (some) => this.represent(request, some, parameters));
  }

  /** Returns the JSON text of an existing object. */
  representOne(request: Request, id: number, parameters?: Parameters): string {
    const [text] = this.represent(request, [id], parameters);
    if (text === undefined) throw new Error(`No ${this.spec.table} with id ${id}`);
    return text;
  }

  /** Returns the cached objects, if the request selects the cached representation. */
  #cachedObjects(request: Request): CachedObjects | undefined {
    return this.spec.invalidatedBy === undefined || this.#selectedNames(request)
      ? undefined
      : request.app.cachedObjectsOf(this);
  }

  /** The representation of its objects, built lazily because a start uses few lists. */
  get #members(): readonly Member[] {
    const { alias, fields } = this.spec;
    this.#cachedMembers ??= Object.entries(fields).flatMap(([name, field]) =>
      field.json ? [{ name, value: field.json(`${alias}.${name}`), shownIf: field.shownIf }] : [],
    );
    return this.#cachedMembers;
  }

  /** JSON Schema of a complete object, ignoring `field=`. */
  get shape(): JsonSchema {
    this.#shape ??= this.#makeShape();
    return this.#shape;
  }

  #makeShape(): JsonSchema {
    const displayed = Object.entries(this.spec.fields).filter(([, field]) => field.json);
    return {
      title: this.spec.title,
      type: 'object',
      properties: Object.fromEntries(displayed.map(([name, field]) => [name, field.shape])),
      required: displayed.filter(([, field]) => field.shownIf === undefined).map(([name]) => name),
    };
  }

  /** The query parameters of the list, except paging. */
  get parameters(): ListParameters {
    const { filters, orderings, privilegedOrderings = {} } = this.spec;
    return { filters, orderings: Object.keys({ ...orderings, ...privilegedOrderings }) };
  }

  /** The query of objects with all members. */
  get completeQuery(): string {
    return this.#textOf(this.#members);
  }

  #queryOf(request: Request): string {
    const chosen = this.#selectedNames(request);
    const key = chosen?.join() ?? '';
    let text = this.#queries.get(key);
    if (text === undefined) {
      text = chosen ? this.#textOf(this.#members.filter(({ name }) => chosen.includes(name))) : this.completeQuery;
      if (this.#queries.size < 200) this.#queries.set(key, text);
    }
    return text;
  }

  /** Returns the query of objects by id. */
  #textOf(members: readonly Member[]): string {
    const { alias, parents = '', table } = this.spec;
    // json_each leads a CROSS JOIN, which SQLite never reorders, so rows are in the order of the ids.
    return `SELECT ${renderObject(members)} FROM json_each(@ids) AS page CROSS JOIN ${table} ${alias} ON ${alias}.id = page.value ${parents}`;
  }

  #selectedNames(request: Request): readonly string[] | undefined {
    return chosenNames(
      request,
      this.#members.map(({ name }) => name),
    );
  }

  /** Whether the query has a parameter that is or may be a filter. */
  #hasFilters({ query }: Request): boolean {
    if (query.text === '') return false;
    for (const name of query.names())
      if (Object.hasOwn(this.spec.filters, name) || this.#prefixes.some((prefix) => name.startsWith(prefix)))
        return true;
    return false;
  }

  #filterConditions(request: Request): Sql[] {
    return collectErrors(
      ...Object.entries(this.spec.filters).map(
        ([name, filter]) =>
          () =>
            filter.condition(request, name) ?? [],
      ),
    ).flat();
  }

  /** Returns the terms of the requested order. Throws 400. */
  #order(request: Request): string {
    const requested = Object.keys(this.spec.orderings).length > 0 ? request.query.list('o') : [];
    return requested.length === 0
      ? this.#defaultOrder
      : this.#orderOf(requested.map((term) => this.#ordering(request, term)));
  }

  #orderOf(terms: readonly string[]): string {
    const { alias } = this.spec;
    const directions = new Map<string, string>();
    for (const term of terms) {
      const column = term.replace(/^-/, '');
      // A repeated column has no effect, and SQLite limits the number of terms.
      if (!directions.has(column)) directions.set(column, term === column ? '' : ' DESC');
    }
    // Every order ends with the id, in the direction of the last term, so that an index serves both.
    const id = `${alias}.id${[...directions.values()].at(-1)}`;
    return [...[...directions].map(([column, direction]) => column + direction), id].join(', ');
  }

  #ordering(request: Request, term: string): string {
    const name = term.replace(/^-/, '');
    const { orderings, privilegedOrderings } = this.spec;
    const known = new Map(
      Object.entries(seesAll(request.caller) ? { ...orderings, ...privilegedOrderings } : orderings),
    );
    const column = known.get(name);
    if (column === undefined) throw invalid({ o: [`"${name}" is not a valid choice.`] });
    return term.startsWith('-') ? `-${column}` : column;
  }
}

/** Returns the parameters of a representation for the caller. */
export function viewerParameters(request: Request): ViewerParameters & Record<string, string | number> {
  const { caller } = request;
  return {
    base: request.base,
    caller: caller.id,
    self: caller.userId,
    all: seesAll(caller) ? 1 : 0,
    staff: caller.isStaff ? 1 : 0,
  };
}
