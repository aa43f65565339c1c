/**
 * Attacks on logins by OpenID Connect (services.md 11.1), by a hostile provider, a hostile browser and a hostile third party.
 * Each must fail with the message of its cause, without a token and without a new user.
 */
import { createHmac, createPublicKey } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../src/kernel/db/sql.ts';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';
import { HandmadeFixture } from '../support/handmade-fixture.ts';
import { type HandmadeIssuer, type Keys, newKeys, type StartedLogin } from '../support/handmade-provider.ts';
import { failedLogin, tokenOf } from '../support/oidc-fixture.ts';
import { clientSecret } from '../support/openid-provider.ts';

const attack = suite('attacks on OpenID Connect logins');
const invalid = failedLogin('OpenID Connect response has errors. Please check the logs');
const unreachable = failedLogin('The identity provider cannot be reached.');
const noUser = failedLogin('OpenID Connect authentication failed.');

let rig: HandmadeFixture;
let one: HandmadeIssuer;
let two: HandmadeIssuer;
/** Providers without earlier logins, so that nothing of them is cached. */
const unused: HandmadeIssuer[] = [];
let foreign: Keys;

attack.before(async () => {
  foreign = await newKeys('foreign');
  const others = await newKeys('second');
  rig = await HandmadeFixture.start((provider) => {
    one = provider.issuer('one');
    two = provider.issuer('two', '/two', others);
    return [
      { name: 'one', issuer: one.url, link_by_verified_email: true },
      { name: 'two', issuer: two.url },
      ...Array.from({ length: 10 }, (_, i) => {
        const issuer = provider.issuer(`unused-${i}`);
        unused.push(issuer);
        return { name: `unused-${i}`, issuer: issuer.url };
      }),
    ];
  });
});
attack.after(() => rig?.close());
attack.before.each(() => {
  one.reset();
  two.reset();
  rig.reasons.length = 0;
  rig.provider.received.length = 0;
  // Exceeds the limits of rejected messages, and the lifetime of cached discovery documents and keys.
  rig.fixture.clock.advance(3700);
});

const counts = (): unknown =>
  rig.fixture.server.app.db.one(sql`
    SELECT (SELECT count(*) FROM user) AS users, (SELECT count(*) FROM token) AS tokens,
      (SELECT count(*) FROM user_identity) AS identities`);

/** Returns the name and issuer of a provider without cached data. */
const freshProvider = (): [string, HandmadeIssuer] => {
  const issuer = unused.pop() as HandmadeIssuer;
  return [`unused-${unused.length}`, issuer];
};

/** Declares an attack that returns where the service sends the browser. It must be a page with this message. */
function fails(title: string, message: string, reason: RegExp, run: () => Promise<string>): void {
  attack(title, async () => {
    const before = counts();
    assert.is(await run(), message);
    assert.equal(counts(), before);
    assert.match(rig.reasons.at(-1) ?? 'nothing was logged', reason);
  });
}

const mallory = { sub: 'mallory' };
/** Logs mallory in with a different ID token. */
const withToken = (idToken: HandmadeIssuer['idToken']) => (): Promise<string> => {
  one.idToken = idToken;
  return rig.logIn('one', mallory);
};
/** The same with changed claims. Undefined removes a claim. */
const withClaims = (changes: () => Json): (() => Promise<string>) =>
  withToken((claims) => one.sign({ ...claims, ...changes() }));
