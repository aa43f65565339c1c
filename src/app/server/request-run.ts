import { setTimeout as sleep } from 'node:timers/promises';
import { requireEnrolment } from '../../accounts/session/factors/enrolment.ts';
import type { Caller } from '../../kernel/access/caller.ts';
import { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { type Endpoint, isMethod, type Operation } from '../../kernel/collection/endpoint.ts';
import { DeferredRead, DeferredReads } from '../../kernel/db/deferred-reads.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { Result } from '../../kernel/http/call.ts';
import { HttpError, leaseMissing, notFound, outOfStorage, writerBusy } from '../../kernel/http/error.ts';
import type { IncomingRequest } from '../../kernel/http/incoming-request.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import type { Match } from '../../kernel/http/router.ts';
import { prefixOf } from '../../kernel/net/networks.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import { authenticate } from '../../kernel/security/tokens.ts';
import { requireScopes } from '../scopes/required-scopes.ts';
import type { AuditedRequests } from './audited.ts';

/** How long a request waits while another process writes, and the delay between two attempts. */
const maxBusyMs = 10_000;
const busyRetryMs = 20;

/** Responses to requests whose changes cannot be stored. */
const storageResponses = { full: outOfStorage, busy: writerBusy, lease: leaseMissing, broken: writerBusy } as const;

/** Handles one request and collects the details for its response and log line. */
export class RequestRun {
  readonly route: string;
  readonly hidesPath: boolean;
  caller: string | undefined;
  #actor: Caller | null = null;
  #reads: DeferredReads | undefined;

  constructor(
    private readonly app: App,
    private readonly incoming: IncomingRequest,
    private readonly match: Match<Endpoint> | undefined,
    readonly allow: string,
    private readonly expireDue: (now: number) => void,
    private readonly audited: Pick<AuditedRequests, 'rejected'>,
  ) {
    this.route = match?.endpoint.path ?? '';
    this.hidesPath = match?.endpoint.hidesPath ?? this.route.includes('/:secret/');
  }

  /**
   * Applies due expiries, then returns the endpoint and the request with its caller. Throws 401 and 404; 405 and 403 for API
   * keys, impersonations and sessions that must set up a second factor.
   */
  resolve(): { endpoint: Endpoint; request: Request } {
    const { app, incoming, match } = this;
    const now = app.clock.now();
    app.db.catchUp();
    this.expireDue(now);
    const isProtected = match ? !match.endpoint.open : /^\/(api|api-auth|docs)\//.test(incoming.path);
    const actor = isProtected && !this.#isServedWithoutToken(now) ? this.#authenticate(now) : null;
    this.#actor = actor;
    this.caller = actor?.uuid;
    if (!match) throw notFound();
    if (actor?.apiKey || actor?.impersonator) {
      if (incoming.method !== 'OPTIONS') this.operation();
      requireScopes(app, actor, match.endpoint, incoming.method);
    }
    const request = new Request(app, incoming, match.params, actor, now);
    if (actor?.mustEnrol) {
      if (incoming.method !== 'OPTIONS') this.operation();
      requireEnrolment(request, match.endpoint);
    }
    return { endpoint: match.endpoint, request };
  }

  #authenticate(now: number): Caller {
    const { app, incoming, match } = this;
    const operation = isMethod(incoming.method) ? match?.endpoint.operations[incoming.method] : undefined;
    return authenticate(app, incoming, now, operation?.ignoresKeyNetworks);
  }

  #isServedWithoutToken(now: number): boolean {
    const { app, incoming, match } = this;
    if (!match?.endpoint.servesWithoutToken || incoming.headers.authorization !== undefined) return false;
    return match.endpoint.servesWithoutToken(new Request(app, incoming, match.params, null, now));
  }

  /** The request's deferred reads; undefined without a reader thread. */
  get reads(): DeferredReads | undefined {
    if (!this.app.readerThread) return undefined;
    this.#reads ??= new DeferredReads(this.caller ?? prefixOf(this.incoming.address));
    return this.#reads;
  }

  /** Returns the operation for the method. Throws 405. */
  operation(): Operation {
    const { method } = this.incoming;
    const name = method === 'HEAD' ? 'GET' : method;
    const operation = isMethod(name) ? this.match?.endpoint.operations[name] : undefined;
    if (!operation) throw new HttpError(405, { detail: `Method "${method}" not allowed.` });
    return operation;
  }

  /** Returns the members of a result that do not depend on the reply. */
  description(): Omit<Result, 'reply'> {
    return { allow: this.allow, route: this.route, hidesPath: this.hidesPath, caller: this.caller };
  }

  respond(reply: Reply, ignored?: string): Result {
    return { ...this.description(), reply, ignored };
  }

  /** Runs work. Repeats it after deferred reads, and while another process writes, without blocking the event loop. */
  attempt(work: () => Result | Promise<Result>, until = performance.now() + maxBusyMs): Result | Promise<Result> {
    try {
      return work();
    } catch (error) {
      if (error instanceof DeferredRead)
        return this.#read(error).then(
          () => this.attempt(work, until),
          (failure) => this.respondToError(failure),
        );
      if (!(error instanceof StorageError) || error.reason !== 'busy' || performance.now() > until)
        return this.respondToError(error);
      return sleep(busyRetryMs).then(() => this.attempt(work, until));
    }
  }

  /** Runs deferred reads on the reader thread. The caller must then repeat the work. */
  async #read({ queries }: DeferredRead): Promise<void> {
    const { app, incoming, reads } = this;
    if (queries.length === 0) await nextTurn();
    else if (reads) await app.readerThread?.result(reads, queries, incoming.isGone);
  }

  /** Converts an error to a response. */
  respondToError(error: unknown): Result {
    if (error instanceof StorageError && error.reason !== 'broken')
      return this.respondToError(storageResponses[error.reason]());
    if (error instanceof HttpError && this.match) this.audited.rejected(this.match, this.incoming, this.#actor, error);
    if (error instanceof HttpError) return this.respond(json(error.body, error.status, error.headers));
    const { id } = this.incoming;
    this.app.log.error({ request: id, route: this.route, err: error }, 'internal error');
    return this.respond(json({ detail: 'Internal server error.', request_id: id }, 500));
  }
}
