/** services.md 11: metadata of the service, and of identity providers from files and from the web. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, settableClock } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { examine } from '../../../../src/app/doctor/doctor.ts';
import { sql } from '../../../../src/kernel/db/sql.ts';
import { Fixture, type Json } from '../../../support/fixture.ts';
import { certificateText, entityDescriptor } from '../../../support/identity-provider.ts';
import { Receiver } from '../../../support/receiver.ts';
import { Files, failedLogin, failedLogout, SamlFixture, samlSettings, tokenIn } from '../../../support/saml-fixture.ts';
import { otherKeys, providerKeys, serviceKeys } from '../../../support/saml-keys.ts';
import { signed } from '../../../support/saml-signed.ts';

const metadata = suite('SAML metadata');
let files: Files;
metadata.before(() => {
  files = new Files();
});
metadata.after(() => files.remove());

const providersOf = async (fixture: Fixture, query = ''): Promise<Json> =>
  (await fixture.anonymous.get(`/api-auth/saml2/providers/${query}`)).body;
const federation = (entities: readonly string[], attributes = ''): string =>
  `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ID="_all"${attributes}>${entities.join('').replaceAll(' ID="_metadata"', '')}</md:EntitiesDescriptor>`;

const one = {
  entityId: 'https://one.example.com',
  url: 'https://one.example.com/saml',
  name: 'One & only'.replace('&', '&amp;'),
};
const two = { entityId: 'https://two.example.com', url: 'https://two.example.com/saml' };

metadata('the metadata of the service has its addresses, keys and attributes', async () => {
  const fixture = await Fixture.start({
    ...samlSettings(files),
    base_url: 'https://cloud.example.com/t',
    product_name: 'A & B',
    saml_idp_metadata_files: [files.write('one.xml', entityDescriptor(one))],
  });
  try {
    const { body, headers, status } = await fixture.anonymous.get('/api-auth/saml2/metadata/');
    assert.equal([status, headers.get('content-type')], [200, 'text/xml; charset=utf-8']);
    const start = 'https://cloud.example.com/t/api-auth/saml2';
    const key = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificateText(serviceKeys)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    for (const part of [
      `entityID="${start}/metadata/"`,
      '<md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
      `<md:KeyDescriptor use="signing">\n      ${key}\n    </md:KeyDescriptor>`,
      `<md:KeyDescriptor use="encryption">\n      ${key}\n      <md:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>`,
      `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${start}/logout/complete/"/>`,
      `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${start}/logout/complete/"/>`,
      `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${start}/login/complete/" index="1" isDefault="true"/>`,
      '<md:ServiceName xml:lang="en">A &amp; B</md:ServiceName>',
      '<md:RequestedAttribute Name="uid" isRequired="true"/>',
      '<md:RequestedAttribute Name="mail" isRequired="false"/>',
    ])
      assert.ok(body.includes(part), part);
    // With HTTPS, the cookie of the service is Secure, and browsers send it with forms of identity providers.
    const started = await fixture.anonymous.post('/api-auth/saml2/login/', { idp: one.entityId });
    assert.match(
      started.headers.get('set-cookie') ?? '',
      /^__Host-saml2=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=None$/,
    );
  } finally {
    await fixture.close();
  }
});

metadata('lists identity providers by name, in pages, and filters by part of the name', async () => {
  const text = federation(
    ['b', 'C', 'a']
      .map((name) =>
        entityDescriptor({
          entityId: `https://${name}.example.com`,
          url: `https://${name}.example.com`,
          name: `University ${name}`,
        }),
      )
      .concat(entityDescriptor(two)),
  );
  const fixture = await Fixture.start({
    ...samlSettings(files),
    saml_idp_metadata_files: [files.write('all.xml', text)],
  });
  try {
    const all = [two.entityId, 'University a', 'University b', 'University C'];
    assert.equal(
      (await providersOf(fixture)).map(({ name }: Json) => name),
      all,
    );
    assert.equal(await providersOf(fixture, '?name=VERSITY%20c'), [
      { name: 'University C', url: 'https://C.example.com' },
    ]);
    assert.equal(await providersOf(fixture, '?name=%25'), []);
    const { body, headers } = await fixture.anonymous.get('/api-auth/saml2/providers/?page=2&page_size=3', {
      Authorization: 'Token stale',
    });
    assert.equal(
      [body, headers.get('x-result-count')],
      [[{ name: 'University C', url: 'https://C.example.com' }], '4'],
    );
    assert.match(headers.get('link') ?? '', `<${fixture.url}/api-auth/saml2/providers/?page_size=3>; rel="first"`);
    assert.is((await fixture.anonymous.get('/api-auth/saml2/providers/?page=3&page_size=3')).status, 404);
  } finally {
    await fixture.close();
  }
});

metadata('reports identity providers that support no login, or no logout', async () => {
  const saml = await SamlFixture.start({}, [entityDescriptor({ ...two, binding: 'HTTP-POST' })]);
  try {
    assert.is(
      await saml.browser.start(two.entityId),
      failedLogin('Identity provider does not support available bindings.'),
    );
    const file = join(saml.files.folder, 'idp-0.xml');
    const browser = saml.browser;
    tokenIn(await saml.logIn({ uid: 'alice' }, browser));
    await saml.fixture.staff.patch((await saml.fixture.staff.get('/api/users/?username=alice')).body[0].url, {
      token_lifetime: null,
    });
    writeFileSync(file, entityDescriptor({ ...saml.idp, logout: '' }));
    saml.fixture.clock.advance(3600);
    saml.fixture.server.tick();
    await saml.fixture.server.settled();
    assert.is(
      (await browser.send('GET', '/api-auth/saml2/logout/')).headers.get('location'),
      failedLogout('You cannot be logged out.'),
    );
  } finally {
    await saml.close();
  }
});

metadata('replaces a key of an identity provider within the hour', async () => {
  const saml = await SamlFixture.start();
  try {
    const file = join(saml.files.folder, 'idp-0.xml');
    const rotated = { user: { attributes: { uid: 'alice' } }, key: otherKeys.key, cert: otherKeys.cert };
    const attempt = async (options: typeof rotated | { user: (typeof rotated)['user'] }): Promise<string> => {
      await saml.idp.next(options);
      return saml.browser.logIn(saml.idp.entityId);
    };
    const rejection = failedLogin('SAML response has errors. Please check the logs');
    const refresh = async (): Promise<void> => {
      saml.fixture.server.tick();
      await saml.fixture.server.settled();
    };
    /** Writes while no source is being read: the server's timer may have started a refresh. */
    const write = async (text: string): Promise<void> => {
      await saml.fixture.server.settled();
      writeFileSync(file, text);
    };
    await refresh();
    assert.is(await attempt(rotated), rejection);
    // Both keys, during the rotation.
    const both = entityDescriptor(saml.idp).replace(
      '<md:SingleLogoutService',
      `<md:KeyDescriptor><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificateText(otherKeys)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor><md:SingleLogoutService`,
    );
    await write(both);
    await refresh();
    assert.is(await attempt(rotated), rejection);
    saml.fixture.clock.set(saml.fixture.clock.now() + 3_600_000_000);
    await refresh();
    saml.fixture.clock.set(new Date());
    tokenIn(await attempt(rotated));
    tokenIn(await attempt({ user: rotated.user }));
    await write(entityDescriptor({ ...saml.idp, keys: otherKeys }));
    saml.fixture.clock.set(saml.fixture.clock.now() + 2 * 3_600_000_000);
    await refresh();
    saml.fixture.clock.set(new Date());
    tokenIn(await attempt(rotated));
    assert.is(await attempt({ user: rotated.user }), rejection);
  } finally {
    await saml.close();
  }
});

