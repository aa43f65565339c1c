import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Log } from '../log.ts';
import type { RequestCounts } from '../metrics/metrics.ts';
import { inNetworks, type Network } from '../net/networks.ts';
import { pathOf } from './incoming-request.ts';
import { clientAddress, peerOf } from './origin.ts';

/** Properties of a request that are known when it arrives. */
export interface RequestInfo {
  readonly id: string;
  /** By the monotonic clock, in milliseconds. */
  readonly started: number;
  readonly message: IncomingMessage;
  /** The request target, without a host. */
  readonly target: string;
  /** The client's address. */
  readonly address: string;
}

/** The properties of the response for the log line. */
interface LoggedFields {
  readonly route: string;
  readonly caller: string | undefined;
  readonly hidesPath?: boolean;
}

/** Maximum number of logged characters of an unrouted path. */
const maxPathLength = 200;

/** Writes one log line for each request and counts it; warns the operator about suspicious clients. */
export class AccessLog {
  #hasWarned = false;

  constructor(
    private readonly log: Log,
    private readonly proxies: readonly Network[],
    private readonly counts: RequestCounts,
  ) {}

  /** Returns the address of the client. Warns once about addresses reported by an untrusted proxy. */
  addressOf({ headers, socket }: IncomingMessage): string {
    const peer = peerOf(socket);
    if (!this.#hasWarned && headers['x-forwarded-for'] !== undefined && !inNetworks(peer, this.proxies)) {
      this.#hasWarned = true;
      this.log.warn(
        { peer },
        'X-Forwarded-For is ignored, as trusted_proxies does not name its sender: if that is your proxy, all its clients count as one address, also for the lockout after failed logins',
      );
    }
    return clientAddress(peer, headers, this.proxies);
  }

  /** Logs a request and its response. */
  logResponse(
    { address, id, message, started, target }: RequestInfo,
    { caller, hidesPath, route }: LoggedFields,
    status: number,
  ): void {
    const { method = '' } = message;
    const path = loggedPath(target, route, hidesPath === true);
    const ms = Math.round((performance.now() - started) * 1000) / 1000;
    this.counts.add(route, method, status, ms);
    this.log.info({ request: id, method, path, route, status, ms, address, user: caller }, 'request');
  }

  /** Logs input that was not a request. */
  logRejection(id: string, socket: Socket, status: number): void {
    this.counts.add('', 'other', status, 0);
    this.log.info({ request: id, route: '', status, address: peerOf(socket) }, 'request');
  }
}

/**
 * Returns the path of a request for the log, without the query, which may contain anything, and without secrets: a path with a
 * secret is replaced by its pattern, and unknown paths are stripped of anything that looks like a secret.
 */
function loggedPath(target: string, route: string, holdsSecret: boolean): string {
  if (holdsSecret) return route;
  const path = pathOf(target);
  return route === '' ? path.slice(0, maxPathLength).replace(/[\w.~%+=-]{20,}/g, '…') : path;
}