const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const hmac = (header: Json, claims: Json, secret: string | Buffer): string => {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const publicPem = (): string =>
  String(createPublicKey({ key: one.keys.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));
const start = (name = 'one', cookie?: string): Promise<StartedLogin> => rig.begin(name, cookie);
const received = (): string[] => rig.provider.received.map(({ path }) => path);

attack('an honest login of the handmade provider succeeds', async () => {
  tokenOf(await rig.logIn('one', { sub: 'honest' }));
});

// The browser.

for (const next of [
  '//evil.example',
  'https://evil.example/',
  '/\\evil.example',
  '\\/evil',
  '/a\r\nSet-Cookie: x=1',
  'javascript:alert(1)',
  `/${'a'.repeat(2000)}`,
  '/\t/evil.example',
])
  attack(`next cannot lead to ${JSON.stringify(next.slice(0, 30))}`, async () => {
    const response = await fetch(`${rig.fixture.url}/api-auth/oidc/one/login/?next=${encodeURIComponent(next)}`, {
      redirect: 'manual',
    });
    assert.equal([response.status, await response.json()], [400, { next: ['Enter a path.'] }]);
    assert.is(response.headers.get('set-cookie'), null);
  });

fails('a response without a state', invalid, /state/, async () => {
  const login = await start();
  return rig.finish(login, { state: '', code: one.code(login, mallory) });
});
fails('a response with a state that nobody started', invalid, /state/, async () => {
  const login = await start();
  return rig.finish(login, { state: 'x'.repeat(43), code: one.code(login, mallory) });
});
fails('login CSRF: the response to the login of an attacker in the browser of a victim', invalid, /state/, async () => {
  const [attacker, victim] = [await start(), await start()];
  return rig.finish(attacker, { code: one.code(attacker, mallory), cookie: victim.cookie });
});
fails('a response in a browser without a cookie', invalid, /state/, async () => {
  const login = await start();
  return rig.finish(login, { code: one.code(login, mallory), cookie: '' });
});
fails('a response eleven minutes after the login began', invalid, /state/, async () => {
  const login = await start();
  rig.fixture.clock.advance(11 * 60);
  return rig.finish(login, { code: one.code(login, mallory) });
});
attack('a response that was used, with its code and with a new one', async () => {
  const login = await start();
  tokenOf(await rig.finish(login, { code: one.code(login, { sub: 'replayed' }) }));
  const before = counts();
  for (const code of ['code-0', one.code(login, mallory)]) assert.is(await rig.finish(login, { code }), invalid);
  assert.equal(counts(), before);
});
attack('one response sent ten times at once logs in once', async () => {
  const login = await start();
  one.handlers.set('token', async (_incoming, outgoing) => {
    const id_token = await one.sign(one.usual({ nonce: login.nonce, sub: 'at-once' }));
    one.userInfo = { sub: 'at-once' };
    outgoing.writeHead(200, { 'Content-Type': 'application/json' });
    outgoing.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token }));
  });
  const ends = await Promise.all(Array.from({ length: 10 }, () => rig.finish(login, { code: 'any' })));
  assert.is(ends.filter((location) => location !== invalid).length, 1);
});
fails('a code of another login, which PKCE rejects', invalid, /invalid_grant/, async () => {
  const [attacker, victim] = [await start(), await start()];
  return rig.finish(victim, { code: one.code(attacker, mallory) });
});
fails('the same at a provider that ignores PKCE, which the nonce rejects', invalid, /nonce/, async () => {
  one.checksPkce = false;
  const [attacker, victim] = [await start(), await start()];
  return rig.finish(victim, { code: one.code(attacker, mallory) });
});
fails('a code that was exchanged before', invalid, /invalid_grant/, async () => {
  const first = await start();
  const code = one.code(first, { sub: 'honest' });
  await fetch(`${one.url}/token`, { method: 'POST', body: new URLSearchParams({ code, code_verifier: 'x' }) });
  return rig.finish(first, { code });
});
fails('an ID token in the address instead of a code', invalid, /./, async () => {
  const login = await start();
  const token = await one.sign(one.usual({ nonce: login.nonce, ...mallory }));
  return rig.finish(login, { query: `&id_token=${token}` });
});

// Two providers. Each may be hostile to users of the other.

fails('mix-up: a response to a login at another provider', invalid, /another provider/, async () => {
  const login = await start('one');
  return rig.finish(login, { provider: 'two', code: two.code(login, mallory) });
});
fails('mix-up: a response with the issuer of another provider', invalid, /iss/, async () => {
  const login = await start();
  return rig.finish(login, { code: one.code(login, mallory), query: `&iss=${encodeURIComponent(two.url)}` });
});
fails('a response without iss from a provider that always sends it', invalid, /iss/, async () => {
  one.document.authorization_response_iss_parameter_supported = true;
  const login = await start();
  return rig.finish(login, { code: one.code(login, mallory) });
});
fails(
  'an ID token of another provider',
  invalid,
  /./,
  withToken((claims) => two.sign({ ...claims, iss: two.url })),
);
fails(
  'an ID token in the name of another provider',
  invalid,
  /iss/,
  withClaims(() => ({ iss: two.url })),
);
attack('the subject of a user at another provider is another user', async () => {
  const first = await rig.userOf('one', { sub: 'shared' });
  const second = await rig.userOf('two', { sub: 'shared' });
  assert.is.not(first.uuid, second.uuid);
});
attack('another issuer under an old name of a provider gives access to no account', async () => {
  const user = await rig.userOf('one', { sub: 'moved' });
  const { db } = rig.fixture.server.app;
  db.write(() => db.run(sql`UPDATE user_identity SET issuer = 'https://old.example' WHERE subject = 'moved'`));
  assert.is.not((await rig.userOf('one', { sub: 'moved' })).uuid, user.uuid);
});

