import type { Request } from '../access/request.ts';
import { authenticated } from '../access/right.ts';
import { raw, Sql, sql, type Value } from '../db/sql.ts';
import { notFound, reject } from '../http/error.ts';
import { changed, created, empty, type Reply } from '../http/reply.ts';
import { present } from '../present.ts';
import { deletedValues, noteBody, notedUpdate, noteUpdate } from './audited-changes.ts';
import { type Columns, storedColumns } from './changes.ts';
import type { CollectionSpec, Row } from './collection-spec.ts';
import { type BodySpec, describeFields, type Endpoint, type Method, type Operation } from './endpoint.ts';
import type { Fields, NewValues, Values } from './field.ts';
import { flagParameters } from './filter.ts';
import type { JsonSchema } from './json-schema.ts';
import type { LinkTarget } from './links.ts';
import { Listing, type Parameters } from './listing.ts';
import { describeList, describeObject, type ObjectAction } from './object-options.ts';
import { type Purpose, validate } from './validate.ts';
import { nounOf, pluralOf, withArticle } from './wording.ts';

export type { CollectionSpec, Created, Parent, Row } from './collection-spec.ts';

/** A collection built from its declaration: list, retrieve, create, update, delete and OPTIONS. */
export class Collection<F extends Fields, R extends Row, A = NewValues<F>> implements LinkTarget {
  readonly path: string;
  readonly listing: Listing;
  readonly #searches: Searches;

  constructor(readonly spec: CollectionSpec<F, R, A>) {
    this.#searches = searchesOf(spec);
    this.path = spec.path;
    this.listing = new Listing({ ...spec, title: spec.title ?? spec.kind.replaceAll(/[ .]/g, '') });
  }

  /** Returns the row in a path if the caller can see it. The only way from a uuid in a URL to a row. Throws 404. */
  find(request: Request, visible: Sql = this.visible(request)): R {
    const row = this.#seek(request, visible);
    if (!row) throw notFound();
    return row;
  }

  /** Condition: the caller of a request can see the row. */
  visible({ caller, config }: Request): Sql {
    return this.spec.visible.condition(caller, config);
  }

  #seek(request: Request, visible: Sql): R | undefined {
    const { key = '' } = request.params;
    const where = this.spec.key === 'pk' ? { id: Number(key) } : { uuid: key.toLowerCase() };
    return seek<R>(request, this.#searches, where, visible);
  }

  visibleId(request: Request, uuid: string): number | undefined {
    return seek<R>(request, this.#searches, { uuid }, this.visible(request))?.id;
  }

  /** Returns the JSON text of an object as the caller sees it. */
  represent(request: Request, id: number, parameters?: Parameters): string {
    const text = this.listing.representOne(request, id, parameters);
    return this.spec.detail?.complete(request, id, text) ?? text;
  }

  list(request: Request): Reply {
    const { page } = this.spec;
    return page ? page.run(request, this.listing) : this.listing.page(request, [this.visible(request)]);
  }

  retrieve(request: Request): Reply {
    const row = this.find(request);
    return this.listing.respondWith(request, row, this.represent(request, row.id), this.spec.detail?.until(request));
  }

  create(request: Request): Reply {
    const { accepted, columns, values } = this.acceptNew(request);
    noteBody(request, this.spec.fields, values);
    const creation = present(this.spec.create).run(request, accepted, columns);
    return typeof creation === 'number'
      ? this.created(request, creation)
      : this.created(request, creation.id, creation.parameters);
  }

  /** Returns the values and columns of a creation, if the caller may create the object. Throws 403, 400. */
  acceptNew(request: Request): { readonly accepted: A; readonly columns: Columns; readonly values: NewValues<F> } {
    const rule = present(this.spec.create);
    rule.right?.require(request, undefined);
    const values = validate(this.accepted(request), request, 'create', { table: this.spec.table });
    rule.check?.(request, values);
    // Without `accept`, the two types are the same, which the compiler cannot infer.
    const accepted = rule.accept ? rule.accept(request, values) : (values as unknown as A);
    rule.rightWith?.require(request, accepted);
    return { accepted, columns: storedColumns(this.spec.fields, values), values };
  }

  /** Responds with 201, a new object and its location. */
  created(request: Request, id: number, parameters?: Parameters): Reply {
    const key = this.#keyOf(request, id);
    const draft = request.app.trail.current;
    if (draft) {
      draft.about(this.path, key, draft.changes.find(({ field }) => field === 'name' || field === 'username')?.to);
      draft.rows.push({ table: this.spec.table, id });
    }
    return created(this.represent(request, id, parameters), `${request.base}/api/${this.path}/${key}/`);
  }

  #keyOf(request: Request, id: number): string {
    const { key, table } = this.spec;
    if (key === 'pk') return String(id);
    return request.db.scalar<string>(sql`SELECT uuid FROM ${raw(table)} WHERE id = ${id}`);
  }

