import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { CacheBudget } from '../../kernel/cache/generational-cache.ts';
import { VersionedCache } from '../../kernel/cache/versioned-cache.ts';
import { allowed, type Endpoint, metadata, type Operation } from '../../kernel/collection/endpoint.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { HttpError, invalid } from '../../kernel/http/error.ts';
import type { Answer } from '../../kernel/http/exchange.ts';
import { type IncomingRequest, isReading } from '../../kernel/http/incoming-request.ts';
import type { Admission } from '../../kernel/http/listener-options.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import type { Router } from '../../kernel/http/router.ts';
import { memoised } from '../../kernel/memoised.ts';
import { prefixOf } from '../../kernel/net/prefix.ts';
import { selfChecks, verify } from '../../kernel/verification.ts';
import { dueExpiries } from '../compose/expiries.ts';
import { nextVersion, textOf, versionHeader } from '../replication/version.ts';
import { Course } from './course.ts';
import { ignoredHeader, ignoredNames, unknownNames } from './ignored.ts';

/** At most so many addresses are known to have been asked for. */
const maxRequested = 20_000;

/** What a document weighs besides its address and its body, in bytes, about. */
const documentWeight = 600;

/** Largest body of an open endpoint, whose callers nobody knows. */
const openBodyBytes = 64 * 1024;

/** Both looks at a request: at its headers, where it brings a body, and at all of it. */
export interface Dispatcher {
  admit(incoming: IncomingRequest): Admission | Answer;
  answer(incoming: IncomingRequest): Answer | Promise<Answer>;
  /** What is said when what was answered could not be saved: what reads is read again. */
  unsaved(incoming: IncomingRequest, error: unknown): Answer;
}

const allowOf = memoised(allowed);

/** The way of a request: due changes, route, caller, handler; errors become replies (core.md 1.2). */
export function dispatcher(app: App, router: Router<Endpoint>): Dispatcher {
  const most = app.config.max_body_bytes;
  const expireDue = dueExpiries(app);
  const perform = performer(app);
  const begin = (incoming: IncomingRequest): Course => {
    const match = router.find(incoming.path);
    return new Course(app, incoming, match, match ? allowOf(match.endpoint) : '', expireDue);
  };
  const isStrict = app.config.strict_input;
  /** The request, of which unknown names are refused where that is set. */
  const refusing = (operation: Operation, request: Request): Request => {
    if (isStrict)
      request.unknownNames = () => {
        const names = ignoredNames(operation, request);
        return names && unknownNames(names);
      };
    return request;
  };
  const ignoredBy = (operation: Operation, request: Request): string | undefined => {
    const names = ignoredNames(operation, request);
    return names && ignoredHeader(names);
  };
  return {
    admit: (incoming) => {
      const course = begin(incoming);
      try {
        const { endpoint, request } = course.enter();
        course.operation();
        endpoint.admit?.(request);
        const isOpen = request.actor === null && !endpoint.admit;
        const limit = isOpen ? Math.min(openBodyBytes, most) : most;
        return {
          bodyLimit: endpoint.bodyLimit ?? limit,
          holder: request.actor?.uuid ?? prefixOf(incoming.address),
          route: course,
        };
      } catch (error) {
        return course.refuse(error);
      }
    },
    answer: (incoming) => {
      const course = begin(incoming);
      return course.patiently(() => {
        const { endpoint, request } = course.enter();
        if (incoming.method === 'OPTIONS') return course.answer(metadata(endpoint, request));
        const operation = course.operation();
        const act = (asked: Request, prepared: unknown): Answer =>
          course.answer(perform(operation, asked, prepared, course), ignoredBy(operation, asked));
        if (!operation.prepare && !incoming.isMultipart) return act(refusing(operation, request), undefined);
        // What had to wait is looked at anew: meanwhile its token may have been revoked, or a role may have ended.
        return prepare(operation, refusing(operation, request)).then(
          (prepared) => course.patiently(() => act(refusing(operation, course.enter().request), prepared)),
          (error: unknown) => course.refuse(error),
        );
      });
    },
    unsaved: (incoming, error) => {
      const course = begin(incoming);
      if (!(error instanceof StorageError) || !isReading(incoming.method)) return course.refuse(error);
      try {
        return app.db.trial(() => {
          const { endpoint, request } = course.enter();
          if (incoming.method === 'OPTIONS') return course.answer(metadata(endpoint, request));
          const operation = course.operation();
          if (operation.prepare) return course.refuse(error);
          const requested = refusing(operation, request);
          return course.answer(perform(operation, requested, undefined), ignoredBy(operation, requested));
        });
      } catch (failure) {
        return course.refuse(failure);
      }
    },
  };
}

