import type { ServerOptions } from 'tenantry';
import { Client, Fixture, type Json } from './fixture.ts';
import { freePort } from './free-port.ts';
import { clientSecret, Jar, type NextUser, OpenIdProvider } from './openid-provider.ts';
import { Files } from './saml-fixture.ts';

export const completedPage = 'https://app.example.com/#/login/';
export const failedPage = 'https://app.example.com/login-failed';

/** An entry of the provider file, without the members that all entries share. */
export type ProviderMembers = Readonly<Record<string, unknown>> & { readonly name: string; readonly issuer: string };

/** The settings of login by OpenID Connect. */
export const oidcSettings = (files: Files, providers: readonly ProviderMembers[]) => ({
  authentication_methods: ['LOCAL_SIGNIN', 'OIDC'],
  oidc_providers_file: files.write(
    'providers.json',
    JSON.stringify(
      providers.map((members) => ({
        label: 'Example Company',
        client_id: 'tenantry',
        client_secret_file: files.write('client-secret', `${clientSecret}\n`),
        ...members,
      })),
    ),
  ),
  login_completed_url: `${completedPage}{token}/{method}/?next={next}`,
  login_failed_url: failedPage,
  logout_completed_url: 'https://app.example.com/logged-out',
  logout_failed_url: 'https://app.example.com/logout-failed?from=oidc',
});

/** Returns the redirect address of a failed login with this message. */
export const failedLogin = (message: string): string => `${failedPage}?message=${encodeURIComponent(message)}`;

/** Returns the token in the last redirect of a login. */
export function tokenOf(location: string): string {
  const token = /^https:\/\/app\.example\.com\/#\/login\/([0-9a-f]{40})\/oidc\//.exec(location)?.[1];
  if (token === undefined) throw new Error(`no login: ${location}`);
  return token;
}

/** A service with logins at a real provider named `company`, at the machine's current time. */
export class OidcFixture {
  /** The logged reasons of rejected responses. */
  readonly reasons: string[] = [];

  private constructor(
    readonly fixture: Fixture,
    readonly provider: OpenIdProvider,
    readonly files: Files,
  ) {
    Object.assign(fixture.server.app.log, { warn: ({ reason }: { reason: string }) => this.reasons.push(reason) });
  }

  static async start(
    members: Readonly<Record<string, unknown>> = {},
    options: ServerOptions = {},
    client: Readonly<Record<string, unknown>> = {},
    providerOptions: Readonly<Record<string, unknown>> = {},
  ): Promise<OidcFixture> {
    const files = new Files();
    const port = options.port ?? (await freePort());
    const provider = await OpenIdProvider.start(`http://127.0.0.1:${port}`, 'company', client, providerOptions);
    const settings = oidcSettings(files, [{ name: 'company', issuer: provider.issuer, ...members }]);
    const fixture = await Fixture.start({ ...settings, port, ...options });
    fixture.clock.set(new Date());
    return new OidcFixture(fixture, provider, files);
  }

  get url(): string {
    return this.fixture.url;
  }

  /** The address that starts a login. */
  loginAddress(query = '', name = 'company'): string {
    return `${this.url}/api-auth/oidc/${name}/login/${query}`;
  }

  /** Logs a user in with a browser; returns the last redirect. */
  async logIn(user: NextUser, { jar = new Jar(), query = '' } = {}): Promise<string> {
    await this.provider.next(user);
    return jar.follow(this.loginAddress(query), (url) => /^http:\/\/(127\.0\.0\.1|localhost)/.test(url));
  }

  /** Returns the address to which the provider redirects the browser, without requesting it. */
  async response(user: NextUser, jar: Jar): Promise<string> {
    await this.provider.next(user);
    return jar.follow(this.loginAddress(), (url) => !url.includes('/complete/'));
  }

  /** Logs a user in; returns the user's representation. */
  async userOf(user: NextUser): Promise<Json> {
    return (await new Client(this.fixture, tokenOf(await this.logIn(user))).get('/api/users/?current')).body[0];
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.provider.close();
    this.files.remove();
  }
}
