import type { JSONWebKeySet } from 'jose';
import type { CustomFetchOptions, ServerMetadata } from 'openid-client';
import { hour, minute } from '../../../kernel/clock.ts';
import { addressRule, hostOf } from '../../../kernel/net/destination.ts';
import { HttpClient, type HttpResponse } from '../../../kernel/net/http-client.ts';
import type { Resolver } from '../../../kernel/net/resolver.ts';
import { errorOf } from '../../../kernel/present.ts';
import { urlOf } from '../../../kernel/url.ts';
import { ProviderError } from './problems.ts';
import type { OidcProvider } from './provider-file.ts';

declare module '../../../kernel/app.ts' {
  interface App {
    /** The OpenID Connect providers by their names; empty unless OIDC is enabled. */
    readonly oidcClients: ReadonlyMap<string, OidcClient>;
  }
}

/** Bytes and milliseconds of one response of a provider. */
const limits = { maxBytes: 1024 * 1024, timeout: 10_000 };
/** How long discovery documents and keys are used before they are fetched again. */
const maxAge = hour;
const minRefreshInterval = minute;
/** Logins that may wait for one provider at a time. */
const maxWaiting = 64;
/** Characters of a recorded failure, which may quote the provider. */
const maxReasonLength = 500;

type Members = Readonly<Record<string, unknown>>;

interface Fetched<T> {
  readonly value: T;
  readonly at: number;
}

/** Why a provider cannot be used. */
interface ProviderFailure {
  /** The first failure, in microseconds. */
  readonly since: number;
  /** The last reason. */
  readonly message: string;
}

/** One provider: what it publishes, cached, and the HTTP client for its addresses. A failed fetch is not cached. */
export class OidcClient {
  readonly #own: HttpClient;
  readonly #others: HttpClient;
  #metadata: Fetched<ServerMetadata> | undefined;
  #keys: Fetched<JSONWebKeySet> | undefined;
  /** Fetches in progress, which all logins share. */
  readonly #pending = new Map<'metadata' | 'keys', Promise<unknown>>();
  #lastRefresh = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  /** Counts complete responses without a server error. */
  #responses = 0;
  #failure: ProviderFailure | undefined;

  constructor(
    readonly provider: OidcProvider,
    resolve: Resolver,
  ) {
    // The operator chose the issuer, which may be in the operator's network; its documents may name public hosts besides.
    this.#own = new HttpClient({ resolve, allows: () => true, ...limits });
    this.#others = new HttpClient({ resolve, allows: addressRule([]), ...limits });
  }

  /** Whether the issuer has no TLS, which is possible on this machine only. */
  get isInsecure(): boolean {
    return this.provider.issuer.startsWith('http:');
  }

  /** Why the provider cannot be used since its last success; undefined if it can, or has not been tried. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** Runs work that waits for the provider. Returns undefined if too many logins already wait for it. */
  wait<T>(now: number, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#waiting >= maxWaiting) return undefined;
    this.#waiting++;
    return this.#watch(now, work).finally(() => this.#waiting--);
  }

  /** Notes whether work fails because of the provider. Cached documents prove nothing. */
  async #watch<T>(now: number, work: () => Promise<T>): Promise<T> {
    const before = this.#responses;
    try {
      const result = await work();
      if (this.#responses > before) this.#failure = undefined;
      return result;
    } catch (error) {
      this.#noteFailure(error, now);
      throw error;
    }
  }

