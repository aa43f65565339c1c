import type { IncomingHttpHeaders } from 'node:http';
import * as v from 'valibot';
import { withoutControls } from '../../kernel/control-characters.ts';
import type { Log } from '../../kernel/log.ts';
import { once } from '../../kernel/memoised.ts';
import { type AddressRule, addressRule } from '../../kernel/net/destination.ts';
import { HttpClient, NoAnswerError } from '../../kernel/net/http-client.ts';
import { inNetworks, parseNetworks } from '../../kernel/net/networks.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import { errorOf } from '../../kernel/present.ts';
import { type ErrorClass, ProviderError } from './provider-error.ts';
import { parsedXml } from './xml.ts';

/*
 * How drivers call their vendors (providers.md 2 "HTTP"): bounded in time and size, to allowed addresses only, with TLS
 * verified and redirects left alone. What goes wrong is told as a ProviderError; neither credentials nor bodies are logged.
 */

/** Bounds of one call: milliseconds until it is connected, and until it is answered; bytes of the answer. */
export interface CallLimits {
  readonly connect: number;
  readonly response: number;
  readonly bytes: number;
}

const usualLimits: CallLimits = { connect: 5000, response: 30_000, bytes: 16 * 1024 * 1024 };

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is sent; parts one after the other. */
  readonly body?: string | Buffer | readonly Buffer[];
}

export interface VendorResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A call with JSON in both directions, or with another body that is answered with JSON. */
export interface JsonCall extends VendorCall {
  readonly json?: unknown;
}

export interface JsonResponse extends Omit<VendorResponse, 'body'> {
  /** The parsed document; undefined when the answer is empty. */
  readonly body: unknown;
}

/** What the body of a refusal tells: the vendor's text, and a class where the status alone does not say it. */
export interface Rejection {
  readonly text?: unknown;
  readonly type?: ErrorClass | undefined;
}

export interface VendorHttpOptions {
  readonly resolve: Resolver;
  readonly allows: AddressRule;
  /** PEM of a further trust anchor. */
  readonly certificate?: string | null;
  /** What must not stand in texts. */
  readonly secrets?: readonly string[];
  readonly log: Log;
  readonly limits?: Partial<CallLimits>;
}

/** An answer that is not what the vendor's API promises. */
export const malformed = (): ProviderError => new ProviderError('malformed', 'Unexpected answer of backend');

const unavailable = (retryAfter?: number): ProviderError =>
  new ProviderError('unavailable', 'Backend does not respond', retryAfter);

/** A value of an answer in its promised shape. Throws `malformed`. */
export function decoded<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value);
  if (!result.success) throw malformed();
  return result.output;
}

/** Characters of the secrets that texts are cleaned of. */
const shortestSecret = 4;

/** The client of one driver. Its calls go out one after another, so that settings with four running jobs make four at once. */
export class VendorHttp {
  readonly #client: HttpClient;
  readonly #secrets: Set<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: VendorHttpOptions) {
    const { allows, certificate = null, resolve, secrets = [] } = options;
    this.#secrets = new Set(secrets);
    const { response, bytes, connect } = { ...usualLimits, ...options.limits };
    // Each call has a connection of its own: one that waited for the next call may be closed in the moment it is used, and
    // nobody knew whether the vendor has read it.
    this.#client = new HttpClient({
      resolve,
      allows,
      certificate,
      timeout: response,
      connectTimeout: connect,
      maxBytes: bytes,
    });
  }

  /** Sends a call; answers of any status but redirects resolve. Rejects with `unavailable`, `malformed`, or `invalid` for a refused address. */
  send(call: VendorCall): Promise<VendorResponse> {
    const turn = this.#last.then(() => this.#exchange(call));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Sends and reads JSON. Rejects for every status but 2xx, with the text that `explain` finds in the document or the answer. */
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
   * Sends and reads XML, in which the elements of lists are called `item`; see parsedXml. Rejects for every status but 2xx,
   * as `explain` says of the body.
   */
  async xml(call: VendorCall, item: string, explain: (body: unknown) => Rejection): Promise<unknown> {
    const response = await this.send(call);
    const body = await parsedXml(response.body, item);
    if (!isGood(response)) throw this.failure(response, explain(body));
    if (body === undefined) throw malformed();
    return body;
  }

  /** What a refusal of the vendor means, with its text, if it gave one. */
  failure(
    { headers, status }: Pick<VendorResponse, 'status' | 'headers'>,
    { text, type: told }: Rejection,
  ): ProviderError {
    const type = told ?? classOf(status);
    if (type === 'unavailable')
      return unavailable(headers['retry-after'] === undefined ? undefined : retryAfter(headers));
    if (type === 'malformed') return malformed();
    const shown = typeof text === 'string' && text.trim() !== '' ? text : `Backend answered with status ${status}`;
    const wait = type === 'limited' ? retryAfter(headers) : undefined;
    return new ProviderError(type, this.#withoutSecrets(shown), wait, status);
  }

  /** Keeps a secret that came up meanwhile, such as a token, out of texts. */
  conceal(secret: string): void {
    this.#secrets.add(secret);
  }

  #withoutSecrets(text: string): string {
    return (
      [...this.#secrets]
        // Shorter ones stand in any text by chance, which would be mangled, and tell what they are.
        .filter((secret) => secret.length >= shortestSecret)
        .reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
    );
  }

  async #exchange(call: VendorCall): Promise<VendorResponse> {
    try {
      const { ending, ...response } = await this.#client.send(call);
      if (ending === 'cut short') throw new NoAnswerError('The answer was cut short.');
      if (ending === 'too long' || (response.status >= 300 && response.status < 400)) throw malformed();
      return response;
    } catch (error) {
      const { method, url } = call;
      const cause = errorOf(errorOf(error).cause ?? error);
      const reason = 'code' in cause ? cause.code : cause.message;
      this.options.log.warn({ method, host: url.host, path: url.pathname, reason }, 'vendor call failed');
      if (error instanceof ProviderError) throw error;
      throw error instanceof NoAnswerError && error.isRefusedAddress ? refusedAddress() : unavailable();
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

/** The class of a refusal (providers.md 2 "Error class"). */
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

/** Milliseconds that a caller shall wait: Retry-After in seconds or as a date, else until the limit is lifted. */
function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  // Both are the vendor's instants: its clock, not ours, says how far away they are.
  const now = Date.parse(headers.date ?? '');
  const { 'ratelimit-reset': reset, 'retry-after': after = '' } = headers;
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  const until = Number.isNaN(Date.parse(after)) ? Number(reset) * 1000 : Date.parse(after);
  return Number.isNaN(until - now) ? undefined : Math.max(0, until - now);
}

/** The operator reads it, who may allow the address. */
const refusedAddress = (): ProviderError =>
  new ProviderError('invalid', 'Destination address is not allowed by provider_allowed_networks');

/** Networks of the operator's own that settings of staff may name. */
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** Where clouds tell machines their credentials, inside of private networks. */
const metadataAddresses = once(() => parseNetworks(['fd00:ec2::254', 'fd20:ce::254']));

/** Where vendors may be called: public addresses, those of the operator's exceptions, and private ones where that is allowed (services.md 1). */
export function vendorAddressRule(allowedNetworks: readonly string[], mayBePrivate: boolean): AddressRule {
  const allows = addressRule(allowedNetworks);
  if (!mayBePrivate) return allows;
  const allowsPrivate = addressRule([...allowedNetworks, ...privateNetworks]);
  return (address) => allows(address) || (allowsPrivate(address) && !inNetworks(address, metadataAddresses()));
}
