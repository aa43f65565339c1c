import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

const program = fileURLToPath(new URL('openid-provider-process.mjs', import.meta.url));

/** The user of the next logins. */
export interface NextUser {
  readonly accountId: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The error with which the provider rejects the login. */
  readonly error?: string;
}

/** A cookie jar that follows redirects as a browser does. */
export class Jar {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The cookies for a URL. */
  cookieFor(url: string): string {
    const cookies = this.#cookies.get(new URL(url).host) ?? new Map<string, string>();
    return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Removes all cookies of a host. */
  forget(url: string): void {
    this.#cookies.delete(new URL(url).host);
  }

  async get(url: string): Promise<Response> {
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie: this.cookieFor(url) } });
    const { host } = new URL(url);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const cookies = this.#cookies.get(host) ?? new Map<string, string>();
      this.#cookies.set(host, cookies);
      if (/expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  /** Follows redirects while `follows` accepts the address. Returns the first address that it rejects. */
  async follow(url: string, follows: (url: string) => boolean): Promise<string> {
    let current = url;
    for (let hops = 0; hops < 15; hops++) {
      const response = await this.get(current);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${response.status} at ${current}: ${await response.text()}`);
      current = new URL(location, current).href;
      if (!follows(current)) return current;
    }
    throw new Error(`too many redirects, at ${current}`);
  }
}

export const clientSecret = 'a-secret-of-the-client-that-is-long-enough';

/** An OpenID Connect provider in a separate process on the loopback. */
export class OpenIdProvider {
  private constructor(
    private readonly child: ChildProcess,
    readonly issuer: string,
  ) {}

  /** Starts a provider for the service at this base. The service's settings call it `name`. */
  static async start(
    base: string,
    name: string,
    client: Readonly<Record<string, unknown>> = {},
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<OpenIdProvider> {
    const clients = [
      {
        client_id: 'tenantry',
        client_secret: clientSecret,
        redirect_uris: [`${base}/api-auth/oidc/${name}/complete/`],
        post_logout_redirect_uris: ['https://app.example.com/logged-out'],
        backchannel_logout_uri: `${base}/api-auth/oidc/${name}/backchannel-logout/`,
        backchannel_logout_session_required: true,
        ...client,
      },
    ];
    // The provider exits when its standard input closes, at the latest with this process.
    const child = spawn(process.execPath, [program, JSON.stringify({ clients, options })], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    });
    const [port] = (await once(createInterface(child.stdout as NonNullable<typeof child.stdout>), 'line')) as [string];
    return new OpenIdProvider(child, `http://127.0.0.1:${port}`);
  }

  /** Sets the user of the next logins. */
  async next(user: NextUser): Promise<void> {
    await fetch(`${this.issuer}/next`, { method: 'POST', body: JSON.stringify(user) });
  }

  /** Logs the user of a browser out at the provider. */
  async logOut(jar: Jar): Promise<void> {
    const page = await (await jar.get(`${this.issuer}/session/end?client_id=tenantry`)).text();
    const { status } = await fetch(`${this.issuer}/session/end/confirm`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: jar.cookieFor(this.issuer) },
      body: new URLSearchParams({ xsrf: /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '', logout: 'yes' }),
    });
    if (status !== 303) throw new Error(`the provider responded with ${status}`);
  }

  async close(): Promise<void> {
    this.child.stdin?.end();
    await eventually('the provider ends', () => this.child.exitCode !== null);
  }
}
