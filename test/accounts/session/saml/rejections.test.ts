/** services.md 11: invalid responses, and responses for another service. They create no users. */
import { request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql, type Value } from '../../../../src/kernel/db/sql.ts';
import { entityDescriptor, type NextLogin } from '../../../support/identity-provider.ts';
import { decoded, encoded, type SamlBrowser } from '../../../support/saml-browser.ts';
import { failedLogin, SamlFixture, tokenIn } from '../../../support/saml-fixture.ts';
import { otherKeys, serviceKeys } from '../../../support/saml-keys.ts';

const rejections = suite('SAML rejections');
const rejection = failedLogin('SAML response has errors. Please check the logs');
const user = { attributes: { uid: 'mallory', cn: 'Mallory' } };
/** Another known identity provider, with another key. */
const otherId = 'https://other.example.com/metadata';
let saml: SamlFixture;

rejections.before(async () => {
  saml = await SamlFixture.start({}, [
    entityDescriptor({ entityId: otherId, url: 'https://other.example.com', keys: otherKeys }),
  ]);
});
rejections.after(() => saml?.close());
rejections.before.each(() => {
  saml.fixture.clock.set(new Date());
  saml.fixture.events();
  saml.reasons.length = 0;
});

/** The state after a rejected login. */
function assertNothing(): void {
  const { db } = saml.fixture.server.app;
  assert.equal(
    [
      saml.fixture.events(),
      db.value(sql`SELECT count(*) FROM user WHERE username_folded <> 'admin'`),
      db.value(sql`SELECT count(*) FROM saml_session`),
    ],
    [[], 0, 0],
  );
}

/** Logs in with options of the identity provider, and optionally a modified response. Returns the final address. */
async function attempt(
  options: Partial<NextLogin> = {},
  change: (xml: string) => string = (xml) => xml,
  browser: SamlBrowser = saml.browser,
): Promise<string> {
  await saml.idp.next({ user, ...options });
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  return browser.post(encoded(change(decoded(SAMLResponse))));
}

