import type { JSONWebKeySet } from 'jose';
import type { CustomFetchOptions, ServerMetadata } from 'openid-client';
import { hour, minute } from '../../../kernel/clock.ts';
import { addressRule } from '../../../kernel/net/destination.ts';
import { HttpClient, type HttpResponse } from '../../../kernel/net/http-client.ts';
import type { Resolver } from '../../../kernel/net/resolver.ts';
import { errorOf } from '../../../kernel/present.ts';
import { hostOf, urlOf } from '../../../kernel/url.ts';
import type { FailureStore, ProviderFailure } from './failures.ts';
import { ProviderError, providerErrorIn } from './problems.ts';
import type { OidcProvider } from './provider-file.ts';

declare module '../../../kernel/app.ts' {
  interface App {
    /** Clients of the OpenID Connect providers by name; empty unless OIDC is enabled. */
    readonly oidcClients: ReadonlyMap<string, OidcClient>;
  }
}

/** Limits of a provider's response: bytes and milliseconds. */
const limits = { maxBytes: 1024 * 1024, timeout: 10_000 };
/** How long to cache discovery documents and keys. */
const maxAge = hour;
const minRefreshInterval = minute;
/** Minimum time between stored reasons of one failure. */
const minStoreInterval = minute;
/** Maximum number of logins that wait for one provider. */
const maxWaiting = 64;
/** Maximum length of a recorded failure, which may quote the provider. */
const maxReasonLength = 500;

type Members = Readonly<Record<string, unknown>>;

interface Fetched<T> {
  readonly value: T;
  readonly at: number;
}

/** A provider: its cached documents, and the HTTP client for its URLs. Failed fetches are not cached. */
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
  /** The stored failure. Its reason may be older than that of `#failure`. */
  #storedFailure: ProviderFailure | undefined;
  #lastStored = Number.NEGATIVE_INFINITY;

  /** Without a store, failures are known only in memory. */
  constructor(
    readonly provider: OidcProvider,
    resolve: Resolver,
    private readonly failures?: FailureStore,
  ) {
    this.#storedFailure = failures?.load(provider.issuer);
    this.#failure = this.#storedFailure;
    // The operator chose the issuer, so it may be in a private network. Other URLs in its documents must be public.
    this.#own = new HttpClient({ resolve, allows: () => true, ...limits });
    this.#others = new HttpClient({ resolve, allows: addressRule([]), ...limits });
  }

  /** Whether the issuer has no TLS, which is allowed only on this machine. */
  get isInsecure(): boolean {
    return this.provider.issuer.startsWith('http:');
  }

  /** The failure since the last success; undefined if the provider works or has not been used. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** Runs work that waits for the provider. Returns undefined if too many logins are already waiting. */
  wait<T>(now: number, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#waiting >= maxWaiting) return undefined;
    this.#waiting++;
    return this.#watch(now, work).finally(() => this.#waiting--);
  }

  /** Records whether the provider causes work to fail. Work with cached documents does not count as a success. */
  async #watch<T>(now: number, work: () => Promise<T>): Promise<T> {
    const before = this.#responses;
    try {
      const result = await work();
      if (this.#responses > before) this.#setFailure(undefined, now);
      return result;
    } catch (error) {
      this.#noteFailure(error, now);
      throw error;
    }
  }

  #noteFailure(error: unknown, now: number): void {
    const failure = providerErrorIn(error);
    if (failure)
      this.#setFailure({ since: this.#failure?.since ?? now, message: failure.message.slice(0, maxReasonLength) }, now);
  }

  /** Stores only changes, and another reason at most once a minute, so that each failed login does not write. */
  #setFailure(failure: ProviderFailure | undefined, now: number): void {
    this.#failure = failure;
    const stored = this.#storedFailure;
    if (stored?.message === failure?.message) return;
    const isRecent = now >= this.#lastStored && now - this.#lastStored < minStoreInterval;
    if (stored && failure && isRecent) return;
    this.#storedFailure = failure;
    this.#lastStored = now;
    this.failures?.save(this.provider.issuer, failure);
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

  /** Returns the keys that sign the provider's tokens. Rejects with ProviderError. */
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

  /** Refreshes the keys after an unknown one was used. Returns undefined if they were fetched less than a minute ago. */
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

  /** The `fetch` of the protocol library. Throws ProviderError if the provider does not respond, or with a server error. */
  readonly fetch = async (address: string, { body, headers, method }: CustomFetchOptions): Promise<Response> => {
    const url = new URL(address);
    const response = await this.send(method, url, { ...headers }, body?.toString());
    if (response.status >= 500) throw statusError(url, response.status);
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

  /** Sends a request, bypassing the cache. Rejects with ProviderError if there is no complete response. */
  async send(
    method: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<HttpResponse> {
    if (url.protocol !== 'https:' && !this.isInsecure) throw new ProviderError(`${url.host} requires https`);
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

  /** Fetches a JSON object, bypassing the cache. Rejects with ProviderError. */
  async read(url: URL): Promise<Pick<HttpResponse, 'headers'> & { readonly document: Members }> {
    const { body, headers, status } = await this.send('GET', url, { Accept: 'application/json' });
    if (status !== 200) throw statusError(url, status);
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

/** Returns the failure of a URL whose response has an unusable status. */
export const statusError = ({ host, pathname }: URL, status: number): ProviderError =>
  new ProviderError(`${host}${pathname}: the response had status ${status}`);

const isFresh = ({ at }: Fetched<unknown>, now: number): boolean => now >= at && now - at < maxAge;

function parsed(body: Buffer): Members | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL of a discovery document (OpenID Connect Discovery 1.0). */
export const discoveryUrl = (issuer: string): URL =>
  new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);

/** Validates the members of a discovery document that logins use. Throws ProviderError. */
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

/** Validates a JWK set. Throws ProviderError. */
export function checkedKeys(document: Members): JSONWebKeySet {
  const { keys } = document;
  const areKeys = Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null && 'kty' in key);
  if (!areKeys) throw new ProviderError('the response of jwks_uri has no keys');
  return { keys } as JSONWebKeySet;
}

/** Creates the clients of these providers, by name. */
export const oidcClients = (
  providers: readonly OidcProvider[],
  resolve: Resolver,
  failures?: FailureStore,
): ReadonlyMap<string, OidcClient> =>
  new Map(providers.map((provider) => [provider.name, new OidcClient(provider, resolve, failures)]));
