/** core.md 2.11: passkeys as a second factor, for confirmation, and as the only factor. */
import { request as httpRequest } from 'node:http';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { type Algorithm, Authenticator, cbor, enrolPasskey, type Faults } from '../../../support/passkeys.ts';
import { enrol } from '../../../support/second-factors.ts';
import { sentMails } from '../../../support/sent-mails.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const origin = 'https://cloud.example.com';
const { test, fixture } = suiteWithServer('passkeys', {
  base_url: origin,
  allowed_origins: [
    'https://app.cloud.example.com',
    'https://*.pages.cloud.example.com',
    'https://example.com',
    'https://evilcloud.example.com',
  ],
  product_name: 'Cloud',
  log_level: 'silent',
});
const password = 'correct-horse-7';
const paths = {
  factors: '/api/second-factors/',
  options: '/api/second-factors/passkeys/options/',
  add: '/api/second-factors/passkeys/',
  login: '/api-auth/passkey/',
  loginOptions: '/api-auth/passkey/options/',
  second: '/api-auth/second-factor/',
  confirm: '/api/sessions/confirm/',
  confirmOptions: '/api/sessions/confirm/options/',
};
const rejectedNew = [400, { credential: ['The passkey could not be verified.'] }];
const rejectedSecond = [401, { detail: 'Invalid second factor.' }];
const rejectedAlone = [401, { detail: 'Invalid passkey.' }];
const locked = 'Username is locked out. Try in 10 minutes.';
let count = 0;
let username: string;
let user: Json;

test.before(() => fixture.clock.hold());
test.before.each(async () => {
  count += 1;
  username = `user${count}`;
  // Skip the rate limits that the last test used up.
  fixture.clock.advance(7200);
  user = await fixture.user(username, { email: `${username}@example.com`, full_name: 'Alice Adams' });
  await fixture.staff.post(`${user.url}password/`, { password });
  fixture.events();
});

type Reply = Promise<[status: number, body: Json]>;
const replyOf = async (response: Promise<{ readonly status: number; readonly body: Json }>): Reply => {
  const { body, status } = await response;
  return [status, body];
};
const logIn = () => fixture.anonymous.post('/api-auth/password/', { username, password });
const session = async (): Promise<Client> => new Client(fixture, (await logIn()).body.token);
const challenge = async (): Promise<Json> => (await logIn()).body.second_factor;
const present = (token: string, passkey: Json): Reply =>
  replyOf(fixture.anonymous.post(paths.second, { token, passkey }));
const alone = (credential: Json): Reply => replyOf(fixture.anonymous.post(paths.login, { credential }));
const loginOptions = async (): Promise<Json> => (await fixture.anonymous.post(paths.loginOptions)).body;
const types = (): string[] => fixture.events().map(({ type }) => type);

/** An authenticator with a passkey of the test's user, and the session that added it. */
async function enrolled(
  algorithm?: Algorithm,
): Promise<{ authenticator: Authenticator; client: Client; factor: Json }> {
  const authenticator = new Authenticator(origin, algorithm);
  const client = await session();
  const factor = await enrolPasskey(client, authenticator, 'Laptop');
  fixture.events();
  return { authenticator, client, factor };
}

