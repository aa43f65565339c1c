import type { Config } from '../../kernel/config/config.ts';
import { type AddressRule, addressRule, openRule, type PortRule, portRule } from '../../kernel/net/destination.ts';
import {
  HttpClient,
  type HttpClientOptions,
  type HttpResponse,
  NoResponseError,
} from '../../kernel/net/http-client.ts';
import { type Resolver, systemResolver } from '../../kernel/net/resolver.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface HookClientOptions {
  readonly resolve?: Resolver | undefined;
  /** Omitted for destinations that the operator chooses, which are unrestricted. */
  readonly destinations?: Pick<Destinations, 'allows' | 'allowsPort'>;
  /** Timeout for request and response. */
  readonly timeoutMs?: number;
  readonly pausedBy?: HttpClientOptions['pausedBy'];
}

/**
 * The error for both rejected destinations and unknown host names, because the delivery log must not reveal which names exist in
 * the operator's networks (events.md 5.8).
 */
const unreachable = 'Destination is not allowed.';

/** An attempt without a response; `message` is a sentence for the delivery log. */
export class PostError extends Error {
  constructor(
    message: string,
    /** Retry-After of a preceding request, such as for an access token. */
    readonly retryAfter?: string,
  ) {
    super(message);
  }
}

/** Default timeout for request and response. */
const defaultTimeoutMs = 10_000;
const maxResponseBytes = 64 * 1024;

/**
 * Posts deliveries on keep-alive connections. A delivery may arrive twice, which receivers detect by its id. With `destinations`,
 * connects only to allowed ones.
 */
export class HookClient {
  readonly #client: HttpClient;

  constructor(private readonly options: HookClientOptions = {}) {
    this.#client = new HttpClient({
      resolve: options.resolve ?? systemResolver,
      allows: options.destinations?.allows ?? (() => true),
      allowsPort: options.destinations?.allowsPort,
      pausedBy: options.pausedBy,
      timeout: options.timeoutMs ?? defaultTimeoutMs,
      maxBytes: maxResponseBytes,
      keepAlive: true,
    });
  }

  /**
   * Rejects with a PostError without a response. A truncated body is not an error, because the status is known. Does not follow
   * redirects.
   */
  async post({ body, headers, url }: Post): Promise<HttpResponse> {
    try {
      return await this.#client.send({ method: 'POST', url: new URL(url), headers, body });
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      const isHidden = this.options.destinations && (error.isRejectedAddress || error.isUnresolved);
      throw new PostError(isHidden ? unreachable : error.message);
    }
  }

  /** Closes all connections, including those in use. */
  close(): void {
    this.#client.close();
  }
}

/** Allowed destinations of users' hooks (events.md 5.8). */
export interface Destinations {
  readonly allows: AddressRule;
  readonly allowsPort: PortRule;
  /** Addresses whose responses the delivery log may show, because any client could get them. */
  readonly mayReveal: AddressRule;
}

/** Returns the rules for web hooks, with the operator's exceptions. */
export const destinationsOf = (config: Config): Destinations => ({
  allows: addressRule(config.hooks_allowed_networks),
  allowsPort: portRule(config.hooks_allowed_ports),
  mayReveal: openRule(config.hooks_allowed_networks),
});
