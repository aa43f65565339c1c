/*
 * The load generator, a separate process with several connections. Each sends its next request after the response to the last.
 * With plain sockets and prepared bytes, it uses less of a core than any measured server.
 */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type BenchRequest, headersOf, numberMark } from './ask.ts';

/** The requests, and how long to send them. */
export interface Burst {
  readonly url: string;
  readonly requests: readonly BenchRequest[];
  /** Index of the first request when each is sent once; absent: random requests, repeatedly. */
  readonly from?: number;
  readonly connections: number;
  readonly milliseconds: number;
}

/** The results. */
export interface Measured {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Number of responses, including those at the end. */
  readonly sent: number;
  /** Share of a core that the generator used. */
  readonly load: number;
}

const maxHeadBytes = 4096;

/** The bytes of a request, and the position of the number; -1 for none. */
interface Prepared {
  readonly bytes: Buffer;
  readonly numberAt: number;
}

// Numbers are unique, even between the generators of two runs against one database.
let number = (Math.floor(Date.now() / 1000) % 100_000) * 100_000;

function prepare(request: BenchRequest): Prepared {
  const lines = Object.entries(headersOf(request)).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(
    `${request.method} ${request.target} HTTP/1.1\r\n${lines.join('')}\r\n${request.body ?? ''}`,
  );
  return { bytes, numberAt: bytes.indexOf(numberMark) };
}

function bytesOf({ bytes, numberAt }: Prepared): Buffer {
  if (numberAt < 0) return bytes;
  const copy = Buffer.from(bytes);
  copy.write(String(++number).padStart(numberMark.length, '0'), numberAt, 'latin1');
  return copy;
}

async function run({ url, requests, from, connections, milliseconds }: Burst): Promise<Measured> {
  const prepared = requests.map(prepare);
  let sent = 0;
  const next = (): Prepared =>
    from === undefined ? any(prepared) : (prepared[(from + sent) % prepared.length] as Prepared);
  const latencies: number[] = [];
  const clients = await Promise.all(
    Array.from({ length: connections }, () =>
      Client.connect(new URL(url), () => [bytesOf(next()), sent++][0] as Buffer, latencies),
    ),
  );
  const used = process.cpuUsage();
  const started = performance.now();
  for (const client of clients) client.send();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const count = latencies.length;
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(used);
  await Promise.all(clients.map((client) => client.stop()));
  const sorted = Float64Array.from(latencies.slice(0, count)).sort();
  const quantile = (share: number): number => sorted[Math.min(count - 1, Math.floor(count * share))] ?? Number.NaN;
  return {
    perSecond: count / seconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
    sent,
    load: (user + system) / 1e6 / seconds,
  };
}

const any = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

/** One connection. Throws, which ends the process, if a response is not a success. */
class Client {
  #sent = 0;
  /** Missing bytes of the body; -1 while reading the head. */
  #missing = -1;
  #head = '';
  #stopped: (() => void) | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly next: () => Buffer,
    private readonly latencies: number[],
  ) {}

  static connect({ hostname, port }: URL, next: () => Buffer, latencies: number[]): Promise<Client> {
    return new Promise((resolve, reject) => {
      const buffer = Buffer.allocUnsafe(256 * 1024);
      const onread = { buffer, callback: (length: number, bytes: Uint8Array) => client.#read(bytes as Buffer, length) };
      const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
      const client = new Client(socket, next, latencies);
      socket.on('connect', () => resolve(client));
      socket.on('error', reject);
      socket.on('close', () => {
        if (!client.#stopped) throw new Error('The server closed a connection');
      });
    });
  }

  send(): void {
    this.#sent = performance.now();
    this.socket.write(this.next());
  }

  /** Reads the current response and closes. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#stopped = resolve;
    });
  }

  #read(bytes: Buffer, length: number): boolean {
    let arrived = length;
    if (this.#missing < 0) {
      const before = this.#head.length;
      this.#head += bytes.toString('latin1', 0, Math.min(length, maxHeadBytes));
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return true;
      this.#missing = bodyLength(this.#head.slice(0, end));
      arrived = before + length - (end + 4);
      this.#head = '';
    }
    this.#missing -= arrived;
    if (this.#missing === 0) this.#done();
    return true;
  }

  #done(): void {
    this.#missing = -1;
    this.latencies.push(performance.now() - this.#sent);
    if (!this.#stopped) {
      this.send();
      return;
    }
    this.socket.destroy();
    this.#stopped();
  }
}

function bodyLength(head: string): number {
  if (!head.startsWith('HTTP/1.1 2')) throw new Error(`Not a success: ${head}`);
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`A response without Content-Length: ${head}`);
  return Number(length);
}

process.on('message', (burst: Burst) => {
  run(burst).then((measured) => process.send?.(measured));
});
process.on('disconnect', () => process.exit());
