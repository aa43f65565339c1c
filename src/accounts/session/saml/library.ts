import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { IdentityProvider } from './identity-providers.ts';

/** The service and one identity provider, as the library wants to know them. */
export interface Setup {
  readonly provider: IdentityProvider;
  readonly entityId: string;
  readonly assertionConsumer: string;
  /** PEM. */
  readonly privateKey: string;
}

/** Whose session is to end, in the identity provider's words. */
interface Leaving {
  readonly nameID: string;
  readonly nameIDFormat: string;
  readonly nameQualifier?: string;
  readonly spNameQualifier?: string;
  readonly sessionIndex?: string;
}

/**
 * The library, set up for one identity provider; the messages it makes have this ID. Instants, answered requests and used
 * assertions are judged by the deployment's clock and database, not by the library's own.
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
    // Either will do: the library refuses what is signed nowhere.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: -1,
    validateInResponseTo: ValidateInResponseTo.never,
    cacheProvider: forgetful,
    generateUniqueId: () => messageId,
  });
}

/** Where a browser is sent to log in, with a request of this ID. */
export const loginUrl = ({ id, setup }: { readonly id: string; readonly setup: Setup }): Promise<string> =>
  samlOf(setup, id).getAuthorizeUrlAsync('', undefined, {});

/** Where a browser is sent to log out, with a request of this ID. */
export const logoutUrl = ({
  id,
  leaving,
  setup,
}: {
  readonly id: string;
  readonly leaving: Leaving;
  readonly setup: Setup;
}): Promise<string> => samlOf(setup, id).getLogoutUrlAsync({ issuer: setup.provider.entityId, ...leaving }, '', {});

/** A request to log out that is to be answered, and the IDs of both answers. */
interface ResponseTo {
  readonly setup: Setup;
  readonly request: string;
  readonly nameId: string;
  readonly relayState: string;
  readonly ids: { readonly done: string; readonly unknown: string };
}

/** Where a browser takes an answer: that the request was followed, and that it names nobody who is known here. */
export async function logoutReplies({
  ids,
  nameId,
  relayState,
  request,
  setup,
}: ResponseTo): Promise<{ readonly done: string; readonly unknown: string }> {
  const reply = (id: string, isDone: boolean): Promise<string> =>
    samlOf(setup, id).getLogoutResponseUrlAsync(
      { issuer: setup.provider.entityId, ID: request, nameID: nameId, nameIDFormat: '' },
      relayState,
      {},
      isDone,
    );
  return { done: await reply(ids.done, true), unknown: await reply(ids.unknown, false) };
}

const forgetful = {
  saveAsync: () => Promise.resolve(null),
  getAsync: () => Promise.resolve(null),
  removeAsync: () => Promise.resolve(null),
};
