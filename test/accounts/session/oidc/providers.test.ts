/** services.md 11.1: the file of OpenID Connect providers, and the signature algorithms of providers and the service. */
import { generateKeyPairSync } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readProviders } from '../../../../src/accounts/session/oidc/provider-file.ts';
import { loadConfig } from '../../../../src/app/settings.ts';
import { ConfigError } from '../../../../src/kernel/config/config.ts';
import type { Json } from '../../../support/fixture.ts';
import { HandmadeFixture } from '../../../support/handmade-fixture.ts';
import { type HandmadeIssuer, newKeys } from '../../../support/handmade-provider.ts';
import { OidcFixture, tokenOf } from '../../../support/oidc-fixture.ts';
import { Files } from '../../../support/saml-fixture.ts';

const test = suite('OpenID Connect providers');
const uuid = '0160c4a4d1407748bd8170e423ba17cd';
let files: Files;
let secret: string;

test.before(() => {
  files = new Files();
  secret = files.write('secret', 'a-client-secret');
});
test.after(() => files?.remove());

const minimal = (): Json => ({
  name: 'company',
  label: 'Example Company',
  issuer: 'https://id.example.com',
  client_id: 'tenantry',
  client_secret_file: secret,
});
const read = (content: unknown): ReturnType<typeof readProviders> => {
  const file = files.write('providers.json', typeof content === 'string' ? content : JSON.stringify(content));
  const input = {
    authentication_methods: ['OIDC'],
    oidc_providers_file: file,
    login_completed_url: 'https://app.example.com/#/login/{token}/{method}/',
    login_failed_url: 'https://app.example.com/failed',
  } as const;
  return readProviders(loadConfig({ input }));
};

test('a provider has defaults for everything but its name, label, issuer and client', () => {
  assert.equal(read([minimal()]), [
    {
      name: 'company',
      label: 'Example Company',
      issuer: 'https://id.example.com',
      clientId: 'tenantry',
      credential: 'a-client-secret',
      scopes: 'openid email profile',
      claims: { preferred_username: ['username'], name: ['full_name'], email: ['email'] },
      createUnknownUser: true,
      linkByVerifiedEmail: false,
      groupsClaim: 'groups',
      groupRules: [],
      groupRolesLast: 30 * 86_400_000_000,
      prompt: undefined,
      autoRedirect: false,
    },
  ]);
  const rules = [{ group: 'a', customer: uuid.toUpperCase(), role: 'owner' }];
  const [other] = read([{ ...minimal(), issuer: 'http://127.0.0.1:9/', group_roles_last: '', group_rules: rules }]);
  assert.equal([other?.groupRolesLast, other?.groupRules[0]?.grant], [null, { kind: 'customer', uuid, role: 'owner' }]);
});

const rule = (members: Json): Json => ({ group_rules: [{ group: 'a', ...members }] });
const grants = 'must have one of "staff": true, "support": true, customer and role, or project and role besides group';
for (const [title, change, message] of [
  ['an unknown member', { secret: 'x' }, 'has the unknown member "secret"'],
  ['no label', { label: undefined }, 'label is missing'],
  ['a blank label', { label: ' ' }, 'label must be a string'],
  ['no issuer', { issuer: undefined }, 'issuer is missing'],
  [
    'an issuer without TLS on another machine',
    { issuer: 'http://id.example.com' },
    'issuer must be an https URL (http only on this machine) without a query',
  ],
  ['no client_id', { client_id: undefined }, 'client_id is missing'],
  ['no secret', { client_secret_file: undefined }, 'needs either client_secret_file or private_key_file'],
  ['two ways to authenticate', { private_key_file: 'x' }, 'needs either client_secret_file or private_key_file'],
  ['scopes without openid', { scopes: 'email' }, 'scopes must contain openid'],
  [
    'a claim that fills a right',
    { claims: { admin: ['is_staff'] } },
    'claims must not fill "is_staff": the fields that can be filled are username, full_name, native_name, job_title, email, phone_number, organization, civil_number, description, preferred_language, competence',
  ],
  ['a flag that is a text', { create_unknown_user: 'yes' }, 'create_unknown_user must be true or false'],
  ['a rule without a grant', rule({}), `group_rules: rule 1 ${grants}`],
  ['a rule with two grants', rule({ staff: true, support: true }), `group_rules: rule 1 ${grants}`],
  ['a rule with staff false', rule({ staff: false }), `group_rules: rule 1 ${grants}`],
  [
    'a rule with the role of another place',
    rule({ project: uuid, role: 'owner' }),
    'group_rules: rule 1: role must be one of admin, manager, support',
  ],
  [
    'a rule with the name of a customer',
    rule({ customer: 'Acme', role: 'owner' }),
    'group_rules: rule 1: customer must be a uuid',
  ],
  ['roles that last for seconds', { group_roles_last: '10s' }, 'group_roles_last must be at least 1m'],
] as const)
  test(`rejects ${title} at the start, naming provider and member`, () => {
    assert.throws(
      () => read([{ ...minimal(), ...change }]),
      (error: Error) => {
        assert.instance(error, ConfigError);
        const file = `${files.folder}/providers.json`;
        assert.is(error.message, `TENANTRY_OIDC_PROVIDERS_FILE: ${file}: provider "company": ${message}`);
        return true;
      },
    );
  });