test('returns the options of a new passkey', async () => {
  const client = await session();
  const { body, headers, status } = await client.post(paths.options);
  assert.is(status, 200);
  assert.is(headers.get('cache-control'), 'no-store');
  assert.match(body.challenge, /^[\w-]{43}$/);
  const algorithms = [-7, -8, -257].map((alg) => ({ type: 'public-key', alg }));
  assert.equal(body, {
    rp: { id: 'cloud.example.com', name: 'Cloud' },
    user: { id: Buffer.from(user.uuid, 'hex').toString('base64url'), name: username, displayName: 'Alice Adams' },
    challenge: body.challenge,
    pubKeyCredParams: algorithms,
    timeout: 300_000,
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    attestation: 'none',
  });
});

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
  test(`adds a passkey with ${algorithm}, and accepts it after the password, for a confirmation and alone`, async () => {
    const client = await session();
    const authenticator = new Authenticator(origin, algorithm);
    fixture.events();
    const factor = await enrolPasskey(client, authenticator, 'Laptop');
    const { recovery_codes: codes, ...shown } = factor;
    assert.is(codes.length, 10);
    assert.equal(shown, {
      url: `${origin}/api/second-factors/${factor.uuid}/`,
      uuid: factor.uuid,
      kind: 'passkey',
      name: 'Laptop',
      created: factor.created,
      last_used: null,
    });
    assert.equal((await client.get(paths.factors)).body, [shown]);
    const credentials = [{ type: 'public-key', id: authenticator.id.toString('base64url'), transports: ['internal'] }];
    assert.equal((await client.post(paths.options)).body.excludeCredentials, credentials);
    assert.equal(types(), []);

    const { token, methods, passkey_options: options } = await challenge();
    assert.equal(methods, ['passkey', 'recovery_code']);
    assert.equal(options, {
      challenge: options.challenge,
      timeout: 300_000,
      rpId: 'cloud.example.com',
      allowCredentials: credentials,
      userVerification: 'preferred',
    });
    const [status, body] = await present(token, authenticator.get(options, { isVerified: false, userHandle: null }));
    assert.is(status, 200);
    assert.equal(types(), ['token_created', 'auth_logged_in_with_username']);
    const own = new Client(fixture, body.token);
    assert.is((await own.get('/api/sessions/')).body[0].method, 'password');
    assert.is((await own.get(paths.factors)).body[0].last_used, (await own.get('/api/sessions/')).body[0].created);

    fixture.clock.advance(901);
    assert.equal(await replyOf(own.post(paths.options)), [
      403,
      { detail: 'Confirm your identity first.', methods: ['passkey', 'recovery_code'] },
    ]);
    const confirming = await own.post(paths.confirmOptions);
    assert.equal(confirming.body, { ...options, challenge: confirming.body.challenge });
    const confirmed = await own.post(paths.confirm, { passkey: authenticator.get(confirming.body) });
    assert.equal([confirmed.status, Object.keys(confirmed.body)], [200, ['confirmed_until']]);
    assert.is((await own.post(paths.options)).status, 200);

    const open = await loginOptions();
    assert.equal(open, { ...options, challenge: open.challenge, allowCredentials: [], userVerification: 'required' });
    fixture.events();
    const [aloneStatus, { token: aloneToken }] = await alone(authenticator.get(open));
    assert.is(aloneStatus, 200);
    assert.equal(
      fixture.events().map(({ type, context }) => [type, context.user_username]),
      [
        ['token_created', username],
        ['auth_logged_in_with_username', username],
      ],
    );
    const third = new Client(fixture, aloneToken);
    const [one] = (await third.get('/api/sessions/')).body;
    assert.equal([one.method, one.is_current], ['passkey', true]);
    assert.is((await third.post(paths.options)).status, 200, 'the session is confirmed');
  });

test('rejects responses with any difference, and invalidates the challenge', async () => {
  const client = await session();
  const faults: Readonly<Record<string, Faults>> = {
    type: { type: 'webauthn.get' },
    challenge: { challenge: 'A'.repeat(43) },
    'another origin': { origin: 'https://evil.example.com' },
    'an allowed origin above the domain': { origin: 'https://example.com' },
    'an allowed origin beside the domain': { origin: 'https://evilcloud.example.com' },
    'a pattern of allowed origins': { origin: 'https://x.pages.cloud.example.com' },
    'a page inside another': { crossOrigin: true },
    'another domain': { rpId: 'example.com' },
    presence: { isPresent: false },
    'an attestation with certificates': { attestation: 'tpm' },
    'an attestation by another key': { attestation: 'forged' },
  };
  for (const [name, fault] of Object.entries(faults)) {
    const authenticator = new Authenticator(origin);
    const { body } = await client.post(paths.options);
    const bad = authenticator.create(body, fault);
    assert.equal(await replyOf(client.post(paths.add, { credential: bad })), rejectedNew, name);
    if (name === 'challenge' || name === 'a page inside another') continue;
    const good = authenticator.create(body);
    assert.equal(await replyOf(client.post(paths.add, { credential: good })), rejectedNew, `${name}: used up`);
  }
  assert.equal((await client.get(paths.factors)).body, []);
});

