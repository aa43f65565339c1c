/** Messages that are not XML or exceed the limits: rejected quickly, nothing stored. */
import { deflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import { decoded, encoded } from '../../../support/saml-browser.ts';
import { failedLogin, failedLogout, SamlFixture } from '../../../support/saml-fixture.ts';

const xml = suite('SAML XML');
const path = '/api-auth/saml2/login/complete/';
const unreadable = failedLogin('SAML2 response has errors.');
let saml: SamlFixture;

xml.before(async () => {
  saml = await SamlFixture.start();
});
xml.after(() => saml?.close());
xml.before.each(() => {
  saml.fixture.events();
  saml.reasons.length = 0;
});

const post = (SAMLResponse: unknown) => saml.fixture.anonymous.post(path, { SAMLResponse });
const open = '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0">';
const response = (content: string, before = ''): string => `${before}${open}${content}</samlp:Response>`;

xml('reports invalid base64', async () => {
  for (const [input, message] of [
    ['%%%', 'This field should be a valid Base64 encoded string.'],
    ['YQ', 'This field should be a valid Base64 encoded string.'],
    ['YQ===', 'This field should be a valid Base64 encoded string.'],
    ['Y_-Q', 'This field should be a valid Base64 encoded string.'],
    ['Ÿ¥§€', 'This field should be a valid Base64 encoded string.'],
    ['YW\0E', 'Null characters are not allowed.'],
    ['', 'This field may not be blank.'],
    [undefined, 'This field is required.'],
    [['YQ=='], 'Not a valid string.'],
    ['A'.repeat(256 * 1024 + 4), 'Ensure this field has no more than 262144 characters.'],
  ] as const) {
    const { body, status } = await post(input);
    assert.equal([status, body], [400, { SAMLResponse: [message] }], String(input).slice(0, 20));
  }
  assert.is((await post('A'.repeat(1024 * 1024))).status, 413);
});

const documents: Readonly<Record<string, readonly [document: string | Buffer, reason: string | RegExp]>> = {
  'no XML': ['hello', /./],
  'broken XML': [response('<a>'), /./],
  'cut short': [response('').slice(0, -3), /./],
  'two roots': [response('') + response(''), /./],
  'nothing but blanks': ['   ', /./],
  'an attribute twice': [response('<a b="1" b="2"/>'), /./],
  'an attribute without quotes': [response('<a b=1/>'), /./],
  'an unknown entity': [response('&nbsp;'), /entity not found/],
  'no UTF-8': [Buffer.from([0x3c, 0x61, 0xff, 0x2f, 0x3e]), 'it is not UTF-8'],
  'UTF-16': [Buffer.from(`\ufeff${response('')}`, 'utf16le'), 'it is not UTF-8'],
  'a NUL byte': [response('\0'), 'it has control characters'],
  'another root': ['<a/>', 'it is not a SAML 2.0 response'],
  'a response of SAML 1.1': [
    '<Response xmlns="urn:oasis:names:tc:SAML:1.0:protocol"/>',
    'it is not a SAML 2.0 response',
  ],
  'a document type': [response('', '<!DOCTYPE a>'), 'it has a document type definition'],
  'a document type in small letters': [response('', '<!doctype a>'), 'it has a document type definition'],
  'an external entity': [
    response('&x;', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    'it has a document type definition',
  ],
  'an external definition': [
    response('', '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">'),
    'it has a document type definition',
  ],
  'a billion laughs': [
    response('&c;', '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'),
    'it has a document type definition',
  ],
  'processing instructions': [response('<?a b?>'), 'it has processing instructions'],
  'unclosed processing instructions by the thousand': ['<?a '.repeat(40_000), 'it has processing instructions'],
  'tags by the thousand': [response('<a/>'.repeat(10_000)), 'it has more than 1500 elements'],
  'one element too many': [response('<a/>'.repeat(1500)), 'it has more than 1500 elements'],
  'as many elements as fit': [response('<a></a>'.repeat(1499)), 'it does not match a login started by this browser'],
  'deep nesting': [response('<a>'.repeat(1400) + '</a>'.repeat(1400)), 'it is nested deeper than 50 levels'],
  'nesting just too deep': [response('<a>'.repeat(50) + '</a>'.repeat(50)), 'it is nested deeper than 50 levels'],
  'attributes by the thousand': [
    response(`<a ${Array.from({ length: 6000 }, (_, i) => `b${i}="c"`).join(' ')}/>`),
    'it has more than 6000 attributes',
  ],
  'namespaces by the thousand': [
    response(Array.from({ length: 1200 }, (_, i) => `<a xmlns:b${i}="c"/>`).join('')),
    'it declares more than 1000 namespaces',
  ],
  'nested namespaces': [
    response(Array.from({ length: 900 }, (_, i) => `<a xmlns:b${i}="c">`).join('') + '</a>'.repeat(900)),
    'it is nested deeper than 50 levels',
  ],
  'as much text as fits': [response('x'.repeat(196_000)), 'it does not match a login started by this browser'],
};

for (const [name, [document, reason]] of Object.entries(documents)) {
  xml(`rejects a response that is ${name} quickly`, async () => {
    const started = performance.now();
    const { headers, status } = await post(Buffer.from(document as string).toString('base64'));
    const isRead = saml.reasons[0] === 'it does not match a login started by this browser';
    assert.equal(
      [status, headers.get('location')],
      [302, isRead ? failedLogin('SAML response has errors. Please check the logs') : unreadable],
    );
    assert.match(saml.reasons[0] as string, reason);
    assert.is(saml.reasons.length, 1);
    assert.ok(performance.now() - started < 5000, 'read before the limit of the thread');
    const { db } = saml.fixture.server.app;
    assert.equal(
      [
        saml.fixture.events(),
        db.value(sql`SELECT count(*) FROM saml_request`),
        db.value(sql`SELECT count(*) FROM saml_used_message`),
      ],
      [[], 0, 0],
    );
  });
}

xml('the same limits apply inside a response to a login and inside encrypted assertions', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'mallory' } } });
  for (const change of [
    (text: string) => text.replace('<samlp:Response', '<!DOCTYPE a [<!ENTITY x "mallory">]><samlp:Response'),
    (text: string) => text.replace('</samlp:Response>', `${'<a>'.repeat(60)}${'</a>'.repeat(60)}</samlp:Response>`),
  ]) {
    const browser = saml.browser;
    const { SAMLResponse } = await browser.form(saml.idp.entityId);
    assert.is(await browser.post(encoded(change(decoded(SAMLResponse)))), unreadable);
  }
});

