import { hash, randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Log } from '../log.ts';
import { Incoming } from './incoming.ts';
import { clientAddress, parseNetworks, requestBase } from './origin.ts';
import { type Reply, json } from './reply.ts';

/** What the application makes of a request: the reply, and what the log line says about it. */
export interface Answer {
  readonly reply: Reply;
  /** The Allow header of an existing path; empty otherwise. */
  readonly allow: string;
  /** The pattern of the path, such as /api/keys/:uuid/. */
  readonly route: string;
  /** Uuid of the caller, if he is known. */
  readonly caller: string | undefined;
}

export interface ListenerOptions {
  readonly answer: (incoming: Incoming) => Answer | Promise<Answer>;
  /** Calls back when everything written so far is safe, with an error when it is not. */
  readonly settled: (callback: (error?: unknown) => void) => void;
  /** Largest body in bytes for a path. */
  readonly bodyLimit: (path: string) => number;
  readonly baseUrl: string | null;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly log: Log;
}

const headerBytes = 16 * 1024;
const headersTimeout = 10_000;
const requestTimeout = 30_000;
/** Bytes of a refused body that are read on, so that its sender gets to read the answer. */
const drainedBytes = 64 * 1024 * 1024;
const compressedFrom = 1400;
const shutdownPatience = 8_000;

