import { seesAll } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Visibility } from '../access/right.ts';
import type { Texts, TextsOf, TextViewer, TouchedBy } from '../cache/texts.ts';
import { among, raw, type Sql, sql } from '../db/sql.ts';
import { etagOf } from '../http/etag.ts';
import { document, encoded, page, type Reply } from '../http/reply.ts';
import { present } from '../present.ts';
import { verify } from '../verification.ts';
import type { Row } from './row.ts';

/** What a collection says of objects whose texts are kept one by one. */
export interface KeptSpec {
  readonly table: string;
  readonly alias: string;
  /** Who sees an object. */
  readonly visible: Visibility;
  /**
   * What the texts change by. The objects have no secrets and no parameters, and tell those who see everything the same, but
   * for what only staff are told.
   */
  readonly touchedBy: TouchedBy;
}

/** Whether a declaration is that of such a collection. */
export const isKept = (spec: Partial<KeptSpec>): spec is KeptSpec => spec.touchedBy !== undefined;

/** Makes the texts of objects. */
interface Maker {
  represent(request: Request, ids: readonly number[]): string[];
}

/** The objects of a collection as the memory of a deployment knows them; a page of them is put together from their texts. */
export class KeptObjects {
  constructor(
    private readonly spec: KeptSpec,
    private readonly maker: Maker,
    /** The query of whole objects. */
    private readonly query: string,
  ) {}

  /** What is remembered of the object that the path names; undefined when it has to be made. */
  recall(request: Request): Reply | undefined {
    const { key = '' } = request.params;
    const known = this.#texts(request)?.byKey(viewerOf(request), key);
    if (known)
      verify(
        () => request.incoming.path,
        () => [String(known.body)],
        () => this.maker.represent(request, request.db.values<number>(this.#found(request, key))),
      );
    return known;
  }

  /** The answer about an object that the caller sees, remembered; undefined where that is not possible. */
  keep(request: Request, { id, uuid }: Row, text: string): Reply | undefined {
    return this.#texts(request)?.keep(viewerOf(request), id, uuid, text);
  }

  /** 200 with a page of the objects with these ids. */
  page(request: Request, ids: readonly number[], headers: Reply['headers']): Reply {
    const objects = this.#objects(request, ids);
    const etags = objects.map(etagOf).join('');
    const bytes = request.app.texts.page(etags, () => {
      const pieces = objects.flatMap(({ body }, i) => [i === 0 ? opening : comma, bytesOf(body)]);
      return Buffer.concat([...(pieces.length === 0 ? [opening] : pieces), closing]);
    });
    // At one address the same objects of as many have the same links to other pages.
    return page(bytes, `"${bytes.digest}.${headers['X-Result-Count']}"`, headers);
  }

  /** Those that are not remembered are made at once. */
  #objects(request: Request, ids: readonly number[]): Reply[] {
    const texts = this.#texts(request);
    const viewer = viewerOf(request);
    const known = ids.map((id) => texts?.byId(viewer, id));
    const missing = ids.filter((_, i) => known[i] === undefined);
    const make = (some: readonly number[]): Reply[] => this.#make(request, some, texts, viewer);
    const made = missing.length === 0 ? [] : request.db.inSteps(this.query, missing, make);
    let next = 0;
    return ids.map((id, i) => {
      const reply = known[i];
      if (reply === undefined) return present(made[next++]);
      verify(
        () => `${this.spec.table} ${id}`,
        () => [String(reply.body)],
        () => this.maker.represent(request, [id]),
      );
      return reply;
    });
  }

  #make(request: Request, ids: readonly number[], texts: Texts | undefined, viewer: TextViewer): Reply[] {
    const keys = this.#keysOf(request, ids);
    return this.maker.represent(request, ids).map((text, i) => {
      const id = present(ids[i]);
      return texts?.keep(viewer, id, present(keys.get(id)), text) ?? encoded(document(text));
    });
  }

  #texts(request: Request): Texts | undefined {
    return request.app.texts.of(this, () => this.#described(request));
  }

  /** By the query of whole objects, and the one that finds an object for a caller who does not see everything. */
  #described(request: Request): TextsOf {
    const { db } = request;
    const anybody = { ...request.caller, isStaff: false, isSupport: false };
    const found = this.#found(request, '', anybody);
    return {
      table: this.spec.table,
      touchedBy: this.spec.touchedBy,
      reads: [...new Set([...db.readsOf(this.query), ...db.readsOf(found.text)])],
    };
  }

  #found({ caller, config }: Request, key: string, by = caller): Sql {
    const { alias, table, visible } = this.spec;
    return sql`SELECT ${raw(alias)}.id FROM ${raw(table)} ${raw(alias)}
      WHERE ${raw(alias)}.uuid = ${key} AND (${visible.condition(by, config)})`;
  }

  #keysOf({ db }: Request, ids: readonly number[]): Map<number, string> {
    const rows = db.all<Row>(sql`SELECT id, uuid FROM ${raw(this.spec.table)} WHERE ${among('id', ids)}`);
    return new Map(rows.map(({ id, uuid }) => [id, uuid]));
  }
}

/** What decides about a text besides the object: those who see everything differ only in being staff. */
const viewerOf = ({ base, caller }: Request): TextViewer => ({
  base,
  name: `${base} ${seesAll(caller) ? caller.isStaff : caller.id}`,
});

const bytesOf = (body: Reply['body']): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body);

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
