import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { errorOf } from '../present.ts';
import { isHostLength } from '../url.ts';
import { type AddressRule, isDestinationAllowed, type PortRule, rejectedDestination } from './destination.ts';
import type { Resolver } from './resolver.ts';

interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Its parts are sent in order, with backpressure. */
  readonly body?: string | Buffer | readonly Buffer[];
}

/** A response of any status; redirects are responses like any other and are never followed. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The address of the server; empty if the connection was lost immediately. */
  readonly address: string;
  /** The received part of the body. */
  readonly body: Buffer;
  /** How reading the body ended: at its end, at the client's limit, or early. */
  readonly ending: 'complete' | 'too long' | 'cut short';
}

/** Thrown if there is no response. `message` is readable; `cause` is the error of Node's network modules, if any. */
export class NoResponseError extends Error {
  constructor(
    message: string,
    /** Whether the address is not allowed, so that a retry is pointless. */
    readonly isRejectedAddress = false,
    options?: ErrorOptions,
    /** Whether the name did not resolve. */
    readonly isUnresolved = false,
  ) {
    super(message, options);
  }
}

export interface HttpClientOptions {
  readonly resolve: Resolver;
  /** The allowed addresses. */
  readonly allows: AddressRule;
  /** The allowed ports; default: all. */
  readonly allowsPort?: PortRule | undefined;
  /** Milliseconds for the whole call: resolving, connecting, sending, and reading the response. */
  readonly timeout: number;
  /** Milliseconds for connecting, if less. */
  readonly connectTimeout?: number;
  /** Maximum size of a response body in bytes. */
  readonly maxBytes: number;
  /**
   * Whether connections stay open for the next request. If the server has just closed the connection, the request is
   * sent again, so do not use it for requests that must not be repeated.
   */
  readonly keepAlive?: boolean;
  /** PEM of an additional trust anchor. */
  readonly certificate?: string | null;
  /** Returns a reason while nothing may be sent. Default: never. */
  readonly pausedBy?: (() => string | undefined) | undefined;
}

/** Idle connections stay open about as long as servers keep them. */
const agentOptions = { keepAlive: true, timeout: 15_000, maxFreeSockets: 64 };

/**
 * Sends every outgoing HTTP request: bounded in time and size, with verified TLS, and only to allowed
 * addresses. A literal address is checked before the request, those of a name after resolution, and the connection uses
 * the checked address.
 */
export class HttpClient {
  readonly #agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;
  readonly #lookup: LookupFunction;