const broken: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
  'no XML': ['hello', /idp\.xml: /],
  'another document': ['<a/>', /it is not SAML 2\.0 metadata/],
  'of services only': [
    federation(['<md:EntityDescriptor entityID="x"><md:SPSSODescriptor/></md:EntityDescriptor>']),
    /it has no identity provider with a signing key/,
  ],
  'without keys': [
    entityDescriptor(one).replace(/<md:KeyDescriptor.*<\/md:KeyDescriptor>/, ''),
    /it has no identity provider with a signing key/,
  ],
  'with a broken key': [
    entityDescriptor(one).replace(/<ds:X509Certificate>[^<]{40}/, '<ds:X509Certificate>'),
    /it has no identity provider with a signing key/,
  ],
  expired: [federation([entityDescriptor(one)], ' validUntil="2018-01-05T04:47:00Z"'), /it is no longer valid/],
  'with a document type': [`<!DOCTYPE a>${entityDescriptor(one)}`, /it has a document type definition/],
};

for (const [name, [text, reason]] of Object.entries(broken)) {
  metadata(`a start with a metadata file that is ${name} fails, naming setting and file`, async () => {
    const start = Fixture.start({ ...samlSettings(files), saml_idp_metadata_files: [files.write('idp.xml', text)] });
    const error = await start.then(
      (fixture) => fixture.close().then(() => undefined),
      (thrown: Error) => thrown,
    );
    assert.match(error?.message ?? 'it started', /^TENANTRY_SAML_IDP_METADATA_FILES: .*idp\.xml: /);
    assert.match(error?.message ?? '', reason);
  });
}