  #noteFailure(error: unknown, now: number): void {
    const causes = [error, error instanceof Error ? error.cause : undefined];
    const failure = causes.find((item) => item instanceof ProviderError);
    if (failure)
      this.#failure = { since: this.#failure?.since ?? now, message: failure.message.slice(0, maxReasonLength) };
  }

  /** Returns the discovery document. Rejects with ProviderError. */
  async metadata(now: number): Promise<ServerMetadata> {
    const cached = this.#metadata;
    if (cached && isFresh(cached, now)) return cached.value;
    try {
      return await this.#once('metadata', async () => {
        const { document } = await this.read(discoveryUrl(this.provider.issuer));
        const value = checkedMetadata(document, this.provider);
        this.#metadata = { value, at: now };
        return value;
      });
    } catch (error) {
      if (!cached) throw error;
      this.#noteFailure(error, now);
      return cached.value;
    }
  }

  /** Returns the keys that sign the tokens of the provider. Rejects with ProviderError. */
  async keys(now: number): Promise<JSONWebKeySet> {
    const cached = this.#keys;
    if (cached && isFresh(cached, now)) return cached.value;
    try {
      return await this.#fetchKeys(now);
    } catch (error) {
      if (!cached) throw error;
      this.#noteFailure(error, now);
      return cached.value;
    }
  }

  /** Returns the keys after an unknown one was used; undefined if they were fetched less than a minute ago. */
  async refreshedKeys(now: number): Promise<JSONWebKeySet | undefined> {
    const last = Math.max(this.#keys?.at ?? Number.NEGATIVE_INFINITY, this.#lastRefresh);
    if (now >= last && now - last < minRefreshInterval)
      return this.#pending.get('keys') ? this.#fetchKeys(now) : undefined;
    this.#lastRefresh = now;
    return this.#fetchKeys(now);
  }

  #fetchKeys(now: number): Promise<JSONWebKeySet> {
    return this.#once('keys', async () => {
      const { jwks_uri: address = '' } = await this.metadata(now);
      const value = checkedKeys((await this.read(new URL(address))).document);
      this.#keys = { value, at: now };
      return value;
    });
  }

  /** The `fetch` of the protocol library. Throws ProviderError if the provider does not respond. */
  readonly fetch = async (address: string, { body, headers, method }: CustomFetchOptions): Promise<Response> => {
    const response = await this.send(method, new URL(address), { ...headers }, body?.toString());
    const hasBody = response.status !== 204 && response.status !== 205 && response.status !== 304;
    return new Response(hasBody ? new Uint8Array(response.body) : null, {
      status: response.status,
      headers: new Headers(
        Object.entries(response.headers).flatMap(([name, value]): [string, string][] =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      ),
    });
  };

  /** Sends a request, without the cache. Rejects with ProviderError if there is no complete response. */
  async send(
    method: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<HttpResponse> {
    if (url.protocol !== 'https:' && !this.isInsecure)
      throw new ProviderError(`${url.host} must be addressed by https`);
    const http = hostOf(url) === hostOf(new URL(this.provider.issuer)) ? this.#own : this.#others;
    try {
      const response = await http.send({ method, url, headers, ...(body !== undefined && { body }) });
      if (response.ending !== 'complete') throw new Error(`the response was ${response.ending}`);
      if (response.status < 500) this.#responses++;
      return response;
    } catch (error) {
      throw new ProviderError(`${url.host}${url.pathname}: ${errorOf(error).message}`, { cause: error });
    }
  }

  /** Fetches a JSON object, without the cache. Rejects with ProviderError. */
  async read(url: URL): Promise<Pick<HttpResponse, 'headers'> & { readonly document: Members }> {
    const { body, headers, status } = await this.send('GET', url, { Accept: 'application/json' });
    if (status !== 200) throw new ProviderError(`${url.host}${url.pathname}: the response had status ${status}`);
    const document = parsed(body);
    if (!document) throw new ProviderError(`${url.host}${url.pathname}: the response is not a JSON object`);
    return { document, headers };
  }

  /** Runs a fetch, or joins the one in progress. */
  #once<T>(kind: 'metadata' | 'keys', fetch: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(kind) as Promise<T> | undefined;
    if (pending) return pending;
    const started = fetch().finally(() => this.#pending.delete(kind));
    this.#pending.set(kind, started);
    return started;
  }
}

const isFresh = ({ at }: Fetched<unknown>, now: number): boolean => now >= at && now - at < maxAge;

function parsed(body: Buffer): Members | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the address of a discovery document, as OpenID Connect Discovery 1.0 defines it. */
export const discoveryUrl = (issuer: string): URL =>
  new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);

/** Checks the members of a discovery document that logins use. Throws ProviderError. */
export function checkedMetadata(document: Members, { issuer }: OidcProvider): ServerMetadata {
  if (document.issuer !== issuer)
    throw new ProviderError(
      `the discovery document is of the issuer ${JSON.stringify(document.issuer)}, not ${issuer}`,
    );
  const isInsecure = issuer.startsWith('http:');
  for (const name of [
    'authorization_endpoint',
    'token_endpoint',
    'jwks_uri',
    'userinfo_endpoint',
    'end_session_endpoint',
  ]) {
    const value = document[name];
    if (value === undefined && /^(userinfo|end_session)/.test(name)) continue;
    const scheme = typeof value === 'string' ? urlOf(value)?.protocol : undefined;
    if (scheme !== 'https:' && !(isInsecure && scheme === 'http:'))
      throw new ProviderError(`the discovery document has no valid ${name}`);
  }
  return document as unknown as ServerMetadata;
}

/** Returns the keys of a JWK set. Throws ProviderError. */
export function checkedKeys(document: Members): JSONWebKeySet {
  const { keys } = document;
  const areKeys = Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null && 'kty' in key);
  if (!areKeys) throw new ProviderError('the response of jwks_uri has no keys');
  return { keys } as JSONWebKeySet;
}

/** Creates the clients of these providers, by name. */
export const oidcClients = (providers: readonly OidcProvider[], resolve: Resolver): ReadonlyMap<string, OidcClient> =>
  new Map(providers.map((provider) => [provider.name, new OidcClient(provider, resolve)]));
