import { appendRecord, authorOf, type NewRecord } from '../../activity/audit/append.ts';
import { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { Caller } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { minute } from '../../kernel/clock.ts';
import { auditValue } from '../../kernel/collection/audited-changes.ts';
import { type Endpoint, isMethod, type Operation } from '../../kernel/collection/endpoint.ts';
import { HttpError } from '../../kernel/http/error.ts';
import type { IncomingRequest } from '../../kernel/http/incoming-request.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import type { Match, Router } from '../../kernel/http/router.ts';
import { clientNetworkOf } from '../../kernel/net/networks.ts';
import { placesOf } from '../compose/audit-places.ts';
import { operationIdOf } from '../docs/operation-ids.ts';

/** Minimum time between records of rejections with the same caller, operation and status. */
const rejectionInterval = minute;

/** Maximum number of keys for which omitted rejections are counted. */
const maxCountedRejections = 10_000;

/** Records the changes by requests, and the rejections that audit.md 2 lists. */
export class AuditedRequests {
  readonly #ids = new WeakMap<Endpoint, Map<string, string>>();
  readonly #rejections = new Map<string, { readonly since: number; omitted: number }>();

  constructor(
    private readonly app: App,
    private readonly router: Router<Endpoint>,
  ) {}

  /** Runs a handler that writes, and records its changes in the same transaction. */
  perform(endpoint: Endpoint, operation: Operation, request: Request, handle: () => Reply): Reply {
    const { app } = this;
    if (operation.unaudited !== undefined) return handle();
    const { changes } = app.db.versions;
    const draft = new AuditDraft();
    const reply = app.trail.during(draft, handle);
    const { actor, incoming } = request;
    const isRejected = operation.isLogin ? draft.isLoginRejected : undefined;
    const hasChanged = app.db.versions.changes !== changes || operation.isAlwaysAudited;
    // A login with a wrong password writes, too: it stores the failure.
    if (isRejected ?? reply.status >= 400) {
      if (isRejected || isRecorded(operation, actor, reply.status))
        this.#reject(endpoint, incoming, actor, reply.status);
    } else if (operation.isLogin ? draft.login : hasChanged)
      this.#record(endpoint, operation, request, draft, reply.status);
    return reply;
  }

  /** Records a rejection if audit.md 2 requires it, at most once a minute. Only logs a failure to do so. */
  rejected({ endpoint }: Match<Endpoint>, incoming: IncomingRequest, caller: Caller | null, error: unknown): void {
    const operation = isMethod(incoming.method) ? endpoint.operations[incoming.method] : undefined;
    if (!(error instanceof HttpError) || !operation) return;
    // Most errors are not recorded and need no transaction.
    const isReading = incoming.method === 'GET' && !operation.isWriting && !operation.isLogin;
    if (isReading || !isRecorded(operation, caller, error.status)) return;
    try {
      this.app.db.write(() => this.#reject(endpoint, incoming, caller, error.status));
    } catch (failure) {
      this.app.log.warn({ err: failure, request: incoming.id }, 'failed to record a rejection');
    }
  }

  /** Records a rejection. Must run inside a write. */
  #reject(endpoint: Endpoint, incoming: IncomingRequest, caller: Caller | null, status: number): void {
    const { app } = this;
    const now = app.clock.now();
    const id = this.#idOf(endpoint, incoming.method);
    const key = `${caller?.impersonator?.uuid ?? ''} ${caller?.uuid ?? clientNetworkOf(incoming.address)} ${id} ${status}`;
    const last = this.#rejections.get(key);
    if (last && now >= last.since && now - last.since < rejectionInterval) {
      app.db.onceStored(() => last.omitted++);
      return;
    }
    if (this.#rejections.size >= maxCountedRejections) this.#rejections.clear();
    // Reset the count only when the record is on disk, because the write may run again.
    app.db.onceStored(() => this.#rejections.set(key, { since: now, omitted: 0 }));
    const { object } = this.#pathObject(endpoint, incoming);
    appendRecord(app, {
      ...authorOf(caller, undefined),
      at: now,
      operation: id,
      outcome: 'refused',
      status,
      repeated: last?.omitted ?? 0,
      requestId: incoming.id,
      object,
      customers: [],
      projects: [],
      objectName: null,
      address: incoming.address,
      changes: [],
    });
  }

  #record(endpoint: Endpoint, operation: Operation, request: Request, draft: AuditDraft, status: number): void {
    const { actor, app, incoming } = request;
    if (draft.isUpdate && draft.changes.length === 0 && draft.contexts.length === 0) return;
    if (!draft.object) {
      const { object } = this.#pathObject(endpoint, incoming);
      if (object) draft.about(object.type, object.uuid, null);
      if (draft.changes.length === 0) noteOtherBody(operation, request, draft);
    }
    const author = authorOf(actor, draft.login);
    const { customers, projects } = placesOf(app, draft);
    // No object spreads: they would cost more than the rest of this function.
    appendRecord(app, {
      at: request.now,
      operation: this.#idOf(endpoint, incoming.method),
      outcome: 'done',
      status,
      requestId: incoming.id,
      actor: author.actor,
      via: author.via,
      as: author.as ?? null,
      object: draft.object,
      customers,
      projects,
      actorName: author.actorName,
      objectName: draft.objectName,
      address: incoming.address,
      changes: draft.changes,
    });
  }

  /** Returns the object in a path such as `/api/customers/<uuid>/image/`. */
  #pathObject({ hidesPath, path }: Endpoint, incoming: IncomingRequest): Pick<NewRecord, 'object'> {
    const [, type, isKey] = /^\/api\/([^/]+)\/(:key\/)?/.exec(path) ?? [];
    if (type === undefined || isKey === undefined || hidesPath) return { object: null };
    return { object: { type, uuid: incoming.path.split('/')[3]?.toLowerCase() ?? '' } };
  }

  #idOf(endpoint: Endpoint, method: string): string {
    // Endpoints may share an operation but have different ids for it.
    const known = this.#ids.get(endpoint) ?? new Map<string, string>();
    this.#ids.set(endpoint, known);
    const id =
      known.get(method) ??
      (isMethod(method) ? operationIdOf(endpoint, method, (path) => this.router.declared(path)) : method);
    known.set(method, id);
    return id;
  }
}

/** Whether to record a rejection: of a login (401, 429), or of a write without the right (403). */
const isRecorded = ({ isLogin }: Operation, caller: Caller | null, status: number): boolean =>
  isLogin ? status === 401 || status === 429 : status === 403 && caller !== null;

/** Adds the declared body members of an operation outside of collections to the record. */
function noteOtherBody({ input }: Operation, request: Request, draft: AuditDraft): void {
  if (!input) return;
  const { values } = request.incoming.body(() =>
    Object.keys(input.fields).find((name) => input.fields[name]?.input?.canBeBareList),
  );
  for (const [name, field] of Object.entries(input.fields))
    if (values[name] !== undefined && field.input)
      draft.changes.push({ field: name, from: null, to: auditValue(name, field, values[name]) });
}
