import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type AddressRule, isDestinationAllowed, refusedDestination } from './destination.ts';
import { judgedLookup, type Resolver, systemResolver } from './resolver.ts';

/** What was answered to a POST. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The start of the body, where it was asked for. */
  readonly body: string;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the answer's body is of interest; it is read to its end or a bound anyway. */
  readonly readsAnswer?: boolean;
}

/** Why no answer came; `message` is a sentence for the delivery log. */
export class PostError extends Error {
  constructor(
    message: string,
    /** Whether trying again is of no use. */
    readonly final = false,
    /** The header of an answer, where it was one that went before the request. */
    readonly retryAfter?: string,
  ) {
    super(message);
  }
}

/** For the whole exchange, in milliseconds: resolving, connecting, sending, and reading the answer. */
const patience = 10_000;
const answerBytes = 64 * 1024;
/** Idle connections are kept for about as long as servers keep theirs. */
const agentOptions = { keepAlive: true, timeout: 15_000, maxFreeSockets: 64 };

/**
 * Sends POST requests on connections that stay open. With a rule, only allowed addresses are connected to: a literal one
 * is judged before the request, those of a name when they are found, and the connection goes to what was judged.
 */
export class Poster {
  readonly #agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  readonly #resolve: Resolver;
  readonly #allows: AddressRule | undefined;
  readonly #patience: number;

  constructor(options: { resolve?: Resolver | undefined; allows?: AddressRule; patience?: number } = {}) {
    this.#resolve = options.resolve ?? systemResolver;
    this.#allows = options.allows;
    this.#patience = options.patience ?? patience;
  }

  /** Rejects with a PostError when no answer came. Redirects are answers like any other. */
  post(post: Post): Promise<PostAnswer> {
    const url = new URL(post.url);
    if (this.#allows && !isDestinationAllowed(url, this.#allows))
      return Promise.reject(new PostError(refusedDestination, true));
    return new Promise((resolve, reject) => {
      let current: ClientRequest;
      let answered = false;
      let isLate = false;
      const deadline = setTimeout(() => {
        isLate = true;
        current.destroy(new PostError(`No answer within ${this.#patience / 1000} seconds.`));
      }, this.#patience);
      const send = (): void => {
        const request = this.#open(url, post);
        current = request;
        request.on('response', (response) => {
          answered = true;
          void readAnswer(response, post.readsAnswer ?? false).then((answer) => {
            clearTimeout(deadline);
            resolve(answer);
          });
        });
        request.on('error', (error: NodeJS.ErrnoException) => {
          if (answered) return;
          // The receiver closed an idle connection in the very moment it was used: nothing was read of the request.
          if (request.reusedSocket && !isLate && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')) return send();
          clearTimeout(deadline);
          reject(explained(error));
        });
        request.on('close', () => {
          if (answered || request !== current) return;
          clearTimeout(deadline);
          reject(new PostError('The connection was closed without an answer.'));
        });
        request.end(post.body);
      };
      try {
        send();
      } catch (error) {
        // Node refuses at once what can not be sent, such as a line break in a header.
        clearTimeout(deadline);
        reject(error as Error);
      }
    });
  }

  /** Ends all connections, also those in use. */
  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  #open(url: URL, { headers }: Post): ClientRequest {
    const options = { method: 'POST', headers, lookup: this.#lookup };
    return url.protocol === 'https:'
      ? httpsRequest(url, { ...options, agent: this.#agents.https })
      : httpRequest(url, { ...options, agent: this.#agents.http });
  }

  readonly #lookup = judgedLookup(
    (hostname, callback) => this.#resolve(hostname, callback),
    (addresses) => {
      const allows = this.#allows;
      if (allows && !addresses.every(({ address }) => allows(address))) return new PostError(refusedDestination, true);
      return addresses.length === 0 ? new PostError('The host name has no address.') : undefined;
    },
  );
}

/** Reads an answer to its end or to a bound. A broken off body is no matter: the status has been told. */
function readAnswer(response: IncomingMessage, reads: boolean): Promise<PostAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (): void =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (reads) chunks.push(chunk);
      if (length > answerBytes) response.destroy();
    });
    response.on('error', finish);
    response.on('close', finish);
    response.on('end', finish);
  });
}

const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  ENOTFOUND: 'The host name does not exist.',
  EAI_AGAIN: 'The host name could not be resolved.',
  EHOSTUNREACH: 'The host can not be reached.',
  ENETUNREACH: 'The network can not be reached.',
  ETIMEDOUT: 'The connection timed out.',
};

/** The sentence for an error of Node's network modules. */
function explained(error: NodeJS.ErrnoException): PostError {
  if (error instanceof PostError) return error;
  const { code = '', message } = error;
  const isTls = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code);
  return new PostError(explanations[code] ?? `${isTls ? 'TLS' : 'The connection'} failed: ${message}.`);
}
