import { SignedXml } from 'xml-crypto';
import { type KeyPair, otherKeys } from './saml-keys.ts';

/** Signs metadata as a federation does. */
export function signed(
  xml: string,
  { cert, key }: KeyPair = otherKeys,
  digestAlgorithm = 'http://www.w3.org/2001/04/xmlenc#sha256',
): string {
  const signing = new SignedXml({
    privateKey: key,
    publicCert: cert,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  signing.addReference({
    xpath: '/*',
    digestAlgorithm,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signing.computeSignature(xml, { location: { reference: '/*', action: 'prepend' } });
  return signing.getSignedXml();
}
