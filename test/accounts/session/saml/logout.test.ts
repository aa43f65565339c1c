/** services.md 11: logout, started by the browser or by the identity provider. */
import { createSign } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SignedXml } from 'xml-crypto';
import { entityDescriptor, serviceAddresses } from '../../../support/identity-provider.ts';
import type { SamlBrowser } from '../../../support/saml-browser.ts';
import { failedLogout, SamlFixture, tokenIn } from '../../../support/saml-fixture.ts';
import { type KeyPair, otherKeys, providerKeys } from '../../../support/saml-keys.ts';

const logout = suite('SAML logout');
const path = '/api-auth/saml2/logout/';
const completed = 'https://app.example.com/logged-out';
const rejection = failedLogout('SAML response has errors. Please check the logs');
const otherId = 'https://other.example.com/metadata';
const sha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
let saml: SamlFixture;
let browser: SamlBrowser;
let token: string;

logout.before(async () => {
  saml = await SamlFixture.start({}, [
    entityDescriptor({ entityId: otherId, url: 'https://other.example.com', keys: otherKeys }),
  ]);
});
logout.after(() => saml?.close());
logout.before.each(async () => {
  saml.fixture.clock.set(new Date());
  browser = saml.browser;
  token = tokenIn(await saml.logIn({ uid: 'alice', cn: 'Alice Lee' }, browser));
  saml.fixture.events();
  saml.reasons.length = 0;
});

const success = '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>';
const isLoggedIn = async (its = token): Promise<boolean> =>
  (await saml.fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${its}` })).status === 200;
const reports = (): string[] => saml.fixture.events().map(({ message }) => message);
const bye = 'User alice with full name Alice Lee has logged out.';
const at = async (place: string, by = browser): Promise<string | null> =>
  (await by.send('GET', place)).headers.get('location');
const query = (location: string): string => `${path}complete/${new URL(location).search}`;
const messageIn = (location: string, name: string): string =>
  inflateRawSync(Buffer.from(new URL(location).searchParams.get(name) as string, 'base64')).toString();

/** A message in the form that identity providers send. */
function message(
  kind: 'Request' | 'Response',
  inner: string,
  attributes: Readonly<Record<string, string>> = {},
  issuer = saml.idp.entityId,
): string {
  const all = {
    ID: `_${Math.random().toString(16).slice(2)}`,
    Version: '2.0',
    IssueInstant: new Date(saml.fixture.clock.now() / 1000).toISOString(),
    Destination: serviceAddresses(saml.fixture.url).logout,
    ...attributes,
  };
  const written = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
  return `<samlp:Logout${kind} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"${written}><saml:Issuer>${issuer}</saml:Issuer>${inner}</samlp:Logout${kind}>`;
}

const request = (attributes: Readonly<Record<string, string>> = {}, name = 'alice', index = ''): string =>
  message(
    'Request',
    `<saml:NameID>${name}</saml:NameID>${index === '' ? '' : `<samlp:SessionIndex>${index}</samlp:SessionIndex>`}`,
    attributes,
  );

