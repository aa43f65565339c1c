import type { IncomingHttpHeaders } from 'node:http';
import type { AddressRule } from '../../kernel/net/destination.ts';
import { HttpClient, NoAnswerError } from '../../kernel/net/http-client.ts';
import { type Resolver, systemResolver } from '../../kernel/net/resolver.ts';

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

/** For the whole exchange, in milliseconds. */
const patience = 10_000;
const answerBytes = 64 * 1024;

/**
 * Posts deliveries on connections that stay open: a delivery may arrive twice, which receivers tell by its id. With a rule,
 * only allowed addresses are connected to.
 */
export class HookClient {
  readonly #client: HttpClient;

  constructor(options: { resolve?: Resolver | undefined; allows?: AddressRule; patience?: number } = {}) {
    this.#client = new HttpClient({
      resolve: options.resolve ?? systemResolver,
      allows: options.allows ?? (() => true),
      timeout: options.patience ?? patience,
      maxBytes: answerBytes,
      keepAlive: true,
    });
  }

  /**
   * Rejects with a PostError when no answer came. A body that was broken off is no matter: the status has been told. Redirects
   * are answers like any other.
   */
  async post({ body, headers, readsAnswer, url }: Post): Promise<PostAnswer> {
    try {
      const answer = await this.#client.send({ method: 'POST', url: new URL(url), headers, body });
      return { ...answer, body: readsAnswer ? answer.body.toString('utf8') : '' };
    } catch (error) {
      throw error instanceof NoAnswerError ? new PostError(error.message, error.isRefusedAddress) : error;
    }
  }

  /** Ends all connections, also those in use. */
  close(): void {
    this.#client.close();
  }
}
