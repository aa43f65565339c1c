import type { ServerOptions } from 'tenantry';
import { sql } from '../../src/kernel/db/sql.ts';
import { Fixture, type Json } from './fixture.ts';
import { freePort } from './free-port.ts';
import { HandmadeProvider, type StartedLogin } from './handmade-provider.ts';
import { oidcSettings, type ProviderMembers, tokenOf } from './oidc-fixture.ts';
import { Files } from './saml-fixture.ts';

/** Overrides for the response that a browser brings back from a provider. */
interface Response {
  readonly code?: string;
  readonly state?: string;
  readonly cookie?: string;
  readonly provider?: string;
  /** Further parameters. */
  readonly query?: string;
}

/** A service with logins at handmade providers on the service's clock. */
export class HandmadeFixture {
  /** The logged reasons of rejected responses. */
  readonly reasons: string[] = [];

  private constructor(
    readonly fixture: Fixture,
    readonly provider: HandmadeProvider,
    readonly files: Files,
  ) {
    Object.assign(fixture.server.app.log, { warn: ({ reason }: { reason: string }) => this.reasons.push(reason) });
  }

  /** `providersOf` adds issuers and returns the provider file. */
  static async start(
    providersOf: (provider: HandmadeProvider) => readonly ProviderMembers[],
    options: ServerOptions = {},
  ): Promise<HandmadeFixture> {
    const files = new Files();
    const fixture = new Fixture();
    const provider = await HandmadeProvider.start(() => Math.floor(fixture.clock.now() / 1_000_000));
    const settings = oidcSettings(files, providersOf(provider));
    await fixture.open({ ...settings, port: await freePort(), ...options });
    return new HandmadeFixture(fixture, provider, files);
  }

  /** Starts a login in a browser with this cookie; default: in a new one. */
  async begin(name: string, cookie = ''): Promise<StartedLogin> {
    const response = await fetch(`${this.fixture.url}/api-auth/oidc/${name}/login/`, {
      redirect: 'manual',
      headers: { Cookie: cookie },
    });
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    const value = (parameter: string): string => searchParams.get(parameter) ?? '';
    return {
      state: value('state'),
      nonce: value('nonce'),
      challenge: value('code_challenge'),
      cookie: /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? cookie,
    };
  }

  /** Brings a response from a provider to the service. Returns the address to which the service redirects. */
  async finish(
    login: StartedLogin,
    { code, cookie = login.cookie, provider = 'one', query = '', state = login.state }: Response,
  ): Promise<string> {
    const parameters = `state=${encodeURIComponent(state)}${code === undefined ? '' : `&code=${code}`}${query}`;
    const response = await fetch(`${this.fixture.url}/api-auth/oidc/${provider}/complete/?${parameters}`, {
      redirect: 'manual',
      headers: { Cookie: cookie },
    });
    return response.headers.get('location') ?? `${response.status} ${await response.text()}`;
  }

  /** Runs a whole login with these claims. Returns the address to which the service redirects. */
  async logIn(name: string, claims: Json, cookie?: string): Promise<string> {
    const issuer = this.provider.issuers.get(name);
    if (!issuer) throw new Error(`no provider ${name}`);
    const login = await this.begin(name, cookie);
    return this.finish(login, { code: issuer.code(login, claims), provider: name });
  }

  /** Logs a user in and returns the representation for staff. */
  async userOf(name: string, claims: Json): Promise<Json> {
    const token = tokenOf(await this.logIn(name, claims));
    const { db } = this.fixture.server.app;
    const uuid = db.value<string>(sql`
      SELECT u.uuid FROM user u JOIN token t ON t.user_id = u.id WHERE t.id = (SELECT max(id) FROM token)`);
    if (!token) throw new Error('no token');
    return (await this.fixture.staff.get(`/api/users/${uuid}/`)).body;
  }

  async close(): Promise<void> {
    await this.fixture.close();
    this.provider.close();
    this.files.remove();
  }
}