  constructor(private readonly options: HttpClientOptions) {
    this.#lookup = allowedLookup(options.resolve, options.allows);
    if (options.keepAlive) this.#agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  }

  /** Rejects with a NoResponseError if no response came, with another error if Node cannot send such a request. */
  send(request: HttpRequest): Promise<HttpResponse> {
    const { allows, allowsPort, maxBytes, pausedBy, timeout } = this.options;
    const pause = pausedBy?.();
    if (pause !== undefined) return Promise.reject(new NoResponseError(pause));
    if (!isHostLength(request.url))
      return Promise.reject(new NoResponseError('The name of the host is too long.', true));
    if (!isDestinationAllowed(request.url, allows, allowsPort))
      return Promise.reject(new NoResponseError(rejectedDestination, true));
    return new Promise((resolve, reject) => {
      let current: ClientRequest;
      let hasResponded = false;
      let isLate = false;
      const deadline = setTimeout(() => {
        isLate = true;
        current.destroy(new NoResponseError(`No answer within ${timeout / 1000} seconds.`));
      }, timeout);
      const fail = (error: Error): void => {
        clearTimeout(deadline);
        reject(error);
      };
      const attempt = (): void => {
        const outgoing = this.#open(request);
        current = outgoing;
        outgoing.on('response', (response) => {
          hasResponded = true;
          void readResponse(response, maxBytes).then((reply) => {
            clearTimeout(deadline);
            resolve(reply);
          });
        });
        outgoing.on('error', (error: NodeJS.ErrnoException) => {
          if (hasResponded) return;
          // The server closed the idle connection just before it was used, and has read nothing of the request.
          if (outgoing.reusedSocket && !isLate && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')) return attempt();
          fail(explained(error));
        });
        outgoing.on('close', () => {
          if (!hasResponded && outgoing === current)
            fail(new NoResponseError('The connection was closed without an answer.'));
        });
        this.#limitConnecting(outgoing);
        sendBody(outgoing, request.body);
      };
      try {
        attempt();
      } catch (error) {
        // Node throws immediately for input that cannot be sent, such as a line break in a header.
        fail(errorOf(error));
      }
    });
  }

  /** Closes all connections, including those in use. */
  close(): void {
    this.#agents?.http.destroy();
    this.#agents?.https.destroy();
  }

  #open({ body, headers, method, url }: HttpRequest): ClientRequest {
    const options = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Length': lengthOf(body) }) },
      lookup: this.#lookup,
    };
    if (url.protocol !== 'https:') return httpRequest(url, { ...options, agent: this.#agents?.http ?? false });
    const { certificate } = this.options;
    const anchors = certificate ? { ca: [...rootCertificates, certificate] } : {};
    return httpsRequest(url, { ...options, ...anchors, agent: this.#agents?.https ?? false });
  }

  #limitConnecting(request: ClientRequest): void {
    const { connectTimeout } = this.options;
    if (connectTimeout === undefined) return;
    const late = new NoResponseError(`No connection within ${connectTimeout / 1000} seconds.`);
    const connecting = setTimeout(() => request.destroy(late), connectTimeout);
    const stop = (): void => clearTimeout(connecting);
    request.on('socket', (socket) => {
      if (request.reusedSocket) stop();
      else socket.once(request.protocol === 'https:' ? 'secureConnect' : 'connect', stop);
    });
    request.on('close', stop);
  }
}

/** Returns the lookup function of a connection: all addresses of the name must be allowed. */
export const allowedLookup =
  (resolve: Resolver, allows: AddressRule): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error) return callback(explained(error, true), '');
      if (!addresses.every(({ address }) => allows(address)))
        return callback(new NoResponseError(rejectedDestination, true), '');
      if (!first) return callback(new NoResponseError('The host name has no address.', false, {}, true), '');
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });

type Body = NonNullable<HttpRequest['body']>;

const lengthOf = (body: Body): number =>
  typeof body === 'string' || Buffer.isBuffer(body)
    ? Buffer.byteLength(body)
    : body.reduce((sum, { length }) => sum + length, 0);

/** Bytes written to the socket in one call. */
const portion = 64 * 1024;

/** Sends a body and ends the request; waits for the socket to drain between portions. */
function sendBody(request: ClientRequest, body: Body | undefined): void {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) request.end(body);
  else Readable.from(portionsOf(body)).pipe(request);
}

function* portionsOf(parts: readonly Buffer[]): Iterable<Buffer> {
  for (const part of parts)
    for (let offset = 0; offset < part.length; offset += portion) yield part.subarray(offset, offset + portion);
}

/** Reads a response to its end or to the limit. */
function readResponse(response: IncomingMessage, maxBytes: number): Promise<HttpResponse> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const { remoteAddress: address = '' } = response.socket;
    const finish = (): void =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        address,
        body: Buffer.concat(chunks),
        ending: length > maxBytes ? 'too long' : response.complete ? 'complete' : 'cut short',
      });
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) response.destroy();
    });
    response.on('error', finish);
    response.on('close', finish);
    response.on('end', finish);
  });
}

const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  ENOTFOUND: 'The host name does not exist.',
  EAI_AGAIN: 'The host name could not be resolved.',
  EHOSTUNREACH: 'The host can not be reached.',
  ENETUNREACH: 'The network can not be reached.',
  ETIMEDOUT: 'The connection timed out.',
};

/** Returns a readable message for an error of Node's network modules. */
export function explained(error: NodeJS.ErrnoException, isUnresolved = false): NoResponseError {
  if (error instanceof NoResponseError) return error;
  const { code = '', message } = error;
  const isTls = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code);
  const text = explanations[code] ?? `${isTls ? 'TLS' : 'The connection'} failed: ${message}.`;
  return new NoResponseError(text, false, { cause: error }, isUnresolved);
}
