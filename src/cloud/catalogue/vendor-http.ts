import type { IncomingHttpHeaders } from 'node:http';
import * as v from 'valibot';
import { withoutControls } from '../../kernel/control-characters.ts';
import type { Log } from '../../kernel/log.ts';
import { once } from '../../kernel/memoised.ts';
import { type AddressRule, addressRule } from '../../kernel/net/destination.ts';
import { HttpClient, NoResponseError } from '../../kernel/net/http-client.ts';
import { inNetworks, parseNetworks } from '../../kernel/net/networks.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import { errorOf } from '../../kernel/present.ts';
import { type ErrorClass, ProviderError } from './provider-error.ts';
import { parsedXml } from './xml.ts';

/*
 * HTTP client of drivers (providers.md 2 "HTTP"): limits time and size, connects only to allowed addresses, verifies TLS and does
 * not follow redirects. Failures are ProviderErrors; neither credentials nor bodies are logged.
 */

/** Limits of one call: milliseconds for the connection and the response, and bytes of the response. */
interface CallLimits {
  readonly connect: number;
  readonly response: number;
  readonly bytes: number;
}

const usualLimits: CallLimits = { connect: 5000, response: 30_000, bytes: 16 * 1024 * 1024 };

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Its parts are sent in order. */
  readonly body?: string | Buffer | readonly Buffer[];
}

export interface VendorResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A call with a JSON body or another body, and a JSON response. */
interface JsonCall extends VendorCall {
  readonly json?: unknown;
}

export interface JsonResponse extends Omit<VendorResponse, 'body'> {
  /** The parsed document; undefined if the response is empty. */
  readonly body: unknown;
}

/** Content of an error response: the vendor's message, and an error class if the status is ambiguous. */
export interface Rejection {
  readonly text?: unknown;
  readonly type?: ErrorClass | undefined;
}

export interface VendorHttpOptions {
  readonly resolve: Resolver;
  readonly allows: AddressRule;
  /** PEM of an additional trust anchor. */
  readonly certificate?: string | null;
  /** Secrets that must not appear in texts. */
  readonly secrets?: readonly string[];
  readonly log: Log;
  readonly limits?: Partial<CallLimits>;
  /** Returns the reason while no call may be sent. */
  readonly pausedBy?: () => string | undefined;
}

/** A response in another format than the vendor's API defines. */
export const malformed = (): ProviderError => new ProviderError('malformed', 'Unexpected answer of backend');

const unavailable = (retryAfter?: number, status?: number, options?: ErrorOptions): ProviderError =>
  new ProviderError('unavailable', 'Backend does not respond', retryAfter, status, options);

/** Validates a value in a response. Throws `malformed`. */
export function decoded<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value);
  if (!result.success) throw malformed();
  return result.output;
}

/** Minimum length of secrets to redact. */
const shortestSecret = 4;