test('accepts pages of allowed origins below the domain, self-attestation, extensions, and no verification', async () => {
  const client = await session();
  const accepted: readonly Faults[] = [
    { origin: 'https://app.cloud.example.com' },
    { attestation: 'packed' },
    { extensions: new Map([['credProtect', 2]]) },
    { isVerified: false },
  ];
  for (const [index, variant] of accepted.entries()) {
    const { body } = await client.post(paths.options);
    const credential = new Authenticator(origin, index === 1 ? 'EdDSA' : 'ES256').create(body, variant);
    const response = await client.post(paths.add, { credential });
    assert.equal([response.status, response.body.name], [201, 'Passkey'], JSON.stringify(variant));
  }
});

test('rejects malformed credentials', async () => {
  const client = await session();
  const { body: options } = await client.post(paths.options);
  const good = new Authenticator(origin).create(options);
  const dictionary = (kind: string) => ({ credential: [`Invalid data. Expected a dictionary, but got ${kind}.`] });
  const bodies: readonly (readonly [unknown, unknown])[] = [
    [{}, { credential: ['This field is required.'] }],
    [{ credential: null }, { credential: ['This field may not be null.'] }],
    [{ credential: 'x' }, dictionary('str')],
    [{ credential: [good] }, dictionary('list')],
    [{ credential: good, name: 'x'.repeat(151) }, { name: ['Ensure this field has no more than 150 characters.'] }],
    [{ credential: {} }, rejectedNew[1]],
    [{ credential: { ...good, response: null } }, rejectedNew[1]],
    [{ credential: { ...good, response: { clientDataJSON: 'bnVsbA' } } }, rejectedNew[1]],
  ];
  for (const [body, expected] of bodies) assert.equal(await replyOf(client.post(paths.add, body)), [400, expected]);
  const broken: readonly Json[] = [
    { ...good, id: 'other' },
    { ...good, id: 'AAAA', rawId: 'AAAA' },
    { ...good, type: 'password' },
    { ...good, response: { ...good.response, attestationObject: 'AAAA' } },
    // Deeply nested arrays.
    { ...good, response: { ...good.response, attestationObject: Buffer.alloc(20_000, 0x81).toString('base64url') } },
    { ...good, response: { ...good.response, attestationObject: cbor('x'.repeat(30)).toString('base64url') } },
    { ...good, response: { ...good.response, transports: ['<script>'] } },
  ];
  for (const credential of broken) {
    const { body } = await client.post(paths.options);
    const { challenge: fresh } = body;
    const { response } = new Authenticator(origin).create({ ...options, challenge: fresh });
    const data = { ...credential, response: { ...credential.response, clientDataJSON: response.clientDataJSON } };
    assert.equal(await replyOf(client.post(paths.add, { credential: data })), rejectedNew);
  }
  for (const passkey of [{}, good, { ...good, response: { ...good.response, clientDataJSON: 7 } }])
    assert.equal(await alone(passkey), rejectedAlone);
  assert.equal(await replyOf(fixture.anonymous.post(paths.login, {})), [
    400,
    { credential: ['This field is required.'] },
  ]);
});

test('a challenge works for five minutes, for its session and its purpose, until a newer one', async () => {
  const client = await session();
  const attempt = (options: Json, from = client): Reply =>
    replyOf(from.post(paths.add, { credential: new Authenticator(origin).create(options) }));
  const options = async (): Promise<Json> => (await client.post(paths.options)).body;
  assert.equal(await attempt(await options(), await session()), rejectedNew);
  const replaced = await options();
  const late = await options();
  assert.equal(await attempt(replaced), rejectedNew);
  fixture.clock.advance(300);
  assert.equal(await attempt(late), rejectedNew);
  const soon = await options();
  fixture.clock.advance(299);
  assert.is((await attempt(soon))[0], 201);
  const { authenticator } = await addAnother(client);
  const forLogin = await loginOptions();
  assert.equal(await replyOf(client.post(paths.confirm, { passkey: authenticator.get(forLogin) })), [
    400,
    { passkey: ['Wrong code.'] },
  ]);
  const confirming = (await client.post(paths.confirmOptions)).body;
  assert.equal(await alone(authenticator.get(confirming)), rejectedAlone);
  const old = await loginOptions();
  fixture.clock.advance(300);
  assert.equal(await alone(authenticator.get(old)), rejectedAlone);
  const once = authenticator.get(await loginOptions());
  assert.is((await alone(once))[0], 200);
  assert.equal(await alone(once), rejectedAlone);
});

