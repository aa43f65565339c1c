import type { Caller } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { forbidden, notFound } from '../http/error.ts';
import { changed, created, document, empty, type Reply } from '../http/reply.ts';
import type { KeyKind } from '../http/router.ts';
import { type BodySpec, describeFields, type Endpoint, type Operation } from './endpoint.ts';
import type { Fields, Shape, Values } from './field.ts';
import type { LinkTarget } from './links.ts';
import { Listing, type ListSpec } from './listing.ts';
import { type Purpose, validate } from './validate.ts';

/** A row of a table that is addressed by uuid, or by its id as `pk`. */
export interface Row {
  readonly id: number;
  readonly uuid: string;
}

/** The declaration of a collection: what it consists of, who sees it, who may do what, and what a change does. */
export interface CollectionSpec<F extends Fields, R extends Row> extends Omit<ListSpec, 'fields' | 'title'> {
  /** Segment behind /api/. */
  readonly path: string;
  /** Singular name, as OPTIONS shows it: `Customer`. */
  readonly kind: string;
  /** Name of the schema of its objects; default: that of the kind. */
  readonly title?: string;
  readonly description: string;
  readonly fields: F;
  /** What objects are addressed by; default: uuid. */
  readonly key?: KeyKind;
  /** Condition on the alias: the caller sees the object. */
  readonly visible: (caller: Caller) => Sql;
  /** Condition for objects that writes may address, where it differs from `visible`. */
  readonly writable?: (caller: Caller) => Sql;
  /** Whether OPTIONS describes the fields to the caller; default: when he may write. */
  readonly described?: (request: Request, row: R | undefined) => boolean;
  /** Whether a field of a body is looked at, for the object being changed; default: every writable one. */
  readonly accepts?: (request: Request, name: string, row: R | undefined) => boolean;
  /** Answers to OPTIONS in a format of their own. */
  readonly describe?: {
    readonly list: (request: Request) => Reply;
    readonly object: (request: Request, row: R) => Reply;
  };
  /** Who may read, create, update and delete, in words for the documentation. */
  readonly who?: Readonly<Partial<Record<'read' | 'create' | 'update' | 'delete', string>>>;
  /** Valid bodies for the documentation, where the required fields alone are none. */
  readonly examples?: Readonly<Partial<Record<Purpose, Readonly<Record<string, unknown>>>>>;
  readonly create?: {
    /** The right as far as it does not depend on the body. */
    readonly may?: (request: Request) => boolean;
    /** Rules across fields; throws 400. */
    readonly check?: (request: Request, values: Values<F>) => void;
    /** The right that depends on what the body names. */
    readonly mayWith?: (request: Request, values: Values<F>) => boolean;
    /** Creates the object and everything that goes with it; answers its id. */
    readonly run: (request: Request, values: Values<F>) => number;
    /** Refusals besides those that every creation has, for the documentation. */
    readonly refusals?: Operation['refusals'];
  };
  readonly update?: {
    readonly may: (request: Request, row: R) => boolean;
    readonly check?: (request: Request, values: Values<F>, row: R) => void;
    readonly mayWith?: (request: Request, values: Values<F>, row: R) => boolean;
    readonly run: (request: Request, row: R, values: Values<F>) => void;
  };
  readonly delete?: {
    readonly may: (request: Request, row: R) => boolean;
    readonly run: (request: Request, row: R) => void;
  };
}

/** What the names of the schemas of bodies end with. */
const titleEndings: Readonly<Record<Purpose, string>> = { create: 'Create', replace: 'Update', change: 'Patch' };

/** A collection made from its declaration: list, retrieve, create, update, delete and OPTIONS. */
export class Collection<F extends Fields, R extends Row> implements LinkTarget {
  readonly path: string;
  readonly listing: Listing;

  constructor(readonly spec: CollectionSpec<F, R>) {
    this.path = spec.path;
    this.listing = new Listing({ ...spec, title: spec.title ?? spec.kind.replaceAll(/[ .]/g, '') });
  }

  /** The row a path names, if the caller sees it. The only way from a uuid in a URL to a row. Throws 404. */
  find(request: Request, visible: Sql = this.spec.visible(request.caller)): R {
    const row = this.#seek(request, visible);
    if (!row) throw notFound();
    return row;
  }

