import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/* The server of all vendor stand-ins. It records its requests and injects faults. */

/** A received request. */
export interface VendorRequest {
  readonly method: string;
  /** Includes the query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The bytes of `text`. */
  readonly body: Buffer;
}

export interface VendorResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * The fault of a request. A response replaces the vendor's, and the request is not executed. Neither is it with `reset` (resets
 * the connection) and `swallowed` (sends no response). With the others it is, but the response is truncated (`half`), ends in the
 * middle (`broken off`), is never sent (`no response`), is lost in a reset of the connection (`lost`) or is delayed by
 * milliseconds.
 */
export type Fault =
  | VendorResponse
  | 'half'
  | 'broken off'
  | 'no response'
  | 'lost'
  | { readonly delay: number }
  | 'reset'
  | 'swallowed';

/** The protocol of a vendor. */
export interface Protocol {
  /** Returns the name of a request for faults and tests, such as `POST /droplets/:id/actions` or `RunInstances`. */
  readonly route: (request: VendorRequest) => string;
  readonly reply: (request: VendorRequest) => VendorResponse;
  /** Headers of every response. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** A key and a certificate in PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export class VendorServer {
  /** The maximum number of concurrent requests. */
  maxConcurrent = 0;
  /** Milliseconds before a response is sent. */
  pace = 0;
  readonly #faults: { readonly route: string; readonly fault: Fault; times: number }[] = [];
  #seen: (VendorRequest & { readonly route: string })[] = [];
  #running = 0;

  private constructor(
    private readonly server: Server,
    private readonly protocol: Protocol,
    private readonly scheme: string,
  ) {}

  static async start(protocol: Protocol, identity?: Identity): Promise<VendorServer> {
    let vendor: VendorServer | undefined;
    const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void vendor?.receive(incoming, outgoing);
    const server = identity ? createSecureServer(identity, listener) : createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vendor = new VendorServer(server, protocol, identity ? 'https' : 'http');
    return vendor;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  /** Injects a fault into the next requests of a route. */
  injectFault(route: string, fault: Fault, times = 1): void {
    this.#faults.push({ route, fault, times });
  }

  /** Returns the requests since the last call. */
  take(): (VendorRequest & { readonly route: string })[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  private async receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#running);
    outgoing.on('close', () => this.#running--);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { headers, method = '', url: target = '' } = incoming;
    const body = Buffer.concat(chunks);
    const request = { method, target, headers, body, text: body.toString() };
    const route = this.protocol.route(request);
    this.#seen.push({ ...request, route });
    const fault = this.#nextFault(route);
    if (fault === 'swallowed') return;
    if (fault === 'reset') return void outgoing.socket?.resetAndDestroy();
    const isRejected = typeof fault === 'object' && 'status' in fault;
    const response = isRejected ? fault : this.protocol.reply(request);
    if (fault === 'no response') return;
    if (fault === 'lost') return void outgoing.socket?.resetAndDestroy();
    const delay = typeof fault === 'object' && 'delay' in fault ? fault.delay : this.pace;
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    this.#send(outgoing, response, fault);
  }

  #send(outgoing: ServerResponse, { headers, status, text }: VendorResponse, fault: Fault | undefined): void {
    const sent = fault === 'half' || fault === 'broken off' ? text.slice(0, text.length / 2) : text;
    outgoing.writeHead(status, {
      ...this.protocol.headers(),
      'Content-Length': Buffer.byteLength(fault === 'broken off' ? text : sent),
      ...headers,
    });
    if (fault === 'broken off') outgoing.write(sent, () => outgoing.socket?.destroy());
    else outgoing.end(sent);
  }

  #nextFault(route: string): Fault | undefined {
    const matches = this.#faults.find((planned) => planned.route === route && planned.times > 0);
    if (matches) matches.times--;
    return matches?.fault;
  }
}