/** Adds another passkey to the user, in a confirmed session. */
async function addAnother(client: Client): Promise<{ authenticator: Authenticator }> {
  const authenticator = new Authenticator(origin);
  await enrolPasskey(client, authenticator);
  return { authenticator };
}

test('rejects a credential that any user has, and an eleventh factor', async () => {
  const { authenticator, client } = await enrolled();
  await fixture.user('other');
  const other = fixture.as('other');
  for (const from of [client, other]) {
    const { body } = await from.post(paths.options);
    assert.equal(await replyOf(from.post(paths.add, { credential: authenticator.create(body) })), rejectedNew);
  }
  for (let index = 1; index < 10; index++) await addAnother(client);
  const full = [409, { detail: 'You already have 10 second factors.' }];
  assert.equal(await replyOf(client.post(paths.options)), full);
});

test('a passkey with a wrong response counts as a failure, and its login accepts further attempts', async () => {
  const { authenticator } = await enrolled();
  const { token, passkey_options: options } = await challenge();
  const wrong: readonly Faults[] = [{ isSignatureWrong: true }, { origin: 'https://evil.example.com' }];
  for (const faults of wrong) assert.equal(await present(token, authenticator.get(options, faults)), rejectedSecond);
  assert.equal(types(), ['auth_login_failed_with_username', 'auth_login_failed_with_username']);
  const other = await challenge();
  assert.equal(await present(token, authenticator.get(other.passkey_options)), rejectedSecond, 'of another login');
  assert.is((await present(token, authenticator.get(options)))[0], 200);
  assert.equal(await present(token, authenticator.get(options)), [401, { detail: 'Log in again.' }]);
});

test('counts wrong factors of all kinds together for each login, whatever the clock does', async () => {
  const { authenticator, client, factor } = await enrolled();
  const { app } = await enrol(fixture, client);
  fixture.clock.advance(60);
  const [login, other] = [await challenge(), await challenge()];
  const second = (values: Json, { token } = login): Reply =>
    replyOf(fixture.anonymous.post(paths.second, { token, ...values }));
  const passkey = (faults?: Faults): Json => ({ passkey: authenticator.get(login.passkey_options, faults) });
  assert.equal(await second(passkey({ isSignatureWrong: true })), rejectedSecond);
  assert.equal(await second({ code: app.wrongCode() }), rejectedSecond);
  fixture.clock.advance(-30);
  assert.equal(await second({ recovery_code: 'aaaaa-aaaaa' }), rejectedSecond);
  // Clears the failures of the username, which would lock it before the fifth attempt.
  assert.is((await alone(authenticator.get(await loginOptions())))[0], 200);
  const options = await fixture.anonymous.post(`${paths.second}options/`, { token: login.token });
  assert.is(options.status, 200);
  const wrong = [{ code: app.wrongCode() }, passkey({ isSignatureWrong: true })];
  const again = [401, { detail: 'Log in again.' }];
  assert.equal(
    (await Promise.all([...wrong, ...wrong].map((values) => second(values)))).map(([, { detail }]) => detail).sort(),
    ['Invalid second factor.', 'Invalid second factor.', 'Log in again.', 'Log in again.'],
  );
  for (const right of [passkey(), { code: app.code() }, { recovery_code: factor.recovery_codes[0] }])
    assert.equal(await second(right), again);
  assert.equal(await replyOf(fixture.anonymous.post(`${paths.second}options/`, { token: login.token })), again);
  assert.is((await second({ recovery_code: factor.recovery_codes[0] }, other))[0], 200, 'another login');
});