/** Changes that a signature must detect, by name. */
const tampered: Readonly<Record<string, (xml: string) => string>> = {
  'another name': (xml) => xml.replace(/mallory(?=<\/saml:AttributeValue>)/, 'admin2'),
  'another NameID': (xml) => xml.replace(/mallory(?=<\/saml:NameID>)/, 'admin2'),
  'a longer life': (xml) => xml.replaceAll(/NotOnOrAfter="\d{4}/g, 'NotOnOrAfter="2999'),
  'another digest': (xml) =>
    xml.replace(/<DigestValue>./, (text) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')),
  'another signature value': (xml) =>
    xml.replace(/<SignatureValue>./, (text) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')),
  'no signature': (xml) => xml.replace(/<Signature .*<\/Signature>/s, ''),
  'a comment inside a value': (xml) => xml.replace(/mallory(?=<\/saml:AttributeValue>)/, 'mal<!-- -->lorx'),
};

for (const [name, change] of Object.entries(tampered)) {
  rejections(`rejects a signed assertion with ${name}`, async () => {
    let isChanged = false;
    const location = await attempt({}, (xml) => {
      const changed = change(xml);
      isChanged = changed !== xml;
      return changed;
    });
    assert.equal([isChanged, location, saml.reasons], [true, rejection, ['Invalid signature']]);
    assertNothing();
  });
}

rejections('records rejected logins, at most once a minute', async () => {
  const { fixture } = saml;
  fixture.clock.advance(120);
  for (let i = 0; i < 2; i++) await attempt({ signAssertion: false });
  const { body } = await fixture.staff.get('/api/audit/?operation=samlLoginComplete');
  const [{ actor, outcome, status }, earlier] = body;
  assert.equal([actor, outcome, status], [{ kind: 'anonymous', uuid: null }, 'refused', 302]);
  assert.ok(Date.parse(body[0].at) - Date.parse(earlier.at) > 60_000);
});

const notOurs = 'its Issuer is not the identity provider of the request';
const weak = 'a signature is weaker than RSA with SHA-256';
/** Replaces the issuer of the response, which is not signed, with the expected identity provider. */
const inItsName = (xml: string): string => xml.replace(/(<saml:Issuer[^>]*>)[^<]*/, `$1${saml.idp.entityId}`);
/** The ID of the last login. */
const ownRequest = (): string =>
  saml.fixture.server.app.db.value<string>(sql`SELECT request_id FROM saml_request ORDER BY expires DESC`) as string;

/** By name: options of the identity provider, the logged reason, and a change to the response. */
const wrong: Readonly<
  Record<string, readonly [options: Partial<NextLogin>, reason: string | RegExp, change?: (xml: string) => string]>
> = {
  'signed nowhere': [{ signAssertion: false }, 'Invalid signature'],
  'signed by an unknown key': [{ key: otherKeys.key, cert: otherKeys.cert }, 'Invalid signature'],
  'of another identity provider': [
    { key: otherKeys.key, cert: otherKeys.cert, issuer: otherId, signResponse: true },
    notOurs,
  ],
  'of another identity provider in the name of the one that was asked': [
    { key: otherKeys.key, cert: otherKeys.cert, issuer: otherId },
    'Invalid signature',
    inItsName,
  ],
  'of a stranger': [{ issuer: 'https://stranger.example.com' }, notOurs],
  'around an assertion of a stranger': [
    { issuer: 'https://stranger.example.com' },
    'the assertion is from another issuer',
    inItsName,
  ],
  'for another audience': [{ audience: 'https://other-service.example.com' }, /audience mismatch/],
  'for another recipient': [
    { recipient: 'https://other-service.example.com/acs' },
    'the assertion is for another request or recipient',
  ],
  'to another destination': [
    { destination: 'https://other-service.example.com/acs' },
    'its Destination is a different URL',
  ],
  'without a destination': [{}, 'its Destination is a different URL', (xml) => xml.replace(/ Destination="[^"]*"/, '')],
  'to another request': [{ inResponseTo: '_another' }, 'it does not match a login started by this browser'],
  'to no request': [
    {},
    'it does not match a login started by this browser',
    (xml) => xml.replace(/(<samlp:Response[^>]*) InResponseTo="[^"]*"/, '$1'),
  ],
  'around a response to another request': [
    { inResponseTo: '_another' },
    'the assertion is for another request or recipient',
    (xml) => xml.replace('_another', ownRequest()),
  ],
  'signed with SHA-1': [{ signatureAlgorithm: 'rsa-sha1' }, weak],
  'digested with SHA-1': [{ digestAlgorithm: 'sha1' }, weak],
  'signed as a whole with SHA-1': [
    { signAssertion: false, signResponse: true, signatureAlgorithm: 'rsa-sha1', digestAlgorithm: 'sha1' },
    weak,
  ],
  'that reports a failure': [
    { samlStatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Responder' },
    'the identity provider responded with status urn:oasis:names:tc:SAML:2.0:status:Responder',
  ],
};

for (const [name, [options, reason, change]] of Object.entries(wrong)) {
  rejections(`rejects a response ${name}`, async () => {
    assert.is(await attempt(options, change), rejection);
    assert.is(saml.reasons.length, 1);
    assert.match(saml.reasons[0] as string, reason);
    assertNothing();
  });
}

rejections(
  "rejects a response that is not yet or no longer valid by the server's clock, with two minutes of tolerance",
  async () => {
    const ends: Record<number, string> = {};
    for (const seconds of [-130, -110, 60 + 110, 60 + 130]) {
      const browser = saml.browser;
      await saml.idp.next({ user: { attributes: {}, nameId: 'x' }, lifetimeInSeconds: 60 });
      // The request starts at the time of the response, so that the request itself is valid.
      saml.fixture.clock.set(new Date());
      saml.fixture.clock.advance(seconds);
      const { SAMLResponse } = await browser.form(saml.idp.entityId);
      ends[seconds] = await browser.post(SAMLResponse);
    }
    const accepted = failedLogin('SAML2 authentication failed.');
    assert.equal(ends, { [-130]: rejection, [-110]: accepted, 170: accepted, 190: rejection });
    assertNothing();
  },
);

rejections('rejects a response after ten minutes', async () => {
  const forms = await Promise.all(
    [1, 2].map(async () => {
      const browser = saml.browser;
      await saml.idp.next({ user: { attributes: {}, nameId: 'x' }, lifetimeInSeconds: 3600 });
      return { browser, form: await browser.form(saml.idp.entityId) };
    }),
  );
  saml.fixture.clock.advance(599);
  assert.is(await forms[0]?.browser.post(forms[0].form.SAMLResponse), failedLogin('SAML2 authentication failed.'));
  saml.fixture.clock.advance(1);
  assert.is(await forms[1]?.browser.post(forms[1].form.SAMLResponse), rejection);
  assertNothing();
});

rejections('rejects a response to another browser or to none, and the login stays usable', async () => {
  await saml.idp.next({ user: { attributes: {}, nameId: 'x' } });
  const [victim, thief, stranger] = [saml.browser, saml.browser, saml.browser];
  const { SAMLResponse } = await victim.form(saml.idp.entityId);
  await thief.start(saml.idp.entityId);
  assert.is(await thief.post(SAMLResponse), rejection);
  assert.is(await stranger.post(SAMLResponse), rejection);
  stranger.cookie = `saml2=${'0'.repeat(64)}`;
  assert.is(await stranger.post(SAMLResponse), rejection);
  stranger.cookie = "saml2='; DROP TABLE user; --";
  assert.is(await stranger.post(SAMLResponse), rejection);
  assert.is(await victim.post(SAMLResponse), failedLogin('SAML2 authentication failed.'));
});

rejections('accepts a response once; an invalid one uses up its request', async () => {
  await saml.idp.next({ user: { attributes: {}, nameId: 'x' } });
  const browser = saml.browser;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  assert.is(await browser.post(SAMLResponse), failedLogin('SAML2 authentication failed.'));
  assert.is(await browser.post(SAMLResponse), rejection);
  const next = await browser.form(saml.idp.entityId);
  assert.is(
    await browser.post(encoded(decoded(next.SAMLResponse).replace('NotOnOrAfter="2', 'NotOnOrAfter="3'))),
    rejection,
  );
  assert.is(await browser.post(next.SAMLResponse), rejection);
});

rejections('accepts one of two simultaneous uses of a response', async () => {
  await saml.idp.next({ user: { attributes: {}, nameId: 'x' } });
  const browser = saml.browser;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  const ends = await Promise.all([1, 2, 3, 4].map(() => browser.post(SAMLResponse)));
  assert.equal(ends.sort(), [failedLogin('SAML2 authentication failed.'), rejection, rejection, rejection].sort());
});

rejections('accepts one of two different simultaneous responses to a login', async () => {
  await saml.idp.next({ user: { attributes: {}, nameId: 'x' } });
  const browser = saml.browser;
  const login = await browser.start(saml.idp.entityId);
  const responses = await Promise.all([1, 2].map(() => browser.formAt(login)));
  assert.is.not(responses[0]?.SAMLResponse, responses[1]?.SAMLResponse);
  const ends = await Promise.all(responses.map(({ SAMLResponse }) => browser.post(SAMLResponse)));
  assert.equal(ends.sort(), [failedLogin('SAML2 authentication failed.'), rejection].sort());
});

rejections('accepts an assertion once, even if its request is pending again', async () => {
  await saml.idp.next({ user: { attributes: {}, nameId: 'x' } });
  const browser = saml.browser;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  const { db } = saml.fixture.server.app;
  const row = db.get<Record<string, Value>>(
    sql`SELECT * FROM saml_request WHERE request_id = ${ownRequest()}`,
  ) as Record<string, Value>;
  await browser.post(SAMLResponse);
  db.write(() => db.insert('saml_request', row));
  assert.is(await browser.post(SAMLResponse), rejection);
  assert.equal(saml.reasons, ['its subject cannot log in', 'its assertion was used before']);
});

/** Moves signed content and replaces it with other content (signature wrapping). */
const evil = (assertion: string): string =>
  assertion
    .replaceAll('mallory', 'victim')
    .replace(/<Signature .*?<\/Signature>/s, '')
    .replace(/ ID="[^"]*"/, ' ID="_evil"');
const assertionIn = (xml: string): string => /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] as string;
const signatureIn = (xml: string): string => /<Signature .*?<\/Signature>/s.exec(xml)?.[0] as string;
/** The response without its prolog and its own signature; empty if there is none. */
const unsignedResponse = (xml: string): string | undefined => {
  const [start] = xml.split('<saml:Assertion');
  return start?.includes('<Signature ') ? xml.replace(/^<\?.*?\?>/, '').replace(signatureIn(xml), '') : undefined;
};
/** Another response around the original signature, with additional content. */
const evilResponse = (xml: string, signature: string): string =>
  xml
    .replace(/ ID="[^"]*"/, ' ID="_evil"')
    .replace(signatureIn(xml), () => signature)
    .replace(assertionIn(xml), () => evil(assertionIn(xml)));
/** By the moved part; undefined for responses without such a part. */
const wrapped: Readonly<Record<string, (xml: string) => string | undefined>> = {
  'the signed response inside of its signature, in another one': (xml) => {
    const response = unsignedResponse(xml);
    const holding = signatureIn(xml).replace('</Signature>', `<Object>${response}</Object></Signature>`);
    return response && evilResponse(xml, holding);
  },
  'the signed response before its signature, in another one': (xml) => {
    const response = unsignedResponse(xml);
    return response && evilResponse(xml, `${response}${signatureIn(xml)}`);
  },
  'the signature in another assertion, and the signed one behind it': (xml) => {
    const assertion = assertionIn(xml);
    const signature = signatureIn(assertion);
    if (signature === undefined) return undefined;
    const other = evil(assertion).replace('</saml:Issuer>', () => `</saml:Issuer>${signature}`);
    return xml.replace(assertion, () => other + assertion.replace(signature, ''));
  },
  'another assertion of the same ID in an extension before': (xml) => {
    const id = /<saml:Assertion[^>]* ID="([^"]*)"/.exec(xml)?.[1] as string;
    const other = evil(assertionIn(xml)).replace('_evil', id);
    return xml.replace('<saml:Assertion', () => `<samlp:Extensions>${other}</samlp:Extensions><saml:Assertion`);
  },
  'a second assertion before': (xml) => xml.replace('<saml:Assertion', `${evil(assertionIn(xml))}<saml:Assertion`),
  'a second assertion behind': (xml) => xml.replace('</saml:Assertion>', `</saml:Assertion>${evil(assertionIn(xml))}`),
  'the signed assertion inside of an unsigned one': (xml) =>
    xml.replace(
      assertionIn(xml),
      evil(assertionIn(xml)).replace('</saml:Assertion>', `${assertionIn(xml)}</saml:Assertion>`),
    ),
  'the signed assertion in an extension': (xml) =>
    xml.replace(assertionIn(xml), `<samlp:Extensions>${assertionIn(xml)}</samlp:Extensions>${evil(assertionIn(xml))}`),
  'the signed assertion inside of the signature of an unsigned one': (xml) => {
    const assertion = assertionIn(xml);
    const signature = /<Signature .*?<\/Signature>/s.exec(xml)?.[0] as string;
    const held = signature.replace('</Signature>', `<Object>${assertion.replace(signature, '')}</Object></Signature>`);
    return xml.replace(assertion, evil(assertion).replace('</saml:Issuer>', `</saml:Issuer>${held}`));
  },
  'an unsigned assertion of the same ID': (xml) =>
    xml.replace(
      '<saml:Assertion',
      `${evil(assertionIn(xml)).replace('_evil', /<saml:Assertion[^>]* ID="([^"]*)"/.exec(xml)?.[1] as string)}<saml:Assertion`,
    ),
  'two signatures': (xml) => xml.replace(/(<Signature .*?<\/Signature>)/s, '$1$1'),
  'another response instead of the response': (xml) =>
    xml.replace(
      /^(.*?<samlp:Response[^>]*>)/s,
      (start) =>
        `${start.replace(/ ID="[^"]*"/, ' ID="_outer"')}${evil(assertionIn(xml))}<samlp:Extensions>${xml.replace(/^<\?.*?\?>/, '')}</samlp:Extensions>`,
    ),
};

for (const [name, change] of Object.entries(wrapped)) {
  rejections(`rejects signature wrapping by ${name}`, async () => {
    let isChanged = false;
    for (const options of [{}, { signAssertion: false, signResponse: true }]) {
      const location = await attempt({ user: { attributes: { uid: 'mallory' } }, ...options }, (xml) => {
        const changed = change(xml) ?? xml;
        isChanged ||= changed !== xml;
        // An unchanged response is accepted.
        return changed === xml ? xml.replaceAll('mallory', 'victim') : changed;
      });
      assert.ok(location.startsWith('https://app.example.com/login-failed'), location);
    }
    assert.ok(isChanged, 'neither of the responses has what would be moved');
    assertNothing();
  });
}

rejections('rejects single sign-on with a foreign Host header while base_url is not set', async () => {
  // Assertions for that host would be valid here.
  const { hostname, port } = new URL(saml.fixture.url);
  const ask = (method: string, path: string, body = ''): Promise<[number | undefined, string]> =>
    new Promise((resolve, reject) => {
      const headers = {
        Host: 'evil.example.com',
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': body.length,
      };
      request({ hostname, port, method, path, headers }, (reply) => {
        let text = '';
        reply
          .on('data', (chunk) => {
            text += chunk;
          })
          .on('end', () => resolve([reply.statusCode, text]));
      })
        .on('error', reject)
        .end(body);
    });
  const detail = JSON.stringify({
    detail: 'Single sign-on needs the setting base_url unless the service is addressed as localhost.',
  });
  assert.equal(await ask('GET', '/api-auth/saml2/metadata/'), [400, detail]);
  assert.equal(await ask('POST', '/api-auth/saml2/login/', `idp=${encodeURIComponent(saml.idp.entityId)}`), [
    400,
    detail,
  ]);
});

rejections('decrypts encrypted assertions and checks them like others', async () => {
  const encryption = { encryptionCert: serviceKeys.cert, encryptionPublicKey: serviceKeys.cert };
  const accepted = failedLogin('SAML2 authentication failed.');
  const none = { user: { attributes: {}, nameId: 'x' } };
  assert.is(await attempt({ ...none, ...encryption }), accepted);
  assert.is(
    await attempt({ ...none, ...encryption, encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm' }),
    accepted,
  );
  assert.is(await attempt({ ...none, ...encryption, signAssertion: false, signResponse: true }), accepted);
  const bad: Readonly<Record<string, Partial<NextLogin>>> = {
    unsigned: { signAssertion: false },
    'SHA-1 inside': { signatureAlgorithm: 'rsa-sha1' },
    'SHA-1 digest inside a good signature': { signResponse: true, digestAlgorithm: 'sha1' },
    'another key inside': { key: otherKeys.key, cert: otherKeys.cert },
    audience: { audience: 'https://other-service.example.com' },
    'for another recipient': { encryptionCert: otherKeys.cert, encryptionPublicKey: otherKeys.cert },
    'triple DES': {
      encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
      disallowEncryptionWithInsecureAlgorithm: false,
      warnOnInsecureEncryptionAlgorithm: false,
    },
  };
  for (const [name, options] of Object.entries(bad))
    assert.is(await attempt({ ...none, ...encryption, ...options }), rejection, name);
  // The library matches local names, so checks of decrypted content must do the same.
  saml.reasons.length = 0;
  assert.is(
    await attempt({ ...none, ...encryption, signatureAlgorithm: 'rsa-sha1' }, (xml) =>
      xml.replace(/(<saml:EncryptedAssertion xmlns:saml=")[^"]*/, '$1urn:other'),
    ),
    rejection,
  );
  assert.equal(saml.reasons, [weak]);
  assert.is(
    await attempt({ ...none, ...encryption }, (xml) =>
      xml.replace(/(<e:CipherValue>|<xenc:CipherValue>).{8}/, '$1AAAAAAAA'),
    ),
    rejection,
  );
  assertNothing();
});

rejections('accepts signed responses without signed assertions, and comments do not truncate values', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'walter' } }, signAssertion: false, signResponse: true });
  const browser = saml.browser;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  // Comments are not signed: this one does not change the digest, and must not change the name.
  const location = await browser.post(
    encoded(decoded(SAMLResponse).replace(/walter(?=<\/saml:AttributeValue>)/, 'wal<!-- -->ter')),
  );
  const token = tokenIn(location);
  assert.is(
    (await saml.fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${token}` })).body[0].username,
    'walter',
  );
});

rejections.run();
