import { Client } from './fixture.ts';
import { entityDescriptor, IdentityProvider } from './identity-provider.ts';
import { SamlBrowser } from './saml-browser.ts';
import { Files, freePort, samlSettings, tokenIn } from './saml-fixture.ts';

/** An identity provider, and the words with which the program serves users that log in there. */
export class SamlProvider {
  private constructor(
    readonly idp: IdentityProvider,
    readonly files: Files,
    readonly words: readonly string[],
  ) {}

  /** Starts one for a service at a free port, which the settings name. */
  static async start(): Promise<SamlProvider> {
    const files = new Files();
    const port = await freePort();
    const idp = await IdentityProvider.start(`http://127.0.0.1:${port}`, 'https://idp.example.com/metadata');
    const metadata = files.write('idp.xml', entityDescriptor({ ...idp, name: 'Example University' }));
    const settings = { ...samlSettings(files), saml_idp_metadata_files: [metadata], port };
    const words = Object.entries(settings).flatMap(([name, value]) => [optionName(name), textOf(value)]);
    return new SamlProvider(idp, files, words);
  }

  /** Logs this user in to the program at this URL and returns what the service then says of them. */
  async logIn(url: string, uid: string): Promise<{ readonly username: string; readonly registration_method: string }> {
    await this.idp.next({ user: { attributes: { uid, cn: uid, mail: `${uid}@example.com` } } });
    const service = { url, anonymous: new Client({ url }, undefined) };
    const token = tokenIn(await new SamlBrowser(service).logIn(this.idp.entityId));
    const { body } = await new Client({ url }, token).get('/api/users/?current');
    return body[0];
  }

  async close(): Promise<void> {
    await this.idp.close();
    this.files.remove();
  }
}

/** The option of a setting. */
const optionName = (name: string): string => `--${name.replaceAll('_', '-')}`;

/** A value of a setting as the command line has it. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);
