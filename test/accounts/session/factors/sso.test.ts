/** core.md 2.11: with second_factor_for_sso, logins at identity providers require the second factor of their user. */
import { inflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, type Json } from '../../../support/fixture.ts';
import { OidcFixture, tokenOf } from '../../../support/oidc-fixture.ts';
import { Jar } from '../../../support/openid-provider.ts';
import { SamlFixture, tokenIn } from '../../../support/saml-fixture.ts';
import { type AuthenticatorApp, enrol } from '../../../support/second-factors.ts';

const test = suite('second factors of logins at identity providers');
const page = 'https://app.example.com/#/second-factor/';
const options = { second_factor_for_sso: true, login_second_factor_url: `${page}{token}/?next={next}` };
const alice = { accountId: 'alice', claims: { preferred_username: 'alice' } };
let oidc: OidcFixture;
let app: AuthenticatorApp;

test.before(async () => {
  oidc = await OidcFixture.start({}, options);
  // Without a factor, a login completes immediately.
  const session = new Client(oidc.fixture, tokenOf(await oidc.logIn(alice)));
  ({ app } = await enrol(oidc.fixture, session));
  oidc.fixture.events();
});
test.after(() => oidc?.close());

const pendingOf = (location: string): string => {
  const [, token] = /second-factor\/([0-9a-f]{40})\//.exec(location) ?? [];
  if (token === undefined) throw new Error(`no second factor: ${location}`);
  return token;
};
const present = (body: Json) => oidc.fixture.anonymous.post('/api-auth/second-factor/', body);
const types = (): string[] => oidc.fixture.events().map(({ type }) => type);

test('a login waits for the factor, which completes it with the method of the provider', async () => {
  const location = await oidc.logIn(alice, { query: `?next=${encodeURIComponent('/projects/')}` });
  assert.ok(location.startsWith(page), location);
  assert.ok(location.endsWith(`/?next=${encodeURIComponent('/projects/')}`), location);
  const token = pendingOf(location);
  assert.is((await new Client(oidc.fixture, token).get('/api/users/?current')).status, 401, 'it is no session');
  const shown = await oidc.fixture.anonymous.post('/api-auth/second-factor/options/', { token });
  assert.equal([shown.status, shown.body], [200, { second_factor: { token, methods: ['totp', 'recovery_code'] } }]);
  assert.equal(types(), []);
  assert.is((await present({ token, code: app.wrongCode() })).status, 401);
  assert.equal(types(), ['auth_login_failed_with_username']);
  oidc.fixture.clock.advance(60);
  const { body, status } = await present({ token, code: app.code() });
  assert.is(status, 200, JSON.stringify(body));
  assert.equal(types(), ['token_created']);
  const session = new Client(oidc.fixture, body.token);
  const current = (await session.get('/api/sessions/')).body.find(({ is_current: isCurrent }: Json) => isCurrent);
  assert.is(current.method, 'oidc');
  assert.is((await session.post('/api/second-factors/recovery-codes/')).status, 200, 'the session is confirmed');
  assert.equal((await present({ token, code: app.code() })).body, { detail: 'Log in again.' });
});

test('options of an unknown login are rejected', async () => {
  const { body, status } = await oidc.fixture.anonymous.post('/api-auth/second-factor/options/', { token: 'x' });
  assert.equal([status, body], [401, { detail: 'Log in again.' }]);
});

test('a logout at the provider ends its logins that wait for the factor', async () => {
  const [jar, other] = [new Jar(), new Jar()];
  const ended = pendingOf(await oidc.logIn(alice, { jar }));
  const kept = pendingOf(await oidc.logIn(alice, { jar: other }));
  await oidc.provider.logOut(jar);
  oidc.fixture.clock.advance(60);
  oidc.fixture.events();
  const login = await present({ token: ended, code: app.code() });
  assert.equal([login.status, login.body, types()], [401, { detail: 'Log in again.' }, []]);
  assert.is((await present({ token: kept, code: app.code() })).status, 200);
});

test('a login by SAML waits as well, also without logins by password', async () => {
  const saml = await SamlFixture.start({ ...options, authentication_methods: ['SAML2'] });
  try {
    const session = new Client(saml.fixture, tokenIn(await saml.logIn({ uid: 'bob' })));
    const { app: phone } = await enrol(saml.fixture, session);
    const location = await saml.logIn({ uid: 'bob' });
    assert.ok(location.startsWith(page), location);
    saml.fixture.clock.advance(60);
    const body = { token: pendingOf(location), code: phone.code() };
    const login = await saml.fixture.anonymous.post('/api-auth/second-factor/', body);
    assert.is(login.status, 200, JSON.stringify(login.body));
    const { body: sessions } = await new Client(saml.fixture, login.body.token).get('/api/sessions/');
    assert.is(sessions.find(({ is_current: isCurrent }: Json) => isCurrent).method, 'saml');
    // The provider ends a pending login.
    const token = pendingOf(await saml.logIn({ uid: 'bob' }));
    const logout = await fetch(`${saml.idp.url}/logout`, { redirect: 'manual' });
    const replies = await saml.browser.send('GET', logout.headers.get('location') ?? '');
    const reply = new URL(replies.headers.get('location') ?? '').searchParams.get('SAMLResponse') ?? '';
    assert.match(inflateRawSync(Buffer.from(reply, 'base64')).toString(), 'status:Success');
    saml.fixture.clock.advance(60);
    const late = await saml.fixture.anonymous.post('/api-auth/second-factor/', { token, code: phone.code() });
    assert.equal([late.status, late.body], [401, { detail: 'Log in again.' }]);
  } finally {
    await saml.close();
  }
});

test.run();
