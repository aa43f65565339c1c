import { type HttpAnswer, HttpClient, NoAnswerError } from '../../kernel/net/http-client.ts';
import { type Resolver, systemResolver } from '../../kernel/net/resolver.ts';
import type { Destinations } from './destinations.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface HookClientOptions {
  readonly resolve?: Resolver | undefined;
  /** Absent: the destination is the operator's choice, and may be any. */
  readonly destinations?: Pick<Destinations, 'allows' | 'allowsPort'>;
  /** For the whole exchange, in milliseconds. */
  readonly patience?: number;
}

/**
 * What is told of a destination that is refused and of one whose name nobody knows alike: a delivery log must not tell which
 * names there are in the operator's networks (events.md 5.8).
 */
const unreachable = 'Destination is not allowed.';

/** Why no answer came; `message` is a sentence for the delivery log. */
export class PostError extends Error {
  constructor(
    message: string,
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
 * only allowed destinations are connected to.
 */
export class HookClient {
  readonly #client: HttpClient;

  constructor(private readonly options: HookClientOptions = {}) {
    this.#client = new HttpClient({
      resolve: options.resolve ?? systemResolver,
      allows: options.destinations?.allows ?? (() => true),
      allowsPort: options.destinations?.allowsPort,
      timeout: options.patience ?? patience,
      maxBytes: answerBytes,
      keepAlive: true,
    });
  }

  /**
   * Rejects with a PostError when no answer came. A body that was broken off is no matter: the status has been told. Redirects
   * are answers like any other.
   */
  async post({ body, headers, url }: Post): Promise<HttpAnswer> {
    try {
      return await this.#client.send({ method: 'POST', url: new URL(url), headers, body });
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      const isHidden = this.options.destinations && (error.isRefusedAddress || error.isUnresolved);
      throw new PostError(isHidden ? unreachable : error.message);
    }
  }

  /** Ends all connections, also those in use. */
  close(): void {
    this.#client.close();
  }
}
