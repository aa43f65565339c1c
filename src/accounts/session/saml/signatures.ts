import { constants, verify } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { present } from '../../../kernel/present.ts';
import { attributeOf, childOf, childrenOf, everyElement, isElement, isNamed, textOf, XmlError } from './xml.ts';

/** Thrown for a signature that is missing, weak, from an unknown key, or does not cover the whole message. */
export class SignatureError extends Error {}

const sha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const sha384 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384';
const sha512 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512';
const pss256 = 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1';

const strongSignatures: ReadonlySet<string | undefined> = new Set([sha256, sha512, pss256]);
const strongDigests: ReadonlySet<string | undefined> = new Set([
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]);
const knownTransforms: ReadonlySet<string | undefined> = new Set([
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
]);

/** Converts a base64 certificate to PEM. */
const pemOf = (certificate: string): string =>
  `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

/**
 * Throws SignatureError if any signature in a tree is weaker than RSA with SHA-256 or transforms the signed element.
 */
export function rejectWeakSignatures(root: Element): void {
  const areAll = (elements: readonly Element[], known: ReadonlySet<string | undefined>): boolean =>
    elements.every((element) => known.has(attributeOf(element, 'Algorithm')));
  const digests = everyElement(root, 'DigestMethod').filter((element) => !isInEncryption(element));
  if (!areAll(everyElement(root, 'SignatureMethod'), strongSignatures) || !areAll(digests, strongDigests)) {
    throw new SignatureError('a signature is weaker than RSA with SHA-256');
  }
  if (!areAll(everyElement(root, 'Transform'), knownTransforms))
    throw new SignatureError('a signature has unknown transforms');
}

/** Whether a digest belongs to the padding of an encrypted key, which is not a signature. */
const isInEncryption = ({ parentNode }: Element): boolean =>
  parentNode !== null && isElement(parentNode) && isNamed(parentNode, 'encryption', 'EncryptionMethod');

/**
 * Returns the text that a document's signature covers. Callers must read only this text afterwards. `text` is the document,
 * `root` its root; the certificates are base64. Throws SignatureError, XmlError.
 */
export function signedText(text: string, root: Element, certificates: readonly string[]): string {
  const id = attributeOf(root, 'ID');
  const signature = childOf(root, 'signature', 'Signature');
  if (!signature || !id) throw new SignatureError('it is not signed');
  rejectWeakSignatures(root);
  const info = childOf(signature, 'signature', 'SignedInfo');
  const references = info ? childrenOf(info, 'signature', 'Reference') : [];
  if (references.length !== 1 || attributeOf(present(references[0]), 'URI') !== `#${id}`)
    throw new SignatureError('the signature covers a different element');
  const certificate = signerOf(signature, certificates);
  const signed = certificate === undefined ? undefined : verified(text, signature, certificate);
  if (signed === undefined) throw new SignatureError('no known key matches the signature');
  return signed;
}

/**
 * Returns the certificate whose key signed the SignedInfo; undefined if none did. Does not check the referenced content: the
 * sender controls the cost of canonicalising and digesting it, so only known signers warrant it.
 */
export function signerOf(signature: Element, certificates: readonly string[]): string | undefined {
  const info = childOf(signature, 'signature', 'SignedInfo');
  const method = info && childOf(info, 'signature', 'SignatureMethod');
  const value = childOf(signature, 'signature', 'SignatureValue');
  const algorithm = queryAlgorithms[(method && attributeOf(method, 'Algorithm')) ?? ''];
  if (!value || !algorithm) return undefined;
  const signed = canonicalInfo(signature);
  const bytes = Buffer.from(textOf(value), 'base64');
  return signed === undefined
    ? undefined
    : certificates.find((certificate) => isSignedBy(certificate, algorithm, signed, bytes));
}

/** Casts an xmldom element to the type that the library expects. */
const nodeOf = (element: Element): Node => element as unknown as Node;

/**
 * Returns the signed bytes of a signature's SignedInfo; undefined if the library cannot parse it. Throws if the library's API has
 * changed, because otherwise every valid login would be rejected as signed with an unknown key.
 */
function canonicalInfo(signature: Element): Buffer | undefined {
  const check = new SignedXml();
  // `checkSignature` does the same first, with this private method.
  const canonicalize: unknown = Reflect.get(check, 'getCanonSignedInfoXml');
  if (typeof canonicalize !== 'function') throw new Error('xml-crypto has no method getCanonSignedInfoXml');
  let canonical: unknown;
  try {
    check.loadSignature(nodeOf(signature));
    canonical = canonicalize.call(check, signature.ownerDocument);
  } catch {
    return undefined;
  }
  if (typeof canonical !== 'string') throw new Error('getCanonSignedInfoXml of xml-crypto returned no string');
  return Buffer.from(canonical);
}

function verified(text: string, signature: Element, certificate: string): string | undefined {
  const check = new SignedXml({ publicCert: pemOf(certificate) });
  try {
    check.loadSignature(nodeOf(signature));
    if (!check.checkSignature(text)) return undefined;
  } catch (error) {
    if (error instanceof XmlError) throw error;
    return undefined;
  }
  const signed = check.getSignedReferences();
  return signed.length === 1 ? signed[0] : undefined;
}

interface Algorithm {
  readonly hash: string;
  readonly pss?: boolean;
}

function isSignedBy(certificate: string, { hash, pss }: Algorithm, signed: Buffer, signature: Buffer): boolean {
  const padding = pss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
  return verify(hash, signed, { key: pemOf(certificate), ...padding }, signature);
}

const queryAlgorithms: Readonly<Record<string, Algorithm>> = {
  [sha256]: { hash: 'sha256' },
  [sha384]: { hash: 'sha384' },
  [sha512]: { hash: 'sha512' },
  [pss256]: { hash: 'sha256', pss: true },
};

/**
 * Verifies the signature of a message in a query (SAML bindings 3.4.4.1). It covers the parameters as sent. Throws
 * SignatureError.
 */
export function verifyQuery(
  query: string,
  message: 'SAMLRequest' | 'SAMLResponse',
  certificates: readonly string[],
): void {
  const rawPairs = (name: string): string[] => query.split('&').filter((pair) => pair.startsWith(`${name}=`));
  const value = (name: string): string | undefined => new URLSearchParams(query).get(name) ?? undefined;
  const parts = [message, 'RelayState', 'SigAlg', 'Signature'].map(rawPairs);
  const algorithm = queryAlgorithms[value('SigAlg') ?? ''];
  const signature = value('Signature');
  if (!signature) throw new SignatureError('it is not signed');
  if (!algorithm) throw new SignatureError('the signature is weaker than RSA with SHA-256');
  if (parts.some((result, i) => result.length !== 1 && !(i === 1 && result.length === 0)))
    throw new SignatureError('a parameter is repeated');
  const signed = Buffer.from(parts.slice(0, 3).flat().join('&'));
  const bytes = Buffer.from(signature, 'base64');
  if (!certificates.some((certificate) => isSignedBy(certificate, algorithm, signed, bytes)))
    throw new SignatureError('no known key matches the signature');
}