  /** Returns the URL of an object. */
  urlOf(request: Request, id: number): string {
    return `${request.base}/api/${this.path}/${this.#keyOf(request, id)}/`;
  }

  /** Sets the object of a request's audit record. */
  noteObject({ app: { trail } }: Request, row: R): void {
    if (!trail.current) return;
    const name: unknown = Reflect.get(row, 'name') ?? Reflect.get(row, 'username');
    trail.current.about(this.path, this.spec.key === 'pk' ? String(row.id) : row.uuid, name);
    trail.current.rows.push({ table: this.spec.table, id: row.id, row });
  }

  update(request: Request, purpose: Purpose): Reply {
    const rule = present(this.spec.update);
    const { row, values } = this.#acceptChange(request, purpose);
    request.checkPreconditions();
    reject(rule.denialReason?.(request, row));
    const columns = storedColumns(this.spec.fields, values);
    const draft = request.app.trail.current;
    this.noteObject(request, row);
    const audited = draft && notedUpdate(this.spec.fields, row, values, columns);
    const before = audited && audited.shown.length > 0 ? this.represent(request, row.id) : '';
    const parameters = rule.run(request, row, values, columns) ?? undefined;
    const after = this.represent(request, row.id, parameters);
    if (audited) {
      // A changed link may have moved the object.
      if (before !== '') draft.rows.push({ table: this.spec.table, id: row.id });
      noteUpdate(draft, audited, this.spec.fields, request.base, before, after);
    }
    return changed(after);
  }