test('four wrong passkeys lock the username, and ten lock codes but not passkeys', async () => {
  const { authenticator, client } = await enrolled();
  const { app } = await enrol(fixture, client);
  const fail = async (): Promise<unknown> => {
    const { token, passkey_options: options } = await challenge();
    return (await present(token, authenticator.get(options, { isSignatureWrong: true })))[1];
  };
  for (let index = 0; index < 4; index++) assert.equal(await fail(), rejectedSecond[1]);
  assert.equal((await logIn()).body, { detail: locked });
  const { body } = await client.post(paths.confirmOptions);
  assert.equal((await client.post(paths.confirm, { passkey: authenticator.get(body) })).body, { passkey: [locked] });
  assert.is((await alone(authenticator.get(await loginOptions())))[0], 200, 'alone it is no guess');
  for (let index = 4; index < 10; index++) {
    fixture.clock.advance(index === 4 ? 601 : 0);
    assert.equal(await fail(), rejectedSecond[1]);
    if (index < 9) await present((await challenge()).token, authenticator.get((await challenge()).passkey_options));
    const { token, passkey_options: options } = await challenge();
    if (index < 9) assert.is((await present(token, authenticator.get(options)))[0], 200);
  }
  const { token, passkey_options: options } = await challenge();
  const code = await fixture.anonymous.post(paths.second, { token, code: app.code(1) });
  assert.equal([code.status, code.body], [401, { detail: locked }]);
  assert.is((await present(token, authenticator.get(options)))[0], 200);
  assert.ok((await sentMails(fixture)).some(({ subject }) => subject === 'Codes for Cloud are locked for an hour'));
});

test('rejects a counter that does not increase, and accepts one that is always zero', async () => {
  const { authenticator } = await enrolled();
  const attempt = async (counter: number): Promise<unknown> =>
    (await alone(authenticator.get(await loginOptions(), { counter })))[0];
  assert.is(await attempt(0), 200);
  assert.is(await attempt(0), 200);
  assert.is(await attempt(7), 200);
  fixture.events();
  for (const counter of [7, 6, 0]) assert.is(await attempt(counter), 401);
  assert.equal(
    types(),
    Array.from({ length: 3 }, () => 'auth_login_failed_with_username'),
  );
  assert.is(await attempt(8), 200);
});

test('a login with a passkey alone requires user verification, the owner, and an active user', async () => {
  const { authenticator } = await enrolled();
  await enrol(fixture, await fixtureSession(authenticator));
  const other = await fixture.user('stranger');
  const handle = Buffer.from(other.uuid, 'hex').toString('base64url');
  const faults: readonly Faults[] = [
    { isVerified: false },
    { isPresent: false },
    { isSignatureWrong: true },
    { userHandle: null },
    { userHandle: handle },
    { rpId: 'example.com' },
    { type: 'webauthn.create' },
  ];
  fixture.events();
  for (const fault of faults) assert.equal(await alone(authenticator.get(await loginOptions(), fault)), rejectedAlone);
  assert.equal(
    types(),
    Array.from(faults, () => 'auth_login_failed_with_username'),
  );
  assert.is((await logIn()).status, 401, 'the username is not locked');
  assert.is((await logIn()).body.detail, 'A second factor is required.');
  await fixture.staff.patch(user.url, { is_active: false });
  const response = await fixture.anonymous.post(paths.login, { credential: authenticator.get(await loginOptions()) });
  assert.equal([response.status, response.body], rejectedAlone);
  assert.is(response.headers.get('www-authenticate'), 'Token');
});

/** The session of a login with only a passkey. */
const fixtureSession = async (authenticator: Authenticator): Promise<Client> =>
  new Client(fixture, (await alone(authenticator.get(await loginOptions())))[1].token);

test('limits challenges for logins to 60 a minute and prefix', async () => {
  for (let index = 0; index < 60; index++) assert.is((await fixture.anonymous.post(paths.loginOptions)).status, 200);
  const { body, headers, status } = await fixture.anonymous.post(paths.loginOptions);
  assert.equal([status, body], [429, { detail: 'Too many logins. Try again later.' }]);
  assert.is(headers.get('retry-after'), '60');
  fixture.clock.advance(60);
  assert.is((await fixture.anonymous.post(paths.loginOptions)).status, 200);
});