/** The HTTP server: reads requests within limits, sends replies when what they tell has been committed. */
export class Listener {
  readonly #server: Server;
  readonly #options: ListenerOptions;
  readonly #proxies: ReturnType<typeof parseNetworks>;
  readonly #idPrefix = randomBytes(6).toString('hex');
  #requests = 0;
  #stopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#proxies = parseNetworks(options.trustedProxies);
    this.#server = createServer({
      maxHeaderSize: headerBytes,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 60_000,
      noDelay: true,
    });
    this.#server.on('request', (incoming, outgoing) => this.#receive(incoming, outgoing));
    this.#server.on('clientError', refuse);
  }

  /** Starts listening; answers the port taken. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Stops accepting, lets running requests finish within a bound, then closes every connection. */
  close(): Promise<void> {
    this.#stopping = true;
    return new Promise((resolve) => {
      if (!this.#server.listening) return resolve();
      const patience = setTimeout(() => this.#server.closeAllConnections(), shutdownPatience);
      this.#server.close(() => {
        clearTimeout(patience);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }

  #receive(message: IncomingMessage, outgoing: ServerResponse): void {
    const started = performance.now();
    const hasBody = message.headers['content-length'] !== undefined || message.headers['transfer-encoding'] !== undefined;
    // The bodies of requests that only read are not looked at.
    if (!hasBody || message.method === 'GET' || message.method === 'HEAD' || message.method === 'OPTIONS') {
      if (hasBody) message.resume();
      this.#answer(message, outgoing, noContent, started);
      return;
    }
    this.#collect(message, outgoing, (content) => this.#answer(message, outgoing, content, started));
  }

  #collect(message: IncomingMessage, outgoing: ServerResponse, use: (content: Buffer | null) => void): void {
    const limit = this.#options.bodyLimit(message.url ?? '/');
    const chunks: Buffer[] = [];
    let length = 0;
    let used = false;
    const finish = (content: Buffer | null): void => {
      if (used) return;
      used = true;
      use(content);
    };
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (length > drainedBytes) {
        outgoing.shouldKeepAlive = false;
        message.pause();
        finish(null);
      }
    });
    message.on('end', () => finish(length > limit ? null : chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    // A client that goes away while it sends is not a fault: there is nobody left to answer.
    message.on('error', () => undefined);
  }

  #answer(message: IncomingMessage, outgoing: ServerResponse, content: Buffer | null, started: number): void {
    const id = `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
    const peer = message.socket.remoteAddress ?? '';
    const address = clientAddress(peer, message.headers, this.#proxies);
    const base = this.#options.baseUrl ?? requestBase(peer, message.headers, this.#proxies);
    const exchange: Exchange = { id, started, message, outgoing };
    const cors = this.#corsHeaders(message);
    if (cors && message.method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined) {
      this.#send(exchange, preflight, preflightHeaders(cors));
      return;
    }
    const target = message.url ?? '/';
    if (base === null || !target.startsWith('/')) {
      const detail = base === null ? 'Invalid Host header.' : 'Invalid request target.';
      this.#send(exchange, { ...unrouted, reply: json({ detail }, 400) }, cors);
      return;
    }
    const incoming = new Incoming(id, message.method ?? 'GET', target, message.headers, address, base, content);
    const finish = (answer: Answer): void =>
      this.#options.settled((error) => this.#send(exchange, error === undefined ? answer : this.#failed(exchange, answer, error), cors));
    const fail = (error: unknown): void => finish(this.#failed(exchange, unrouted, error));
    try {
      const answer = this.#options.answer(incoming);
      if (answer instanceof Promise) answer.then(finish, fail);
      else finish(answer);
    } catch (error) {
      fail(error);
    }
  }

  #failed(exchange: Exchange, answer: Omit<Answer, 'reply'>, error: unknown): Answer {
    this.#options.log.error({ request: exchange.id, route: answer.route, err: error }, 'internal error');
    return { ...answer, reply: internalError(exchange.id) };
  }

  #corsHeaders(message: IncomingMessage): Record<string, string> | undefined {
    const origin = message.headers.origin;
    if (origin === undefined || !this.#options.allowedOrigins.includes(origin)) return undefined;
    return {
      'Access-Control-Allow-Origin': origin,
      Vary: 'Origin',
      'Access-Control-Expose-Headers': 'X-Result-Count, Link, ETag, Location',
    };
  }

  #send(exchange: Exchange, answer: Answer, extra: Readonly<Record<string, string>> | undefined): void {
    const { message, outgoing } = exchange;
    const { reply } = answer;
    let { status, body } = reply;
    const headers: string[] = ['X-Request-Id', exchange.id, 'X-Content-Type-Options', 'nosniff'];
    if (answer.allow !== '') headers.push('Allow', answer.allow);
    for (const name in reply.headers) headers.push(name, reply.headers[name] as string);
    let vary = '';
    for (const name in extra) {
      if (name === 'Vary') vary = extra[name] as string;
      else headers.push(name, extra[name] as string);
    }
    if (reply.conditional && status === 200 && (message.method === 'GET' || message.method === 'HEAD')) {
      const etag = `"${hash('sha1', tagged(reply), 'base64')}"`;
      headers.push('ETag', etag);
      if (!reply.headers['Cache-Control']) headers.push('Cache-Control', 'private, no-cache');
      if (matches(message.headers['if-none-match'], etag)) {
        status = 304;
        body = '';
      }
    } else {
      headers.push('Cache-Control', 'no-store');
    }
    if (this.#stopping) outgoing.shouldKeepAlive = false;
    if (status === 204 || status === 304) {
      if (vary) headers.push('Vary', vary);
      outgoing.writeHead(status, headers).end();
      this.#report(exchange, answer, status);
      return;
    }
    headers.push('Content-Type', reply.type);
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const encoding = length < compressedFrom || !compressible(reply.type) ? undefined : chosenEncoding(message.headers['accept-encoding']);
    if (length >= compressedFrom && compressible(reply.type)) vary = vary === '' ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
    if (vary) headers.push('Vary', vary);
    if (encoding) {
      compress(encoding, body, (compressed) => {
        headers.push('Content-Encoding', encoding, 'Content-Length', String(compressed.length));
        this.#write(exchange, answer, status, headers, compressed);
      });
      return;
    }
    headers.push('Content-Length', String(length));
    this.#write(exchange, answer, status, headers, body);
  }

  #write(exchange: Exchange, answer: Answer, status: number, headers: string[], body: string | Uint8Array): void {
    exchange.outgoing.writeHead(status, headers);
    if (exchange.message.method === 'HEAD') exchange.outgoing.end();
    else exchange.outgoing.end(body);
    this.#report(exchange, answer, status);
  }

  #report(exchange: Exchange, answer: Answer, status: number): void {
    const ms = Math.round((performance.now() - exchange.started) * 1000) / 1000;
    this.#options.log.info(
      { request: exchange.id, method: exchange.message.method, route: answer.route, status, ms, caller: answer.caller },
      'request',
    );
  }
}

interface Exchange {
  readonly id: string;
  readonly started: number;
  readonly message: IncomingMessage;
  readonly outgoing: ServerResponse;
}

const noContent = Buffer.alloc(0);
const unrouted = { allow: '', route: '', caller: undefined };
const preflight: Answer = { ...unrouted, reply: { status: 204, body: '', type: '', headers: {}, conditional: false } };

const preflightHeaders = (cors: Record<string, string>): Record<string, string> => ({
  ...cors,
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
  'Access-Control-Max-Age': '600',
});

const internalError = (id: string): Reply => json({ detail: 'Internal server error.', request_id: id }, 500);

/** What an ETag is made of: the body, and the headers of a page that tell more than the body does. */
function tagged(reply: Reply): string | Uint8Array {
  const count = reply.headers['X-Result-Count'];
  return count === undefined || typeof reply.body !== 'string' ? reply.body : `${count} ${reply.headers.Link} ${reply.body}`;
}

/** RFC 9110 13.1.2: any of the listed tags, compared weakly, or `*`. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((item) => {
    const tag = item.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

const compressible = (type: string): boolean => /json|text|javascript|svg/.test(type);

/** The better of the encodings the client accepts; an encoding with quality zero is refused. */
function chosenEncoding(header: string | string[] | undefined): 'br' | 'gzip' | undefined {
  if (!header) return undefined;
  const accepted = String(header).split(',').filter((item) => !/;\s*q=0(\.0*)?\s*$/.test(item)).map((item) => item.split(';', 1)[0]?.trim());
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : undefined;
}

function compress(encoding: 'br' | 'gzip', body: string | Uint8Array, use: (compressed: Buffer) => void): void {
  const done = (error: Error | null, compressed: Buffer): void => {
    if (error) throw error;
    use(compressed);
  };
  // Quality 4 costs about what gzip costs and is smaller; the default of 11 is for files compressed once.
  if (encoding === 'br') brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, done);
  else gzip(body, done);
}

/** Answers what the HTTP parser refused: headers too large, too slow, or no HTTP at all. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'Request headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'Request took too long.']
        : ['400 Bad Request', 'Malformed HTTP request.'];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${randomBytes(8).toString('hex')}\r\nConnection: close\r\n\r\n${body}`,
  );
}
