import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { IdentityProvider } from './identity-providers.ts';

/** The configuration of the library for the service and one identity provider. */
export interface Setup {
  readonly provider: IdentityProvider;
  readonly entityId: string;
  readonly assertionConsumer: string;
  /** PEM. */
  readonly privateKey: string;
}

/** The subject of a logout, as the identity provider names it. */
interface LogoutSubject {
  readonly nameID: string;
  readonly nameIDFormat: string;
  readonly nameQualifier?: string;
  readonly spNameQualifier?: string;
  readonly sessionIndex?: string;
}

/**
 * Creates the library for one identity provider. Its messages have this ID. The caller checks times, pending requests and used
 * assertions with the deployment's clock and database.
 */
export function samlOf({ assertionConsumer, entityId, privateKey, provider }: Setup, messageId = ''): SAML {
  return new SAML({
    issuer: entityId,
    audience: entityId,
    callbackUrl: assertionConsumer,
    entryPoint: provider.loginUrl ?? provider.logoutUrl ?? provider.entityId,
    logoutUrl: provider.logoutUrl ?? '',
    idpIssuer: provider.entityId,
    idpCert: [...provider.certificates],
    privateKey,
    decryptionPvk: privateKey,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    // One signature suffices, because the library rejects unsigned responses.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: -1,
    validateInResponseTo: ValidateInResponseTo.never,
    cacheProvider: noCache,
    generateUniqueId: () => messageId,
  });
}

/** Returns the URL that starts a login, with a request ID. */
export const loginUrl = ({ id, setup }: { readonly id: string; readonly setup: Setup }): Promise<string> =>
  samlOf(setup, id).getAuthorizeUrlAsync('', undefined, {});

/** Returns the URL that starts a logout, with a request ID. */
export const logoutUrl = ({
  id,
  subject,
  setup,
}: {
  readonly id: string;
  readonly subject: LogoutSubject;
  readonly setup: Setup;
}): Promise<string> => samlOf(setup, id).getLogoutUrlAsync({ issuer: setup.provider.entityId, ...subject }, '', {});

/** A logout request, and the IDs of both possible responses. */
interface LogoutReply {
  readonly setup: Setup;
  readonly request: string;
  readonly nameId: string;
  readonly relayState: string;
  readonly ids: { readonly done: string; readonly unknown: string };
}

/** Returns the URLs of both possible responses: sessions ended, or unknown subject. */
export async function logoutReplies({
  ids,
  nameId,
  relayState,
  request,
  setup,
}: LogoutReply): Promise<{ readonly done: string; readonly unknown: string }> {
  const reply = (id: string, isDone: boolean): Promise<string> =>
    samlOf(setup, id).getLogoutResponseUrlAsync(
      { issuer: setup.provider.entityId, ID: request, nameID: nameId, nameIDFormat: '' },
      relayState,
      {},
      isDone,
    );
  return { done: await reply(ids.done, true), unknown: await reply(ids.unknown, false) };
}

const noCache = {
  saveAsync: () => Promise.resolve(null),
  getAsync: () => Promise.resolve(null),
  removeAsync: () => Promise.resolve(null),
};
