import type { Log } from '../log.ts';
import type { RequestCounts } from '../metrics/requests.ts';
import type { Certificate } from './certificate.ts';
import type { ConnectionLimits } from './connections.ts';
import type { Forwarding, Result } from './exchange.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** What a body may be that a request brings. */
export interface Admission {
  /** Its largest size in bytes. */
  readonly bodyLimit: number;
  /** In whose name its bytes are kept: a user, or without token the prefix of an address. */
  readonly holder: string;
  /** What an answer says that is given in the place of the application's. */
  readonly route: Omit<Result, 'reply'>;
}

export interface ListenerOptions {
  /** Looks at the headers of a request that brings a body: an answer refuses it before the body is read. */
  readonly admit: (incoming: IncomingRequest) => Admission | Result;
  readonly respond: (incoming: IncomingRequest) => Result | Promise<Result>;
  readonly elsewhere?: Forwarding | undefined;
  /** Calls back when everything written so far is safe, with an error when it is not. */
  readonly afterCommit: (callback: (error?: unknown) => void) => void;
  /** What is said in place of an answer when what it tells could not be saved. */
  readonly unsaved: (incoming: IncomingRequest, error: unknown) => Result;
  /** Bytes of unfinished bodies that are kept in memory at a time. */
  readonly bodyBudget: number;
  readonly connections: ConnectionLimits;
  /** Microseconds that a connection may be idle between two requests. */
  readonly keepAlive: number;
  readonly baseUrl: string | null;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** What it speaks TLS with; without it plain HTTP. */
  readonly certificate?: Certificate | undefined;
  readonly log: Log;
  /** Told of every answer. */
  readonly counts: RequestCounts;
}
