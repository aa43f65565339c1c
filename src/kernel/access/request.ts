import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Body } from '../http/body.ts';
import { changedMeanwhile, invalid, type Messages } from '../http/error.ts';
import type { IncomingRequest } from '../http/incoming-request.ts';
import type { Query } from '../http/query.ts';
import { matches } from '../http/reply.ts';
import type { Caller } from './caller.ts';
import type { RequestContext } from './context.ts';

declare module '../app.ts' {
  interface App {
    /** Whether a path belongs to the API. */
    readonly isPath: (path: string) => boolean;
    /** Whether a path leads to an object, of any collection, that the caller can see. */
    readonly isObject: (request: RequestContext, path: string) => boolean;
    /** Returns the ETag that GET of this path, without query, returns to the caller; undefined if there is none. */
    readonly etagOf: (request: RequestContext, path: string) => string | undefined;
  }
}

/** A request for handlers: the incoming message, the caller and the deployment. */
export class Request implements RequestContext {
  constructor(
    readonly app: App,
    readonly incoming: IncomingRequest,
    /** The values of the `:name` segments of the path. */
    readonly params: Readonly<Record<string, string>>,
    /** Null on open endpoints. */
    readonly actor: Caller | null,
    readonly now: number,
    /** The parameters for filters and paging. */
    readonly query: Query = incoming.query,
  ) {}

  /** Returns the errors for unknown names under strict_input; undefined if it is off (core.md 1.5). */
  unknownNames: (() => Messages | undefined) | undefined;

  /** Returns the same request with different parameters, such as those in its body. */
  withQuery(query: Query): Request {
    return new Request(this.app, this.incoming, this.params, this.actor, this.now, query);
  }

  /** The authenticated caller. Throws on open endpoints, which have none. */
  get caller(): Caller {
    if (!this.actor) throw new Error('An open endpoint has no caller');
    return this.actor;
  }

  get db(): Database {
    return this.app.db;
  }

  get config(): Config {
    return this.app.config;
  }

  get address(): string {
    return this.incoming.address;
  }

  /** The base URL of links in the response. */
  get base(): string {
    return this.incoming.base;
  }

  /** The URL of the request without its query. */
  get url(): string {
    return this.incoming.base + this.incoming.path;
  }

  /** Throws 400 for unknown names under strict_input. */
  rejectUnknownNames(): void {
    const errors = this.unknownNames?.();
    if (errors) throw invalid(errors);
  }

  /**
   * Checks If-Match and If-None-Match of a write, after its rights and its body, and before the state of the object (core.md 1.7).
   * For an action, checks the object in the path. Throws 412, and 400 for unknown names under strict_input.
   */
  checkPreconditions(): void {
    this.rejectUnknownNames();
    const { headers, method, path } = this.incoming;
    const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
    if (wanted === undefined && unwanted === undefined) return;
    if (method === 'PUT' && unwanted?.trim() === '*') throw changedMeanwhile();
    if (wanted === undefined || wanted.trim() === '*') return;
    const object = method === 'POST' ? objectPath(path) : path;
    const etag = this.app.etagOf(this, object);
    if (etag === undefined || !matches(wanted, etag)) throw changedMeanwhile();
  }

  /** Returns the members of the body. A list becomes the member that `listMember` returns. Throws 413, 415, 400. */
  body(listMember?: () => string | undefined): Body {
    return this.incoming.body(listMember);
  }
}

/** Returns the path of an action's object: `/api/customers/<key>/`. */
const objectPath = (path: string): string => path.split('/').slice(0, 4).join('/').concat('/');
