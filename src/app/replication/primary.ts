import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import type { Call } from '../../kernel/http/call.ts';
import { epochHeader } from './epochs.ts';

/** Time without data after which the primary counts as unreachable. */
const idleTimeoutMs = 60_000;
/** How long to wait for `100 Continue`, which a proxy in front of the primary may withhold, before sending the body. */
const continueTimeoutMs = 10_000;

/**
 * Headers that are not forwarded: hop-by-hop headers (RFC 9110 7.6.1), and headers in which a client or a proxy in front of the
 * follower could claim a different address or target.
 */
const droppedHeaders = new Set([
  'connection',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
  epochHeader.toLowerCase(),
]);
const proxyHeaders = /^x-(forwarded|original|rewrite)-/;

/** The response of the primary. */
interface Forwarded {
  readonly status: number;
  /** The value of the epoch header. */
  readonly epoch: unknown;
}

/** The server to which a follower forwards requests. */
export class Primary {
  readonly #agent: PlainAgent;
  readonly #url: URL;

  constructor(readonly url: string) {
    this.#url = new URL(url);
    const options = { keepAlive: true, maxFreeSockets: 64, timeout: idleTimeoutMs };
    this.#agent = url.startsWith('https:') ? new SecureAgent(options) : new PlainAgent(options);
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Forwards a request to a path below that of the primary, and returns its response unchanged. Resolves with undefined if the
   * primary is unreachable and nothing was sent to the client.
   */
  async forward(call: Call, extraHeaders: Readonly<Record<string, string>>): Promise<Forwarded | undefined> {
    const { outgoing } = call;
    try {
      const response = await this.#send(call, extraHeaders);
      const status = response.statusCode ?? 502;
      outgoing.writeHead(status, endToEnd(response));
      // If one side disconnects, abort the response to the other.
      await pipeline(response, outgoing).catch(() => undefined);
      return { status, epoch: response.headers[epochHeader.toLowerCase()] };
    } catch {
      return undefined;
    }
  }

  #send(
    { expectation, message, outgoing, target }: Call,
    extraHeaders: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    const { method = 'GET' } = message;
    const send = this.#agent instanceof SecureAgent ? secureRequest : plainRequest;
    // Keep the framing of the body: otherwise, its bytes would become the next request (request smuggling).
    const framing = message.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
    // If the client waits for 100 Continue, so does the follower.
    const expect = expectation.isPending ? ['Expect', '100-continue'] : [];
    const further = [...Object.entries(extraHeaders).flat(), ...framing, ...expect];
    const headers = ['Host', this.#url.host, ...endToEnd(message), ...further];
    // A URL object would resolve dot segments.
    const { hostname, port, protocol } = urlToHttpOptions(this.#url);
    const path = this.#url.pathname.replace(/\/$/, '') + target;
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, protocol, hostname, port, path, method, headers, timeout: idleTimeoutMs };
      const forwarded = send(options);
      let timer: NodeJS.Timeout | undefined;
      const sendBody = (): void => {
        clearTimeout(timer);
        expectation.meet();
        message.pipe(forwarded);
      };
      forwarded.on('response', (response) => {
        clearTimeout(timer);
        // The primary rejected the request before the client sent its body.
        if (expectation.isPending) expectation.reject();
        resolve(response);
      });
      forwarded.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      forwarded.on('timeout', () => forwarded.destroy(new Error('timeout')));
      outgoing.on('close', () => {
        clearTimeout(timer);
        forwarded.destroy();
      });
      message.on('error', () => forwarded.destroy());
      if (!expectation.isPending) sendBody();
      else {
        forwarded.once('continue', sendBody);
        forwarded.flushHeaders();
        timer = setTimeout(sendBody, continueTimeoutMs);
      }
    });
  }
}

/** Returns the end-to-end headers of a message as alternating names and values, including Content-Length. */
function endToEnd({ headers, rawHeaders }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  const forwarded: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    const lower = name.toLowerCase();
    const isDropped = droppedHeaders.has(lower) || proxyHeaders.test(lower) || named.includes(lower);
    if (lower === 'content-length' || !isDropped) forwarded.push(name, value);
  }
  return forwarded;
}
