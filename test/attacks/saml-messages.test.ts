/** SAML messages from strangers are cheap: the server checks the signature first, and counts rejections (services.md 11). */

import { DOMParser } from '@xmldom/xmldom';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SignedXml } from 'xml-crypto';
import { addressesOf } from '../../src/accounts/session/saml/endpoint.ts';
import { findIdentityProvider, type IdentityProvider } from '../../src/accounts/session/saml/identity-providers.ts';
import { checkLogout } from '../../src/accounts/session/saml/logout-message.ts';
import { checkResponse, requestIdOf } from '../../src/accounts/session/saml/response.ts';
import { samlOverloaded } from '../../src/accounts/session/saml/saml-thread.ts';
import { type TaskOptions, TaskThread } from '../../src/kernel/threads/task-thread.ts';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { serviceAddresses } from '../support/identity-provider.ts';
import { HttpError } from '../support/program-errors.ts';
import { failedLogin, failedLogout, SamlFixture } from '../support/saml-fixture.ts';
import { type KeyPair, otherKeys, providerKeys, serviceKeys } from '../support/saml-keys.ts';

const messages = suite('SAML messages from strangers');
const logout = '/api-auth/saml2/logout/complete/';
const login = '/api-auth/saml2/login/complete/';
let saml: SamlFixture;

messages.before.each(async () => {
  saml = await SamlFixture.start({ trusted_proxies: ['127.0.0.0/8'] });
});
messages.after.each(() => saml.close());

// The method belongs to the library. Here, the service's SAML thread runs in the test thread.
const library = SignedXml.prototype as unknown as { validateReference(...args: unknown[]): unknown };

/** Counts how often the library canonicalises and digests signed elements during a task; returns the result of the task. */
async function digests(task: () => unknown): Promise<[count: number, error: string | undefined]> {
  const { validateReference } = library;
  let count = 0;
  library.validateReference = function (...args) {
    count++;
    return validateReference.apply(this, args);
  };
  try {
    await task();
    return [count, undefined];
  } catch (error) {
    return [count, (error as Error).message];
  } finally {
    library.validateReference = validateReference;
  }
}

const provider = (): IdentityProvider => {
  const matches = findIdentityProvider(saml.fixture.server.app.db, saml.idp.entityId);
  assert.ok(matches);
  return matches;
};

/** A logout request with this many elements, not counting the signature. */
function request(elements: number): string {
  const { idp, fixture } = saml;
  const indexes = '<samlp:SessionIndex/>'.repeat(elements - 3);
  return `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${Math.random().toString(16).slice(2)}" Version="2.0" IssueInstant="${new Date(fixture.clock.now() / 1000).toISOString()}" Destination="${serviceAddresses(fixture.url).logout}"><saml:Issuer>${idp.entityId}</saml:Issuer><saml:NameID>alice</saml:NameID>${indexes}</samlp:LogoutRequest>`;
}

/** Number of elements that a signature adds. */
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