xml('omits attributes above the limits of user fields, and rejects those above the limits of messages', async () => {
  const long = await saml.logIn({ uid: 'nora', cn: 'N'.repeat(100_000) });
  assert.match(long, /\/saml2\/$/);
  await saml.idp.next({ user: { attributes: { uid: 'olaf', cn: 'O'.repeat(300_000) } } });
  const browser = saml.browser;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  assert.is((await browser.send('POST', path, { SAMLResponse })).status, 400);
  assert.equal((await saml.fixture.staff.get('/api/users/?username=olaf')).body, []);
});

xml('rejects control characters in names, and omits them from fields', async () => {
  await saml.idp.next({ user: { nameId: 'a\u0001b', attributes: { uid: 'paul' } } });
  assert.match(await saml.browser.logIn(saml.idp.entityId), /^https:\/\/app\.example\.com\/login-failed/);
  assert.equal((await saml.fixture.staff.get('/api/users/?username=paul')).body, []);
});

xml('rejects a compressed message that grows beyond the limit', async () => {
  const bomb = deflateRawSync(Buffer.alloc(8 * 1024 * 1024, 0x61)).toString('base64');
  const query = new URLSearchParams({ SAMLResponse: bomb, SigAlg: 'x', Signature: 'x' });
  const { headers, status } = await saml.fixture.anonymous.get(`/api-auth/saml2/logout/complete/?${query}`);
  assert.equal(
    [status, headers.get('location'), saml.reasons],
    [302, failedLogout('SAML2 response has errors.'), ['it cannot be inflated, or is too large']],
  );
});

xml.run();
