import { decrypt } from 'xml-encryption';
import { type Assertion, readAssertion } from './assertion.ts';
import type { IdentityProvider } from './identity-providers.ts';
import { type Setup, samlOf } from './library.ts';
import { problems, RejectedMessage } from './rejected-message.ts';
import { rejectWeakSignatures, SignatureError, signerOf } from './signatures.ts';
import {
  attributeOf,
  childOf,
  childrenOf,
  decodeXml,
  everyElement,
  isNamed,
  messageLimits,
  parseXml,
  textOf,
  XmlError,
} from './xml.ts';
import { namespaces } from './xml-names.ts';

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** Returns the request ID in an unverified base64 response. Throws RejectedMessage. */
export const requestIdOf = (base64: string): string | undefined =>
  attributeOf(readResponse(base64).root, 'InResponseTo');

/** Parses an unverified response. Returns its normalised text and its root. */
function readResponse(base64: string): { readonly text: string; readonly root: Element } {
  try {
    const text = decodeXml(Buffer.from(base64, 'base64'));
    const root = parseXml(text, messageLimits);
    if (!isNamed(root, 'protocol', 'Response')) throw new XmlError('it is not a SAML 2.0 response');
    return { text, root };
  } catch (error) {
    throw error instanceof XmlError ? new RejectedMessage(error.message, problems.unreadable) : error;
  }
}

/** A base64 response to a login, with the expected request and the current time. */
interface ResponseCheck {
  readonly message: string;
  readonly setup: Setup;
  readonly requestId: string;
  readonly now: number;
}

/**
 * Returns the verified assertion of a response (services.md 11). Does not check for prior use of the request or the assertion,
 * which requires the database. Rejects with RejectedMessage, SignatureError or XmlError.
 */
export async function checkResponse({ message, now, requestId, setup }: ResponseCheck): Promise<Assertion> {
  const { assertionConsumer, entityId, provider } = setup;
  const { root, text } = readResponse(message);
  checkEnvelope(root, setup);
  rejectWeakSignatures(root);
  const encrypted = await decryptedAssertion(root, setup);
  rejectUnknownSigners([root, ...childrenOf(root, 'assertion', 'Assertion').slice(0, 1), ...encrypted], provider);
  const { profile } = await samlOf(setup).validatePostResponseAsync({
    SAMLResponse: Buffer.from(text).toString('base64'),
  });
  if (!profile?.getAssertionXml) throw new RejectedMessage('it has no assertion');
  // From here on, read only the signed content.
  const assertion = parseXml(profile.getAssertionXml(), messageLimits);
  return readAssertion(assertion, { entityId, assertionConsumer, issuer: provider.entityId, requestId, now });
}

/** Checks the envelope, which is often unsigned but is the only part with the address of this service. */
function checkEnvelope(root: Element, { assertionConsumer, provider }: Setup): void {
  if (attributeOf(root, 'Destination') !== assertionConsumer)
    throw new RejectedMessage('its Destination is a different URL');
  const issuer = childOf(root, 'assertion', 'Issuer');
  if (issuer && textOf(issuer) !== provider.entityId)
    throw new RejectedMessage('its Issuer is not the identity provider of the request');
  const status = childOf(root, 'protocol', 'Status');
  const codes = status ? everyElement(status, 'StatusCode').map((code) => attributeOf(code, 'Value')) : [];
  if (codes[0] !== success)
    throw new RejectedMessage(`the identity provider responded with status ${codes.join(', ') || 'none'}`);
}

/** Returns the decrypted assertion, if there is one. Rejects weak signatures in it, and old encryption, which leaks the text. */
async function decryptedAssertion(root: Element, { privateKey: key }: Setup): Promise<readonly Element[]> {
  // Search like the library: by local name, at any depth.
  const assertions = everyElement(root, 'EncryptedAssertion');
  if (assertions.length > 1) throw new RejectedMessage('it has more than one encrypted assertion');
  const [encrypted] = assertions;
  if (!encrypted) return [];
  const text = await new Promise<string>((resolve, reject) =>
    decrypt(
      encrypted.toString(),
      { key, disallowDecryptionWithInsecureAlgorithm: true },
      (error: Error | null, result?: string) =>
        error || result === undefined
          ? reject(new RejectedMessage('its assertion cannot be decrypted'))
          : resolve(result),
    ),
  );
  const assertion = parseXml(text, messageLimits);
  if (assertion.namespaceURI !== namespaces.assertion)
    throw new RejectedMessage('the encrypted element is not an assertion');
  rejectWeakSignatures(assertion);
  return [assertion];
}

/** Rejects elements without a signature by the provider, before the library computes digests of the signed content. */
function rejectUnknownSigners(signed: readonly Element[], { certificates }: IdentityProvider): void {
  const signatures = signed.flatMap((element) => childOf(element, 'signature', 'Signature') ?? []);
  if (!signatures.some((signature) => signerOf(signature, certificates) !== undefined))
    throw new SignatureError('Invalid signature');
}
