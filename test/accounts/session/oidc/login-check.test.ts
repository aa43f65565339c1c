/** services.md 11.2: checks of identity providers by the API and the command. They name the required change. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../../../support/fixture.ts';
import { freePort } from '../../../support/free-port.ts';
import { HandmadeFixture } from '../../../support/handmade-fixture.ts';
import { type HandmadeIssuer, newKeys } from '../../../support/handmade-provider.ts';
import { entityDescriptor } from '../../../support/identity-provider.ts';
import { oidcSettings } from '../../../support/oidc-fixture.ts';
import { OpenIdProvider } from '../../../support/openid-provider.ts';
import { Program } from '../../../support/program.ts';
import { Files, samlSettings } from '../../../support/saml-fixture.ts';
import { wordsOf } from '../../../support/saml-login.ts';

const check = suite('login check');
let rig: HandmadeFixture;
let one: HandmadeIssuer;

check.before(async () => {
  rig = await HandmadeFixture.start((provider) => {
    one = provider.issuer('one');
    return [
      { name: 'one', issuer: one.url },
      { name: 'two', issuer: provider.issuer('two').url },
      { name: 'down', issuer: 'http://127.0.0.1:9' },
    ];
  });
});
check.after(() => rig?.close());
check.before.each(() => {
  one.reset();
  rig.fixture.clock.set(new Date());
});

const names = ['discovery', 'issuer', 'keys', 'redirect_uri', 'client', 'clock'];
/** Returns the results of a provider's check by step. */
const resultsOf = async (name = 'one'): Promise<Json> => {
  const { body, status } = await rig.fixture.staff.post('/api/operation/login-check/', { name });
  assert.is(status, 200, JSON.stringify(body));
  assert.equal([body.length, body[0].name, body[0].protocol], [1, name, 'oidc']);
  assert.equal(
    body[0].steps.map(({ step }: Json) => step),
    names,
  );
  return Object.fromEntries(body[0].steps.map(({ result, step }: Json) => [step, result]));
};
const allOk = Object.fromEntries(names.map((name) => [name, 'ok']));
const path = '/api/operation/login-check/';

check('all steps of a provider that is set up are ok', async () => {
  assert.equal(await resultsOf(), allOk);
});

check('without a name, all providers are checked; an unknown one is 400', async () => {
  const { body } = await rig.fixture.staff.post(path);
  assert.equal(
    body.map(({ name }: Json) => name),
    ['one', 'two', 'down'],
  );
  const unknown = await rig.fixture.staff.post(path, { name: 'three' });
  assert.equal([unknown.status, unknown.body], [400, { name: ['"three" is not a valid choice.'] }]);
});

check('a provider that does not respond fails the discovery, which the other steps need', async () => {
  const { discovery, ...rest } = await resultsOf('down');
  assert.match(
    discovery,
    /^Check the issuer, the network and certificates: the discovery document http:\S+ cannot be read \([^:]+[^.]\)\.$/,
  );
  for (const result of Object.values(rest))
    assert.is(result, 'Make the discovery document readable first: this step needs it.');
});

for (const [title, step, expected, breakIt] of [
  [
    'another spelling of the issuer',
    'issuer',
    () => `Set issuer to "${one.url}/", as the discovery document spells it, instead of "${one.url}".`,
    () => (one.document.issuer += '/'),
  ],
  [
    'a document without a token endpoint',
    'discovery',
    () => `Correct the discovery document ${one.url}/.well-known/openid-configuration: it has no valid token_endpoint.`,
    () => delete one.document.token_endpoint,
  ],
  [
    'keys for other algorithms only',
    'keys',
    () => 'Let the provider sign ID tokens with RS256, PS256, ES256 or EdDSA: none of its 1 keys is for these.',
    async () => {
      one.published = [(await newKeys('x', 'ES384')).jwk];
    },
  ],
  [
    'keys that cannot be read',
    'keys',
    () => `Make the provider respond: ${new URL(one.url).host}/one/keys: the response had status 404.`,
    () => {
      one.handlers.set('keys', (_incoming, outgoing) => outgoing.writeHead(404).end());
    },
  ],
  [
    'a redirect URI that is not registered',
    'redirect_uri',
    () =>
      `Register the redirect URI ${rig.fixture.url}/api-auth/oidc/one/complete/ for the client at the provider, which responded to it with status 400.`,
    () => one.handlers.set('authorize', (_incoming, outgoing) => outgoing.writeHead(400).end()),
  ],
  [
    'a client that may not log users in',
    'redirect_uri',
    () => 'Change the client at the provider: it rejects logins with unauthorized_client.',
    () =>
      one.handlers.set('authorize', (incoming, outgoing) =>
        outgoing
          .writeHead(302, {
            Location: `${new URL(incoming.url ?? '', one.url).searchParams.get('redirect_uri')}?error=unauthorized_client`,
          })
          .end(),
      ),
  ],
  [
    'a wrong client secret',
    'client',
    () => 'Check client_id and client_secret_file: the provider rejects the client (invalid_client).',
    () =>
      one.handlers.set('token', (_incoming, outgoing) =>
        outgoing.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}'),
      ),
  ],
  [
    'a token endpoint with a server error',
    'client',
    () => `Make the provider respond: ${new URL(one.url).host}/one/token: the response had status 503.`,
    () => one.handlers.set('token', (_incoming, outgoing) => outgoing.writeHead(503).end()),
  ],
  [
    'a token endpoint with a page',
    'client',
    () =>
      `Make the provider respond: ${new URL(one.url).host}/one/token: the response is malformed (unexpected response content-type).`,
    () =>
      one.handlers.set('token', (_incoming, outgoing) =>
        outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Login</p>'),
      ),
  ],
  [
    'a login page with a server error',
    'redirect_uri',
    () => `Make the provider respond: ${new URL(one.url).host}/one/authorize: the response had status 503.`,
    () => one.handlers.set('authorize', (_incoming, outgoing) => outgoing.writeHead(503).end()),
  ],
  [
    'a clock that is five minutes ahead',
    'clock',
    () => 'Synchronise the clock of this machine or of the provider: this one is 300 seconds ahead.',
    () =>
      one.handlers.set('openid-configuration', (_incoming, outgoing) => {
        outgoing
          .writeHead(200, {
            'Content-Type': 'application/json',
            Date: new Date(Math.floor(Date.now() / 1000) * 1000 - 300_000).toUTCString(),
          })
          .end(JSON.stringify(one.document));
      }),
  ],
] as const)
  check(`says what to change about ${title}, and the other steps are ok`, async () => {
    await breakIt();
    const { [step]: result, ...rest } = await resultsOf();
    assert.is(String(result).replace(/ (29[89]|30[0-2]) seconds/, ' 300 seconds'), expected());
    const needed = step === 'discovery' ? ['keys', 'redirect_uri', 'client'] : [];
    for (const [name, other] of Object.entries(rest)) if (!needed.includes(name)) assert.is(other, 'ok', name);
  });

