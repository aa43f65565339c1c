/**
 * Sends a server all requests that its OpenAPI document describes, with valid, boundary and invalid values, as users of every
 * role and without a token. No response may be a server fault or take more than a second, and the server must still run at the
 * end. The seed and the number of a request determine it. A fault is reported with the whole request.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { checkResponse } from '../support/contract.ts';
import { readBody } from '../support/read-body.ts';
import { ApiDocument } from './fuzz/document.ts';
import { type FuzzRequest, RequestMaker } from './fuzz/requests.ts';
import { ask, Senders, type Target } from './fuzz/senders.ts';
import type { Objects } from './fuzz/values.ts';

/** The results of the requests. */
export interface FuzzFigures {
  readonly requests: number;
  /** Number of responses by status. */
  readonly responses: Readonly<Record<string, number>>;
  /** Responses that were slow, but fast when repeated. */
  readonly slowOnce: number;
  /** One line per fault, with the request and its sender. */
  readonly faults: readonly string[];
}

interface FuzzOptions {
  readonly target: Target;
  readonly requests: number;
  readonly seed: string;
  /** Number of the first request; default 0. */
  readonly first?: number;
  /** Maximum milliseconds of a response; default 1000. */
  readonly slow?: number;
  readonly report?: (text: string) => void;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly milliseconds: number;
}

const atOnce = 4;
const timeLimit = 30_000;
/** Number of requests after which roles are granted again. */
const repairEvery = 500;
/** Size of a body from which a server may close the connection without reading it. */
const largeBody = 60_000;

/** Sends the requests; returns the results. Rejects if the server stops. */
export async function fuzz({
  first = 0,
  requests,
  seed,
  slow = 1000,
  target,
  report = () => undefined,
}: FuzzOptions): Promise<FuzzFigures> {
  const document = new ApiDocument((await ask(target, 'GET', '/docs/?format=openapi')).body);
  const senders = await Senders.create(target);
  await senders.furnish();
  const objects = await objectsOf(document, target);
  const maker = new RequestMaker(document, objects, senders.count, seed, await senders.protectedUrls());
  const run = new Run(target, senders, slow, report);
  let next = first;
  const work = async (): Promise<void> => {
    for (let number = next++; number < first + requests; number = next++) {
      if (number % repairEvery === 0) await senders.repair();
      await run.send(maker.make(number));
      if (number % 1000 === 999) report(`${number + 1 - first} requests`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  run.close();
  const { responses, faults, slowOnce } = run;
  return { requests, responses: Object.fromEntries([...responses].sort()), slowOnce, faults };
}

/** Returns paths of existing objects by the path of their list, at most a hundred each. */
export async function objectsOf(document: ApiDocument, target: Target): Promise<Objects> {
  const objects = new Map<string, string[]>();
  for (const path of document.collections) {
    const { body } = await ask(target, 'GET', `${path}?page_size=100`);
    if (Array.isArray(body))
      objects.set(
        path,
        body.flatMap(({ url, uuid }) =>
          typeof url === 'string' ? [new URL(url).pathname] : uuid ? [`${path}${uuid}/`] : [],
        ),
      );
  }
  return objects;
}

class Run {
  readonly responses = new Map<string, number>();
  readonly faults: string[] = [];
  slowOnce = 0;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  readonly #known = new Set<string>();

  constructor(
    private readonly target: Target,
    private readonly senders: Senders,
    private readonly slow: number,
    private readonly report: (text: string) => void,
  ) {}

  close = (): void => this.#agent.destroy();

  async send(sent: FuzzRequest): Promise<void> {
    const reply = await this.#reply(sent);
    const kind = String(reply?.status ?? 'none');
    this.responses.set(kind, (this.responses.get(kind) ?? 0) + 1);
    if (!reply) return;
    if (reply.status === 401) this.senders.forget(sent.sender);
    // 503 for too many concurrent requests is not a fault: the server is busy with others of these requests.
    if (reply.status >= 500 && !(reply.status === 503 && reply.headers['retry-after'] !== undefined))
      this.#note(sent, `${reply.status} ${reply.body.toString().slice(0, 300)}`);
    if (reply.milliseconds > this.slow) await this.#checkSlow(sent, reply.milliseconds);
    this.#compare(sent, reply);
  }

  /** Repeats the request: the machine may have been busy. */
  async #checkSlow(sent: FuzzRequest, milliseconds: number): Promise<void> {
    const again = await this.#reply(sent);
    if (again && again.milliseconds > this.slow) this.#note(sent, `took ${Math.round(milliseconds)} ms`);
    else this.slowOnce++;
  }

  #compare({ method, target, ...sent }: FuzzRequest, { body, headers, status }: Reply): void {
    // Compression does not change a body, and oversized headers are not specific to an operation.
    if (method === 'HEAD' || status >= 500 || status === 431 || headers['content-encoding'] !== undefined) return;
    const type = headers['content-type'] ?? '';
    const text = body.toString();
    try {
      const content = text === '' ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text;
      checkResponse(method, new URL(this.target.url + target), status, type, content);
    } catch (error) {
      this.#note({ method, target, ...sent }, (error as Error).message);
    }
  }

  /** Report only the first fault of each kind. */
  #note(sent: FuzzRequest, what: string): void {
    const kind = `${sent.method} ${sent.target.replace(/\?.*$/, '').replace(/[0-9a-f]{32}/g, '…')} ${what.slice(0, 80).replace(/[0-9a-f-]{8,}|\d+ ms/g, '…')}`;
    if (this.#known.has(kind)) return;
    this.#known.add(kind);
    const { body, headers, method, number, sender, target } = sent;
    const line = `request ${number} by ${this.senders.name(sender)}: ${method} ${target.slice(0, 500)} ${JSON.stringify(headers)} ${JSON.stringify(body?.subarray(0, 1000).toString('latin1') ?? null)}: ${what}`;
    this.faults.push(line);
    this.report(line);
  }

  async #reply(received: FuzzRequest): Promise<Reply | undefined> {
    const token = await this.senders.token(received.sender);
    const headers = { ...received.headers, ...(token !== undefined && { Authorization: `Token ${token}` }) };
    const { hostname, port } = new URL(this.target.url);
    const started = performance.now();
    return new Promise((resolve) => {
      let hasResponse = false;
      const lost = (error: Error): void => {
        if (hasResponse) return;
        if ((received.body?.length ?? 0) < largeBody) this.#note(received, `no response: ${error.message}`);
        resolve(undefined);
      };
      const sent = request({
        hostname,
        port,
        method: received.method,
        path: received.target,
        agent: this.#agent,
        timeout: timeLimit,
        headers: { ...headers, ...(received.body && { 'Content-Length': received.body.length }) },
      });
      sent.on('response', (response) => {
        readBody(response).then((body) => {
          hasResponse = true;
          const { headers: responseHeaders, statusCode: status = 0 } = response;
          resolve({ status, headers: responseHeaders, body, milliseconds: performance.now() - started });
        }, lost);
      });
      sent.on('timeout', () => sent.destroy(new Error(`none within ${timeLimit} ms`)));
      sent.on('error', lost);
      sent.end(received.body);
    });
  }
}