test('removed passkeys stop working, and recovery codes replace a lost authenticator', async () => {
  const { authenticator, client, factor } = await enrolled();
  const [code] = factor.recovery_codes;
  const { body } = await fixture.anonymous.post(paths.second, {
    token: (await challenge()).token,
    recovery_code: code,
  });
  const own = new Client(fixture, body.token);
  const pending = await challenge();
  assert.is((await own.delete(factor.url)).status, 204);
  assert.equal(await present(pending.token, authenticator.get(pending.passkey_options)), [
    401,
    { detail: 'Log in again.' },
  ]);
  assert.equal(await alone(authenticator.get(await loginOptions())), rejectedAlone);
  assert.is((await logIn()).status, 200);
  assert.equal(await replyOf(client.post(paths.confirmOptions)), [409, { detail: 'You have no passkeys.' }]);
  assert.equal(
    (await sentMails(fixture)).filter(({ text }) => text?.includes(`user ${username} `)).map(({ subject }) => subject),
    [
      'A second factor for Cloud has been added',
      'A recovery code for Cloud has been used',
      'A second factor for Cloud has been removed',
    ],
  );
});

test('offers each kind of factor that the user has, and requires exactly one', async () => {
  const { authenticator, client } = await enrolled();
  const { app } = await enrol(fixture, client);
  const { methods, passkey_options: options, token } = await challenge();
  assert.equal(methods, ['totp', 'passkey', 'recovery_code']);
  const passkey = authenticator.get(options);
  for (const body of [{ token }, { token, passkey, code: app.code(1) }])
    assert.equal(await replyOf(fixture.anonymous.post(paths.second, body)), [
      400,
      { non_field_errors: ['Exactly one of code, recovery_code and passkey is required.'] },
    ]);
  assert.equal(await replyOf(client.post(paths.confirm, { passkey, password })), [
    400,
    { non_field_errors: ['Exactly one of password, code, recovery_code and passkey is required.'] },
  ]);
  assert.equal(await replyOf(client.post(paths.confirm, { password })), [
    400,
    { password: ['Confirm with a second factor.'] },
  ]);
});

test('records additions and logins in the audit trail, without credentials', async () => {
  const { authenticator, factor } = await enrolled();
  await alone(authenticator.get(await loginOptions()));
  await alone(authenticator.get(await loginOptions(), { isVerified: false }));
  const { body } = await fixture.staff.get(
    '/api/audit/?operation=passkeyLogin&operation=secondFactorPasskeys&page_size=3',
  );
  assert.equal(
    body.map((record: Json) => [record.operation, record.status, record.via?.kind, record.private.changes]),
    [
      ['passkeyLogin', 401, undefined, []],
      ['passkeyLogin', 200, 'passkey', [{ field: 'credential', from: null, to: '***' }]],
      [
        'secondFactorPasskeys',
        201,
        'session',
        [
          { field: 'name', from: null, to: factor.name },
          { field: 'credential', from: null, to: '***' },
        ],
      ],
    ],
  );
});

test('stores no challenge in plain text, and removes expired ones', async () => {
  const client = await session();
  const { body } = await client.post(paths.options);
  const { db } = fixture.server.app;
  const rows = (): number => db.scalar(sql`SELECT count(*) FROM passkey_challenge WHERE token_id IS NOT NULL`);
  const stored = db.values<Uint8Array>(sql`SELECT digest FROM passkey_challenge`);
  assert.not.ok(stored.some((digest) => Buffer.from(digest).toString('base64url') === body.challenge));
  assert.is(rows() > 0, true);
  await fixture.advance(3700);
  assert.is(rows(), 0);
});