// Signatures of the ID token.

fails(
  'alg none',
  invalid,
  /alg/i,
  withToken((claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`),
);
fails(
  'alg nOnE with the kid of a key',
  invalid,
  /alg/i,
  withToken((claims) => `${encoded({ alg: 'nOnE', kid: 'first' })}.${encoded(claims)}.`),
);
fails('alg none although the provider announces it', invalid, /alg/i, async () => {
  one.document.id_token_signing_alg_values_supported = ['none', 'HS256'];
  return withToken((claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`)();
});
fails(
  'HS256 with the client secret',
  invalid,
  /alg/i,
  withToken((claims) => hmac({ alg: 'HS256' }, claims, clientSecret)),
);
fails(
  'HS256 with the public key as the secret',
  invalid,
  /alg/i,
  withToken((claims) => hmac({ alg: 'HS256', kid: 'first' }, claims, publicPem())),
);
fails('HS256 with a symmetric key in the JWK set', invalid, /alg/i, async () => {
  one.published.push({ kty: 'oct', kid: 'shared', k: Buffer.from('secret').toString('base64url'), alg: 'HS256' });
  return withToken((claims) => hmac({ alg: 'HS256', kid: 'shared' }, claims, 'secret'))();
});
fails(
  'a key in the header of the token',
  invalid,
  /./,
  withToken((claims) => one.sign(claims, { jwk: foreign.jwk, kid: 'foreign' }, foreign.privateKey)),
);
fails(
  'the same under the kid of the real key',
  invalid,
  /signature/,
  withToken((claims) => one.sign(claims, { jwk: foreign.jwk }, foreign.privateKey)),
);
fails('an address of keys in the header, which is not fetched', invalid, /./, async () => {
  const location = await withToken((claims) =>
    one.sign(claims, { jku: `${two.url}/keys`, kid: 'foreign' }, foreign.privateKey),
  )();
  assert.not.ok(received().includes('/two/keys'));
  return location;
});
fails(
  'a certificate in the header',
  invalid,
  /signature/,
  withToken((claims) => one.sign(claims, { x5c: ['MIIB'] }, foreign.privateKey)),
);
fails(
  'a foreign key without a kid',
  invalid,
  /signature/,
  withToken((claims) => one.sign(claims, { kid: undefined as never }, foreign.privateKey)),
);
fails(
  'an algorithm that is not accepted',
  invalid,
  /alg/i,
  withToken(async (claims) => {
    const keys = await newKeys('es384', 'ES384');
    one.published.push(keys.jwk);
    return one.sign(claims, { alg: 'ES384', kid: 'es384' }, keys.privateKey);
  }),
);
fails(
  'a key of the JWK set that is for encryption',
  invalid,
  /./,
  withToken((claims) => {
    one.published.push({ ...foreign.jwk, use: 'enc', alg: 'RSA-OAEP' });
    return one.sign(claims, { kid: 'foreign' }, foreign.privateKey);
  }),
);
fails(
  'a token without its signature',
  invalid,
  /signature/,
  withToken(async (claims) => (await one.sign(claims)).replace(/[^.]+$/, '')),
);
fails(
  'a changed token',
  invalid,
  /signature/,
  withToken(async (claims) => {
    const [header, , signature] = (await one.sign(claims)).split('.');
    return `${header}.${encoded({ ...claims, sub: 'admin' })}.${signature}`;
  }),
);
fails(
  'a critical header that is unknown',
  invalid,
  /crit/i,
  withToken((claims) => {
    const header = encoded({ alg: 'RS256', kid: 'first', crit: ['exp'], exp: 1 });
    return `${header}.${encoded(claims)}.c2ln`;
  }),
);
attack('keys are fetched again for an unknown kid at most once a minute', async () => {
  tokenOf(await rig.logIn('one', { sub: 'honest' }));
  rig.fixture.clock.advance(61);
  rig.provider.received.length = 0;
  one.idToken = (claims) => one.sign(claims, { kid: 'foreign' }, foreign.privateKey);
  for (let i = 0; i < 5; i++) assert.is(await rig.logIn('one', mallory), invalid);
  assert.is(received().filter((path) => path === '/one/keys').length, 1);
});
attack('a new key of the provider is accepted', async () => {
  tokenOf(await rig.logIn('one', { sub: 'honest' }));
  rig.fixture.clock.advance(61);
  one.published = [foreign.jwk];
  one.idToken = (claims) => one.sign(claims, { kid: 'foreign' }, foreign.privateKey);
  tokenOf(await rig.logIn('one', { sub: 'honest' }));
});

