import { CompressedForms } from '../http/encoding.ts';
import { tagOf } from '../http/etag.ts';
import { document, encoded, type Reply } from '../http/reply.ts';
import { namesOf, type Part, partOf } from './access.ts';
import { Allowance, type Lately } from './lately.ts';
import type { RowWatch, Watched } from './row-watch.ts';
import type { Basis, Versions } from './versions.ts';

declare module '../app.ts' {
  interface App {
    /** Cached representations of objects, by viewer. */
    readonly texts: TextMemory;
  }
}

/*
 * The texts of single objects, kept for each kind of viewer until the row of an object, or one that it tells of, changes.
 * The database itself says so, by triggers. See src/decisions/caching.md.
 */

/**
 * The tables whose rows change single objects: for each the id of the object, or a SELECT of the ids of those, that a row
 * (`row.`) is told of in, or decides about who sees it. Of every other table any change that matters drops all texts.
 */
export type TouchedBy = Readonly<Record<string, string>>;

/** The database, as far as the cache needs it. */
interface WatchedDatabase {
  readonly versions: Versions;
  watchRows(watched: Watched, touched: (id: number) => void): RowWatch | undefined;
}

/** For whom a text is made. */
export interface TextViewer {
  /** Where its links start. */
  readonly base: string;
  /** That, and what of the caller decides about it. */
  readonly name: string;
}

/** What a memory needs to know of the objects of a collection. */
export interface TextsOf {
  /** Where the objects are. */
  readonly table: string;
  readonly touchedBy: TouchedBy;
  /** What the query of a whole object reads, and the one that finds an object for a caller who does not see everything. */
  readonly reads: readonly Part[];
}

/** The answers about one object by viewer, with their weight in bytes. */
interface KeptObject {
  readonly key: string;
  readonly byViewer: Map<string, Reply>;
  weight: number;
}

/** What a page has that its objects alone decide. */
interface Page extends Required<Pick<Reply, 'body' | 'compressed'>> {
  readonly digest: string;
  weight: number;
}

/** What a kept text weighs besides its bytes, about. */
const overhead = 600;
/** What a uuid and its id weigh, about. */
const idWeight = 150;
/** Links start with what clients call the server: so many names at a time. */
const mostBases = 8;

/** The texts of all collections of a deployment, which together stay within a bound of bytes. */
export class TextMemory {
  readonly #collections = new Map<object, Texts>();
  readonly #allowance: Allowance;
  readonly #pages: Lately<string, Page>;
  /** Which object had a uuid when it was last found: it may be gone, and its id be that of another. */
  readonly ids: Lately<string, number>;

  constructor(
    private readonly db: WatchedDatabase,
    private readonly heaviest: number,
  ) {
    this.#allowance = new Allowance(heaviest);
    this.#pages = this.#allowance.map(({ weight }) => weight);
    this.ids = this.#allowance.map(() => idWeight);
  }

  /** Those of a collection; undefined while they cannot be watched. */
  of(collection: object, describe: () => TextsOf): Texts | undefined {
    const texts = this.#collections.get(collection);
    if (texts) return texts.current();
    if (this.heaviest === 0) return undefined;
    const { reads, table, touchedBy } = describe();
    const read = namesOf(reads);
    const watch = this.db.watchRows({ table, rules: touchedBy, read }, (id) => made.forget(id));
    if (!watch) return undefined;
    const made = new Texts(this.db, watch, touchedBy, reads, this.ids, this.#allowance);
    this.#collections.set(collection, made);
    return made;
  }

  /** The bytes of a page of objects with these ETags; made when they are not known. */
  page(etags: string, make: () => Uint8Array): Page {
    const known = this.#pages.get(etags);
    if (known) return known;
    const body = make();
    const compressed = new CompressedForms('each', (bytes) => {
      page.weight += bytes;
      this.#pages.grown(etags, page, bytes);
    });
    const weight = overhead + etags.length + body.length;
    const page = { body, compressed, digest: tagOf(etags).slice(1, -1), weight };
    this.#pages.set(etags, page);
    return page;
  }
}

/** The texts of the objects of one collection. */
export class Texts {
  readonly #objects: Lately<number, KeptObject>;
  #bases = new Set<string>();
  #basis: Basis;
  /** What changes all of them. */
  readonly #others: readonly Part[];

  constructor(
    private readonly db: WatchedDatabase,
    private readonly watch: RowWatch,
    touchedBy: TouchedBy,
    private readonly reads: readonly Part[],
    private readonly ids: Lately<string, number>,
    allowance: Allowance,
  ) {
    this.#objects = allowance.map(({ weight }) => weight);
    const names = namesOf(reads);
    const isOther = (name: string): boolean => !Object.hasOwn(touchedBy, name.split('.', 1)[0] ?? '');
    this.#others = names.filter(isOther).map(partOf);
    this.#basis = db.versions.basis([this.#others]);
  }

  /** The same without what has changed since. */
  current(): this {
    if (!this.db.versions.isCurrent(this.#basis)) {
      this.#objects.clear();
      this.#bases.clear();
      this.#basis = this.db.versions.basis([this.#others]);
    }
    return this;
  }

  /** What a viewer is told of the object that a path names by this key; undefined when it has to be made. */
  byKey(viewer: TextViewer, key: string): Reply | undefined {
    const id = this.ids.get(key);
    if (id === undefined) return undefined;
    const object = this.#objects.get(id);
    return object?.key === key ? this.#told(object, viewer) : undefined;
  }

  /** What a viewer is told of the object with this id; undefined when it has to be made. */
  byId(viewer: TextViewer, id: number): Reply | undefined {
    return this.#told(this.#objects.get(id), viewer);
  }

  /** Keeps the text of an object that a viewer sees, and answers it as an answer. */
  keep(viewer: TextViewer, id: number, key: string, text: string): Reply {
    if (!this.#isKeptFor(viewer.base)) return encoded(document(text));
    const object = this.#objects.get(id) ?? { key, byViewer: new Map<string, Reply>(), weight: 0 };
    const compressed = new CompressedForms('each', (bytes) => {
      object.weight += bytes;
      this.#objects.grown(id, object, bytes);
    });
    this.watch.include(id);
    const made = encoded(document(text));
    const reply = { ...made, compressed, etag: tagOf(made.body), kept: 'all' } as const;
    this.#objects.delete(id);
    object.byViewer.set(viewer.name, reply);
    object.weight += overhead + 2 * viewer.name.length + reply.body.length;
    this.#objects.set(id, object);
    this.ids.set(key, id);
    return reply;
  }

  /** An object has changed, or who sees it. */
  forget(id: number): void {
    const object = this.#objects.get(id);
    if (!object) return;
    this.#objects.delete(id);
  }

  #told(object: KeptObject | undefined, viewer: TextViewer): Reply | undefined {
    const reply = object?.byViewer.get(viewer.name);
    if (reply) this.db.versions.note(this.reads);
    return reply;
  }

  #isKeptFor(base: string): boolean {
    if (this.#bases.has(base)) return true;
    if (this.#bases.size >= mostBases) return false;
    this.#bases.add(base);
    return true;
  }
}
