/** An HTTP proxy in front of an object store that loses, delays and rejects requests, and closes connections. */
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What the proxy does with a request. */
export interface ProxyFault {
  /** Milliseconds to wait before forwarding it, even if the client has given up by then. */
  readonly delayMs?: number;
  /** When to close its connection: before the store receives it, or before the client receives the response. */
  readonly cut?: 'request' | 'response';
  /** Which message to drop silently: the client gets no response either way. */
  readonly lost?: 'request' | 'response';
  /** A response that replaces that of the store. */
  readonly answer?: { readonly status: number; readonly body: string };
  /** Rate in bytes per second at which to forward the body. */
  readonly bytesPerSecond?: number;
}

interface Stored {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export class FaultyProxy {
  /** Chooses the fault of a request by its method and target. */
  fault: (method: string, target: string) => ProxyFault | undefined = () => undefined;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    private readonly server: Server,
    /** The URL of the object store. */
    private readonly store: string,
  ) {}

  static async start(store: string): Promise<FaultyProxy> {
    const server = createServer((message, outgoing) => {
      proxy.#serve(message, outgoing).catch(() => message.socket.destroy());
    });
    const proxy = new FaultyProxy(server, store);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Closes all connections to clients. */
  cut(): void {
    this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.cut();
    this.#agent.destroy();
    await closed;
  }

  async #serve(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = message;
    const fault = this.fault(method, url) ?? {};
    message.on('error', () => undefined);
    if (fault.cut === 'request') {
      message.socket.destroy();
      return;
    }
    const body = await bodyOf(message, fault.bytesPerSecond);
    if (fault.answer) {
      outgoing.writeHead(fault.answer.status, { 'Content-Type': 'application/xml' }).end(fault.answer.body);
      return;
    }
    if (fault.lost === 'request') return;
    if (fault.delayMs !== undefined) await pause(fault.delayMs);
    const stored = await this.#forward(method, url, message, body);
    if (fault.cut === 'response') message.socket.destroy();
    if (fault.lost === 'response' || message.socket.destroyed) return;
    // The body is complete, so its framing headers no longer apply.
    const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = stored.headers;
    outgoing.writeHead(stored.status, headers).end(stored.body);
  }

  /** The signature covers the host, so keep the client's. */
  #forward(method: string, path: string, { rawHeaders }: IncomingMessage, body: Buffer): Promise<Stored> {
    const { hostname, port } = new URL(this.store);
    return new Promise((resolve, reject) => {
      const forwarded = send({ agent: this.#agent, hostname, port, method, path, headers: rawHeaders }, (response) => {
        bodyOf(response).then(
          (text) => resolve({ status: response.statusCode ?? 502, headers: response.headers, body: text }),
          reject,
        );
      });
      forwarded.on('error', reject);
      forwarded.end(body);
    });
  }
}

async function bodyOf(message: IncomingMessage, bytesPerSecond?: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (bytesPerSecond !== undefined) await pause((1000 * chunk.length) / bytesPerSecond);
  }
  return Buffer.concat(chunks);
}
