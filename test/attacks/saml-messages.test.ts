/** Messages of single sign-on from strangers cost little: who signed comes first, and refusals are counted (services.md 11). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SignedXml } from 'xml-crypto';
import type { Answer, Json } from '../support/fixture.ts';
import { serviceAddresses } from '../support/identity-provider.ts';
import { failedLogin, failedLogout, SamlFixture } from '../support/saml-fixture.ts';
import { type KeyPair, otherKeys, providerKeys } from '../support/saml-keys.ts';

const messages = suite('SAML messages of strangers');
const logout = '/api-auth/saml2/logout/complete/';
const login = '/api-auth/saml2/login/complete/';
let saml: SamlFixture;
/** How often the library has canonicalised and digested what a signature is about. */
let digested: number;

// The method is the library's own; the server of these tests runs in this process.
const library = SignedXml.prototype as unknown as { validateReference(...given: unknown[]): unknown };
const { validateReference } = library;

messages.before.each(async () => {
  digested = 0;
  library.validateReference = function (...given) {
    digested++;
    return validateReference.apply(this, given);
  };
  saml = await SamlFixture.start({ trusted_proxies: ['127.0.0.0/8'] });
});
messages.after.each(async () => {
  library.validateReference = validateReference;
  await saml.close();
});

/** A request to log out with so many elements, the signature left out. */
function request(elements: number): string {
  const { idp, fixture } = saml;
  const indexes = '<samlp:SessionIndex/>'.repeat(elements - 3);
  return `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${Math.random().toString(16).slice(2)}" Version="2.0" IssueInstant="${new Date(fixture.clock.now() / 1000).toISOString()}" Destination="${serviceAddresses(fixture.url).logout}"><saml:Issuer>${idp.entityId}</saml:Issuer><saml:NameID>alice</saml:NameID>${indexes}</samlp:LogoutRequest>`;
}

/** Elements that a signature adds. */
const ofSignature = 11;

function signed(xml: string, { cert, key }: KeyPair): string {
  const signing = new SignedXml({
    privateKey: key,
    publicCert: cert,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
    getKeyInfoContent: () => null,
  });
  signing.addReference({
    xpath: '/*',
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signing.computeSignature(xml, { location: { reference: '/*/*[1]', action: 'after' } });
  return signing.getSignedXml();
}

const post = (path: string, name: string, xml: string, address = '203.0.113.9'): Promise<Answer<Json>> =>
  saml.fixture.anonymous.send(
    'POST',
    path,
    new URLSearchParams({ [name]: Buffer.from(xml).toString('base64') }).toString(),
    { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': address },
  );

const refused = 'SAML response has errors. Please check the logs';

messages('nothing of a message about a logout is computed that no known key has signed', async () => {
  const answer = await post(logout, 'SAMLRequest', signed(request(250), otherKeys));
  assert.is(answer.headers.get('location'), failedLogout(refused));
  assert.equal([saml.reasons, digested], [['no known key made the signature'], 0]);
  const known = await post(logout, 'SAMLRequest', signed(request(250), providerKeys));
  assert.is(known.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`);
  assert.is(digested, 1);
});

messages('nor of a response to a login', async () => {
  const { browser, idp } = saml;
  await idp.next({ user: { attributes: { uid: 'alice' } } });
  const form = await browser.form(idp.entityId);
  const response = Buffer.from(form.SAMLResponse, 'base64')
    .toString()
    .replace(/<((?:\w+:)?SignatureValue)[^>]*>[^<]*</g, `<$1>${Buffer.alloc(256).toString('base64')}<`);
  assert.is(await browser.post(Buffer.from(response).toString('base64')), failedLogin(refused));
  assert.equal([saml.reasons, digested], [['Invalid signature'], 0]);
});

messages('a message about a logout has at most three hundred elements, whoever signed it', async () => {
  assert.is(
    (await post(logout, 'SAMLRequest', signed(request(301 - ofSignature), providerKeys))).headers.get('location'),
    failedLogout('SAML2 response has errors.'),
  );
  assert.equal([saml.reasons, digested], [['it has more than 300 elements'], 0]);
  const allowed = await post(logout, 'SAMLRequest', signed(request(300 - ofSignature), providerKeys));
  assert.is(allowed.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`);
});

messages('after sixty refused messages a minute a network is told to wait, at both addresses', async () => {
  for (let i = 0; i < 60; i++) {
    const [path, name] = i % 2 === 0 ? [logout, 'SAMLRequest'] : [login, 'SAMLResponse'];
    assert.is((await post(path, name, '<nothing/>', `2001:db8:5:5::${i + 1}`)).status, 302, String(i));
  }
  for (const [path, name] of [
    [logout, 'SAMLRequest'],
    [login, 'SAMLResponse'],
  ] as const) {
    const { body, headers, status } = await post(path, name, signed(request(20), providerKeys), '2001:db8:5:5:5::1');
    assert.equal(
      [status, body, headers.get('retry-after')],
      [429, { detail: 'Too many requests. Try again later.' }, '60'],
      path,
    );
  }
  const elsewhere = await post(logout, 'SAMLRequest', signed(request(20), providerKeys), '2001:db8:5:6::1');
  assert.is(elsewhere.status, 302);
  assert.is(elsewhere.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`, 'others are served');
  saml.fixture.clock.advance(60);
  const later = await post(logout, 'SAMLRequest', signed(request(20), providerKeys), '2001:db8:5:5:5::1');
  assert.is(later.status, 302);
});

messages.run();