metadata('a failed refresh keeps the known identity providers, also after a restart, and logs the reason', async () => {
  const file = files.write('kept.xml', entityDescriptor(one));
  const clock = settableClock('2018-01-05T04:47:04Z');
  const options = {
    ...samlSettings(files),
    data: join(files.folder, 'kept'),
    port: 0,
    log_level: 'silent',
    clock,
    saml_idp_metadata_files: [file],
  };
  const listed = async (url: string): Promise<string[]> =>
    ((await (await fetch(`${url}/api-auth/saml2/providers/`)).json()) as Json[]).map((provider) => provider.url);
  const first = await createServer(options);
  assert.equal(await listed(first.url), [one.entityId]);
  writeFileSync(file, '<broken');
  clock.advance(3600);
  first.tick();
  await first.settled();
  assert.equal(await listed(first.url), [one.entityId]);
  const problem = `metadata of identity providers ${file} could not be read: it is no XML: unexpected end of input`;
  assert.equal(examine(first.app, true), { problems: [problem], isHealthy: false });
  await first.close();
  const second = await createServer(options);
  assert.equal(await listed(second.url), [one.entityId]);
  await second.close();
  // Sources that are no longer in the settings are removed.
  const third = await createServer({
    ...options,
    saml_idp_metadata_files: [files.write('two.xml', entityDescriptor(two))],
  });
  assert.equal(await listed(third.url), [two.entityId]);
  await third.close();
});

