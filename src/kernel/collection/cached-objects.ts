import { seesAll } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Visibility } from '../access/right.ts';
import type { CachedCollection, ObjectCache, Viewer } from '../cache/object-cache.ts';
import type { RowRules } from '../cache/row-watch.ts';
import { among, raw, type Sql, sql } from '../db/sql.ts';
import { etagOf } from '../http/etag.ts';
import { document, encoded, page, type Reply } from '../http/reply.ts';
import { present } from '../present.ts';
import { verify } from '../verification.ts';
import type { Row } from './row.ts';

/** The declaration of a collection whose objects are cached one by one. */
export interface CachedSpec {
  readonly table: string;
  readonly alias: string;
  /** Who can see an object. */
  readonly visible: Visibility;
  /**
   * The rows that change a representation, or who can see the object. The objects have no secrets and take no parameters.
   * Callers who see everything get the same representation, except for what only staff see.
   */
  readonly invalidatedBy: RowRules;
}

/** Returns whether the objects of a collection are cached. */
export const isCached = (spec: Partial<CachedSpec>): spec is CachedSpec => spec.invalidatedBy !== undefined;

/** Represents objects as JSON. */
interface Maker {
  represent(request: Request, ids: readonly number[]): string[];
}

/** The cached objects of a collection. A page is put together from their representations. */
export class CachedObjects {
  constructor(
    private readonly spec: CachedSpec,
    private readonly maker: Maker,
    /** The query of whole objects. */
    private readonly query: string,
  ) {}

  /** Returns the cached response for the object in the path. */
  fromCache(request: Request): Reply | undefined {
    const { key = '' } = request.params;
    const known = this.#cache(request)?.byKey(viewerOf(request), key);
    if (known)
      verify(
        () => request.incoming.path,
        () => [String(known.body)],
        () => this.maker.represent(request, request.db.values<number>(this.#result(request, key))),
      );
    return known;
  }

  /** Caches the representation of an object that the caller can see; undefined where it cannot be cached. */
  store(request: Request, { id, uuid }: Row, text: string): Reply | undefined {
    return this.#cache(request)?.store(viewerOf(request), id, uuid, text);
  }

  /** 200 with a page of the objects with these ids. */
  page(request: Request, ids: readonly number[], headers: Reply['headers']): Reply {
    const objects = this.#objects(request, ids);
    const etags = objects.map(etagOf).join('');
    const bytes = request.app.objectCaches.page(etags, () => {
      const pieces = objects.flatMap(({ body }, i) => [i === 0 ? opening : comma, bytesOf(body)]);
      return Buffer.concat([...(pieces.length === 0 ? [opening] : pieces), closing]);
    });
    // At one URL, the same objects out of the same number have the same links to other pages.
    return page(bytes, `"${bytes.digest}.${headers['X-Result-Count']}"`, headers);
  }

  /** Represents the missing objects together. */
  #objects(request: Request, ids: readonly number[]): Reply[] {
    const cache = this.#cache(request);
    const viewer = viewerOf(request);
    const known = ids.map((id) => cache?.byId(viewer, id));
    const missing = ids.filter((_, i) => known[i] === undefined);
    const make = (some: readonly number[]): Reply[] => this.#make(request, some, cache, viewer);
    const created = missing.length === 0 ? [] : request.db.inSteps(this.query, missing, make);
    let next = 0;
    return ids.map((id, i) => {
      const reply = known[i];
      if (reply === undefined) return present(created[next++]);
      verify(
        () => `${this.spec.table} ${id}`,
        () => [String(reply.body)],
        () => this.maker.represent(request, [id]),
      );
      return reply;
    });
  }

  #make(request: Request, ids: readonly number[], cache: ObjectCache | undefined, viewer: Viewer): Reply[] {
    const keys = this.#keysOf(request, ids);
    return this.maker.represent(request, ids).map((text, i) => {
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
    const result = this.#result(request, '', viewer);
    return {
      table: this.spec.table,
      invalidatedBy: this.spec.invalidatedBy,
      reads: [...new Set([...db.readsOf(this.query), ...db.readsOf(result.text)])],
    };
  }

  #result({ caller, config }: Request, key: string, by = caller): Sql {
    const { alias, table, visible } = this.spec;
    return sql`SELECT ${raw(alias)}.id FROM ${raw(table)} ${raw(alias)}
      WHERE ${raw(alias)}.uuid = ${key} AND (${visible.condition(by, config)})`;
  }

  #keysOf({ db }: Request, ids: readonly number[]): Map<number, string> {
    const rows = db.all<Row>(sql`SELECT id, uuid FROM ${raw(this.spec.table)} WHERE ${among('id', ids)}`);
    return new Map(rows.map(({ id, uuid }) => [id, uuid]));
  }
}

/** Callers who see everything share a representation, apart from being staff. */
const viewerOf = ({ base, caller }: Request): Viewer => ({
  base,
  key: `${base} ${seesAll(caller) ? caller.isStaff : caller.id}`,
});

const bytesOf = (body: Reply['body']): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body);

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
