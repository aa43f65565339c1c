import { decrypt } from 'xml-encryption';
import { type Assertion, readAssertion } from './assertion.ts';
import type { IdentityProvider } from './identity-providers.ts';
import { type Setup, samlOf } from './library.ts';
import { problems, RejectedMessage } from './refused-message.ts';
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

/** The ID of the request that a response in base64 says it answers. Throws RefusedMessage when it is none. */
export const matchingRequest = (base64: string): string | undefined =>
  attributeOf(readResponse(base64).root, 'InResponseTo');

/** A response before anything in it is believed: the document, normalised, and its root. */
function readResponse(base64: string): { readonly text: string; readonly root: Element } {
  try {
    const text = decodeXml(Buffer.from(base64, 'base64'));
    const root = parseXml(text, messageLimits);
    if (!isNamed(root, 'protocol', 'Response')) throw new XmlError('it is no response of SAML 2.0');
    return { text, root };
  } catch (error) {
    throw error instanceof XmlError ? new RejectedMessage(error.message, problems.unreadable) : error;
  }
}

/** A response to a login, in base64, and what it must answer at which instant. */
interface Reply {
  readonly message: string;
  readonly setup: Setup;
  readonly requestId: string;
  readonly now: number;
}

/**
 * The assertion of the response to a request, checked as services.md 11 says, but for what only the database knows: whether
 * the request and the assertion were used before. Rejects with what is wrong.
 */
export async function checkResponse({ message, now, requestId, setup }: Reply): Promise<Assertion> {
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
  // Only what the signature covers is read from here on.
  const assertion = parseXml(profile.getAssertionXml(), messageLimits);
  return readAssertion(assertion, { entityId, assertionConsumer, issuer: provider.entityId, requestId, now });
}

/** What stands around the assertion: often not signed, but nothing else is meant for us. */
function checkEnvelope(root: Element, { assertionConsumer, provider }: Setup): void {
  if (attributeOf(root, 'Destination') !== assertionConsumer)
    throw new RejectedMessage('its Destination is another one');
  const issuer = childOf(root, 'assertion', 'Issuer');
  if (issuer && textOf(issuer) !== provider.entityId)
    throw new RejectedMessage('its Issuer is not the identity provider that was asked');
  const status = childOf(root, 'protocol', 'Status');
  const codes = status ? everyElement(status, 'StatusCode').map((code) => attributeOf(code, 'Value')) : [];
  if (codes[0] !== success)
    throw new RejectedMessage(`the identity provider answered with status ${codes.join(', ') || 'none'}`);
}

/** The assertion that is encrypted, if one is. Signatures inside are judged like others; old ways to encrypt, which leak the text, are refused. */
async function decryptedAssertion(root: Element, { privateKey: key }: Setup): Promise<readonly Element[]> {
  // By their local name wherever they stand: so the library finds what it decrypts.
  const match = everyElement(root, 'EncryptedAssertion');
  if (match.length > 1) throw new RejectedMessage('it has more than one encrypted assertion');
  const [encrypted] = match;
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
    throw new RejectedMessage('something else than an assertion is encrypted');
  rejectWeakSignatures(assertion);
  return [assertion];
}

/** Refuses what none of the provider's keys has signed, before the library computes what the signatures are about. */
function rejectUnknownSigners(signed: readonly Element[], { certificates }: IdentityProvider): void {
  const signatures = signed.flatMap((element) => childOf(element, 'signature', 'Signature') ?? []);
  if (!signatures.some((signature) => signerOf(signature, certificates) !== undefined))
    throw new SignatureError('Invalid signature');
}
