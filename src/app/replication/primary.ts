import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import type { Exchange } from '../../kernel/http/exchange.ts';
import { epochHeader } from './epochs.ts';

/** Milliseconds without a byte after which the primary counts as away. */
const patience = 60_000;
/** Milliseconds after which a body is sent without `100 Continue`, which a proxy before the primary may withhold. */
const continueTimeoutMs = 10_000;

/**
 * Headers that stay behind: those of one connection (RFC 9110 7.6.1), and those by which a client, or a proxy before the
 * follower, would tell the primary and what stands before it of another address or target than those that count here.
 */
const leftBehind = new Set([
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
const ofProxies = /^x-(forwarded|original|rewrite)-/;

/** How the primary responded. */
interface Forwarded {
  readonly status: number;
  /** What the response says of its epoch. */
  readonly epoch: unknown;
}

/** The server that a follower sends what it does not answer itself. */
export class Primary {
  readonly #agent: PlainAgent;
  readonly #url: URL;

  constructor(readonly url: string) {
    this.#url = new URL(url);
    const options = { keepAlive: true, maxFreeSockets: 64, timeout: patience };
    this.#agent = url.startsWith('https:') ? new SecureAgent(options) : new PlainAgent(options);
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request on below the path of the primary, and its response back as it is. Resolves with undefined where the primary
   * could not be reached, and nothing was answered.
   */
  async forward(exchange: Exchange, further: Readonly<Record<string, string>>): Promise<Forwarded | undefined> {
    const { outgoing } = exchange;
    try {
      const response = await this.#send(exchange, further);
      const status = response.statusCode ?? 502;
      outgoing.writeHead(status, endToEnd(response));
      // Where either end goes away meanwhile, the other is told by an answer that breaks off.
      await pipeline(response, outgoing).catch(() => undefined);
      return { status, epoch: response.headers[epochHeader.toLowerCase()] };
    } catch {
      return undefined;
    }
  }

  #send(
    { expectation, message, outgoing, target }: Exchange,
    further: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    const { method = 'GET' } = message;
    const send = this.#agent instanceof SecureAgent ? secureRequest : plainRequest;
    // A body is told as one by the same means: without, its bytes would be the next request of the connection, whoever's it is.
    const framing = message.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
    // Where the client waits for the decision of the primary, the follower does, too.
    const waits = expectation.isPending ? ['Expect', '100-continue'] : [];
    const others = [...Object.entries(further).flat(), ...framing, ...waits];
    const headers = ['Host', this.#url.host, ...endToEnd(message), ...others];
    // Not as a URL, of which the dots would be resolved.
    const { hostname, port, protocol } = urlToHttpOptions(this.#url);
    const path = this.#url.pathname.replace(/\/$/, '') + target;
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, protocol, hostname, port, path, method, headers, timeout: patience };
      const sent = send(options);
      let timer: NodeJS.Timeout | undefined;
      const sendBody = (): void => {
        clearTimeout(timer);
        expectation.meet();
        message.pipe(sent);
      };
      sent.on('response', (response) => {
        clearTimeout(timer);
        // The primary rejects the body that the client has not sent.
        if (expectation.isPending) expectation.reject();
        resolve(response);
      });
      sent.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      sent.on('timeout', () => sent.destroy(new Error('timeout')));
      outgoing.on('close', () => {
        clearTimeout(timer);
        sent.destroy();
      });
      message.on('error', () => sent.destroy());
      if (!expectation.isPending) sendBody();
      else {
        sent.once('continue', sendBody);
        sent.flushHeaders();
        timer = setTimeout(sendBody, continueTimeoutMs);
      }
    });
  }
}

/** The headers of a message that are for its receiver, names and values in turns; among them what tells the length of its body. */
function endToEnd({ headers, rawHeaders }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    const lower = name.toLowerCase();
    const staysBehind = leftBehind.has(lower) || ofProxies.test(lower) || named.includes(lower);
    if (lower === 'content-length' || !staysBehind) kept.push(name, value);
  }
  return kept;
}
