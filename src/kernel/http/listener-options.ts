import type { Log } from '../log.ts';
import type { RequestCounts } from '../metrics/metrics.ts';
import type { Forwarding, Result } from './call.ts';
import type { Certificate } from './certificate.ts';
import type { ConnectionLimits } from './connections.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** What a body may be that a request brings. */
export interface Admission {
  /** Its largest size in bytes. */
  readonly bodyLimit: number;
  /** The holder of its bytes: a user, or without token the prefix of an address. */
  readonly holder: string;
  /** The log fields of a response that replaces that of the application. */
  readonly route: Omit<Result, 'reply'>;
}

export interface ListenerOptions {
  /** Checks the headers of a request with a body: a response rejects it before the body is read. */
  readonly admit: (incoming: IncomingRequest) => Admission | Result;
  readonly respond: (incoming: IncomingRequest) => Result | Promise<Result>;
  readonly elsewhere?: Forwarding | undefined;
  /** Calls back when all writes until now are safe, with an error if they are not. */
  readonly afterCommit: (callback: (error?: unknown) => void) => void;
  /** Returns the error of a change that may no longer be acknowledged, although it is saved; undefined otherwise. */
  readonly lapsed?: (() => unknown) | undefined;
  /** The response to a request whose changes could not be saved. */
  readonly unsaved: (incoming: IncomingRequest, error: unknown) => Result;
  /** Bytes of unfinished bodies in memory at a time. */
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
  /** Called for every response. */
  readonly counts: RequestCounts;
}
