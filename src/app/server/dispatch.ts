import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { CacheBudget } from '../../kernel/cache/generational-cache.ts';
import { VersionedCache } from '../../kernel/cache/versioned-cache.ts';
import { allowed, type Endpoint, metadata, type Operation } from '../../kernel/collection/endpoint.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { Result } from '../../kernel/http/call.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { HttpError, invalid } from '../../kernel/http/error.ts';
import { type IncomingRequest, isReading } from '../../kernel/http/incoming-request.ts';
import type { Admission } from '../../kernel/http/listener-options.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import type { Router } from '../../kernel/http/router.ts';
import { memoised } from '../../kernel/memoised.ts';
import { prefixOf } from '../../kernel/net/networks.ts';
import { selfChecks, verify } from '../../kernel/verification.ts';
import { dueExpiries } from '../compose/expiries.ts';
import { nextVersion, textOf, versionHeader } from '../replication/version.ts';
import { AuditedRequests } from './audited.ts';
import { ignoredHeader, ignoredNames, unknownNames } from './ignored.ts';
import { RequestRun } from './request-run.ts';

/** Maximum number of recently requested URLs to track. */
const maxRequestedUrls = 20_000;

/** Approximate size in bytes of a cached response without its key and body. */
const responseOverhead = 600;

/** Maximum body size of endpoints without authentication. */
const maxOpenBodyBytes = 64 * 1024;

/** The functions that handle a request. */
export interface Dispatcher {
  /** Checks the headers of a request before its body is read. */
  admit(incoming: IncomingRequest): Admission | Result;
  /** Handles a complete request. */
  respond(incoming: IncomingRequest): Result | Promise<Result>;
  /** Returns the response after a failed commit. Repeats reads, which may have seen the lost changes. */
  unsaved(incoming: IncomingRequest, error: unknown): Result;
}

const allowOf = memoised(allowed);

/**
 * Handles requests in this order: due expiries, route, caller, handler. Errors become replies (core.md 1.2).
 */
export function dispatcher(app: App, router: Router<Endpoint>): Dispatcher {
  const expireDue = dueExpiries(app);
  const audited = new AuditedRequests(app, router);
  const perform = performer(app, audited);
  const begin = (incoming: IncomingRequest): RequestRun => {
    const match = router.find(incoming.path);
    return new RequestRun(app, incoming, match, match ? allowOf(match.endpoint) : '', expireDue, audited);
  };
  return {
    admit: (incoming) => {
      const run = begin(incoming);
      try {
        const { endpoint, request } = run.resolve();
        run.operation();
        endpoint.admit?.(request);
        return {
          bodyLimit: bodyLimitOf(endpoint, request),
          holder: request.actor?.uuid ?? prefixOf(incoming.address),
          description: run.description(),
        };
      } catch (error) {
        return run.respondToError(error);
      }
    },
    respond: (incoming) => {
      const run = begin(incoming);
      return run.attempt(() => {
        const { endpoint, request } = run.resolve();
        if (incoming.method === 'OPTIONS') return run.respond(metadata(endpoint, request));
        const operation = run.operation();
        const respond = (resolved: Request, prepared: unknown): Result =>
          run.respond(perform(endpoint, operation, resolved, prepared, run), ignoredBy(operation, resolved));
        if (!operation.prepare && !incoming.isMultipart) return respond(withStrictInput(operation, request), undefined);
        // Resolve the request again: its token or a role may have been revoked during the preparation.
        return prepare(operation, withStrictInput(operation, request)).then(
          (prepared) => run.attempt(() => respond(withStrictInput(operation, run.resolve().request), prepared)),
          (error: unknown) => run.respondToError(error),
        );
      });
    },
    unsaved: (incoming, error) => {
      const run = begin(incoming);
      if (!(error instanceof StorageError) || !isReading(incoming.method)) return run.respondToError(error);
      try {
        return app.db.rollBack(() => {
          const { endpoint, request } = run.resolve();
          if (incoming.method === 'OPTIONS') return run.respond(metadata(endpoint, request));
          const operation = run.operation();
          if (operation.prepare || operation.isWriting) return run.respondToError(error);
          const strict = withStrictInput(operation, request);
          return run.respond(perform(endpoint, operation, strict, undefined), ignoredBy(operation, strict));
        });
      } catch (failure) {
        return run.respondToError(failure);
      }
    },
  };
}

function bodyLimitOf({ admit, bodyLimit }: Endpoint, { actor, app }: Request): number {
  const { max_body_bytes: maxBodyBytes } = app.config;
  if (bodyLimit !== undefined) return bodyLimit;
  return actor === null && !admit ? Math.min(maxOpenBodyBytes, maxBodyBytes) : maxBodyBytes;
}

/** Makes a request reject unknown names if strict_input is on. */
function withStrictInput(operation: Operation, request: Request): Request {
  if (request.app.config.strict_input)
    request.unknownNames = () => {
      const names = ignoredNames(operation, request);
      return names && unknownNames(names);
    };
  return request;
}

/** Returns the value of the header X-Ignored. */
function ignoredBy(operation: Operation, request: Request): string | undefined {
  const names = ignoredNames(operation, request);
  return names && ignoredHeader(names);
}

/** Runs the asynchronous work before the transaction, such as parsing a multipart body or hashing a password. */
async function prepare(operation: Operation, request: Request): Promise<unknown> {
  if (request.incoming.isMultipart) await request.incoming.prepareBody();
  return operation.prepare?.(request);
}

