import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import * as assert from 'uvu/assert';
import { checkDelivery } from './contract.ts';
import type { Client, Json } from './fixture.ts';

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How a receiver responds to a request. */
export type Behaviour =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer }
  | 'no-response'
  | 'reset';

/** An HTTP server that stores requests and responds as tests choose. */
export class Receiver {
  readonly requests: Received[] = [];
  /** Deliveries that do not match the OpenAPI document. */
  readonly #mismatches: unknown[] = [];
  behaviour: Behaviour | ((received: Received) => Behaviour | Promise<Behaviour>) = 200;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Listens on the loopback, with TLS if given a key and certificate. */
  static async start(secure?: ServerOptions): Promise<Receiver> {
    let receiver: Receiver | undefined;
    const listener: RequestListener = (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on(
        'end',
        () =>
          void receiver?.receive(
            { path: incoming.url ?? '', headers: incoming.headers, body: Buffer.concat(chunks).toString() },
            outgoing,
          ),
      );
      incoming.on('error', () => undefined);
    };
    const server = secure ? createSecureServer(secure, listener) : createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const scheme = secure ? 'https' : 'http';
    receiver = new Receiver(server, `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns the requests since the last call. */
  take(): Received[] {
    return this.requests.splice(0);
  }

  /** Returns the JSON bodies of the requests since the last call. */
  takeJson(): Json[] {
    return this.take().map(({ body }) => JSON.parse(body));
  }

  /** Stops listening. Throws if a webhook delivery did not match the OpenAPI document. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    if (this.#mismatches.length > 0) throw this.#mismatches[0];
  }

  async receive(received: Received, outgoing: ServerResponse): Promise<void> {
    this.requests.push(received);
    if ('webhook-id' in received.headers) this.#check(received);
    const behaviour = typeof this.behaviour === 'function' ? await this.behaviour(received) : this.behaviour;
    if (behaviour === 'no-response') return;
    if (behaviour === 'reset') return void outgoing.socket?.destroy();
    const { status, headers = {}, body = '' } = typeof behaviour === 'number' ? { status: behaviour } : behaviour;
    outgoing.writeHead(status, headers).end(body);
  }

  #check({ body, headers }: Received): void {
    try {
      checkDelivery(headers, body);
    } catch (error) {
      this.#mismatches.push(error);
    }
  }
}

/** Creates a webhook. Throws unless the response is 201. */
export async function createWebHook(client: Client, body: Readonly<Record<string, unknown>>): Promise<Json> {
  const response = await client.post('/api/hooks-web/', body);
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
}
