import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Address } from '../../kernel/config/address.ts';
import { listenOn } from '../../kernel/http/listen.ts';
import { present } from '../../kernel/present.ts';
import { openExposition } from './exposition.ts';
import { examineHealth, type Health, type Vitals } from './health.ts';
import { readings } from './readings.ts';
import { processReadings, type Reading, watchEventLoop } from './samples.ts';

/** So many connections at a time, and for so long, in milliseconds, one may do nothing. */
const mostConnections = 32;
const idleTimeout = 30_000;
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
export class AdminListener {
  readonly #server: Server;
  readonly #vitals: Vitals;
  readonly #eventLoop = watchEventLoop();
  readonly #pages: Readonly<Record<string, () => Told | Promise<Told>>>;
  #isLocal = true;

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
        headersTimeout: 5000,
        requestTimeout: 5000,
        connectionsCheckingInterval: 1000,
        keepAliveTimeout: idleTimeout,
        requireHostHeader: false,
      },
      (message, outgoing) => void this.#receive(message, outgoing),
    );
    this.#server.maxConnections = mostConnections;
    this.#server.setTimeout(idleTimeout);
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

  async #receive(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    message.resume();
    const { body, status, type } = await this.#answer(message).catch((error: unknown) => {
      this.#vitals.app.log.error({ err: error, path: message.url }, 'the operator could not be answered');
      return told(500, { detail: 'Internal server error.' });
    });
    outgoing.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
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
