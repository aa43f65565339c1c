import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { type Address, addressOf, authorityOf, usualAdminAddress } from '../../kernel/config/address.ts';
import { listenOn } from '../../kernel/http/listener-options.ts';
import { errorOf, present } from '../../kernel/present.ts';
import { openExposition } from './exposition.ts';
import { checkHealth, type Health, type HealthDependencies } from './health.ts';
import { readings } from './readings.ts';
import { processReadings, type Reading, watchEventLoop } from './samples.ts';

/** Maximum number of connections. Each serves one request. */
const maxConnections = 32;
/** Timeouts of the request headers, of the complete request, and of an idle connection. */
const headersTimeoutMs = 5000;
const requestTimeoutMs = 5000;
const idleTimeoutMs = 10_000;
/** How long to cache the metrics. Writing them blocks the event loop for some milliseconds. */
const metricsCacheMs = 1000;

interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const jsonPage = (status: number, content: object): Page => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(content)}\n`,
});

/** Serves liveness, readiness and metrics on the operator's port. */
class AdminListener {
  readonly #server: Server;
  readonly #vitals: HealthDependencies;
  readonly #eventLoop = watchEventLoop();
  readonly #pages: Readonly<Record<string, () => Page | Promise<Page>>>;
  #isLocal = true;
  /** Connections without a request yet, and the others, both in order of opening. */
  readonly #idle = new Set<Socket>();
  readonly #active = new Set<Socket>();

  /** `further` are additional metrics. */
  constructor(vitals: HealthDependencies, further: readonly Reading[] = []) {
    this.#vitals = vitals;
    const { app, folder, timerAgeMs } = vitals;
    const metrics = [...readings(app, folder, timerAgeMs), ...further, this.#eventLoop.reading, ...processReadings];
    let exposition: ReturnType<typeof openExposition> | undefined;
    this.#pages = {
      '/healthz': () => jsonPage(200, { status: 'ok' }),
      '/readyz': coalesce(async () => readiness(await checkHealth(this.#vitals))),
      '/metrics': coalesce(async () => {
        exposition ??= openExposition(app, metrics);
        const { type, write } = await exposition;
        return { status: 200, type, body: await write() };
      }, metricsCacheMs),
    };
    this.#server = createServer(
      {
        maxHeaderSize: 8192,
        headersTimeout: headersTimeoutMs,
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: 1000,
        requireHostHeader: false,
      },
      (message, outgoing) => void this.#receive(message, outgoing),
    );
    this.#server.on('connection', (socket: Socket) => this.#admit(socket));
    this.#server.setTimeout(idleTimeoutMs);
  }

  /** Starts listening and returns the port. Rejects with a readable error. */
  async listen(address: Address): Promise<number> {
    const listener = await listenOn(this.#server, address);
    this.#isLocal = listener.address === '::1' || listener.address.startsWith('127.');
    return listener.port;
  }

  /** Closes every connection. */
  close(): Promise<void> {
    this.#eventLoop.stop();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** Accepts a connection. If there are too many, closes the oldest idle one. */
  #admit(socket: Socket): void {
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#active.delete(socket);
    });
    if (this.#idle.size + this.#active.size <= maxConnections) return;
    const [oldestIdle] = this.#idle;
    const [oldestActive] = this.#active;
    if (oldestIdle !== socket) oldestIdle?.destroy();
    else (oldestActive ?? socket).destroy();
  }

  async #receive(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#idle.delete(message.socket);
    this.#active.add(message.socket);
    message.resume();
    const { body, status, type } = await this.#respond(message).catch((error: unknown) => {
      this.#vitals.app.log.error({ err: error, path: message.url }, 'failed to respond to the operator');
      return jsonPage(500, { detail: 'Internal server error.' });
    });
    outgoing.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      // Scrapes are many seconds apart. Until the next one, an idle connection would count towards the limit.
      Connection: 'close',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    outgoing.end(message.method === 'HEAD' ? '' : body);
  }

  async #respond({ headers, method, url = '' }: IncomingMessage): Promise<Page> {
    if (this.#isLocal && !isLocalHost(headers.host)) return jsonPage(403, { detail: 'Host is not this machine.' });
    const path = url.replace(/\?.*$/s, '');
    if (!Object.hasOwn(this.#pages, path)) return jsonPage(404, { detail: 'Not found.' });
    if (method !== 'GET' && method !== 'HEAD') return jsonPage(405, { detail: `Method "${method}" not allowed.` });
    return present(this.#pages[path])();
  }
}

const readiness = ({ isReady, ...health }: Health): Page =>
  jsonPage(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', ...health });

/**
 * Whether a Host header names this machine by an IP address or as localhost. This prevents DNS rebinding. HTTP/1.0 has no Host
 * header.
 */
function isLocalHost(host: string | undefined): boolean {
  const name = host?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name === undefined || name === 'localhost' || isIP(name) !== 0;
}

/** Shares one result among overlapping calls, and for `cacheMs` afterwards. */
function coalesce<T>(load: () => Promise<T>, cacheMs = 0): () => Promise<T> {
  let last: { readonly result: Promise<T>; settledAt: number } | undefined;
  return () => {
    if (last && performance.now() - last.settledAt < cacheMs) return last.result;
    const current = { result: load(), settledAt: Number.POSITIVE_INFINITY };
    last = current;
    const settle = (): void => {
      current.settledAt = performance.now();
    };
    current.result.then(settle, settle);
    return current.result;
  };
}

/** An admin listener and its URL, without a trailing slash. */
export interface AdminAccess {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens at `admin_listen`. Without that setting, `usesDefault` selects the default address; if another process uses it, there
 * is no listener. Rejects with a readable error.
 */
export async function openAdmin(
  vitals: HealthDependencies,
  usesDefault: boolean,
  further: readonly Reading[],
): Promise<AdminAccess | undefined> {
  const { config, log } = vitals.app;
  const setting = config.admin_listen;
  const address =
    setting === null ? (usesDefault && config.port !== 0 ? usualAdminAddress : undefined) : addressOf(setting);
  if (!address) return undefined;
  const admin = new AdminListener(vitals, further);
  try {
    const port = await admin.listen(address);
    return { url: `http://${authorityOf({ ...address, port })}`, close: () => admin.close() };
  } catch (error) {
    await admin.close();
    if (setting !== null) throw error;
    log.warn(
      `${errorOf(error).message}: /healthz, /readyz and /metrics are unavailable; set admin_listen to another address, or off`,
    );
    return undefined;
  }
}
