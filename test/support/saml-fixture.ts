import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { Fixture } from './fixture.ts';
import { freePort } from './free-port.ts';
import { entityDescriptor, IdentityProvider } from './identity-provider.ts';
import { SamlBrowser } from './saml-browser.ts';
import { serviceKeys } from './saml-keys.ts';

export const completed = 'https://app.example.com/#/login/';

/** Files in a temporary folder, for settings that name files. */
export class Files {
  readonly folder = mkdtempSync(join(tmpdir(), 'saml-'));

  /** Writes a file and returns its path. */
  write(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The settings of single sign-on, without identity providers. */
export const samlSettings = (files: Files): ServerOptions => ({
  authentication_methods: ['LOCAL_SIGNIN', 'SAML2'],
  saml_cert_file: files.write('service.crt', serviceKeys.cert),
  saml_key_file: files.write('service.key', serviceKeys.key),
  saml_attribute_mapping: {
    uid: ['username'],
    cn: ['full_name'],
    mail: ['email'],
    job: ['job_title'],
    unit: ['organization'],
    pid: ['civil_number'],
  },
  login_completed_url: `${completed}{token}/{method}/`,
  login_failed_url: 'https://app.example.com/login-failed',
  logout_completed_url: 'https://app.example.com/logged-out',
  logout_failed_url: 'https://app.example.com/logout-failed?from=saml',
});

/** A service with logins at an identity provider named `idp`, on the machine's clock. */
export class SamlFixture {
  /** The logged reasons of rejected messages. Tests may clear it. */
  readonly reasons: string[] = [];

  private constructor(
    readonly fixture: Fixture,
    readonly idp: IdentityProvider,
    readonly files: Files,
  ) {
    Object.assign(fixture.server.app.log, { warn: ({ reason }: { reason: string }) => this.reasons.push(reason) });
  }

  /** Further metadata comes from files beside that of the identity provider. */
  static async start(options: ServerOptions = {}, furtherMetadata: readonly string[] = []): Promise<SamlFixture> {
    const files = new Files();
    const port = options.port ?? (await freePort());
    const idp = await IdentityProvider.start(`http://127.0.0.1:${port}`, 'https://idp.example.com/metadata');
    const metadata = [entityDescriptor({ ...idp, name: 'Example University' }), ...furtherMetadata].map((text, i) =>
      files.write(`idp-${i}.xml`, text),
    );
    const fixture = await Fixture.start({
      ...samlSettings(files),
      saml_idp_metadata_files: metadata,
      port,
      ...options,
    });
    fixture.clock.set(new Date());
    return new SamlFixture(fixture, idp, files);
  }

  get browser(): SamlBrowser {
    return new SamlBrowser(this.fixture);
  }

  /** Logs a user in with a new browser; returns the last redirect. */
  async logIn(
    attributes: Readonly<Record<string, string | readonly string[]>>,
    browser = this.browser,
  ): Promise<string> {
    await this.idp.next({ user: { attributes } });
    return browser.logIn(this.idp.entityId);
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.idp.close();
    this.files.remove();
  }
}

/** Returns the token in the last redirect of a login. */
export function tokenIn(location: string): string {
  const token = /^https:\/\/app\.example\.com\/#\/login\/([0-9a-f]{40})\/saml2\/$/.exec(location)?.[1];
  if (token === undefined) throw new Error(`no login: ${location}`);
  return token;
}

/** Returns the last redirect of a failed login. */
export const failedLogin = (message: string): string =>
  `https://app.example.com/login-failed?message=${encodeURIComponent(message)}`;
export const failedLogout = (message: string): string =>
  `https://app.example.com/logout-failed?from=saml&message=${encodeURIComponent(message)}`;