// Claims of the ID token.

fails(
  'the issuer with a slash more',
  invalid,
  /iss/,
  withClaims(() => ({ iss: `${one.url}/` })),
);
fails(
  'a token of another client',
  invalid,
  /aud/,
  withClaims(() => ({ aud: 'other' })),
);
fails(
  'a token of several clients without azp',
  invalid,
  /azp|aud|authorized party/i,
  withClaims(() => ({ aud: ['tenantry', 'other'] })),
);
fails(
  'a token that another client requested',
  invalid,
  /azp|aud|authorized party/i,
  withClaims(() => ({ aud: ['tenantry', 'other'], azp: 'other' })),
);
fails(
  'the azp of another client with one audience',
  invalid,
  /azp|aud|authorized party/i,
  withClaims(() => ({ azp: 'other' })),
);
attack('clocks that differ by 59 seconds are no attack', async () => {
  const changes: Json[] = [
    { iat: one.now() + 59, nbf: one.now() + 59 },
    { iat: one.now() - 300, exp: one.now() - 59 },
  ];
  for (const [i, change] of changes.entries()) {
    one.idToken = (claims) => one.sign({ ...claims, ...change });
    tokenOf(await rig.logIn('one', { sub: `skewed-${i}` }));
  }
});
fails(
  'a token that expired 61 seconds ago',
  invalid,
  /exp/,
  withClaims(() => ({ exp: one.now() - 61 })),
);
fails(
  'a token from the future',
  invalid,
  /future|iat/,
  withClaims(() => ({ iat: one.now() + 90 })),
);
fails(
  'a token that is not valid yet',
  invalid,
  /nbf/,
  withClaims(() => ({ nbf: one.now() + 90 })),
);
for (const name of ['exp', 'iat', 'sub', 'nonce', 'aud', 'iss'])
  fails(
    `a token without ${name}`,
    invalid,
    new RegExp(name),
    withClaims(() => ({ [name]: undefined })),
  );
fails('the nonce of another login', invalid, /nonce/, async () => {
  const other = await start();
  return withClaims(() => ({ nonce: other.nonce }))();
});
for (const sub of ['', 7, 'x'.repeat(300), ['mallory'], null])
  fails(
    `the subject ${JSON.stringify(sub).slice(0, 20)}`,
    invalid,
    /sub/,
    withClaims(() => ({ sub })),
  );

// Responses of the provider.

fails('userinfo of another subject', invalid, /sub/, async () => {
  one.userInfo = { sub: 'admin' };
  const login = await start();
  const code = one.code(login, mallory);
  one.handlers.set('userinfo', (_incoming, outgoing) =>
    outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('{"sub":"admin"}'),
  );
  return rig.finish(login, { code });
});
fails('userinfo that is no JSON', unreachable, /./, async () => {
  one.handlers.set('userinfo', (_incoming, outgoing) =>
    outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'),
  );
  return rig.logIn('one', mallory);
});
fails('no ID token', invalid, /./, async () => {
  one.handlers.set('token', (_incoming, outgoing) =>
    outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('{"access_token":"a","token_type":"Bearer"}'),
  );
  return rig.logIn('one', mallory);
});
for (const name of ['token', 'userinfo', 'keys', 'openid-configuration'])
  fails(`an oversized response of ${name}`, unreachable, /./, async () => {
    const [provider, issuer] = freshProvider();
    issuer.handlers.set(name, (_incoming, outgoing) => {
      outgoing.writeHead(200, { 'Content-Type': 'application/json' });
      outgoing.end(JSON.stringify({ padding: 'x'.repeat(1_100_000) }));
    });
    return name === 'openid-configuration' ? locationOfLogin(provider) : rig.logIn(provider, mallory);
  });