/** Sends a POST to a server under a name that differs from its address. */
const postAs = (host: string, path: string, body: unknown, token?: string): Reply =>
  new Promise((resolve, reject) => {
    const { port } = new URL(fixture.url);
    const headers = {
      Host: host.replace('{port}', port),
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Token ${token}` }),
    };
    httpRequest({ port, host: '127.0.0.1', path, method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text)]));
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });

test('without base_url, only a service at localhost has passkeys', async () => {
  await fixture.open({ allowed_origins: ['http://app.localhost:5173'] });
  fixture.clock.hold();
  user = await fixture.user(username);
  await fixture.staff.post(`${user.url}password/`, { password });
  const { token } = (await logIn()).body;
  const needed = [400, { detail: 'Passkeys need the setting base_url unless the service is addressed as localhost.' }];
  for (const host of ['127.0.0.1:{port}', 'cloud.example.com', 'app.localhost:{port}', '[::1]:{port}']) {
    assert.equal(await postAs(host, paths.options, {}, token), needed, host);
    assert.equal(await postAs(host, paths.loginOptions, {}), needed, host);
    assert.equal(await postAs(host, paths.login, { credential: {} }), needed, host);
    assert.equal(await postAs(host, paths.confirm, { passkey: {} }, token), needed, host);
  }
  const local = 'localhost:{port}';
  const [, options] = await postAs(local, paths.options, {}, token);
  assert.is(options.rp.id, 'localhost');
  const authenticator = new Authenticator(`http://localhost:${new URL(fixture.url).port}`);
  const [status] = await postAs(local, paths.add, { credential: authenticator.create(options) }, token);
  assert.is(status, 201);
  const log = async (host: string): Promise<Json> =>
    (await postAs(host, '/api-auth/password/', { username, password }))[1].second_factor;
  const elsewhere = await log('127.0.0.1:{port}');
  assert.equal([elsewhere.methods, 'passkey_options' in elsewhere], [['recovery_code'], false]);
  const { token: pending, passkey_options: asked } = await log(local);
  assert.equal(await postAs('127.0.0.1:{port}', paths.second, { token: pending, passkey: {} }), needed);
  const passkey = authenticator.get(asked, { origin: 'http://app.localhost:5173' });
  assert.is((await postAs(local, paths.second, { token: pending, passkey }))[0], 200);
});

test('passkey_rp_id moves passkeys to a domain above base_url, whose pages share them', async () => {
  await fixture.open({
    base_url: 'https://cloud.example.com/tenantry',
    passkey_rp_id: 'example.com',
    allowed_origins: ['https://app.example.com', 'https://example.org'],
  });
  fixture.clock.hold();
  user = await fixture.user(username);
  const client = fixture.as(username);
  const authenticator = new Authenticator(origin);
  await enrolPasskey(client, authenticator);
  const options = await loginOptions();
  assert.is(options.rpId, 'example.com');
  assert.is((await alone(authenticator.get(options, { origin: 'https://app.example.com' })))[0], 200);
  assert.is((await alone(authenticator.get(await loginOptions(), { origin: 'https://example.org' })))[0], 401);
  for (const [base_url, passkey_rp_id] of [
    ['https://cloud.example.com', 'cloud.example.org'],
    ['https://cloud.example.com', 'a.cloud.example.com'],
    ['https://cloud.example.com', 'Example.com'],
    ['https://cloud.example.com', 'https://example.com'],
    ['https://10.0.0.1', '0.0.1'],
    [null, 'example.com'],
  ] as const)
    try {
      await fixture.open({ ...(base_url !== null && { base_url }), passkey_rp_id });
      assert.unreachable(passkey_rp_id);
    } catch (error) {
      assert.match(String(error), 'must be the host of base_url or a domain above it, in lower case');
    }
  await fixture.open({ base_url: 'https://10.0.0.1' });
  await fixture.user(username);
  assert.equal(await replyOf(fixture.as(username).post(paths.options)), [
    400,
    { detail: 'Passkeys need a domain name in the setting base_url.' },
  ]);
});

test('without LOCAL_SIGNIN no passkey logs in', async () => {
  await fixture.open({ base_url: origin, authentication_methods: [] });
  for (const path of [paths.loginOptions, paths.login]) {
    const { body, status } = await fixture.anonymous.post(path, { credential: {} });
    assert.is(status, 401);
    assert.match(body.detail, /^Authentication method is disabled\./);
  }
});

test.run();