/** The message in a query, with a separate signature. */
function signedQuery(
  xml: string,
  name: string,
  { key }: KeyPair = providerKeys,
  algorithm = sha256,
  relayState = '',
): string {
  const text = `${name}=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}${relayState === '' ? '' : `&RelayState=${encodeURIComponent(relayState)}`}&SigAlg=${encodeURIComponent(algorithm)}`;
  const signature = createSign(algorithm.endsWith('sha1') ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(text)
    .sign(key, 'base64');
  return `${path}complete/?${text}&Signature=${encodeURIComponent(signature)}`;
}

/** The message with an enveloped signature. */
function signedXml(xml: string, { cert, key }: KeyPair = providerKeys, hash: 'sha1' | 'sha256' = 'sha256'): string {
  const algorithms = {
    sha1: ['http://www.w3.org/2000/09/xmldsig#rsa-sha1', 'http://www.w3.org/2000/09/xmldsig#sha1'],
    sha256: [sha256, 'http://www.w3.org/2001/04/xmlenc#sha256'],
  } as const;
  const [signatureAlgorithm, digestAlgorithm] = algorithms[hash];
  const signing = new SignedXml({
    privateKey: key,
    publicCert: cert,
    signatureAlgorithm,
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  signing.addReference({
    xpath: '/*',
    digestAlgorithm,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signing.computeSignature(xml, { location: { reference: '/*/*[1]', action: 'after' } });
  return signing.getSignedXml();
}

const posted = async (xml: string, name: string, by = browser): Promise<string | null> =>
  (await by.send('POST', `${path}complete/`, { [name]: Buffer.from(xml).toString('base64') })).headers.get('location');

logout('a browser that logs out visits its identity provider and returns without its token', async () => {
  const requests = (await at(path)) as string;
  assert.is(requests.split('?')[0], `${saml.idp.url}/logout`);
  const text = messageIn(requests, 'SAMLRequest');
  assert.match(text, />alice<\/saml:NameID>/);
  assert.match(text, /SessionIndex[^>]*>session-\d+</);
  assert.is(await isLoggedIn(), true);
  const back = (await fetch(requests, { redirect: 'manual' })).headers.get('location') as string;
  assert.is(back.split('?')[0], serviceAddresses(saml.fixture.url).logout);
  assert.is(await at(query(back)), completed);
  assert.is(await isLoggedIn(), false);
  assert.equal(reports(), [bye]);
  // Neither the response nor the session can be reused.
  assert.is(await at(query(back)), rejection);
  assert.is(await at(path), failedLogout('You are not logged in any IdP/AA.'));
  assert.equal(reports(), []);
});

logout('a browser without a session cannot log out', async () => {
  assert.is(await at(path, saml.browser), failedLogout('You are not logged in any IdP/AA.'));
  await saml.fixture.anonymous.send('POST', '/api-auth/logout/', undefined, { Authorization: `Token ${token}` });
  assert.is(await at(path), failedLogout('You are not logged in any IdP/AA.'));
});

logout('a session ends with the lifetime of its token', async () => {
  saml.fixture.clock.advance(3600);
  assert.is(await at(path), failedLogout('You are not logged in any IdP/AA.'));
});

logout('other tokens of the user stay valid', async () => {
  const other = tokenIn(await saml.logIn({ uid: 'alice', cn: 'Alice Lee' }));
  const id = / ID="([^"]+)"/.exec(messageIn((await at(path)) as string, 'SAMLRequest'))?.[1] as string;
  assert.is(await at(signedQuery(message('Response', success, { InResponseTo: id }), 'SAMLResponse')), completed);
  assert.equal([await isLoggedIn(), await isLoggedIn(other)], [false, true]);
});

logout(
  'accepts a response only from the requesting browser and provider, signed, and addressed to this service',
  async () => {
    const requests = (await at(path)) as string;
    const id = / ID="([^"]+)"/.exec(messageIn(requests, 'SAMLRequest'))?.[1] as string;
    const response = (attributes = {}, issuer = saml.idp.entityId): string =>
      message('Response', success, { InResponseTo: id, ...attributes }, issuer);
    const name = 'SAMLResponse';
    assert.is(await at(signedQuery(response(), name), saml.browser), rejection);
    assert.is(await at(signedQuery(response(), name, otherKeys)), rejection);
    assert.is(await at(signedQuery(response({}, otherId), name, otherKeys)), rejection);
    assert.is(await at(signedQuery(response({}, 'https://stranger.example.com'), name)), rejection);
    assert.is(
      await at(signedQuery(response(), name, providerKeys, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1')),
      rejection,
    );
    assert.is(await at(signedQuery(response(), name).split('&SigAlg')[0] as string), rejection);
    assert.is(
      await at(
        `${signedQuery(response(), name)}&SAMLResponse=${encodeURIComponent(deflateRawSync(response()).toString('base64'))}`,
      ),
      rejection,
    );
    assert.is(await at(signedQuery(response({ Destination: 'https://other-service.example.com' }), name)), rejection);
    assert.is(await at(signedQuery(response({ Destination: '' }), name)), rejection);
    assert.is(await at(signedQuery(response({ InResponseTo: '_another' }), name)), rejection);
    assert.is(await at(signedQuery('<a', name)), failedLogout('SAML2 response has errors.'));
    assert.is(await at(signedQuery(request(), name)), failedLogout('SAML2 response has errors.'));
    assert.equal(saml.reasons.slice(0, 10), [
      'it does not match a logout started by this browser',
      'no known key matches the signature',
      'it does not match a logout started by this browser',
      'its Issuer is not known',
      'the signature is weaker than RSA with SHA-256',
      'it is not signed',
      'a parameter is repeated',
      'its Destination is a different URL',
      'its Destination is a different URL',
      'it does not match a logout started by this browser',
    ]);
    assert.equal([await isLoggedIn(), reports()], [true, []]);
    assert.is(await posted(response(), name), rejection);
    assert.is(await posted(signedXml(response(), otherKeys), name), rejection);
    assert.is(await posted(signedXml(response(), providerKeys, 'sha1'), name), rejection);
    assert.is(await posted(signedXml(response()).replace('Success', 'success'), name), rejection);
    assert.is(await isLoggedIn(), true);
    assert.is(await posted(signedXml(response()), name), completed);
    assert.equal([await isLoggedIn(), reports()], [false, [bye]]);
  },
);

logout('the token ends even if the identity provider failed to log out', async () => {
  const requests = (await at(path)) as string;
  const id = / ID="([^"]+)"/.exec(messageIn(requests, 'SAMLRequest'))?.[1] as string;
  const partial =
    '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder"><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:PartialLogout"/></samlp:StatusCode></samlp:Status>';
  assert.is(await at(signedQuery(message('Response', partial, { InResponseTo: id }), 'SAMLResponse')), rejection);
  assert.equal(
    [await isLoggedIn(), reports(), saml.reasons],
    [false, [bye], ['the identity provider did not log out']],
  );
});

logout('an identity provider that logs its user out ends the session and gets a response', async () => {
  const requests = (await fetch(`${saml.idp.url}/logout`, { redirect: 'manual' })).headers.get('location') as string;
  assert.is(requests.split('?')[0], serviceAddresses(saml.fixture.url).logout);
  // From a browser that never logged in here.
  const response = (await at(query(requests), saml.browser)) as string;
  assert.is(response.split('?')[0], `${saml.idp.url}/logout`);
  assert.match(messageIn(response, 'SAMLResponse'), 'status:Success');
  assert.equal([await isLoggedIn(), reports()], [false, [bye]]);
  assert.is((await fetch(response, { redirect: 'manual' })).status, 200);
});

logout('a request of an identity provider ends the sessions that it names', async () => {
  const second = tokenIn(await saml.logIn({ uid: 'alice', cn: 'Alice Lee' }));
  const bob = tokenIn(await saml.logIn({ uid: 'bob' }));
  const index = /SessionIndex[^>]*>(session-\d+)</.exec(
    messageIn((await at(path)) as string, 'SAMLRequest'),
  )?.[1] as string;
  assert.match(
    (await posted(signedXml(request({}, 'alice', index)), 'SAMLRequest', saml.browser)) ?? '',
    `${saml.idp.url}/logout?SAMLResponse=`,
  );
  assert.equal([await isLoggedIn(), await isLoggedIn(second)], [false, true]);
  await at(signedQuery(request(), 'SAMLRequest'), saml.browser);
  assert.equal([await isLoggedIn(second), await isLoggedIn(bob)], [false, true]);
});

logout('responds to a request about an unknown user accordingly, with its relay state', async () => {
  const location = (await at(
    signedQuery(request({}, 'nobody'), 'SAMLRequest', providerKeys, sha256, 'a b&c=d'),
  )) as string;
  assert.match(messageIn(location, 'SAMLResponse'), 'status:UnknownPrincipal');
  assert.is(new URL(location).searchParams.get('RelayState'), 'a b&c=d');
  assert.equal([await isLoggedIn(), reports()], [true, []]);
});

logout('rejects a request that is unsigned, of another provider, old or repeated', async () => {
  const name = 'SAMLRequest';
  assert.is(await posted(request(), name), rejection);
  assert.is(await at(signedQuery(request(), name, otherKeys)), rejection);
  assert.is(await at(signedQuery(request({ NotOnOrAfter: '2018-01-01T00:00:00Z' }), name)), rejection);
  assert.is(await at(signedQuery(request({ IssueInstant: '2018-01-01T00:00:00Z' }), name)), rejection);
  assert.is(await posted(signedXml(request()).replace('>alice<', '>bob<'), name), rejection);
  const unsigned = request({ ID: '_evil' }).replace(
    '</samlp:LogoutRequest>',
    `${signedXml(request({}, 'nobody'))}</samlp:LogoutRequest>`,
  );
  assert.is(await posted(unsigned, name), rejection);
  assert.equal([await isLoggedIn(), reports()], [true, []]);
  const once = signedQuery(request({}, 'nobody'), name);
  assert.match((await at(once)) ?? '', /SAMLResponse=/);
  assert.is(await at(once), rejection);
  // Another provider cannot end foreign sessions.
  const foreign = message('Request', '<saml:NameID>alice</saml:NameID>', {}, otherId);
  assert.match(
    messageIn((await at(signedQuery(foreign, name, otherKeys))) as string, 'SAMLResponse'),
    'status:UnknownPrincipal',
  );
  assert.is(await isLoggedIn(), true);
});

logout('reports a missing message and invalid base64', async () => {
  const neither = { non_field_errors: ['Either SAMLResponse or SAMLRequest must be provided.'] };
  for (const response of [
    await browser.send('GET', `${path}complete/`),
    await browser.send('GET', `${path}complete/?SAMLResponse=&RelayState=x`),
    await browser.send('POST', `${path}complete/`, { RelayState: 'x' }),
    await saml.fixture.anonymous.post(`${path}complete/`, {}),
  ]) {
    assert.equal([response.status, response.body], [400, neither]);
  }
  for (const response of [
    await browser.send('GET', `${path}complete/?SAMLResponse=%25`),
    await browser.send('POST', `${path}complete/`, { SAMLResponse: '%' }),
  ]) {
    assert.equal(
      [response.status, response.body],
      [400, { SAMLResponse: ['This field should be a valid Base64 encoded string.'] }],
    );
  }
});

logout('an inactive user is already logged out', async () => {
  const [user] = (await saml.fixture.staff.get('/api/users/?username=alice')).body;
  await saml.fixture.staff.patch(user.url, { is_active: false });
  assert.is(await at(path), failedLogout('You are not logged in any IdP/AA.'));
  await saml.fixture.staff.patch(user.url, { is_active: true });
});

logout.run();
