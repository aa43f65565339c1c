import { setTimeout as sleep } from 'node:timers/promises';
import { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { type Endpoint, isMethod, type Operation } from '../../kernel/collection/endpoint.ts';
import { DeferredRead, DeferredReads } from '../../kernel/db/deferred-reads.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import { HttpError, notFound, outOfStorage, writerBusy } from '../../kernel/http/error.ts';
import type { Answer } from '../../kernel/http/exchange.ts';
import type { IncomingRequest } from '../../kernel/http/incoming-request.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import type { Match } from '../../kernel/http/router.ts';
import { prefixOf } from '../../kernel/net/prefix.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import { authenticate } from '../../kernel/security/tokens.ts';

/** How long, in milliseconds, a request waits for another process that writes, and between two attempts. */
const patience = 10_000;
const pause = 20;

/** A request on its way to its operation, with what the log and every answer say of it. */
export class Course {
  readonly route: string;
  readonly hidesPath: boolean;
  caller: string | undefined;
  #reads: DeferredReads | undefined;

  constructor(
    private readonly app: App,
    private readonly incoming: IncomingRequest,
    private readonly match: Match<Endpoint> | undefined,
    readonly allow: string,
    private readonly expireDue: (now: number) => void,
  ) {
    this.route = match?.endpoint.path ?? '';
    this.hidesPath = match?.endpoint.hidesPath ?? this.route.includes('/:secret/');
  }

  /** The request as of now, with its caller, and the endpoint it asks. Throws 401, 404. */
  enter(): { endpoint: Endpoint; request: Request } {
    const { app, incoming, match } = this;
    const now = app.clock.now();
    app.db.catchUp();
    this.expireDue(now);
    const isProtected = match ? !match.endpoint.open : /^\/(api|api-auth|docs)\//.test(incoming.path);
    const actor = isProtected && !this.#isServedWithoutToken(now) ? authenticate(app, incoming, now) : null;
    this.caller = actor?.uuid;
    if (!match) throw notFound();
    return { endpoint: match.endpoint, request: new Request(app, incoming, match.params, actor, now) };
  }

  #isServedWithoutToken(now: number): boolean {
    const { app, incoming, match } = this;
    if (!match?.endpoint.servesWithoutToken || incoming.headers.authorization !== undefined) return false;
    return match.endpoint.servesWithoutToken(new Request(app, incoming, match.params, null, now));
  }

  /** What it reads that takes long; undefined where no thread reads it. */
  get reads(): DeferredReads | undefined {
    if (!this.app.readingThread) return undefined;
    this.#reads ??= new DeferredReads(this.caller ?? prefixOf(this.incoming.address));
    return this.#reads;
  }

  /** The operation of a path that is there. Throws 405. */
  operation(): Operation {
    const { method } = this.incoming;
    const served = method === 'HEAD' ? 'GET' : method;
    const operation = isMethod(served) ? this.match?.endpoint.operations[served] : undefined;
    if (!operation) throw new HttpError(405, { detail: `Method "${method}" not allowed.` });
    return operation;
  }

  answer(reply: Reply, ignored?: string): Answer {
    return { reply, ignored, allow: this.allow, route: this.route, hidesPath: this.hidesPath, caller: this.caller };
  }

  /** Tries again while another process writes, outside of the turn, so that nobody else waits. */
  patiently(work: () => Answer | Promise<Answer>, until = performance.now() + patience): Answer | Promise<Answer> {
    try {
      return work();
    } catch (error) {
      if (error instanceof DeferredRead)
        return this.#read(error).then(
          () => this.patiently(work, until),
          (failure) => this.refuse(failure),
        );
      if (!(error instanceof StorageError) || error.reason !== 'busy' || performance.now() > until)
        return this.refuse(error);
      return sleep(pause).then(() => this.patiently(work, until));
    }
  }

  /** Has the thread read what takes long; then the request is to be looked at anew. */
  async #read({ queries }: DeferredRead): Promise<void> {
    const { app, incoming, reads } = this;
    if (queries.length === 0) await nextTurn();
    else if (reads) await app.readingThread?.answer(reads, queries, incoming.isGone);
  }

  /** What an error comes to. */
  refuse(error: unknown): Answer {
    if (error instanceof StorageError && error.reason !== 'broken')
      return this.refuse(error.reason === 'full' ? outOfStorage() : writerBusy());
    if (error instanceof HttpError) return this.answer(json(error.body, error.status, error.headers));
    const { id } = this.incoming;
    this.app.log.error({ request: id, route: this.route, err: error }, 'internal error');
    return this.answer(json({ detail: 'Internal server error.', request_id: id }, 500));
  }
}