/** What must happen before the transaction: reading a multipart body, hashing a password. */
async function prepare(operation: Operation, request: Request): Promise<unknown> {
  if (request.incoming.isMultipart) await request.incoming.prepareBody();
  return operation.prepare?.(request);
}

/** Runs a handler. Where unknown names are refused they are told with what else is not valid, and before the state. */
function handle(operation: Operation, request: Request, prepared: unknown): Reply {
  if (!request.unknownNames) return operation.handle(request, prepared);
  const told = (error: unknown): unknown => {
    const isOfState = error instanceof HttpError && [400, 409, 412].includes(error.status);
    const refused = isOfState ? request.unknownNames?.() : undefined;
    if (!refused || !(error instanceof HttpError)) return error;
    const others = error.status === 400 && typeof error.body === 'object' ? error.body : {};
    return invalid({ ...others, ...refused });
  };
  let reply: Reply;
  try {
    reply = operation.handle(request, prepared);
  } catch (error) {
    throw told(error);
  }
  const refused = request.unknownNames();
  if (refused) throw invalid(refused);
  return reply;
}

/**
 * Runs a handler that writes: without a savepoint, where the request can be answered again. An operation that has failed after
 * a change, which takes back what others have changed, has one from then on.
 */
function changer(db: SqliteDatabase): (operation: Operation, request: Request, work: () => Reply) => Reply {
  const failing = new WeakSet<Operation>();
  return (operation, { incoming }, work) => {
    const isPrepared = operation.prepare !== undefined || incoming.isMultipart;
    if (!incoming.isRepeatable || operation.isHandledOnce || isPrepared || failing.has(operation))
      return db.write(work);
    if (selfChecks.repeatableWrites) rehearse(db, work);
    return db.writeRepeatable(work, () => failing.add(operation));
  };
}

/** Runs work that is to be run again, and takes it back: what it leaves outside of the database counts twice then. */
function rehearse(db: SqliteDatabase, work: () => unknown): void {
  try {
    db.trial(() => db.write(work));
  } catch {
    // It fails again when it is run again.
  }
}

/** With a course, what takes long to read is put off. */
type Performing = (operation: Operation, request: Request, prepared: unknown, course?: Pick<Course, 'reads'>) => Reply;

/**
 * Runs a handler: what writes in a transaction; what reads only if what it read has changed, or the document has run out,
 * since the same caller was told it. See src/decisions/caching.md. Throws DeferredRead where it takes long to read.
 */
function performer({ config, db, metrics }: App): Performing {
  const documents = new VersionedCache<Reply>(db.versions, config.memory_budget_bytes / 2);
  const requested = new CacheBudget(maxRequested).cache<string, true>(() => 1);
  const { answers, texts } = metrics.caches;
  const change = changer(db);
  return (operation, request, prepared, course) => {
    const { actor, incoming } = request;
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return change(operation, request, () => {
        const reply = handle(operation, request, prepared);
        if (!config.replicated) return reply;
        return { ...reply, headers: { ...reply.headers, [versionHeader]: textOf(nextVersion(db)) } };
      });
    const recalled = operation.fromCache?.(request);
    if (recalled && !request.unknownNames?.()) {
      texts.hits++;
      return recalled;
    }
    if (operation.fromCache) texts.misses++;
    // With these rights, which were read before `observe`: what staff are told is not for who was staff.
    const caller = actor && `${actor.token} ${actor.isStaff} ${actor.isSupport}`;
    const key = `${caller} ${incoming.base}${incoming.path}?${incoming.query.text}`;
    const known = documents.get(key);
    if (known && (known.until === undefined || request.now < known.until)) {
      verify(
        () => key,
        () => told(known),
        () => told(handle(operation, request, prepared)),
      );
      answers.hits++;
      return known;
    }
    answers.misses++;
    const deferred = course?.reads;
    const { result: reply, reads } = db.versions.observe(() =>
      db.withDeferredReads(deferred, () => handle(operation, request, prepared)),
    );
    if (deferred?.isOutdated) return reply;
    // What varies with a header of the request is another document each time.
    if (!reply.conditional || reply.kept === 'all' || reply.headers.Vary !== undefined) return reply;
    if (reply.kept === 'body') {
      // A URL is cached from its second request on.
      if (requested.get(key) === undefined) {
        requested.set(key, true);
        return reply;
      }
      return documents.set(key, reply, reads, 2 * key.length + documentWeight);
    }
    const compressed = new CompressedForms('each', (bytes) => documents.recordGrowth(key, kept, bytes));
    const kept: Reply = { ...encoded(reply), compressed };
    return documents.set(key, kept, reads, 2 * key.length + documentWeight + kept.body.length);
  };
}

/** What somebody who asks is told. */
const told = ({ body, headers, status }: Reply): unknown => [status, headers, Buffer.from(body).toString('latin1')];
