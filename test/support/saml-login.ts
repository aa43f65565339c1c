import { Client } from './fixture.ts';
import { freePort } from './free-port.ts';
import { entityDescriptor, IdentityProvider } from './identity-provider.ts';
import { SamlBrowser } from './saml-browser.ts';
import { Files, samlSettings, tokenIn } from './saml-fixture.ts';

/** An identity provider, and the settings of a program that uses it for logins. */
export class SamlProvider {
  private constructor(
    readonly idp: IdentityProvider,
    readonly files: Files,
    /** Settings as text, by name. */
    readonly settings: Readonly<Record<string, string>>,
  ) {}

  /** Starts a provider for a service on a free port, which the settings contain. */
  static async start(host = '127.0.0.1'): Promise<SamlProvider> {
    const files = new Files();
    const port = await freePort();
    const idp = await IdentityProvider.start(`http://${host}:${port}`, 'https://idp.example.com/metadata');
    const metadata = files.write('idp.xml', entityDescriptor({ ...idp, name: 'Example University' }));
    const settings = { ...samlSettings(files), saml_idp_metadata_files: [metadata], host, port };
    const texts = Object.entries(settings).map(([name, value]) => [name, textOf(value)]);
    return new SamlProvider(idp, files, Object.fromEntries(texts));
  }

  get words(): readonly string[] {
    return wordsOf(this.settings);
  }

  /** Logs this user in to the program at this URL and returns the token. */
  async token(url: string, uid: string): Promise<string> {
    await this.idp.next({ user: { attributes: { uid, cn: uid, mail: `${uid}@example.com` } } });
    const service = { url, anonymous: new Client({ url }, undefined) };
    return tokenIn(await new SamlBrowser(service).logIn(this.idp.entityId));
  }

  /** Logs this user in to the program at this URL and returns the user's representation. */
  async logIn(url: string, uid: string): Promise<{ readonly username: string; readonly registration_method: string }> {
    const { body } = await new Client({ url }, await this.token(url, uid)).get('/api/users/?current');
    return body[0];
  }

  async close(): Promise<void> {
    await this.idp.close();
    this.files.remove();
  }
}

/** Formats settings as command line arguments. */
export const wordsOf = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, value]);

/** Formats a value as a command line argument. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);