  /** Returns the changes in a body, if the caller may change the object. Throws 404, 403, 400. */
  #acceptChange(request: Request, purpose: Purpose): { readonly row: R; readonly values: Values<F> } {
    const rule = present(this.spec.update);
    const row = this.#findToWrite(request);
    rule.right.require(request, row);
    const values = validate(this.accepted(request, row), request, purpose, { table: this.spec.table, current: row.id });
    rule.check?.(request, values, row);
    rule.rightWith?.require(request, { row, values });
    return { row, values };
  }

  async #prepareChange(request: Request, purpose: Purpose): Promise<void> {
    const { row, values } = this.#acceptChange(request, purpose);
    await this.spec.update?.prepare?.(request, row, values);
  }

  delete(request: Request): Reply {
    const rule = present(this.spec.delete);
    const row = this.#findToWrite(request);
    rule.right.require(request, row);
    request.checkPreconditions();
    reject(rule.denialReason?.(request, row));
    const draft = request.app.trail.current;
    this.noteObject(request, row);
    draft?.changes.push(...deletedValues(this.spec.fields, row));
    return rule.run(request, row) ?? empty();
  }

  /** The list and detail paths of the collection. Modules add others. */
  endpoints(): [list: Endpoint, detail: Endpoint] {
    const { kind, description, path, key = 'uuid', hidesKey = false } = this.spec;
    const list: Endpoint = {
      path: `/api/${path}/`,
      name: `${kind} List`,
      description,
      operations: this.#listOperations(),
      actions: (request) => this.#listActions(request),
      permittedMethods: (request) => permittedOnList(this.spec, request),
      ...(this.spec.options && { metadata: (request: Request) => this.#describeList(request) }),
    };
    const detail: Endpoint = {
      path: `/api/${path}/:key/`,
      key,
      ...(hidesKey && { hidesPath: true }),
      name: `${kind} Instance`,
      description,
      operations: this.#detailOperations(),
      isVisible: (request) => this.#seek(request, this.visible(request)) !== undefined,
      actions: (request) => this.#detailActions(request),
      permittedMethods: (request) => permittedOnObject(this.spec, request, this.find(request)),
      ...(this.spec.options && { metadata: (request: Request) => this.#describeObject(request) }),
    };
    return [list, detail];
  }

  /** The name of an object in sentences. */
  get noun(): string {
    return this.spec.noun ?? nounOf(this.spec.kind);
  }

  /** JSON Schema of the representation. */
  get shape(): JsonSchema {
    return this.listing.shape;
  }

  /** Returns the fields that this request may write. */
  accepted(request: Request, row?: R): F {
    const { accepts, fields } = this.spec;
    if (!accepts) return fields;
    // Omitted fields are absent like optional ones, so the types still hold.
    return Object.fromEntries(Object.entries(fields).filter(([name]) => accepts(request, name, row))) as F;
  }

  #findToWrite(request: Request): R {
    return this.find(request, this.spec.writable?.(request.caller));
  }

  #listOperations(): Endpoint['operations'] {
    const { create, page, visible } = this.spec;
    const { filters, orderings } = this.listing.parameters;
    const list: Operation = {
      summary: `Lists the ${pluralOf(this.noun)} that the caller sees.`,
      handle: (request) => this.list(request),
      filters: { ...page?.filters, ...filters },
      orderings: page?.orderings ?? orderings,
      selectable: true,
      paginated: true,
      output: { status: 200, shape: { type: 'array', items: this.shape } },
      rejections: page?.rejections,
      allowedFor: visible.allowedFor,
    };
    if (!create) return { GET: list };
    const { prepare } = create;
    const post: Operation = {
      summary: create.summary ?? `Creates ${withArticle(this.noun)}.`,
      ...(prepare && { prepare: async (request: Request) => prepare(request, this.acceptNew(request).accepted) }),
      handle: (request) => this.create(request),
      input: create.input ?? bodyOf(this.listing.spec.title, this.spec, 'create'),
      output: { status: 201, shape: this.shape },
      rejections: create.rejections,
      allowedFor: (create.rightWith ?? create.right ?? authenticated).allowedFor,
    };
    return { GET: list, POST: post };
  }

  #detailOperations(): Endpoint['operations'] {
    const { delete: deletion, detail, update, visible } = this.spec;
    const get: Operation = {
      summary: `Returns ${withArticle(this.noun)}.`,
      fromCache: (request) => this.listing.fromCache(request),
      handle: (request) => this.retrieve(request),
      ...(detail && { filters: detail.filters }),
      selectable: true,
      output: { status: 200, shape: this.shape },
      allowedFor: visible.allowedFor,
    };
    const writing = (purpose: Purpose, summary: string): Operation => ({
      summary,
      ...(update?.prepare && { prepare: (request: Request) => this.#prepareChange(request, purpose) }),
      handle: (request) => this.update(request, purpose),
      input: bodyOf(this.listing.spec.title, this.spec, purpose),
      output: { status: 200, shape: this.shape },
      ...(update && { rejections: update.rejections, allowedFor: (update.rightWith ?? update.right).allowedFor }),
    });
    return {
      GET: get,
      ...(update && {
        PUT: writing('replace', `Updates ${withArticle(this.noun)}.`),
        PATCH: writing('change', `Updates some fields of ${withArticle(this.noun)}.`),
      }),
      ...(deletion && {
        DELETE: {
          summary: deletion.summary ?? `Deletes ${withArticle(this.noun)}.`,
          handle: (request: Request) => this.delete(request),
          ...(deletion.flags && { filters: flagParameters(deletion.flags) }),
          output: deletion.output ?? { status: 204 },
          allowedFor: deletion.right.allowedFor,
        },
      }),
    };
  }

  #listActions(request: Request): Record<string, unknown> | undefined {
    const { create, described, fields } = this.spec;
    if (!create) return undefined;
    const displayed = described ? described(request, undefined) : (create.right?.may(request, undefined) ?? true);
    return displayed ? { POST: describeFields(fields, request, 'create') } : undefined;
  }

  #detailActions(request: Request): Record<string, unknown> | undefined {
    const row = this.find(request);
    const { update, described, fields } = this.spec;
    if (!update) return undefined;
    const displayed = described ? described(request, row) : update.right.may(request, row);
    return displayed ? { PUT: describeFields(fields, request, 'replace') } : undefined;
  }

  #describeList(request: Request): Reply {
    const { create, options } = this.spec;
    const mayCreate = create && (create.right?.may(request, undefined) ?? true);
    return describeList(
      request,
      mayCreate ? this.accepted(request) : undefined,
      options?.inList ? this.#actions() : [],
    );
  }

  #describeObject(request: Request): Reply {
    const row = this.find(request);
    const narrowing = this.spec.options?.narrowing?.(request, row);
    return describeObject(request, this.urlOf(request, row.id), row, this.#actions(), narrowing);
  }

  /** Returns the actions for OPTIONS in the actions format: declared actions, updates and deletions. */
  #actions(): readonly ObjectAction<R>[] {
    const { delete: deletion, fields, options, update } = this.spec;
    return [
      ...(options?.actions() ?? []),
      ...(update ? [{ name: 'update', method: 'PUT', tail: '', fields, ...update } as const] : []),
      ...(deletion ? [{ name: 'destroy', method: 'DELETE', tail: '', isDestructive: true, ...deletion } as const] : []),
    ];
  }
}

