import type { SAML } from '@node-saml/node-saml';
import type { Request } from '../../../kernel/access/request.ts';
import { present } from '../../../kernel/present.ts';
import { addressesOf } from './addresses.ts';
import type { IdentityProvider } from './identity-providers.ts';

/** The ID of a new message. */
export const newMessageId = ({ app }: Request): string => `_${app.random(20).toString('hex')}`;

/**
 * The library, set up for one identity provider; the messages it makes have this ID. Instants, answered requests and used
 * assertions are judged by the deployment's clock and database, not by the library's own.
 */
export async function samlOf(
  request: Request,
  provider: IdentityProvider,
  messageId = newMessageId(request),
): Promise<SAML> {
  // Loaded with the first login: most deployments never see one.
  const { SAML: Library, ValidateInResponseTo } = await import('@node-saml/node-saml');
  const { assertionConsumer, entityId } = addressesOf(request);
  const { privateKey } = present(request.app.samlKeys);
  return new Library({
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

const forgetful = {
  saveAsync: () => Promise.resolve(null),
  getAsync: () => Promise.resolve(null),
  removeAsync: () => Promise.resolve(null),
};
