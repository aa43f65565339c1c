import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { present } from '../../../../kernel/present.ts';
import { baseOf, urlOf } from '../../../../kernel/url.ts';
import type { DriverSettings } from '../../../catalogue/driver.ts';
import { ProviderError } from '../../../catalogue/provider-error.ts';
import {
  decoded,
  type JsonResponse,
  malformed,
  type VendorCall,
  type VendorHttp,
} from '../../../catalogue/vendor-http.ts';
import { administrationProject, defaultDomain } from './options.ts';

/*
 * Calls of OpenStack services (providers.md 4.7): with an administrator's token for one project, at the address in the token's
 * catalogue.
 */

/** A service by its usual name; some catalogues list it under another type. */
type Service = 'identity' | 'compute' | 'network' | 'image' | 'volume';

const catalogueTypes: Readonly<Record<Exclude<Service, 'identity'>, readonly string[]>> = {
  compute: ['compute'],
  network: ['network'],
  image: ['image'],
  volume: ['volumev3', 'block-storage'],
};

/** Version suffixes of service addresses, which some catalogues omit. */
const versions: Readonly<Partial<Record<Service, string>>> = { network: '/v2.0', image: '/v2' };

const tokenSchema = v.object({
  token: v.object({
    issued_at: v.string(),
    expires_at: v.string(),
    user: v.object({ id: v.string(), domain: v.object({ id: v.string() }) }),
    project: v.object({ id: v.string() }),
    roles: v.nullish(v.array(v.object({ id: v.string(), name: v.string() }))),
    catalog: v.nullish(
      v.array(v.object({ type: v.string(), endpoints: v.array(v.object({ interface: v.string(), url: v.string() })) })),
      [],
    ),
  }),
});

/** A token with its metadata. */
interface Token extends Readonly<v.InferOutput<typeof tokenSchema>['token']> {
  readonly text: string;
  /** When to replace it, in milliseconds of `performance.now()`. */
  readonly until: number;
}

/** Milliseconds before its expiry at which a token is replaced. */
const margin = 5 * 60_000;
const maxTokens = 500;

/** Cache of tokens in memory, keyed by a digest of credentials and project. */
export class TokenStore {
  readonly #tokens = new Map<string, Token>();

  get(key: string): Token | undefined {
    const token = this.#tokens.get(key);
    if (token && token.until > performance.now()) return token;
    this.#tokens.delete(key);
    return undefined;
  }

  set(key: string, token: Token): void {
    this.#tokens.delete(key);
    this.#tokens.set(key, token);
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= maxTokens) break;
      this.#tokens.delete(oldest);
    }
  }

  forget(key: string): void {
    this.#tokens.delete(key);
  }
}

/** A call of one service for one project. Rejects with ProviderError. */
export type Call = (method: VendorCall['method'], path: string, json?: unknown) => Promise<unknown>;

const record = v.record(v.string(), v.unknown());
const errorSchema = v.object({ message: v.string() });

/** The vendor's message in an error response: `message` at the top level or in one of the members. */
function explained(body: unknown): unknown {
  if (v.is(errorSchema, body)) return body.message;
  return v.is(record, body) ? Object.values(body).find((part) => v.is(errorSchema, part))?.message : undefined;
}

/** Whether the token or the login was rejected (401), as opposed to a forbidden operation (403). */
const isRejectedToken = (error: unknown): boolean => error instanceof ProviderError && error.status === 401;

/** The services of one OpenStack cloud for the driver of one account. */
export class Session {
  readonly #base: string;
  readonly #domain: string;
  readonly #project: string;

  constructor(
    private readonly http: VendorHttp,
    private readonly settings: DriverSettings,
    private readonly tokens: TokenStore,
  ) {
    this.#base = baseOf(present(settings.backend_url));
    this.#domain = settings.domain || defaultDomain;
    this.#project = administrationProject(settings.options);
  }

  /** Calls a service, for the administrator's own project unless `project` is given. */
  service =
    (service: Service, project?: string): Call =>
    async (method, path, json) => {
      const token = await this.token(project);
      try {
        return await this.#call(token, service, method, path, json);
      } catch (error) {
        if (!isRejectedToken(error)) throw error;
        this.tokens.forget(this.#key(project));
        return await this.#call(await this.token(project), service, method, path, json);
      }
    };

  /** The administrator's token for a project. Grants the administrator a role in the project if needed. */
  async token(project?: string): Promise<Token> {
    const cached = this.tokens.get(this.#key(project));
    if (cached) {
      this.http.conceal(cached.text);
      return cached;
    }
    try {
      return await this.logIn(project);
    } catch (error) {
      if (project === undefined || !isRejectedToken(error)) throw error;
      // The administrator has no role yet in a project created outside.
      await this.grant(project);
      return this.logIn(project);
    }
  }

  /** Redacts a secret in error messages. */
  conceal(secret: unknown): void {
    if (typeof secret === 'string') this.http.conceal(secret);
  }

  /** Grants the administrator the admin role in a project. */
  async grant(project: string): Promise<void> {
    const { roles, user } = await this.token();
    const role = roles?.find(({ name }) => name === 'admin');
    if (!role) throw new ProviderError('unauthorized', 'Provided credentials are not for admin tenant');
    await this.service('identity')('PUT', `/projects/${project}/users/${user.id}/roles/${role.id}`);
  }

  /** Requests a new token. */
  async logIn(project?: string): Promise<Token> {
    const { password, username } = this.settings;
    const domain = { name: this.#domain };
    const identity = { methods: ['password'], password: { user: { name: username, domain, password } } };
    const scope = { project: project === undefined ? { name: this.#project, domain } : { id: project } };
    const { body, headers } = await this.#send('POST', `${this.#base}/auth/tokens`, { auth: { identity, scope } });
    const { token } = decoded(tokenSchema, body);
    const text = headers['x-subject-token'];
    const life = Date.parse(token.expires_at) - Date.parse(token.issued_at);
    if (typeof text !== 'string' || Number.isNaN(life)) throw malformed();
    this.http.conceal(text);
    // A token that is valid for less than the margin is used for half of its lifetime.
    const issued = { ...token, text, until: performance.now() + Math.max(life - margin, life / 2) };
    this.tokens.set(this.#key(project), issued);
    return issued;
  }

  async #call(token: Token, service: Service, method: VendorCall['method'], path: string, json: unknown) {
    const url = this.#address(token, service) + path;
    return (await this.#send(method, url, json, { 'X-Auth-Token': token.text })).body;
  }

  #send(
    method: VendorCall['method'],
    address: string,
    json: unknown,
    headers: Record<string, string> = {},
  ): Promise<JsonResponse> {
    const url = urlOf(address);
    if (!url) throw malformed();
    return this.http.json({ method, url, headers, json }, explained);
  }

  #address({ catalog }: Token, service: Service): string {
    if (service === 'identity') return this.#base;
    const entry = (catalog ?? []).find(({ type }) => catalogueTypes[service].includes(type));
    const url = entry?.endpoints.find((endpoint) => endpoint.interface === 'public')?.url;
    if (url === undefined) throw new ProviderError('invalid', `Backend offers no ${service} service`);
    const version = versions[service] ?? '';
    const address = baseOf(url);
    return address.endsWith(version) ? address : address + version;
  }

  #key(project: string | undefined): string {
    const { certificate, password, username } = this.settings;
    const parts = [this.#base, this.#domain, username, password, certificate, project ?? null, this.#project];
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  }
}
