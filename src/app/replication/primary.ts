import { type IncomingMessage, Agent as PlainAgent, request as plainRequest, type ServerResponse } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';

/** Milliseconds without a byte after which the primary counts as away. */
const patience = 60_000;

/** Headers that belong to one connection (RFC 9110 7.6.1), what was answered already, and what X-Forwarded-Host tells. */
const ofConnection = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-port',
]);

/** The server that a follower sends what it does not answer itself. */
export class Primary {
  readonly #agent: PlainAgent;

  constructor(readonly url: string) {
    const options = { keepAlive: true, maxFreeSockets: 64, timeout: patience };
    this.#agent = url.startsWith('https:') ? new SecureAgent(options) : new PlainAgent(options);
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request on as it is, and its answer back as it is. Answers the status; undefined where the primary could not be
   * reached, and nothing was answered.
   */
  async forward(
    message: IncomingMessage,
    outgoing: ServerResponse,
    further: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    try {
      const answer = await this.#send(message, outgoing, further);
      outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer));
      // Where either end goes away meanwhile, the other is told by an answer that breaks off.
      await pipeline(answer, outgoing).catch(() => undefined);
      return answer.statusCode;
    } catch {
      return undefined;
    }
  }

  #send(
    message: IncomingMessage,
    outgoing: ServerResponse,
    further: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    const { method = 'GET', url = '/' } = message;
    const send = this.#agent instanceof SecureAgent ? secureRequest : plainRequest;
    // A target in absolute form is meant for this server.
    const path = url.replace(/^https?:\/\/[^/?]*/i, '').replace(/^(?!\/)/, '/');
    // A body is told as one by the same means: without, its bytes would be the next request of the connection, whoever's it is.
    const framing = message.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
    const headers = [...endToEnd(message, further), ...Object.entries(further).flat(), ...framing];
    return new Promise((resolve, reject) => {
      const sent = send(this.url + path, { agent: this.#agent, method, headers, timeout: patience });
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error('timeout')));
      outgoing.on('close', () => sent.destroy());
      message.on('error', () => sent.destroy());
      message.pipe(sent);
    });
  }
}

/**
 * The headers of a message that are for its receiver, names and values in turns; without those that are given otherwise. What
 * tells the length of its body is, whatever the message says.
 */
function endToEnd({ headers, rawHeaders }: IncomingMessage, others: Readonly<Record<string, string>> = {}): string[] {
  const named = `${headers.connection ?? ''},${Object.keys(others).join()}`.toLowerCase().split(/\s*,\s*/);
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    const lower = name.toLowerCase();
    if (lower === 'content-length' || !(ofConnection.has(lower) || named.includes(lower))) kept.push(name, value);
  }
  return kept;
}
