import { seesAll } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Visibility } from '../access/right.ts';
import type { CachedCollection, ObjectCache, Viewer } from '../cache/object-cache.ts';
import type { RowRules } from '../cache/row-watch.ts';
import { among, raw, type Sql, sql } from '../db/sql.ts';
import { document, encoded, etagOf, page, type Reply } from '../http/reply.ts';
import { memoised } from '../memoised.ts';
import { present } from '../present.ts';
import { verify } from '../verification.ts';
import type { CachedObjects, Listing, Row } from './listing.ts';

declare module './listing.ts' {
  interface ListSpec {
    /**
     * The rows that affect a representation or its visibility. If set, objects are cached individually. They must have no secrets
     * and no parameters. Callers who see everything share a representation, except for data that only staff see.
     */
    readonly invalidatedBy?: RowRules;
  }
}

/** Returns the cached objects of a list, always the same instance. */
export const cachedObjectsOf = memoised((list: Listing): CachedObjects => {
  const { invalidatedBy, visible } = list.spec;
  return new RepresentationCache(list, present(invalidatedBy), present(visible));
});

class RepresentationCache implements CachedObjects {
  readonly #query: string;

  constructor(
    private readonly list: Listing,
    private readonly invalidatedBy: RowRules,
    private readonly visible: Visibility,
  ) {
    this.#query = list.completeQuery;
  }

  fromCache(request: Request): Reply | undefined {
    const { key = '' } = request.params;
    const known = this.#cache(request)?.byKey(viewerOf(request), key);
    if (known)
      verify(
        () => request.incoming.path,
        () => [String(known.body)],
        () => this.list.represent(request, request.db.values<number>(this.#visibleIdQuery(request, key))),
      );
    return known;
  }

  store(request: Request, { id, uuid }: Row, text: string): Reply | undefined {
    return this.#cache(request)?.store(viewerOf(request), id, uuid, text);
  }

  page(request: Request, ids: readonly number[], headers: Reply['headers']): Reply {
    const objects = this.#objects(request, ids);
    const etags = objects.map(etagOf).join('');
    const bytes = request.app.objectCaches.page(etags, () => {
      const pieces = objects.flatMap(({ body }, i) => [i === 0 ? opening : comma, bytesOf(body)]);
      return Buffer.concat([...(pieces.length === 0 ? [opening] : pieces), closing]);
    });
    // For the same URL, the same objects and total yield the same links to other pages.
    return page(bytes, `"${bytes.digest}.${headers['X-Result-Count']}"`, headers);
  }

  /** Represents the uncached objects in one query. */
  #objects(request: Request, ids: readonly number[]): Reply[] {
    const cache = this.#cache(request);
    const viewer = viewerOf(request);
    const known = ids.map((id) => cache?.byId(viewer, id));
    const missing = ids.filter((_, i) => known[i] === undefined);
    const make = (some: readonly number[]): Reply[] => this.#represent(request, some, cache, viewer);
    const created = missing.length === 0 ? [] : request.db.inSteps(this.#query, missing, make);
    let next = 0;
    return ids.map((id, i) => {
      const reply = known[i];
      if (reply === undefined) return present(created[next++]);
      verify(
        () => `${this.list.spec.table} ${id}`,
        () => [String(reply.body)],
        () => this.list.represent(request, [id]),
      );
      return reply;
    });
  }

  #represent(request: Request, ids: readonly number[], cache: ObjectCache | undefined, viewer: Viewer): Reply[] {
    const keys = this.#keysOf(request, ids);
    return this.list.represent(request, ids).map((text, i) => {
      const id = present(ids[i]);
      return cache?.store(viewer, id, present(keys.get(id)), text) ?? encoded(document(text));
    });
  }

  #cache(request: Request): ObjectCache | undefined {
    return request.app.objectCaches.of(this, () => this.#describe(request));
  }

  #describe(request: Request): CachedCollection {
    const { db } = request.app;
    const viewer = { ...request.caller, isStaff: false, isSupport: false };
    const result = this.#visibleIdQuery(request, '', viewer);
    return {
      table: this.list.spec.table,
      invalidatedBy: this.invalidatedBy,
      reads: [...new Set([...db.readsOf(this.#query), ...db.readsOf(result.text)])],
    };
  }

  #visibleIdQuery({ caller, config }: Request, key: string, by = caller): Sql {
    const { alias, table } = this.list.spec;
    return sql`SELECT ${raw(alias)}.id FROM ${raw(table)} ${raw(alias)}
      WHERE ${raw(alias)}.uuid = ${key} AND (${this.visible.condition(by, config)})`;
  }

  #keysOf({ db }: Request, ids: readonly number[]): Map<number, string> {
    const rows = db.all<Row>(sql`SELECT id, uuid FROM ${raw(this.list.spec.table)} WHERE ${among('id', ids)}`);
    return new Map(rows.map(({ id, uuid }) => [id, uuid]));
  }
}

/** Returns the viewer's cache key. Callers who see everything share one, separately for staff. */
const viewerOf = ({ base, caller }: Request): Viewer => ({
  base,
  key: `${base} ${seesAll(caller) ? caller.isStaff : caller.id}`,
});

const bytesOf = (body: Reply['body']): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body);

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
