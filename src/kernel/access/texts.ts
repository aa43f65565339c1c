import { namesOf, type Part, partOf } from '../db/access.ts';
import type { Database } from '../db/database.ts';
import type { Basis } from '../db/versions.ts';
import { CompressedForms } from '../http/encoding.ts';
import { tagOf } from '../http/etag.ts';
import { document, encoded, type Reply } from '../http/reply.ts';

/*
 * The texts of single objects, kept for each kind of viewer until the row of an object, or one that it tells of, changes.
 * The database itself says so, by triggers. See src/decisions/kept-texts.md.
 */

/**
 * The tables whose rows change single objects: for each the id of the object, or a SELECT of the ids of those, that a row
 * (`row.`) is told of in, or decides about who sees it. Of every other table any change that matters drops all texts.
 */
export type TouchedBy = Readonly<Record<string, string>>;

/** For whom a text is made. */
export interface TextViewer {
  /** Where its links start. */
  readonly base: string;
  /** That, and what of the caller decides about it. */
  readonly name: string;
}

/** What a memory needs to know of the objects of a collection. */
export interface TextsOf {
  readonly touchedBy: TouchedBy;
  /** What the query of a whole object reads, and the one that finds an object for a caller who does not see everything. */
  readonly reads: readonly Part[];
}

/** An answer about one object, with its weight in bytes. */
interface Kept {
  readonly reply: Reply;
  weight: number;
}

/** The answers about one object by viewer. */
interface KeptObject {
  readonly key: string;
  readonly byViewer: Map<string, Kept>;
}

/** What a page has that its objects alone decide. */
interface Page extends Required<Pick<Reply, 'body' | 'compressed'>> {
  readonly digest: string;
}

/** What a kept text weighs besides its bytes, about. */
const overhead = 600;
/** Links start with what clients call the server: so many names at a time. */
const mostBases = 8;

/** The texts of all collections of a deployment, which together stay within a bound of bytes. */
export class TextMemory {
  readonly #collections = new Map<object, Texts>();
  #pages = new Map<string, Page>();
  #oldPages = new Map<string, Page>();
  /** Of what was asked for lately. */
  #weight = 0;

  constructor(
    private readonly db: Database,
    private readonly heaviest: number,
  ) {}

  /** Those of a collection; undefined while they cannot be watched. */
  of(collection: object, describe: () => TextsOf): Texts | undefined {
    const texts = this.#collections.get(collection);
    if (texts) return texts.current();
    if (this.heaviest === 0) return undefined;
    const { reads, touchedBy } = describe();
    const made = new Texts(this.db, touchedBy, reads, (weight) => this.#grow(weight));
    if (!this.db.watchRows(touchedBy, namesOf(reads), (id) => made.forget(id))) return undefined;
    this.#collections.set(collection, made);
    return made;
  }

  /** The bytes of a page of objects with these ETags; made when they are not known. */
  page(etags: string, make: () => Uint8Array): Page {
    const young = this.#pages.get(etags);
    if (young) return young;
    const old = this.#oldPages.get(etags);
    if (old) return this.#keepPage(etags, old);
    const compressed = new CompressedForms('each', (bytes) => this.#grow(bytes));
    return this.#keepPage(etags, { body: make(), compressed, digest: tagOf(etags).slice(1, -1) });
  }

  #keepPage(etags: string, page: Page): Page {
    this.#pages.set(etags, page);
    this.#grow(overhead + etags.length + page.body.length);
    return page;
  }

  #grow(weight: number): void {
    this.#weight += weight;
    if (this.#weight <= this.heaviest / 2) return;
    this.#weight = 0;
    this.#oldPages = this.#pages;
    this.#pages = new Map();
    for (const texts of this.#collections.values()) texts.age();
  }
}

/** The texts of the objects of one collection. */
export class Texts {
  #young = new Map<number, KeptObject>();
  #old = new Map<number, KeptObject>();
  #ids = new Map<string, number>();
  #oldIds = new Map<string, number>();
  #bases = new Set<string>();
  #basis: Basis;
  /** What changes all of them. */
  readonly #others: readonly Part[];

  constructor(
    private readonly db: Database,
    touchedBy: TouchedBy,
    private readonly reads: readonly Part[],
    private readonly grow: (weight: number) => void,
  ) {
    const names = namesOf(reads);
    const isOther = (name: string): boolean => !Object.hasOwn(touchedBy, name.split('.', 1)[0] ?? '');
    this.#others = names.filter(isOther).map(partOf);
    this.#basis = db.versions.basis([this.#others]);
  }

  /** The same without what has changed since. */
  current(): this {
    if (!this.db.versions.isCurrent(this.#basis)) {
      this.age();
      this.age();
      this.#bases.clear();
      this.#basis = this.db.versions.basis([this.#others]);
    }
    return this;
  }

  /** What a viewer is told of the object that a path names by this key; undefined when it has to be made. */
  byKey(viewer: TextViewer, key: string): Reply | undefined {
    const id = this.#ids.get(key) ?? this.#oldIds.get(key);
    return id === undefined ? undefined : this.byId(viewer, id);
  }

  /** What a viewer is told of the object with this id; undefined when it has to be made. */
  byId(viewer: TextViewer, id: number): Reply | undefined {
    const object = this.#young.get(id) ?? this.#revive(id);
    const reply = object?.byViewer.get(viewer.name)?.reply;
    if (reply) this.db.versions.note(this.reads);
    return reply;
  }

  /** Keeps the text of an object that a viewer sees, and answers it as an answer. */
  keep(viewer: TextViewer, id: number, key: string, text: string): Reply {
    if (!this.#isKeptFor(viewer.base)) return encoded(document(text));
    const { name } = viewer;
    const compressed = new CompressedForms('each', (bytes) => {
      if (this.#young.get(id)?.byViewer.get(name) !== kept) return;
      kept.weight += bytes;
      this.grow(bytes);
    });
    const made = encoded(document(text));
    const reply = { ...made, compressed, etag: tagOf(made.body), kept: 'all' } as const;
    const kept = { reply, weight: overhead + 2 * name.length + reply.body.length };
    const object = this.#young.get(id) ?? this.#revive(id) ?? { key, byViewer: new Map<string, Kept>() };
    object.byViewer.set(name, kept);
    this.#young.set(id, object);
    this.#ids.set(key, id);
    this.grow(kept.weight);
    return reply;
  }

  /** An object has changed, or who sees it. */
  forget(id: number): void {
    for (const [objects, ids] of [
      [this.#young, this.#ids],
      [this.#old, this.#oldIds],
    ] as const) {
      const object = objects.get(id);
      if (!object) continue;
      objects.delete(id);
      ids.delete(object.key);
    }
  }

  /** Forgets what was not asked for since the last time. */
  age(): void {
    this.#old = this.#young;
    this.#oldIds = this.#ids;
    this.#young = new Map();
    this.#ids = new Map();
  }

  #revive(id: number): KeptObject | undefined {
    const object = this.#old.get(id);
    if (!object) return undefined;
    this.#old.delete(id);
    this.#young.set(id, object);
    this.#ids.set(object.key, id);
    let weight = 0;
    for (const kept of object.byViewer.values()) weight += kept.weight;
    this.grow(weight);
    return object;
  }

  #isKeptFor(base: string): boolean {
    if (this.#bases.has(base)) return true;
    if (this.#bases.size >= mostBases) return false;
    this.#bases.add(base);
    return true;
  }
}
