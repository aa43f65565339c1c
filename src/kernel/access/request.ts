import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Body } from '../http/body.ts';
import { changedMeanwhile, invalid, type Messages } from '../http/error.ts';
import { matches } from '../http/etag.ts';
import type { IncomingRequest } from '../http/incoming-request.ts';
import type { Query } from '../http/query.ts';
import type { Caller } from './caller.ts';
import type { RequestContext } from './context.ts';

declare module '../app.ts' {
  interface App {
    /** Whether a path belongs to the API. */
    readonly isPath: (path: string) => boolean;
    /** Whether a path names an object that the caller sees, of any collection. */
    readonly isObject: (request: RequestContext, path: string) => boolean;
    /** Returns the ETag of a GET of this path, without query, for the caller; undefined where there is none. */
    readonly etagOf: (request: RequestContext, path: string) => string | undefined;
  }
}

/** A request on its way through a handler: what came in, who asks, and what the deployment offers. */
export class Request implements RequestContext {
  constructor(
    readonly app: App,
    readonly incoming: IncomingRequest,
    /** Values of the `:name` segments of the path. */
    readonly params: Readonly<Record<string, string>>,
    /** Null on open endpoints. */
    readonly actor: Caller | null,
    readonly now: number,
    /** The parameters that filters and pages are read from. */
    readonly query: Query = incoming.query,
  ) {}

  /** What the setting strict_input refuses of this request's names; looked at when its body may be read (core.md 1.5). */
  refusedNames: (() => Messages | undefined) | undefined;

  /** The same request with other parameters, such as those of its body. */
  asking(query: Query): Request {
    return new Request(this.app, this.incoming, this.params, this.actor, this.now, query);
  }

  /** The authenticated caller. Only an open endpoint has none, and it must not ask. */
  get caller(): Caller {
    if (!this.actor) throw new Error('An open endpoint asked for its caller');
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

  /** Start of every link of the answer. */
  get base(): string {
    return this.incoming.base;
  }

  /** The address of this very path, without its query. */
  get url(): string {
    return this.incoming.base + this.incoming.path;
  }

  /** Throws 400 for unknown names where they are refused. */
  demandKnown(): void {
    const refused = this.refusedNames?.();
    if (refused) throw invalid(refused);
  }

  /**
   * Looks at unknown names where they are refused, and at If-Match and If-None-Match of a write, when the caller may do it
   * and the body is read (core.md 1.2). Actions are compared with the object that they are below. Throws 412.
   */
  demandMatch(): void {
    this.demandKnown();
    const { headers, method, path } = this.incoming;
    const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
    if (wanted === undefined && unwanted === undefined) return;
    if (method === 'PUT' && unwanted?.trim() === '*') throw changedMeanwhile();
    if (wanted === undefined || wanted.trim() === '*') return;
    const object = method === 'POST' ? objectPath(path) : path;
    const etag = this.app.etagOf(this, object);
    if (etag === undefined || !matches(wanted, etag)) throw changedMeanwhile();
  }

  /** The members of the body; a list counts as the member that `listMember` names, if it names one. Throws 413, 415, 400. */
  body(listMember?: () => string | undefined): Body {
    return this.incoming.body(listMember);
  }
}

/** `/api/customers/<key>/` of the path of an action below it. */
const objectPath = (path: string): string => path.split('/').slice(0, 4).join('/').concat('/');