/** Creates a collection from its declaration. With `accept`, use the class, which has its result type as a parameter. */
export const collection =
  <R extends Row>() =>
  <F extends Fields>(spec: CollectionSpec<F, R>): Collection<F, R> =>
    new Collection(spec);

const titleEndings: Readonly<Record<Purpose, string>> = { create: 'Create', replace: 'Update', change: 'Patch' };

interface Described {
  readonly fields: Fields;
  readonly examples?: Readonly<Partial<Record<Purpose, Readonly<Record<string, unknown>>>>> | undefined;
}

/** Returns the documented body of a write. `title` is the schema name of the objects. */
function bodyOf(title: string, { examples, fields }: Described, purpose: Purpose): BodySpec {
  const example = examples?.[purpose];
  // Uploaded files cannot be sent as JSON.
  const isUpload =
    purpose === 'create' && Object.values(fields).some(({ input, type }) => type === 'file upload' && input?.required);
  return {
    fields,
    purpose,
    title: title + titleEndings[purpose],
    ...(example && { example }),
    ...(isUpload && { types: ['multipart/form-data'] }),
  };
}

/** Whether the caller could create objects, ignoring rights that depend on the body. */
const permittedOnList = <F extends Fields, R extends Row, A>(
  { create }: Pick<CollectionSpec<F, R, A>, 'create'>,
  request: Request,
): readonly Method[] =>
  create && (create.right?.may(request, undefined) ?? create.isPossible?.(request) ?? true) ? ['POST'] : [];

/** Returns the methods that the caller's rights allow on an object, regardless of its state. */
const permittedOnObject = <F extends Fields, R extends Row, A>(
  { delete: deletion, update }: Pick<CollectionSpec<F, R, A>, 'delete' | 'update'>,
  request: Request,
  row: R,
): readonly Method[] => [
  ...(update?.right.may(request, row) ? (['PUT', 'PATCH'] as const) : []),
  ...(deletion?.right.may(request, row) ? (['DELETE'] as const) : []),
];

/** The table of a collection. */
interface TableRef {
  readonly table: string;
  readonly alias: string;
}

/** The key of a row lookup. */
type Named = { readonly id: number } | { readonly uuid: string };

/** Prefixes of row queries: by id, by uuid, and by uuid with its known id. */
interface Searches {
  readonly byId: string;
  readonly byUuid: string;
  readonly byKnownId: string;
}

function searchesOf({ alias, table }: TableRef): Searches {
  const every = `SELECT ${alias}.* FROM ${table} ${alias} WHERE`;
  return {
    byId: `${every} ${alias}.id = ? AND (`,
    byUuid: `${every} ${alias}.uuid = ? AND (`,
    // The UUID index would read pages of a large table that no other request has read recently.
    byKnownId: `${every} ${alias}.id = ? AND +${alias}.uuid = ? AND (`,
  };
}

/** Returns the row with an id or a uuid if it satisfies the condition. See src/decisions/caching.md. */
function seek<R extends Row>(
  { app, db }: Request,
  { byId, byKnownId, byUuid }: Searches,
  named: Named,
  visible: Sql,
): R | undefined {
  const row = (beginning: string, ...values: readonly Value[]): R | undefined =>
    db.get<R>(new Sql(`${beginning}${visible.text})`, [...values, ...visible.values]));
  if ('id' in named) return row(byId, named.id);
  const { ids } = app.objectCaches;
  const { uuid } = named;
  const known = ids.get(uuid);
  const result = known === undefined ? undefined : row(byKnownId, known, uuid);
  if (result) return result;
  const searched = row(byUuid, uuid);
  if (searched) ids.set(uuid, searched.id);
  return searched;
}
