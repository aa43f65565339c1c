/** An HTTP client for requests to servers on this machine. It uses a third of the CPU time of `fetch`. */
import { Agent, type IncomingMessage, request } from 'node:http';

const agent = new Agent({ keepAlive: true, scheduling: 'lifo' });

/** The default headers of `fetch` without Accept-Encoding: compression costs CPU time on both sides. */
const usualHeaders = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' };

/** Whether `sendLocally` can replace `fetch`: no stream, abort signal, redirect to follow, or body to decompress. */
export const canSendLocally = (url: URL, { body, headers, redirect, signal }: RequestInit): boolean =>
  url.protocol === 'http:' &&
  url.username === '' &&
  !url.pathname.endsWith('/stream/') &&
  redirect === 'manual' &&
  !signal &&
  entriesOf(headers).every(([name, value]) => name.toLowerCase() !== 'accept-encoding' || value === 'identity') &&
  (body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array);

interface RoundTrip {
  readonly message: IncomingMessage;
  readonly bytes: Buffer;
}

/** Sends a request. Rejects as `fetch` does. */
export async function sendLocally(url: URL, init: RequestInit): Promise<Response> {
  const { message, bytes } = await send(url, init);
  return new LocalResponse(url, message, bytes) as unknown as Response;
}

const send = (url: URL, init: RequestInit): Promise<RoundTrip> =>
  new Promise((resolve, reject) => {
    const fail = (cause: Error): void => {
      // The server has closed an idle connection, and this process was too busy to notice.
      const wasIdle =
        sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((cause as NodeJS.ErrnoException).code ?? '');
      if (wasIdle && ['GET', 'HEAD'].includes(sent.method)) send(url, init).then(resolve, reject);
      else reject(new TypeError(`fetch failed: ${cause.message}`, { cause }));
    };
    const sent = request(url, { agent, method: init.method ?? 'GET', headers: headersOf(init) }, (message) => {
      const parts: Buffer[] = [];
      message.on('data', (part: Buffer) => parts.push(part));
      message.on('error', fail);
      message.on('end', () =>
        resolve({ message, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) }),
      );
    });
    sent.on('error', fail);
    // Node.js would send a string together with the headers and encode both as UTF-8.
    sent.end(typeof init.body === 'string' ? Buffer.from(init.body) : (init.body ?? undefined));
  });

function headersOf({ body, headers }: RequestInit): Record<string, string> {
  const all: Record<string, string> = { ...usualHeaders };
  if (typeof body === 'string') all['content-type'] = 'text/plain;charset=UTF-8';
  for (const [name, value] of entriesOf(headers)) all[name.toLowerCase()] = String(value);
  // Node.js sets it by default for some methods only.
  if (body) all['content-length'] = String(Buffer.byteLength(body as string));
  return all;
}

const entriesOf = (headers: RequestInit['headers']): readonly (readonly [name: string, value: unknown])[] =>
  headers instanceof Headers || Array.isArray(headers) ? [...new Headers(headers)] : Object.entries(headers ?? {});

/** The members of `Response` that tests use, with a body that is already read. */
class LocalResponse {
  readonly headers = new Headers();
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
  readonly redirected = false;
  readonly #bytes: Buffer;

  constructor(url: URL, { rawHeaders, statusCode = 0, statusMessage = '' }: IncomingMessage, bytes: Buffer) {
    for (let i = 0; i < rawHeaders.length; i += 2)
      this.headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string);
    this.status = statusCode;
    this.statusText = statusMessage;
    this.ok = statusCode >= 200 && statusCode < 300;
    this.url = url.href;
    this.#bytes = bytes;
  }

  get body(): ReadableStream | null {
    return new Response(new Uint8Array(this.#bytes)).body;
  }

  readonly arrayBuffer = async (): Promise<ArrayBuffer> => new Uint8Array(this.#bytes).buffer;
  readonly text = async (): Promise<string> => new TextDecoder().decode(this.#bytes);
  readonly json = async (): Promise<unknown> => JSON.parse(this.#bytes.toString());
  readonly clone = (): this => this;
}
