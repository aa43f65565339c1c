import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { BatchRolledBack } from '../durability/storage-error.ts';
import { parseNetworks } from '../net/networks.ts';
import { AccessLog } from './access-log.ts';
import { type Call, type Result, send } from './call.ts';
import type { Certificate } from './certificate.ts';
import { Connections } from './connections.ts';
import { Cors, isPreflight } from './cors.ts';
import { Expectation } from './expectation.ts';
import { IncomingRequest, isReading } from './incoming-request.ts';
import { type ListenerOptions, listenOn } from './listener-options.ts';
import { peerOf, requestBase, targetOf } from './origin.ts';
import {
  internalError,
  invalidHost,
  invalidTarget,
  noSpace,
  type ParserError,
  preflight,
  rejectedPreflight,
  unrouted,
  writeRejection,
} from './rejection.ts';
import { Upload, UploadBudget } from './uploads.ts';

const maxHeaderBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
const shutdownTimeoutMs = 8_000;

/** The HTTP server. Reads requests within limits, and sends responses after their changes are committed. */
export class HttpServer {
  readonly #server: Server;
  readonly #secure: SecureServer | undefined;
  readonly #options: ListenerOptions;
  readonly #log: AccessLog;
  readonly #proxies: ReturnType<typeof parseNetworks>;
  readonly #idPrefix = randomBytes(6).toString('hex');
  /** The latest request of every connection. */
  readonly #latest = new WeakMap<Socket, Call>();
  readonly #connections: Connections;
  readonly #cors: Cors;
  readonly #uploads: UploadBudget;
  /** Sends responses at the end of the iteration. */
  readonly #ready = new EndOfIteration();
  #requests = 0;
  #stopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#proxies = parseNetworks(options.trustedProxies);
    this.#log = new AccessLog(options.log, this.#proxies, options.counts);
    this.#cors = new Cors(options.allowedOrigins, options.log);
    this.#connections = new Connections(options.connections, this.#proxies);
    this.#uploads = new UploadBudget(options.bodyBudget);
    const limits = {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: options.keepAlive / 1000,
      noDelay: true,
      // A request without a Host header is rejected below, with a body and a request id.
      requireHostHeader: false,
    };
    const { certificate } = options;
    this.#secure =
      certificate && createSecureServer({ ...limits, ...certificate.options, handshakeTimeout: headersTimeoutMs });
    this.#server = this.#secure ?? createServer(limits);
    this.#connections.watch(this.#server);
    const receive = (message: IncomingMessage, outgoing: ServerResponse): void =>
      this.#receive(message, outgoing, false);
    this.#server.on('request', receive);
    this.#server.on('checkContinue', (message, outgoing) => this.#receive(message, outgoing, true));
    // RFC 9110 10.1.1 lets a server ignore an expectation it does not know.
    this.#server.on('checkExpectation', receive);
    this.#server.on('clientError', (error, socket) => {
      if (socket instanceof Socket) this.#reject(error, socket);
    });
  }

  /** Presents a new certificate to new connections. Only for servers with TLS. */
  renew({ options }: Certificate): void {
    this.#secure?.setSecureContext(options);
  }

  /** Starts listening and resolves with the port. Rejects with a readable error on failure. */
  async listen(host: string, port: number): Promise<number> {
    return (await listenOn(this.#server, { host, port })).port;
  }

  /** Stops accepting connections, waits `graceMs` for running requests, then closes every connection. */
  close(graceMs = shutdownTimeoutMs): Promise<void> {
    this.#stopping = true;
    return new Promise((resolve) => {
      if (!this.#server.listening) return resolve();
      const timeout = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      this.#server.close(() => {
        clearTimeout(timeout);
        resolve();
      });
      this.#server.closeIdleConnections();
      this.#connections.closeSilent();
    });
  }

  /** `expectsContinue` means that the client sends its body only after 100 Continue (RFC 9110 10.1.1). */
  #receive(message: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean): void {
    const cors = this.#cors.headers(message.headers);
    const peer = peerOf(message.socket);
    const address = this.#log.addressOf(message);
    const { target, host } = targetOf(message);
    const call: Call = {
      id: this.#nextId(),
      started: performance.now(),
      message,
      target,
      outgoing,
      expectation: new Expectation(message, outgoing, expectsContinue),
      cors,
      address,
    };
    this.#latest.set(message.socket, call);
    this.#connections.requested(message.socket);
    const requestedBase = requestBase(peer, host, message.headers, this.#proxies, this.#secure ? 'https' : 'http');
    const sendRejection = (response: Result): void => {
      call.expectation.reject();
      this.#send(call, response);
    };
    if (requestedBase === null || !target.startsWith('/')) {
      sendRejection(requestedBase === null ? invalidHost : invalidTarget);
      return;
    }
    const base = this.#options.baseUrl ?? requestedBase;
    if (!cors) this.#cors.reportRejected(message.headers, [requestedBase, base]);
    if (isPreflight(message)) {
      sendRejection(cors ? preflight : rejectedPreflight);
      return;
    }
    const incoming = new IncomingRequest(call.id, message.method ?? 'GET', target, message.headers, address, base);
    const forwarded = this.#options.forward?.(call, requestedBase);
    if (!forwarded) this.#receiveBody(call, incoming, sendRejection);
    else
      void forwarded.then((response) => {
        if (response === undefined) this.#receiveBody(call, incoming, sendRejection);
        else if (typeof response === 'number') this.#log.logResponse(call, unrouted, response);
        else sendRejection(response);
      });
  }

  /** Receives the body of a request, within limits, and responds on this server. */
  #receiveBody(call: Call, incoming: IncomingRequest, sendRejection: (response: Result) => void): void {
    const { expectation, message } = call;
    const { headers, method } = incoming;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    // Bodies of read-only requests are ignored.
    if (!hasBody || isReading(method)) {
      if (hasBody) message.resume();
      this.#respond(call, incoming);
      return;
    }
    this.#guard(call, () => {
      const admission = this.#options.admit(incoming);
      if ('reply' in admission) {
        this.#options.afterCommit((error) => {
          if (error instanceof BatchRolledBack) this.#ready.add(() => this.#receiveBody(call, incoming, sendRejection));
          else sendRejection(this.#afterCommit(incoming, admission, error));
        });
        return;
      }
      if (expectation.exceeds(admission.bodyLimit)) {
        expectation.reject();
        this.#respond(call, incoming.receive(null));
        return;
      }
      expectation.meet();
      const upload = new Upload(this.#uploads, admission.holder, admission.bodyLimit);
      upload.collect(call, (content) =>
        content === undefined
          ? this.#send(call, { ...admission.description, reply: noSpace })
          : this.#respond(call, incoming.receive(content)),
      );
    });
  }

  #respond(call: Call, incoming: IncomingRequest): void {
    const finish = (response: Result): void => {
      let isWaiting = false;
      this.#options.afterCommit((error) => {
        const send = (): void =>
          this.#send(call, this.#afterCommit(incoming, response, error), () => this.#lapsed(incoming, response));
        if (error instanceof BatchRolledBack && (incoming.isRepeatable || isReading(incoming.method)))
          this.#ready.add(() => this.#respond(call, incoming));
        else if (isWaiting) send();
        else this.#ready.add(() => this.#guard(call, send));
      });
      isWaiting = true;
    };
    incoming.isGone = () => call.outgoing.destroyed;
    incoming.isRepeatable = true;
    this.#guard(call, () => {
      const response = this.#options.respond(incoming);
      if (response instanceof Promise) {
        // Its changes may be committed before the response is sent.
        incoming.isRepeatable = false;
        response.then(finish, (error) => finish(this.#failed(call, unrouted, error)));
      } else finish(response);
    });
  }

  /** Responds with 500 if the function throws. */
  #guard(call: Call, work: () => void): void {
    try {
      work();
    } catch (error) {
      const response = this.#failed(call, unrouted, error);
      this.#options.afterCommit(() => this.#send(call, response));
    }
  }

  /**
   * Returns the response, or its replacement if its changes could not be saved or may no longer be acknowledged. A rollback of only
   * other requests' changes does not affect it.
   */
  #afterCommit(incoming: IncomingRequest, response: Result, error: unknown): Result {
    if (error instanceof BatchRolledBack) return response;
    return error === undefined
      ? (this.#lapsed(incoming, response) ?? response)
      : this.#options.unsaved(incoming, error);
  }

  /** Returns the replacement for the response to a change that may no longer be acknowledged; undefined otherwise. */
  #lapsed(incoming: IncomingRequest, { reply }: Result): Result | undefined {
    const failure = isReading(incoming.method) || reply.status >= 400 ? undefined : this.#options.commitError?.();
    return failure === undefined ? undefined : this.#options.unsaved(incoming, failure);
  }

  #failed(call: Call, response: Omit<Result, 'reply'>, error: unknown): Result {
    this.#options.log.error({ request: call.id, route: response.route, err: error }, 'internal error');
    return { ...response, reply: internalError(call.id) };
  }

  #send(call: Call, response: Result, replacement?: () => Result | undefined): void {
    if (this.#stopping) call.outgoing.shouldKeepAlive = false;
    send(call, response, this.#log, replacement);
  }

  /** Responds to input that is not a request, after the responses to earlier requests of the connection. */
  #reject(error: ParserError, socket: Socket): void {
    if (/^ERR_(SSL|TLS)_/.test(error.code ?? '')) {
      this.#rejectUnencrypted(error, socket);
      return;
    }
    const before = this.#latest.get(socket);
    // The response was sent before the request was complete, and the request has timed out.
    if (before && !before.message.complete && before.outgoing.headersSent) {
      socket.destroy();
      return;
    }
    if (before?.message.complete && !before.outgoing.writableFinished && !socket.destroyed) {
      before.outgoing.once('close', () => this.#reject(error, socket));
      return;
    }
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const id = this.#nextId();
    this.#log.logRejection(id, socket, writeRejection(socket, error, id));
  }

  /** Responds to a client that speaks plain HTTP instead of TLS; others get no response. */
  #rejectUnencrypted(error: ParserError, socket: Socket): void {
    const below = error.code === 'ERR_SSL_HTTP_REQUEST' ? this.#connections.below(socket) : undefined;
    if (below?.writable) writeRejection(below, error, this.#nextId());
    else socket.destroy();
  }

  #nextId(): string {
    return `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
  }
}

/**
 * Batches the work of an event-loop iteration at its end. Responses sent together wake the client once instead of repeatedly. See
 * src/decisions/output.md.
 */
export class EndOfIteration {
  #waiting: (() => void)[] = [];

  /** Must not throw: later work of the same iteration would be lost. */
  add(work: () => void): void {
    if (this.#waiting.push(work) > 1) return;
    setImmediate(() => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const each of waiting) each();
    });
  }
}