/** The client of one driver. It makes one call at a time, so settings with four running jobs make four calls at once. */
export class VendorHttp {
  readonly #client: HttpClient;
  readonly #secrets: Set<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: VendorHttpOptions) {
    const { allows, certificate = null, pausedBy, resolve, secrets = [] } = options;
    this.#secrets = new Set(secrets);
    const { response, bytes, connect } = { ...usualLimits, ...options.limits };
    // Each call opens a new connection: an idle one may be closed just as it is used, and it would be unknown whether the vendor
    // has read the request.
    this.#client = new HttpClient({
      resolve,
      allows,
      certificate,
      pausedBy,
      timeout: response,
      connectTimeout: connect,
      maxBytes: bytes,
    });
  }

  /** Sends a call. Resolves for any status but redirects. Rejects with `unavailable`, `malformed`, or `invalid` for a forbidden address. */
  send(call: VendorCall): Promise<VendorResponse> {
    const turn = this.#last.then(() => this.#sendNow(call));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Sends and reads JSON. Rejects for every status but 2xx, with the message that `explain` finds in the document or the response. */
  async json(call: JsonCall, explain: (body: unknown, response: VendorResponse) => unknown): Promise<JsonResponse> {
    const { json, ...rest } = call;
    const headers = {
      Accept: 'application/json',
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
      ...call.headers,
    };
    const response = await this.send({ ...rest, headers, ...(json !== undefined && { body: JSON.stringify(json) }) });
    const body = parsed(response.body);
    if (!isGood(response)) throw this.failure(response, { text: explain(body, response) });
    if (body === undefined && response.body.length > 0) throw malformed();
    return { ...response, body };
  }

  /**
   * Sends and reads XML with list elements named `item` (see parsedXml). Rejects for every status but 2xx, with the message that
   * `explain` finds in the body.
   */
  async xml(call: VendorCall, item: string, explain: (body: unknown) => Rejection): Promise<unknown> {
    const response = await this.send(call);
    const body = await parsedXml(response.body, item);
    if (!isGood(response)) throw this.failure(response, explain(body));
    if (body === undefined) throw malformed();
    return body;
  }

  /** Converts an error response to a ProviderError with the vendor's message, if there is one. */
  failure(
    { headers, status }: Pick<VendorResponse, 'status' | 'headers'>,
    { text, type: explicitType }: Rejection,
  ): ProviderError {
    const type = explicitType ?? classOf(status);
    if (type === 'unavailable')
      return unavailable(headers['retry-after'] === undefined ? undefined : retryAfter(headers), status);
    if (type === 'malformed') return malformed();
    const message = typeof text === 'string' && text.trim() !== '' ? text : `Backend answered with status ${status}`;
    const wait = type === 'limited' ? retryAfter(headers) : undefined;
    return new ProviderError(type, this.#withoutSecrets(message), wait, status);
  }

  /** Redacts another secret, such as a new token, in messages. */
  conceal(secret: string): void {
    this.#secrets.add(secret);
  }

  #withoutSecrets(text: string): string {
    return (
      [...this.#secrets]
        // Short secrets occur in any text by chance: redacting them would mangle the text and reveal them.
        .filter((secret) => secret.length >= shortestSecret)
        .reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
    );
  }

  async #sendNow(call: VendorCall): Promise<VendorResponse> {
    try {
      const { ending, ...response } = await this.#client.send(call);
      if (ending === 'cut short') throw new NoResponseError('The answer was cut short.');
      if (ending === 'too long' || (response.status >= 300 && response.status < 400)) throw malformed();
      return response;
    } catch (error) {
      const { method, url } = call;
      const cause = errorOf(errorOf(error).cause ?? error);
      const reason = 'code' in cause ? cause.code : cause.message;
      this.options.log.warn({ method, host: url.host, path: url.pathname, reason }, 'vendor call failed');
      if (error instanceof ProviderError) throw error;
      throw error instanceof NoResponseError && error.isRejectedAddress
        ? forbiddenAddress()
        : unavailable(undefined, undefined, { cause: error });
    }
  }
}

const isGood = ({ status }: VendorResponse): boolean => status >= 200 && status < 300;

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'), (_, value) =>
      typeof value === 'string' ? withoutControls(value) : value,
    );
  } catch {
    return undefined;
  }
}

/** The error class of a status (providers.md 2 "Error class"). */
function classOf(status: number): ErrorClass {
  switch (status) {
    case 401:
    case 403:
      return 'unauthorized';
    case 404:
    case 410:
      return 'not_found';
    case 409:
      return 'conflict';
    case 429:
      return 'limited';
    default:
      return status >= 500 ? 'unavailable' : status >= 400 ? 'invalid' : 'malformed';
  }
}

/** Returns the milliseconds to wait: Retry-After in seconds or as a date, or the time until the rate limit resets. */
function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  // Compare the vendor's instants with the vendor's clock, not ours.
  const now = Date.parse(headers.date ?? '');
  const { 'ratelimit-reset': reset, 'retry-after': after = '' } = headers;
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  const until = Number.isNaN(Date.parse(after)) ? Number(reset) * 1000 : Date.parse(after);
  return Number.isNaN(until - now) ? undefined : Math.max(0, until - now);
}

/** The message is for the operator, who can allow the address. */
const forbiddenAddress = (): ProviderError =>
  new ProviderError('invalid', 'Destination address is not allowed by provider_allowed_networks');

/** Private networks, which only settings written by staff may name. */
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** Metadata services, which serve credentials to machines in private networks. */
const metadataAddresses = once(() => parseNetworks(['fd00:ec2::254', 'fd20:ce::254']));

/** Allowed vendor addresses: public ones, the operator's exceptions, and private ones if `mayBePrivate` (services.md 1). */
export function vendorAddressRule(allowedNetworks: readonly string[], mayBePrivate: boolean): AddressRule {
  const allows = addressRule(allowedNetworks);
  if (!mayBePrivate) return allows;
  const allowsPrivate = addressRule([...allowedNetworks, ...privateNetworks]);
  return (address) => allows(address) || (allowsPrivate(address) && !inNetworks(address, metadataAddresses()));
}

/** The header of Basic authentication (RFC 7617). */
export const basicAuthorization = (username: string, password: string): Readonly<Record<string, string>> => ({
  Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});
