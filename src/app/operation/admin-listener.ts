import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { type Address, addressOf, authorityOf, usualAdminAddress } from '../../kernel/config/address.ts';
import { listenOn } from '../../kernel/http/listen.ts';
import { errorOf, present } from '../../kernel/present.ts';
import { openExposition } from './exposition.ts';
import { examineHealth, type Health, type Vitals } from './health.ts';
import { readings } from './readings.ts';
import { processReadings, type Reading, watchEventLoop } from './samples.ts';

/** Connections at a time. Each serves one request. */
const maxConnections = 32;
/** Milliseconds for the headers of a request, for all of it, and without any byte in either direction. */
const headersTimeoutMs = 5000;
const requestTimeoutMs = 5000;
const idleTimeoutMs = 10_000;
/** Milliseconds for which metrics count for whoever asks next: to write them takes some milliseconds of everybody's time. */
const freshness = 1000;

interface Told {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const told = (status: number, content: object): Told => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(content)}\n`,
});

/** Answers the operator, on a port of its own: whether the server lives, whether it can do its work, and its metrics. */
class AdminListener {
  readonly #server: Server;
  readonly #vitals: Vitals;
  readonly #eventLoop = watchEventLoop();
  readonly #pages: Readonly<Record<string, () => Told | Promise<Told>>>;
  #isLocal = true;
  /** Connections in the order in which they were opened: those without a request until now, and the others. */
  readonly #silent = new Set<Socket>();
  readonly #asking = new Set<Socket>();

  /** `further` are metrics of what only the caller knows. */
  constructor(vitals: Vitals, further: readonly Reading[] = []) {
    this.#vitals = vitals;
    const { app, folder, quiet } = vitals;
    const list = [...readings(app, folder, quiet), ...further, this.#eventLoop.reading, ...processReadings];
    let exposition: ReturnType<typeof openExposition> | undefined;
    this.#pages = {
      '/healthz': () => told(200, { status: 'ok' }),
      '/readyz': shared(async () => readiness(await examineHealth(this.#vitals))),
      '/metrics': shared(async () => {
        exposition ??= openExposition(app, list);
        const { type, write } = await exposition;
        return { status: 200, type, body: await write() };
      }, freshness),
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

  /** Starts listening; answers the port taken. Rejects with a sentence when that is impossible. */
  async listen(address: Address): Promise<number> {
    const taken = await listenOn(this.#server, address);
    this.#isLocal = taken.address === '::1' || taken.address.startsWith('127.');
    return taken.port;
  }

  /** Closes every connection. */
  close(): Promise<void> {
    this.#eventLoop.stop();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** Takes a connection; where there are too many, closes the one that has been idle for longest. */
  #admit(socket: Socket): void {
    this.#silent.add(socket);
    socket.once('close', () => {
      this.#silent.delete(socket);
      this.#asking.delete(socket);
    });
    if (this.#silent.size + this.#asking.size <= maxConnections) return;
    const [idlest] = this.#silent;
    const [longest] = this.#asking;
    if (idlest !== socket) idlest?.destroy();
    else (longest ?? socket).destroy();
  }

  async #receive(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#silent.delete(message.socket);
    this.#asking.add(message.socket);
    message.resume();
    const { body, status, type } = await this.#answer(message).catch((error: unknown) => {
      this.#vitals.app.log.error({ err: error, path: message.url }, 'the operator could not be answered');
      return told(500, { detail: 'Internal server error.' });
    });
    outgoing.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      // A scrape comes once in many seconds: until then its connection would take the place of another.
      Connection: 'close',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    outgoing.end(message.method === 'HEAD' ? '' : body);
  }

  async #answer({ headers, method, url = '' }: IncomingMessage): Promise<Told> {
    if (this.#isLocal && !namesThisMachine(headers.host)) return told(403, { detail: 'Host is not this machine.' });
    const path = url.replace(/\?.*$/s, '');
    if (!Object.hasOwn(this.#pages, path)) return told(404, { detail: 'Not found.' });
    if (method !== 'GET' && method !== 'HEAD') return told(405, { detail: `Method "${method}" not allowed.` });
    return present(this.#pages[path])();
  }
}

const readiness = ({ isReady, ...health }: Health): Told =>
  told(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', ...health });

/**
 * Whether a client asks for this machine by an address or as localhost: a web page whose own name was pointed at the loopback
 * in the meantime does not. HTTP/1.0 names nobody.
 */
function namesThisMachine(host: string | undefined): boolean {
  const name = host?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name === undefined || name === 'localhost' || isIP(name) !== 0;
}

/** Who asks while somebody else is being answered, or so many milliseconds later, is answered the same. */
function shared<T>(ask: () => Promise<T>, milliseconds = 0): () => Promise<T> {
  let last: { readonly answer: Promise<T>; ended: number } | undefined;
  return () => {
    if (last && performance.now() - last.ended < milliseconds) return last.answer;
    const asked = { answer: ask(), ended: Number.POSITIVE_INFINITY };
    last = asked;
    const end = (): void => {
      asked.ended = performance.now();
    };
    asked.answer.then(end, end);
    return asked.answer;
  };
}

/** An admin listener and its URL, without a trailing slash. */
export interface AdminAccess {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens at `admin_listen`; without it, the program listens at the usual address, unless another process does. Rejects with a
 * sentence.
 */
export async function openAdmin(
  vitals: Vitals,
  isUsual: boolean,
  further: readonly Reading[],
): Promise<AdminAccess | undefined> {
  const { config, log } = vitals.app;
  const given = config.admin_listen;
  const address = given === null ? (isUsual && config.port !== 0 ? usualAdminAddress : undefined) : addressOf(given);
  if (!address) return undefined;
  const admin = new AdminListener(vitals, further);
  try {
    const port = await admin.listen(address);
    return { url: `http://${authorityOf({ ...address, port })}`, close: () => admin.close() };
  } catch (error) {
    await admin.close();
    if (given !== null) throw error;
    log.warn(
      `${errorOf(error).message}: nobody can read /healthz, /readyz and /metrics; admin_listen names another address, or off`,
    );
    return undefined;
  }
}