test('rejects files without a usable secret or key, naming the member and the file', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = (passphrase?: string): string =>
    String(
      privateKey.export({ type: 'pkcs8', format: 'pem', ...(passphrase && { cipher: 'aes-256-cbc', passphrase }) }),
    );
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  const p384 = String(other.export({ type: 'pkcs8', format: 'pem' }));
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['client_secret_file', undefined, "ENOENT: no such file or directory, open 'FILE'"],
    ['client_secret_file', ' \n', 'FILE is empty'],
    ['private_key_file', undefined, "ENOENT: no such file or directory, open 'FILE'"],
    ['private_key_file', 'secret', 'FILE must hold a private key in PEM without a passphrase'],
    ['private_key_file', pem('secret'), 'FILE must hold a private key in PEM without a passphrase'],
    ['private_key_file', p384, 'FILE must hold an RSA key of at least 2048 bits, a P-256 key or an Ed25519 key'],
  ];
  for (const [member, content, message] of cases) {
    const file = content === undefined ? `${files.folder}/missing` : files.write('credential', content);
    assert.throws(
      () => read([{ ...minimal(), client_secret_file: undefined, [member]: file }]),
      (error: Error) => error.message.endsWith(`provider "company": ${member}: ${message.replace('FILE', file)}`),
    );
  }
});

test('rejects a file that is no list, an invalid name and a repeated one', () => {
  const cases: [unknown, RegExp][] = [
    ['{', /providers\.json: .*JSON/],
    [{}, /must be a JSON list with at least one provider$/],
    [[], /must be a JSON list with at least one provider$/],
    [[7], /provider 1 must be a JSON object$/],
    [[{ ...minimal(), name: 'A b' }], /name must have at most 50 lower-case letters, digits and single hyphens$/],
    [[minimal(), minimal()], /has two providers with the name "company"$/],
  ];
  for (const [content, message] of cases)
    assert.throws(
      () => read(content),
      (error: Error) => message.test(error.message),
    );
});

test('authenticates to a real provider by a signed assertion instead of a secret', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = files.write('client.pem', String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  const oidc = await OidcFixture.start(
    { client_secret_file: undefined, private_key_file: key },
    {},
    {
      client_secret: undefined,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'client' }] },
    },
  );
  try {
    tokenOf(await oidc.logIn({ accountId: 'alice' }));
  } finally {
    await oidc.close();
  }
});

test('accepts ID tokens with each of the four algorithms', async () => {
  let one: HandmadeIssuer | undefined;
  const rig = await HandmadeFixture.start((provider) => {
    one = provider.issuer('one');
    return [{ name: 'one', issuer: one.url }];
  });
  try {
    const issuer = one as HandmadeIssuer;
    const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
    const keys = await Promise.all(algorithms.map((alg) => newKeys(alg, alg)));
    issuer.document.id_token_signing_alg_values_supported = algorithms;
    issuer.published = keys.map(({ jwk }) => jwk);
    for (const [i, alg] of algorithms.entries()) {
      issuer.idToken = (claims) => issuer.sign(claims, { alg, kid: alg }, keys[i]?.privateKey);
      tokenOf(await rig.logIn('one', { sub: alg }));
    }
  } finally {
    await rig.close();
  }
});

test.run();