metadata('metadata on the web must be signed with its certificate, and is read every hour', async () => {
  const web = await Receiver.start();
  const response = (body: string): void => {
    web.behaviour = { status: 200, body };
  };
  response(signed(federation([entityDescriptor(one)])));
  const fixture = await Fixture.start({
    ...samlSettings(files),
    saml_idp_metadata_urls: [
      { url: `${web.url}/federation.xml`, cert_file: files.write('federation.crt', otherKeys.cert) },
    ],
  });
  const refresh = async (seconds = 3600): Promise<void> => {
    await fixture.advance(seconds);
  };
  const listed = async (): Promise<string[]> => (await providersOf(fixture)).map(({ url }: Json) => url);
  const failure = (): string =>
    fixture.server.app.db.value<string>(sql`SELECT error_message FROM saml_source`) as string;
  try {
    await refresh(0);
    assert.equal([await listed(), web.take().length], [[one.entityId], 1]);
    await refresh(3599);
    assert.is(web.take().length, 0);
    const both = federation([entityDescriptor(one), entityDescriptor(two)]);
    for (const [body, reason] of [
      [both, 'it is not signed'],
      [signed(both, providerKeys), 'no known key matches the signature'],
      [
        signed(both, otherKeys, 'http://www.w3.org/2000/09/xmldsig#sha1'),
        'a signature is weaker than RSA with SHA-256',
      ],
      [signed(both).replace(two.entityId, 'https://evil.example.com'), 'no known key matches the signature'],
      [signed(federation([entityDescriptor(two)], ' validUntil="2018-01-05T04:47:04Z"')), 'it is no longer valid'],
      [federation([]).replace('</', `${signed(entityDescriptor(two))}</`), 'it is not signed'],
      ['', 'it is no XML: invalid doc source'],
    ] as const) {
      response(body);
      await refresh();
      assert.equal([await listed(), failure()], [[one.entityId], reason]);
    }
    for (const behaviour of [
      500,
      404,
      'reset',
      { status: 302, headers: { Location: `${web.url}/other` } },
      { status: 200, body: 'x'.repeat(9 * 1024 * 1024) },
    ] as const) {
      web.behaviour = behaviour;
      await refresh();
      assert.equal([await listed(), failure() !== ''], [[one.entityId], true]);
    }
    response(signed(both));
    await refresh();
    assert.equal([await listed(), failure()], [[two.entityId, one.entityId], '']);
    // Only signed content is read: an entity beside the signed document is ignored.
    response(signed(federation([entityDescriptor(two)])));
    await refresh();
    assert.equal(await listed(), [two.entityId]);
  } finally {
    await fixture.close();
    await web.close();
  }
});

metadata('an entity in two sources belongs to the first', async () => {
  const first = files.write('first.xml', entityDescriptor({ ...one, name: 'First' }));
  const second = files.write(
    'second.xml',
    federation([entityDescriptor({ ...one, name: 'Second', keys: otherKeys }), entityDescriptor(two)]),
  );
  const fixture = await Fixture.start({ ...samlSettings(files), saml_idp_metadata_files: [first, second] });
  assert.equal(await providersOf(fixture), [
    { name: 'First', url: one.entityId },
    { name: two.entityId, url: two.entityId },
  ]);
  await fixture.close();
});

metadata('without SAML2, serves only metadata and the list of providers', async () => {
  const fixture = await Fixture.start();
  try {
    const disabled = {
      detail: 'Authentication method is disabled. Please use another authentication method or contact staff.',
    };
    for (const [method, path] of [
      ['POST', 'login/'],
      ['POST', 'login/complete/'],
      ['GET', 'logout/'],
      ['GET', 'logout/complete/'],
      ['POST', 'logout/complete/'],
    ] as const) {
      const { body, headers, status } = await fixture.anonymous.send(
        method,
        `/api-auth/saml2/${path}`,
        method === 'POST' ? {} : undefined,
      );
      assert.equal([status, body, headers.get('www-authenticate')], [401, disabled, 'Token'], path);
    }
    assert.equal(await providersOf(fixture), []);
    const { body, status } = await fixture.anonymous.get('/api-auth/saml2/metadata/');
    assert.equal(
      [status, body.includes('KeyDescriptor'), body.includes('AssertionConsumerService')],
      [200, false, true],
    );
    assert.is((await fixture.anonymous.get('/api/configuration/')).body.WALDUR_AUTH_SAML2, undefined);
  } finally {
    await fixture.close();
  }
});

metadata('shows the key pair before SAML2 is enabled, so that identity providers can be configured', async () => {
  const { authentication_methods: _, ...settings } = samlSettings(files);
  const fixture = await Fixture.start(settings);
  assert.ok((await fixture.anonymous.get('/api-auth/saml2/metadata/')).body.includes(certificateText(serviceKeys)));
  await fixture.close();
  assert.ok(readFileSync(join(files.folder, 'service.key'), 'utf8').includes('PRIVATE KEY'));
});

metadata.run();