/** Runs a handler. With strict_input, reports unknown names together with other invalid fields and before conflicts. */
function handle(operation: Operation, request: Request, prepared: unknown): Reply {
  if (!request.unknownNames) return operation.handle(request, prepared);
  const withUnknownNames = (error: unknown): unknown => {
    if (!(error instanceof HttpError) || ![400, 409, 412].includes(error.status)) return error;
    const unknown = request.unknownNames?.();
    if (!unknown) return error;
    const others = error.status === 400 && typeof error.body === 'object' ? error.body : {};
    return invalid({ ...others, ...unknown });
  };
  let reply: Reply;
  try {
    reply = operation.handle(request, prepared);
  } catch (error) {
    throw withUnknownNames(error);
  }
  const unknown = request.unknownNames();
  if (unknown) throw invalid(unknown);
  return reply;
}

/**
 * Runs a handler that writes, without a savepoint if the request can be repeated. If such a handler fails after a change, the
 * whole commit is rolled back, and the operation gets a savepoint from then on.
 */
function writerOf(db: SqliteDatabase): (operation: Operation, request: Request, work: () => Reply) => Reply {
  const operationsWithSavepoint = new WeakSet<Operation>();
  return (operation, { incoming }, work) => {
    const isPrepared = operation.prepare !== undefined || incoming.isMultipart;
    if (!incoming.isRepeatable || operation.isHandledOnce || isPrepared || operationsWithSavepoint.has(operation))
      return db.write(work);
    if (selfChecks.repeatableWrites) runAndRollBack(db, work);
    return db.writeRepeatable(work, () => operationsWithSavepoint.add(operation));
  };
}

/** Runs work and rolls it back. Tests then notice effects outside the database, because they happen twice. */
function runAndRollBack(db: SqliteDatabase, work: () => unknown): void {
  try {
    db.rollBack(() => db.write(work));
  } catch {
    // The actual run fails in the same way.
  }
}

/** Returns the reply of an operation. With a run, slow reads are deferred. */
type Perform = (
  endpoint: Endpoint,
  operation: Operation,
  request: Request,
  prepared: unknown,
  run?: Pick<RequestRun, 'reads'>,
) => Reply;

/**
 * Runs a handler. Writes run in a transaction. Reads are served from the cache until their rows change or the response expires
 * (src/decisions/caching.md). Throws DeferredRead for slow reads.
 */
function performer({ config, db, metrics }: App, audited: AuditedRequests): Perform {
  const responses = new VersionedCache<Reply>(db.versions, config.memory_budget_bytes / 2);
  const requestedUrls = new CacheBudget(maxRequestedUrls).cache<string, true>(() => 1);
  const { responses: responseCounts, representations: representationCounts } = metrics.caches;
  const write = writerOf(db);
  return (endpoint, operation, request, prepared, run) => {
    const { actor, incoming } = request;
    const isWriting = incoming.method === 'GET' ? operation.isWriting === true : incoming.method !== 'HEAD';
    if (isWriting)
      return write(operation, request, () => {
        const reply = audited.perform(endpoint, operation, request, () => handle(operation, request, prepared));
        if (!config.replicated) return reply;
        return { ...reply, headers: { ...reply.headers, [versionHeader]: textOf(nextVersion(db)) } };
      });
    const fromCache = operation.fromCache?.(request);
    if (fromCache && !request.unknownNames?.()) {
      representationCounts.hits++;
      return fromCache;
    }
    if (operation.fromCache) representationCounts.misses++;
    // The key includes the rights, which depend on the address and were read before `observe`: a former staff user must not get
    // the responses for staff.
    const caller = actor && `${actor.token} ${actor.id} ${actor.isStaff} ${actor.isSupport} ${actor.isRestricted}`;
    const key = `${caller} ${incoming.base}${incoming.path}?${incoming.query.text}`;
    const cached = responses.get(key);
    if (cached && (cached.until === undefined || request.now < cached.until)) {
      verify(
        () => key,
        () => comparable(cached),
        () => comparable(handle(operation, request, prepared)),
      );
      responseCounts.hits++;
      return cached;
    }
    responseCounts.misses++;
    const deferred = run?.reads;
    const { result: reply, reads } = db.versions.observe(() =>
      db.withDeferredReads(deferred, () => handle(operation, request, prepared)),
    );
    if (deferred?.isOutdated) return reply;
    // Do not cache a response that varies with request headers.
    if (!reply.conditional || reply.cacheable === 'all' || reply.headers.Vary !== undefined) return reply;
    if (reply.cacheable === 'body') {
      // Cache a URL from its second request on.
      if (requestedUrls.get(key) === undefined) {
        requestedUrls.set(key, true);
        return reply;
      }
      return responses.set(key, reply, reads, 2 * key.length + responseOverhead);
    }
    const compressed = new CompressedForms('each', (bytes) => responses.recordGrowth(key, stored, bytes));
    const stored: Reply = { ...encoded(reply), compressed };
    return responses.set(key, stored, reads, 2 * key.length + responseOverhead + stored.body.length);
  };
}

/** Returns the parts of a reply that the client gets, for comparison. */
const comparable = ({ body, headers, status }: Reply): unknown => [
  status,
  headers,
  Buffer.from(body).toString('latin1'),
];
