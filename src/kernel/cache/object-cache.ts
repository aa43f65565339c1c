import { CompressedForms } from '../http/encoding.ts';
import { document, encoded, type Reply, tagOf } from '../http/reply.ts';
import { namesOf, type Part, partOf } from './access.ts';
import { CacheBudget, type GenerationalCache } from './generational-cache.ts';
import type { RowRules, RowWatch, Watched } from './row-watch.ts';
import type { Basis, Versions } from './versions.ts';

declare module '../app.ts' {
  interface App {
    /** Cached representations of objects, by viewer. */
    readonly objectCaches: ObjectCaches;
  }
}

/** The parts of the database that the cache needs. */
interface WatchedDatabase {
  readonly versions: Versions;
  watchRows(watched: Watched, onChange: (id: number) => void): RowWatch | undefined;
}

/** Callers that share a representation. */
export interface Viewer {
  /** Base URL of links. */
  readonly base: string;
  /** The cache key: the base URL, and everything else that the representation depends on except the object. */
  readonly key: string;
}

/** Declares a collection's objects for the cache. */
export interface CachedCollection {
  readonly table: string;
  readonly invalidatedBy: RowRules;
  /** The parts that two queries read: one for a complete object, one that finds it for a caller with limited visibility. */
  readonly reads: readonly Part[];
}

/** The responses for one object, by viewer. */
interface CachedObject {
  readonly key: string;
  readonly byViewer: Map<string, Reply>;
  size: number;
}

/** The body of a page, which depends only on its objects. */
interface CachedPage extends Required<Pick<Reply, 'body' | 'compressed'>> {
  readonly digest: string;
  size: number;
}

/** Approximate bytes of a cached response without its body, and of a UUID with its id. */
const overhead = 600;
const idSize = 150;
/** Number of host names for which to cache representations. Links start with the client's host name. */
const maxBases = 8;

/** The object caches of all collections, within one size limit. See src/decisions/caching.md. */
export class ObjectCaches {
  readonly #collections = new Map<object, ObjectCache>();
  readonly #budget: CacheBudget;
  readonly #pages: GenerationalCache<string, CachedPage>;
  /** Last known ids by UUID. The object may be gone, and the id may belong to another. */
  readonly ids: GenerationalCache<string, number>;

  constructor(
    private readonly db: WatchedDatabase,
    private readonly maxSize: number,
  ) {
    this.#budget = new CacheBudget(maxSize);
    this.#pages = this.#budget.cache(({ size }) => size);
    this.ids = this.#budget.cache(() => idSize);
  }

  /** Returns the cache of a collection; undefined if its rows cannot be watched. */
  of(collection: object, describe: () => CachedCollection): ObjectCache | undefined {
    const known = this.#collections.get(collection);
    if (known) return known.current();
    if (this.maxSize === 0) return undefined;
    const { invalidatedBy, reads, table } = describe();
    const watch = this.db.watchRows({ table, rules: invalidatedBy, read: namesOf(reads) }, (id) => cache.delete(id));
    if (!watch) return undefined;
    const cache = new ObjectCache(this.db, watch, invalidatedBy, reads, this.ids, this.#budget);
    this.#collections.set(collection, cache);
    return cache;
  }

  /** Returns the body of a page whose objects have these ETags. Calls `make` if it is not cached. */
  page(etags: string, make: () => Uint8Array): CachedPage {
    const cached = this.#pages.get(etags);
    if (cached) return cached;
    const body = make();
    const compressed = new CompressedForms('each', (bytes) => {
      page.size += bytes;
      this.#pages.recordGrowth(etags, page, bytes);
    });
    const page = { body, compressed, digest: tagOf(etags).slice(1, -1), size: overhead + etags.length + body.length };
    this.#pages.set(etags, page);
    return page;
  }
}

/** The representations of the objects of one collection. */
export class ObjectCache {
  readonly #objects: GenerationalCache<number, CachedObject>;
  #bases = new Set<string>();
  #basis: Basis;
  /** Parts without a rule. A change of one invalidates every object. */
  readonly #unwatched: readonly Part[];

  constructor(
    private readonly db: WatchedDatabase,
    private readonly watch: RowWatch,
    rules: RowRules,
    private readonly reads: readonly Part[],
    private readonly ids: GenerationalCache<string, number>,
    budget: CacheBudget,
  ) {
    this.#objects = budget.cache(({ size }) => size);
    const isUnwatched = (name: string): boolean => !Object.hasOwn(rules, name.split('.', 1)[0] ?? '');
    this.#unwatched = namesOf(reads).filter(isUnwatched).map(partOf);
    this.#basis = db.versions.basis([this.#unwatched]);
  }

  /** Drops outdated entries. Returns this cache. */
  current(): this {
    if (!this.db.versions.isCurrent(this.#basis)) {
      this.#objects.clear();
      this.#bases.clear();
      this.#basis = this.db.versions.basis([this.#unwatched]);
    }
    return this;
  }

  /** Returns the cached response for the object with this key and viewer. */
  byKey(viewer: Viewer, key: string): Reply | undefined {
    const id = this.ids.get(key);
    if (id === undefined) return undefined;
    const object = this.#objects.get(id);
    return object?.key === key ? this.#replyFor(object, viewer) : undefined;
  }

  /** Returns the cached response for the object with this id and viewer. */
  byId(viewer: Viewer, id: number): Reply | undefined {
    return this.#replyFor(this.#objects.get(id), viewer);
  }

  /** Caches the representation of an object that the viewer can see. Returns it as a response. */
  store(viewer: Viewer, id: number, key: string, text: string): Reply {
    if (!this.#admits(viewer.base)) return encoded(document(text));
    const object = this.#objects.get(id) ?? { key, byViewer: new Map<string, Reply>(), size: 0 };
    const compressed = new CompressedForms('each', (bytes) => {
      object.size += bytes;
      this.#objects.recordGrowth(id, object, bytes);
    });
    this.watch.include(id);
    const response = encoded(document(text));
    const reply = { ...response, compressed, etag: tagOf(response.body), cacheable: 'all' } as const;
    this.#objects.delete(id);
    object.byViewer.set(viewer.key, reply);
    object.size += overhead + 2 * viewer.key.length + reply.body.length;
    this.#objects.set(id, object);
    this.ids.set(key, id);
    return reply;
  }

  /** Drops an object after it or its visibility has changed. */
  delete(id: number): void {
    this.#objects.delete(id);
  }

  #replyFor(object: CachedObject | undefined, viewer: Viewer): Reply | undefined {
    const reply = object?.byViewer.get(viewer.key);
    if (reply) this.db.versions.note(this.reads);
    return reply;
  }

  #admits(base: string): boolean {
    if (this.#bases.has(base)) return true;
    if (this.#bases.size >= maxBases) return false;
    this.#bases.add(base);
    return true;
  }
}
