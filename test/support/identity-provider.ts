import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type KeyPair, providerKeys, serviceKeys } from './saml-keys.ts';

const program = fileURLToPath(new URL('identity-provider-process.mjs', import.meta.url));

/** The user of the next logins, and options of samlp. */
export interface NextLogin {
  readonly user: {
    readonly nameId?: string;
    readonly attributes: Readonly<Record<string, string | readonly string[]>>;
  };
  readonly [option: string]: unknown;
}

/** Returns the addresses of the service, as in its metadata. */
export const serviceAddresses = (base: string) => ({
  entityId: `${base}/api-auth/saml2/metadata/`,
  assertionConsumer: `${base}/api-auth/saml2/login/complete/`,
  logout: `${base}/api-auth/saml2/logout/complete/`,
});

/** An identity provider in a separate process on the loopback. */
export class IdentityProvider {
  private constructor(
    private readonly child: ChildProcess,
    readonly entityId: string,
    readonly url: string,
    readonly keys: KeyPair,
  ) {}

  /** Starts a provider for the service at this base. */
  static async start(base: string, entityId: string, keys = providerKeys): Promise<IdentityProvider> {
    const settings = { entityId, ...keys, service: { ...serviceAddresses(base), cert: serviceKeys.cert } };
    // The provider exits when its standard input closes, at the latest with this process. It uses features that newer versions of
    // Node.js deprecate.
    const child = spawn(process.execPath, ['--no-deprecation', program, JSON.stringify(settings)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [port] = (await once(createInterface(child.stdout as NonNullable<typeof child.stdout>), 'line')) as [string];
    return new IdentityProvider(child, entityId, `http://127.0.0.1:${port}`, keys);
  }

  /** Sets the user of the next logins. */
  async next(login: NextLogin): Promise<void> {
    await fetch(`${this.url}/next`, { method: 'POST', body: JSON.stringify(login) });
  }

  async close(): Promise<void> {
    this.child.stdin?.end();
    if (this.child.exitCode === null) await once(this.child, 'exit');
  }
}

/** How the metadata of an identity provider differs from the default. */
export interface Described {
  readonly entityId: string;
  readonly url: string;
  readonly keys?: KeyPair;
  readonly name?: string;
  readonly binding?: string;
  readonly logout?: string;
}

export const certificateText = ({ cert }: KeyPair): string => cert.replace(/-----[^-]+-----|\s/g, '');

/** Returns the EntityDescriptor of an identity provider. */
export function entityDescriptor({
  binding = 'HTTP-Redirect',
  entityId,
  keys = providerKeys,
  logout,
  name,
  url,
}: Described): string {
  const service = (element: string, path: string): string =>
    `<md:${element} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${url}${path}"/>`;
  const uiInfo =
    name === undefined
      ? ''
      : `<md:Extensions><mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui"><mdui:DisplayName xml:lang="en">${name}</mdui:DisplayName></mdui:UIInfo></md:Extensions>`;
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}" ID="_metadata"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${uiInfo}<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificateText(keys)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>${logout === '' ? '' : service('SingleLogoutService', logout ?? '/logout')}${service('SingleSignOnService', '/login')}</md:IDPSSODescriptor></md:EntityDescriptor>`;
}
