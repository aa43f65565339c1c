import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A received response. */
export interface WireResponse {
  readonly status: number;
  /** Headers by lower-case name. Repeated ones are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection for requests and responses that `fetch` does not support. */
export class Wire {
  readonly #socket: Socket;
  readonly #closed: Promise<unknown>;
  #received = Buffer.alloc(0);
  #arrived: () => void = () => undefined;
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#arrived();
    });
    // Treat a connection that the server resets as closed.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended = true;
      this.#arrived();
    });
  }

  /** Connects to a server's address. */
  static async to(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Wire(socket);
  }

  /** Sends lines, each followed by CRLF. An empty last line ends the head of a request. */
  lines(...lines: readonly string[]): this {
    return this.bytes(lines.map((line) => `${line}\r\n`).join(''));
  }

  bytes(bytes: string | Uint8Array): this {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Returns the next response. `head`: it responds to HEAD and has no body. Rejects if the connection closes before its end. */
  async response({ head = false } = {}): Promise<WireResponse> {
    const end = await this.#until((received) => received.indexOf('\r\n\r\n'));
    const [start = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const name = line.slice(0, line.indexOf(':')).toLowerCase();
      const value = line.slice(line.indexOf(':') + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const status = Number(start.split(' ')[1]);
    const length = head || status < 200 || status === 204 || status === 304 ? 0 : Number(headers['content-length']);
    const complete = end + 4 + length;
    await this.#until((received) => (received.length >= complete ? complete : -1));
    const body = this.#received.subarray(end + 4, complete).toString();
    this.#received = this.#received.subarray(complete);
    return { status, headers, body };
  }

  /** Waits until the server closes the connection. Returns the bytes received after the last response. */
  async closed(): Promise<string> {
    await this.#closed;
    return this.#received.toString();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #until(position: (received: Buffer) => number): Promise<number> {
    for (;;) {
      const end = position(this.#received);
      if (end >= 0) return end;
      if (this.#ended) throw new Error(`the connection was closed after ${JSON.stringify(this.#received.toString())}`);
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }
}

/** Sends one request over a new connection and returns the response. */
export async function sendOverWire(url: string, ...lines: readonly string[]): Promise<WireResponse> {
  const wire = await Wire.to(url);
  try {
    return await wire.lines(...lines).response({ head: lines[0]?.startsWith('HEAD ') ?? false });
  } finally {
    wire.close();
  }
}