const post = (path: string, name: string, xml: string, address = '203.0.113.9'): Promise<ApiResponse<Json>> =>
  saml.fixture.anonymous.send(
    'POST',
    path,
    new URLSearchParams({ [name]: Buffer.from(xml).toString('base64') }).toString(),
    { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': address },
  );

const rejection = 'SAML response has errors. Please check the logs';

messages('computes nothing for a logout message that no known key has signed', async () => {
  const reply = await post(logout, 'SAMLRequest', signed(request(250), otherKeys));
  assert.is(reply.headers.get('location'), failedLogout(rejection));
  assert.equal(saml.reasons, ['no known key matches the signature']);
  const known = await post(logout, 'SAMLRequest', signed(request(250), providerKeys));
  assert.is(known.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`);
  const check = (keys: KeyPair): Promise<[number, string | undefined]> =>
    digests(() =>
      checkLogout({
        raw: {
          parameter: 'SAMLRequest',
          base64: Buffer.from(signed(request(250), keys)).toString('base64'),
          query: undefined,
        },
        certificates: provider().certificates,
        destination: serviceAddresses(saml.fixture.url).logout,
        now: saml.fixture.clock.now(),
      }),
    );
  assert.equal(await check(otherKeys), [0, 'no known key matches the signature']);
  assert.equal(await check(providerKeys), [1, undefined]);
});

messages('computes nothing for a login response that no known key has signed', async () => {
  const { browser, idp } = saml;
  await idp.next({ user: { attributes: { uid: 'alice' } } });
  const form = await browser.form(idp.entityId);
  const response = Buffer.from(form.SAMLResponse, 'base64')
    .toString()
    .replace(/<((?:\w+:)?SignatureValue)[^>]*>[^<]*</g, `<$1>${Buffer.alloc(256).toString('base64')}<`);
  const { assertionConsumer, entityId } = addressesOf({
    base: saml.fixture.url,
    config: saml.fixture.server.app.config,
  });
  const check = (message: string): Promise<[number, string | undefined]> =>
    digests(() =>
      checkResponse({
        message,
        setup: { provider: provider(), entityId, assertionConsumer, privateKey: serviceKeys.key },
        requestId: requestIdOf(message) ?? '',
        now: saml.fixture.clock.now(),
      }),
    );
  assert.equal(await check(Buffer.from(response).toString('base64')), [0, 'Invalid signature']);
  assert.equal(await check(form.SAMLResponse), [1, undefined]);
  assert.is(await browser.post(Buffer.from(response).toString('base64')), failedLogin(rejection));
  assert.equal(saml.reasons, ['Invalid signature']);
});

messages('limits a logout message to three hundred elements, with any signature', async () => {
  assert.is(
    (await post(logout, 'SAMLRequest', signed(request(301 - ofSignature), providerKeys))).headers.get('location'),
    failedLogout('SAML2 response has errors.'),
  );
  assert.equal(saml.reasons, ['it has more than 300 elements']);
  const allowed = await post(logout, 'SAMLRequest', signed(request(300 - ofSignature), providerKeys));
  assert.is(allowed.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`);
});

messages('throttles a network after sixty rejected messages a minute, at both endpoints', async () => {
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
  const remote = await post(logout, 'SAMLRequest', signed(request(20), providerKeys), '2001:db8:5:6::1');
  assert.is(remote.status, 302);
  assert.is(remote.headers.get('location')?.split('?')[0], `${saml.idp.url}/logout`, 'other networks are served');
  saml.fixture.clock.advance(60);
  const later = await post(logout, 'SAMLRequest', signed(request(20), providerKeys), '2001:db8:5:5:5::1');
  assert.is(later.status, 302);
});

messages('parses no XML in the main thread', async () => {
  const sent = [providerKeys, otherKeys].map((keys) => signed(request(100), keys));
  const { parseFromString } = DOMParser.prototype;
  let parsed = 0;
  DOMParser.prototype.parseFromString = function (...args: Parameters<typeof parseFromString>) {
    parsed++;
    return parseFromString.apply(this, args);
  };
  try {
    assert.match(await saml.logIn({ uid: 'alice' }), /\/saml2\/$/);
    for (const xml of sent) assert.is((await post(logout, 'SAMLRequest', xml)).status, 302);
    saml.fixture.server.tick();
    await saml.fixture.server.settled();
  } finally {
    DOMParser.prototype.parseFromString = parseFromString;
  }
  assert.equal([parsed, saml.reasons], [0, ['no known key matches the signature']]);
});

/** A thread that never finishes checking a message. */
function stall(milliseconds: number): TaskThread {
  const { app } = saml.fixture.server;
  const stuck = new TaskThread(
    () => `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', () => { for (;;); });
      parentPort.postMessage('ready');`,
    () => {
      const { body, headers, status } = samlOverloaded() as InstanceType<typeof HttpError>;
      return new HttpError(status, body, headers);
    },
  );
  const run = stuck.run.bind(stuck);
  const impatient = Object.assign(stuck, {
    run: <T>(task: unknown, terms: TaskOptions) => run<T>(task, { ...terms, milliseconds }),
  });
  Object.assign(app, { samlThread: impatient });
  return impatient;
}

messages('rejects a message that takes too long to check, without blocking other requests', async () => {
  const { samlThread } = saml.fixture.server.app;
  const stuck = stall(300);
  const reply = post(logout, 'SAMLRequest', signed(request(20), providerKeys));
  assert.is((await saml.fixture.staff.get('/api/customers/')).status, 200);
  assert.is((await reply).headers.get('location'), failedLogout(rejection));
  assert.equal(saml.reasons, ['it takes too long']);
  await stuck.close();
  Object.assign(saml.fixture.server.app, { samlThread });
});

messages('responds 503 when too many messages wait, and to all waiting ones on close', async () => {
  const { samlThread } = saml.fixture.server.app;
  const stuck = stall(60_000);
  const message = signed(request(20), providerKeys);
  const responses = Array.from({ length: 66 }, () => post(logout, 'SAMLRequest', message));
  const { body, headers, status } = await Promise.race(responses);
  assert.equal(
    [status, body, headers.get('retry-after')],
    [503, { detail: 'Too many logins at once. Try again.' }, '1'],
  );
  await stuck.close();
  const statuses = (await Promise.all(responses)).map((reply) => reply.status);
  assert.equal([statuses.length, statuses.filter((other) => other === 302).length], [66, 65]);
  Object.assign(saml.fixture.server.app, { samlThread });
});

messages.run();