check('reads the discovery document for every step, not a cached one', async () => {
  await fetch(`${rig.fixture.url}/api-auth/oidc/one/login/`, { redirect: 'manual' });
  one.document.token_endpoint = `${one.url}/moved`;
  one.document.authorization_endpoint = `${one.url}/moved`;
  const { client, redirect_uri: redirect } = await resultsOf();
  assert.match(redirect, /^Register the redirect URI .* status 404\.$/);
  assert.match(client, /^Check client_id and client_secret_file: the provider rejects the client \(not_found\)\.$/);
});

check('checks the metadata of SAML identity providers', async () => {
  const files = new Files();
  const idp = { entityId: 'https://one.example.com', url: 'https://one.example.com/saml' };
  const good = files.write('good.xml', entityDescriptor(idp));
  const posts = files.write(
    'posts.xml',
    entityDescriptor({ ...idp, entityId: 'https://two.example.com', binding: 'HTTP-POST' }),
  );
  const fixture = await Fixture.start({ ...samlSettings(files), saml_idp_metadata_files: [good, posts] });
  try {
    const stepsOf = async (name: string): Promise<Json> => {
      const { body } = await fixture.staff.post(path, { name });
      assert.equal([body.length, body[0].name, body[0].protocol], [1, name, 'saml']);
      return Object.fromEntries(body[0].steps.map(({ result, step }: Json) => [step, result]));
    };
    assert.equal(await stepsOf(good), { download: 'ok', metadata: 'ok', login: 'ok' });
    assert.equal(await stepsOf(posts), {
      download: 'ok',
      metadata: 'ok',
      login: 'Let https://two.example.com offer logins by HTTP-Redirect.',
    });
    files.write('good.xml', '<html/>');
    const broken = await stepsOf(good);
    assert.equal([broken.download, broken.login], ['ok', 'Make the metadata readable first: this step needs it.']);
    assert.is(broken.metadata, 'Replace the metadata: it is not SAML 2.0 metadata.');
  } finally {
    await fixture.close();
    files.remove();
  }
});

check('the command prints the steps at a real provider, and exits with 1 unless all are ok', async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const provider = await OpenIdProvider.start(base, 'company');
  const files = new Files();
  const program = new Program(undefined);
  try {
    const { authentication_methods: methods, ...settings } = oidcSettings(files, [
      { name: 'company', issuer: provider.issuer },
    ]);
    const words = wordsOf({ ...settings, authentication_methods: methods.join(','), base_url: base });
    const good = await program.run(['login-check', ...words]);
    assert.equal(
      [good.stdout, good.code],
      [`company (OpenID Connect)\n${names.map((name) => `  ${name.padEnd(12)}  ok\n`).join('')}`, 0],
    );
    const bad = await program.run([
      'login-check',
      'company',
      ...wordsOf({ ...settings, authentication_methods: 'OIDC', base_url: 'https://other.example.com' }),
    ]);
    assert.is(bad.code, 1);
    assert.match(
      bad.stdout,
      / {2}redirect_uri {2}Register the redirect URI https:\/\/other\.example\.com\/api-auth\/oidc\/company\/complete\/ for the client/,
    );
    files.write('client-secret', 'another-secret-that-is-just-as-long-as-the-first');
    const wrong = await program.run(['login-check', 'company', ...words]);
    assert.match(
      wrong.stdout,
      / {2}client {8}Check client_id and client_secret_file: the provider rejects the client \(/,
    );
    const unknown = await program.run(['login-check', 'other', ...words]);
    assert.equal(
      [unknown.stderr, unknown.code],
      ['tenantry: No identity provider of the settings has the name "other"\n', 1],
    );
    const disabled = await program.run(['login-check', ...wordsOf({ ...settings, base_url: base })]);
    assert.equal(
      [disabled.stdout, disabled.code],
      [
        'no identity providers\nauthentication_methods does not include OIDC, so its identity providers are not used\n',
        1,
      ],
    );
  } finally {
    await program.end();
    await provider.close();
    files.remove();
  }
});

check.run();
