import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Log } from '../log.ts';
import { corsHeaders, isPreflight, preflightHeaders } from './cors.ts';
import { chosenEncoding, compress, isCompressible } from './encoding.ts';
import { etagOf, matches } from './etag.ts';
import { IncomingRequest } from './incoming-request.ts';
import { addressOf, clientAddress, parseNetworks, requestBase, targetOf } from './origin.ts';
import { refusalOf, writeRefusal } from './refusal.ts';
import { json, type Reply } from './reply.ts';

/** What the application makes of a request: the reply, and what the log line says about it. */
export interface Answer {
  readonly reply: Reply;
  /** The Allow header of an existing path; empty otherwise. */
  readonly allow: string;
  /** The pattern of the path, such as /api/keys/:uuid/. */
  readonly route: string;
  /** Uuid of the caller, if they are known. */
  readonly caller: string | undefined;
}

export interface ListenerOptions {
  readonly answer: (incoming: IncomingRequest) => Answer | Promise<Answer>;
  /** Calls back when everything written so far is safe, with an error when it is not. */
  readonly afterCommit: (callback: (error?: unknown) => void) => void;
  /** Largest body in bytes for a target, which is a path with or without a query. */
  readonly bodyLimit: (target: string) => number;
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
const shutdownPatience = 8_000;
/** Why a port cannot be had, in words for the operator. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** The HTTP server: reads requests within limits, sends replies when what they tell has been committed. */
export class HttpServer {
  readonly #server: Server;
  readonly #options: ListenerOptions;
  readonly #proxies: ReturnType<typeof parseNetworks>;
  readonly #idPrefix = randomBytes(6).toString('hex');
  /** The latest exchange of every connection. */
  readonly #latest = new WeakMap<Socket, Exchange>();
  /** Connections that have asked nothing yet. */
  readonly #silent = new Set<Socket>();
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
      // A request without a Host header is refused below, with a body and a request id.
      requireHostHeader: false,
    });
    const receive = (message: IncomingMessage, outgoing: ServerResponse): void => this.#receive(message, outgoing);
    this.#server.on('connection', (socket: Socket) => {
      this.#silent.add(socket);
      socket.once('close', () => this.#silent.delete(socket));
    });
    this.#server.on('request', receive);
    // RFC 9110 10.1.1 lets a server ignore an expectation it does not know.
    this.#server.on('checkExpectation', receive);
    this.#server.on('clientError', (error, socket) => {
      if (socket instanceof Socket) this.#refuse(error, socket);
    });
  }

  /** Starts listening; answers the port taken. Rejects with a sentence when that is impossible. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void =>
        reject(
          new Error(`cannot listen on ${host} port ${port}: ${listenProblems[error.code ?? ''] ?? error.message}`, {
            cause: error,
          }),
        );
      this.#server.once('error', fail);
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail);
        const address = this.#server.address();
        // Not of a server that listens on a port.
        if (address === null || typeof address === 'string') throw new Error('the server has no port');
        resolve(address.port);
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
      // To node:http a connection that has asked nothing is not idle.
      this.#server.closeIdleConnections();
      for (const socket of this.#silent) socket.destroy();
    });
  }

  #receive(message: IncomingMessage, outgoing: ServerResponse): void {
    const exchange: Exchange = { id: this.#nextId(), started: performance.now(), message, outgoing };
    this.#latest.set(message.socket, exchange);
    this.#silent.delete(message.socket);
    const hasBody =
      message.headers['content-length'] !== undefined || message.headers['transfer-encoding'] !== undefined;
    // The bodies of requests that only read are not looked at.
    if (!hasBody || message.method === 'GET' || message.method === 'HEAD' || message.method === 'OPTIONS') {
      if (hasBody) message.resume();
      this.#answer(exchange, noContent);
      return;
    }
    this.#collect(exchange, (content) => this.#answer(exchange, content));
  }

  #collect({ message, outgoing }: Exchange, use: (content: Buffer | null) => void): void {
    const limit = this.#options.bodyLimit(targetOf(message).target);
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
    message.on('end', () =>
      finish(length > limit ? null : chunks[0] && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
    );
    // A client that goes away while it sends is not a fault: there is nobody left to answer.
    message.on('error', () => undefined);
  }

  #answer(exchange: Exchange, content: Buffer | null): void {
    const { id, message } = exchange;
    const cors = corsHeaders(message.headers, this.#options.allowedOrigins);
    if (cors && isPreflight(message)) {
      this.#send(exchange, preflight, preflightHeaders(cors));
      return;
    }
    const peer = addressOf(message);
    const { target, host } = targetOf(message);
    const address = clientAddress(peer, message.headers, this.#proxies);
    const base = this.#options.baseUrl ?? requestBase(peer, host, message.headers, this.#proxies);
    if (base === null || !target.startsWith('/')) {
      const detail = base === null ? 'Invalid Host header.' : 'Invalid request target.';
      this.#send(exchange, { ...unrouted, reply: json({ detail }, 400) }, cors);
      return;
    }
    const incoming = new IncomingRequest(id, message.method ?? 'GET', target, message.headers, address, base, content);
    const finish = (answer: Answer): void =>
      this.#options.afterCommit((error) =>
        this.#send(exchange, error === undefined ? answer : this.#failed(exchange, answer, error), cors),
      );
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

  #send(exchange: Exchange, answer: Answer, extra: Readonly<Record<string, string>> | undefined): void {
    const { message, outgoing } = exchange;
    const { reply } = answer;
    const { body } = reply;
    let { status } = reply;
    const headers: string[] = ['X-Request-Id', exchange.id, 'X-Content-Type-Options', 'nosniff'];
    if (answer.allow !== '') headers.push('Allow', answer.allow);
    for (const [name, value] of Object.entries(reply.headers)) headers.push(name, value);
    const vary = extra?.Vary ? [extra.Vary] : [];
    for (const [name, value] of Object.entries(extra ?? {})) if (name !== 'Vary') headers.push(name, value);
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const compressible = isCompressible(reply.type, length);
    if (compressible) vary.push('Accept-Encoding');
    if (vary.length > 0) headers.push('Vary', vary.join(', '));
    if (reply.conditional && status === 200 && (message.method === 'GET' || message.method === 'HEAD')) {
      const etag = etagOf(reply);
      headers.push('ETag', etag);
      if (!reply.headers['Cache-Control']) headers.push('Cache-Control', 'private, no-cache');
      if (matches(message.headers['if-none-match'], etag)) status = 304;
    } else {
      headers.push('Cache-Control', 'no-store');
    }
    if (this.#stopping) outgoing.shouldKeepAlive = false;
    if (status === 204 || status === 304) {
      this.#write(exchange, answer, status, headers, '');
      return;
    }
    headers.push('Content-Type', reply.type);
    const encoding = compressible ? chosenEncoding(message.headers['accept-encoding']) : undefined;
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

  #report({ id, started, message }: Exchange, answer: Answer, status: number): void {
    const ms = Math.round((performance.now() - started) * 1000) / 1000;
    this.#options.log.info(
      { request: id, method: message.method, route: answer.route, status, ms, caller: answer.caller },
      'request',
    );
  }

  /** Answers what is no request, once the connection has got the answers to what it asked before. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const before = this.#latest.get(socket);
    if (before?.message.complete && !before.outgoing.writableFinished && !socket.destroyed) {
      before.outgoing.once('close', () => this.#refuse(error, socket));
      return;
    }
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    const id = this.#nextId();
    writeRefusal(socket, refusal, id);
    this.#options.log.info({ request: id, route: '', status: refusal.status }, 'request');
  }

  #nextId(): string {
    return `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
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

const internalError = (id: string): Reply => json({ detail: 'Internal server error.', request_id: id }, 500);
