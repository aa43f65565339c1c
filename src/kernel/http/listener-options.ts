import type { Server } from 'node:net';
import type { Address } from '../config/address.ts';
import type { Log } from '../log.ts';
import type { RequestCounts } from '../metrics/metrics.ts';
import { codeOf } from '../present.ts';
import type { Forwarding, Result } from './call.ts';
import type { Certificate } from './certificate.ts';
import type { ConnectionLimits } from './connections.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Limits for request bodies. */
export interface Admission {
  /** Maximum size in bytes. */
  readonly bodyLimit: number;
  /** The holder of its memory: a user or, without a token, a network prefix. */
  readonly holder: string;
  /** The result without its reply, for a response that replaces that of the application. */
  readonly description: Omit<Result, 'reply'>;
}

export interface ListenerOptions {
  /** Checks the headers of a request with a body: a response rejects it before the body is read. */
  readonly admit: (incoming: IncomingRequest) => Admission | Result;
  readonly respond: (incoming: IncomingRequest) => Result | Promise<Result>;
  /** Passes a request to another server. */
  readonly forward?: Forwarding | undefined;
  /** Calls back when all current writes are on disk, with an error on failure. */
  readonly afterCommit: (callback: (error?: unknown) => void) => void;
  /** Returns the error of a change that may no longer be acknowledged, although it is saved; undefined otherwise. */
  readonly commitError?: (() => unknown) | undefined;
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
  /** Key and certificate for TLS; plain HTTP without it. */
  readonly certificate?: Certificate | undefined;
  readonly log: Log;
  /** Called for every response. */
  readonly counts: RequestCounts;
}

/** Explains to the operator why a port is unavailable. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** Starts a listener and resolves with its address. Rejects with a readable error on failure. */
export function listenOn(server: Server, { host, port }: Address): Promise<{ address: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const problem = listenProblems[String(codeOf(error))] ?? error.message;
      reject(new Error(`cannot listen on ${host} port ${port}: ${problem}`, { cause: error }));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const address = server.address();
      // Never the case for a server that listens on a port.
      if (address === null || typeof address === 'string') throw new Error('the server has no port');
      resolve(address);
    });
  });
}