  #seek(request: Request, visible: Sql): R | undefined {
    const key = request.params.key ?? '';
    const { alias, table } = this.spec;
    const named =
      this.spec.key === 'pk' ? sql`${raw(alias)}.id = ${Number(key)}` : sql`${raw(alias)}.uuid = ${key.toLowerCase()}`;
    return request.db.get<R>(
      sql`SELECT ${raw(alias)}.* FROM ${raw(table)} ${raw(alias)} WHERE ${named} AND (${visible})`,
    );
  }

  visibleId(request: Request, uuid: string): number | undefined {
    const { alias, table } = this.spec;
    return request.db.value<number>(sql`SELECT ${raw(alias)}.id FROM ${raw(table)} ${raw(alias)}
      WHERE ${raw(alias)}.uuid = ${uuid} AND (${this.spec.visible(request.caller)})`);
  }

  /** The JSON text of one object as the caller sees it. */
  represent(request: Request, id: number): string {
    return this.listing.represent(request, [id])[0] as string;
  }

  list(request: Request): Reply {
    return this.listing.page(request, [this.spec.visible(request.caller)]);
  }

  retrieve(request: Request): Reply {
    return document(this.represent(request, this.find(request).id));
  }

  create(request: Request): Reply {
    const rule = this.spec.create as NonNullable<CollectionSpec<F, R>['create']>;
    if (rule.may && !rule.may(request)) throw forbidden();
    const values = validate(this.accepted(request), request, 'create', { table: this.spec.table });
    rule.check?.(request, values);
    if (rule.mayWith && !rule.mayWith(request, values)) throw forbidden();
    const id = rule.run(request, values);
    const text = this.represent(request, id);
    return created(text, (JSON.parse(text) as { url: string }).url);
  }

  update(request: Request, purpose: Purpose): Reply {
    const rule = this.spec.update as NonNullable<CollectionSpec<F, R>['update']>;
    const row = this.#findToWrite(request);
    if (!rule.may(request, row)) throw forbidden();
    const values = validate(this.accepted(request, row), request, purpose, { table: this.spec.table, current: row.id });
    rule.check?.(request, values, row);
    if (rule.mayWith && !rule.mayWith(request, values, row)) throw forbidden();
    rule.run(request, row, values);
    return changed(this.represent(request, row.id));
  }

  delete(request: Request): Reply {
    const rule = this.spec.delete as NonNullable<CollectionSpec<F, R>['delete']>;
    const row = this.#findToWrite(request);
    if (!rule.may(request, row)) throw forbidden();
    rule.run(request, row);
    return empty();
  }

  /** The list and detail paths of the collection; further ones are added by the domain. */
  endpoints(): Endpoint[] {
    const { describe, kind, description, path, key = 'uuid' } = this.spec;
    const list: Endpoint = {
      path: `/api/${path}/`,
      name: `${kind} List`,
      description,
      operations: this.#listOperations(),
      actions: (request) => this.#listActions(request),
    };
    const detail: Endpoint = {
      path: `/api/${path}/:key/`,
      key,
      name: `${kind} Instance`,
      description,
      operations: this.#detailOperations(),
      shows: (request) => this.#seek(request, this.spec.visible(request.caller)) !== undefined,
      actions: (request) => this.#detailActions(request),
    };
    if (!describe) return [list, detail];
    return [
      { ...list, metadata: describe.list },
      { ...detail, metadata: (request) => describe.object(request, this.find(request)) },
    ];
  }

  /** JSON Schema of the representation. */
  get shape(): Shape {
    return this.listing.shape;
  }

  /** The fields that a body of this request may write. */
  accepted(request: Request, row?: R): F {
    const { accepts, fields } = this.spec;
    if (!accepts) return fields;
    return Object.fromEntries(Object.entries(fields).filter(([name]) => accepts(request, name, row))) as F;
  }

  #findToWrite(request: Request): R {
    return this.find(request, (this.spec.writable ?? this.spec.visible)(request.caller));
  }

  #listOperations(): Endpoint['operations'] {
    const { kind, who, create } = this.spec;
    const list: Operation = {
      summary: `Lists every ${kind.toLowerCase()} the caller sees.`,
      handle: (request) => this.list(request),
      ...this.listing.parameters,
      paginated: true,
      output: { status: 200, shape: { type: 'array', items: this.shape } },
      who: who?.read,
    };
    if (!create) return { GET: list };
    const post: Operation = {
      summary: `Creates a ${kind.toLowerCase()}.`,
      handle: (request) => this.create(request),
      input: this.#body('create'),
      output: { status: 201, shape: this.shape },
      refusals: create.refusals,
      who: who?.create,
    };
    return { GET: list, POST: post };
  }

  #detailOperations(): Endpoint['operations'] {
    const { selectable, who } = this.spec;
    const kind = this.spec.kind.toLowerCase();
    const get: Operation = {
      summary: `Answers one ${kind}.`,
      handle: (request) => this.retrieve(request),
      selectable,
      output: { status: 200, shape: this.shape },
      who: who?.read,
    };
    const update = (purpose: Purpose, summary: string): Operation => ({
      summary,
      handle: (request) => this.update(request, purpose),
      input: this.#body(purpose),
      output: { status: 200, shape: this.shape },
      who: who?.update,
    });
    return {
      GET: get,
      ...(this.spec.update
        ? { PUT: update('replace', `Updates a ${kind}.`), PATCH: update('change', `Updates some fields of a ${kind}.`) }
        : {}),
      ...(this.spec.delete
        ? {
            DELETE: {
              summary: `Deletes a ${kind}.`,
              handle: (request: Request) => this.delete(request),
              output: { status: 204 },
              who: who?.delete,
            },
          }
        : {}),
    };
  }

  #body(purpose: Purpose): BodySpec {
    const { examples, fields } = this.spec;
    const example = examples?.[purpose];
    // What must be uploaded is no JSON.
    const isUpload =
      purpose === 'create' &&
      Object.values(fields).some(({ input, type }) => type === 'file upload' && input?.required);
    return {
      fields,
      purpose,
      title: this.listing.spec.title + titleEndings[purpose],
      ...(example && { example }),
      ...(isUpload && { types: ['multipart/form-data'] }),
    };
  }

  #listActions(request: Request): Record<string, unknown> | undefined {
    const { create, described, fields } = this.spec;
    if (!create) return undefined;
    const shown = described ? described(request, undefined) : (create.may?.(request) ?? true);
    return shown ? { POST: describeFields(fields, request, 'create') } : undefined;
  }

  #detailActions(request: Request): Record<string, unknown> | undefined {
    const row = this.find(request);
    const { update, described, fields } = this.spec;
    if (!update) return undefined;
    const shown = described ? described(request, row) : update.may(request, row);
    return shown ? { PUT: describeFields(fields, request, 'replace') } : undefined;
  }
}

/** Makes a collection from its declaration. */
export const collection =
  <R extends Row>() =>
  <F extends Fields>(spec: CollectionSpec<F, R>): Collection<F, R> =>
    new Collection(spec);