fails('a redirect of the token endpoint, which is not followed', unreachable, /./, async () => {
  one.handlers.set('token', (_incoming, outgoing) => outgoing.writeHead(307, { Location: `${two.url}/token` }).end());
  const location = await rig.logIn('one', mallory);
  assert.not.ok(received().some((path) => path.startsWith('/two/')));
  return location;
});
fails('a discovery document of another issuer', unreachable, /issuer/, () => {
  const [provider, issuer] = freshProvider();
  issuer.document.issuer = two.url;
  return locationOfLogin(provider);
});
fails(
  'a discovery document with the token endpoint of another private host',
  unreachable,
  /localhost|allowed/i,
  async () => {
    const [provider, issuer] = freshProvider();
    issuer.document.token_endpoint = issuer.document.token_endpoint.replace('127.0.0.1', 'localhost');
    return rig.logIn(provider, mallory);
  },
);
fails('a discovery document with keys in a file', unreachable, /jwks_uri/, () => {
  const [provider, issuer] = freshProvider();
  issuer.document.jwks_uri = 'file:///etc/passwd';
  return locationOfLogin(provider);
});
attack('a provider that does not respond holds up nobody else', async () => {
  const [provider, issuer] = freshProvider();
  const held: (() => void)[] = [];
  issuer.handlers.set('openid-configuration', (_incoming, outgoing) => {
    held.push(() => outgoing.writeHead(503).end());
  });
  const statuses: number[] = [];
  const slow = Array.from({ length: 70 }, async () => {
    const response = await fetch(`${rig.fixture.url}/api-auth/oidc/${provider}/login/`, { redirect: 'manual' });
    statuses.push(response.status);
  });
  await eventually('the last six logins are rejected', () => statuses.length === 6);
  tokenOf(await rig.logIn('two', { sub: 'honest' }));
  assert.is((await rig.fixture.staff.get('/api/users/?page_size=1')).status, 200);
  assert.equal(
    statuses,
    Array.from({ length: 6 }, () => 503),
  );
  issuer.handlers.set('openid-configuration', (_incoming, outgoing) => outgoing.writeHead(503).end());
  for (const release of held) release();
  await Promise.all(slow);
  assert.equal([statuses.length, statuses.filter((status) => status === 302).length], [70, 64]);
});

const locationOfLogin = async (name: string): Promise<string> =>
  (await fetch(`${rig.fixture.url}/api-auth/oidc/${name}/login/`, { redirect: 'manual' })).headers.get('location') ??
  '';

// Users.

const emailOf = (email: string): Json => ({
  sub: `as ${email}`,
  email,
  email_verified: true,
  preferred_username: 'thief',
});

attack('a username of the provider never leads into the account with that name', async () => {
  const user = await rig.userOf('one', {
    sub: 'thief',
    preferred_username: 'admin',
    is_staff: true,
    is_superuser: true,
  });
  assert.equal([user.username, user.is_staff, user.is_support], ['admin-2', false, false]);
});
attack(
  'an email address leads into an account only where both sides have verified it, and never into a powerful one',
  async () => {
    const { fixture } = rig;
    const { db } = fixture.server.app;
    const target = async (username: string, fields: Json = {}): Promise<Json> =>
      fixture.user(username, { email: `${username}@example.com`, ...fields });
    const known = await target('plain');
    const others = [
      await target('boss', { is_staff: true }),
      await target('helper', { is_support: true }),
      await target('idle', { is_active: false }),
      await target('unproven'),
      await target('guarded'),
    ];
    db.write(() => {
      db.run(sql`UPDATE user SET email_verified = 0 WHERE username = 'unproven'`);
      db.run(sql`INSERT INTO second_factor (uuid, user_id, kind, name, created)
      SELECT ${'f'.repeat(32)}, id, 'totp', 'phone', 0 FROM user WHERE username = 'guarded'`);
    });
    for (const claims of [false, 'true', 1, undefined].map((email_verified) => ({ email_verified })))
      assert.is.not(
        (await rig.userOf('one', { ...emailOf('plain@example.com'), sub: JSON.stringify(claims), ...claims })).uuid,
        known.uuid,
      );
    for (const { email, uuid } of others) assert.is.not((await rig.userOf('one', emailOf(email))).uuid, uuid, email);
    assert.is.not((await rig.userOf('two', emailOf('plain@example.com'))).uuid, known.uuid);
    assert.is((await rig.userOf('one', emailOf('plain@example.com'))).uuid, known.uuid);
  },
);
attack('the identity of an inactive user, or of a service account, logs nobody in', async () => {
  const { db } = rig.fixture.server.app;
  for (const [sub, change] of [
    ['leaver', sql`UPDATE user SET is_active = 0`],
    ['robot', sql`UPDATE user SET is_service_account = 1`],
  ] as const) {
    const { uuid } = await rig.userOf('one', { sub });
    db.write(() => db.run(sql`${change} WHERE uuid = ${uuid}`));
    const before = counts();
    assert.equal([await rig.logIn('one', { sub }), counts()], [noUser, before]);
    assert.is(rig.reasons.at(-1), 'its subject cannot log in');
  }
});

attack.run();
