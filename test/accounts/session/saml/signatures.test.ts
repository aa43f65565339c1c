/** Verification of signatures, without a server: a version of the library behaved differently. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SignedXml } from 'xml-crypto';
import { SignatureError, signedText } from '../../../../src/accounts/session/saml/signatures.ts';
import { logoutLimits, parseXml } from '../../../../src/accounts/session/saml/xml.ts';
import { otherKeys, providerKeys } from '../../../support/saml-keys.ts';
import { signed } from '../../../support/saml-signed.ts';

const test = suite('SAML signatures');

const bytesOf = ({ cert }: { readonly cert: string }): string => cert.replace(/-----[^-]+-----|\s/g, '');
const text = signed('<message ID="_1">hello</message>');
const verify = (key = otherKeys): string => signedText(text, parseXml(text, logoutLimits), [bytesOf(key)]);

/** Runs work while the library lacks its private method or has a different one. */
function withMethod(method: unknown, work: () => void): void {
  const original = Object.getOwnPropertyDescriptor(SignedXml.prototype, 'getCanonSignedInfoXml');
  assert.ok(original, 'the library has the method');
  Object.defineProperty(SignedXml.prototype, 'getCanonSignedInfoXml', { ...original, value: method });
  try {
    work();
  } finally {
    Object.defineProperty(SignedXml.prototype, 'getCanonSignedInfoXml', original);
  }
}

test('returns the signed text if the key is known', () => {
  assert.is(verify(), '<message ID="_1">hello</message>');
  assert.throws(
    () => verify(providerKeys),
    (error: unknown) => error instanceof SignatureError,
  );
});

test('reports that the XML library has changed instead of rejecting every signature', () => {
  for (const [method, message] of [
    [undefined, 'xml-crypto has no method getCanonSignedInfoXml'],
    [() => Promise.resolve(''), 'getCanonSignedInfoXml of xml-crypto returned no string'],
  ] as const)
    withMethod(method, () =>
      assert.throws(verify, (error: unknown) => !(error instanceof SignatureError) && String(error).endsWith(message)),
    );
  verify();
});

test.run();
