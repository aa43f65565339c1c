/** services.md 11.1: logout at a real OpenID Connect provider, started by either side. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, type Json } from '../../../support/fixture.ts';
import { OidcFixture, tokenOf } from '../../../support/oidc-fixture.ts';
import { Jar } from '../../../support/openid-provider.ts';

const logout = suite('OpenID Connect logout');
let oidc: OidcFixture;

logout.before(async () => {
  oidc = await OidcFixture.start();
});
logout.after(() => oidc?.close());
logout.before.each(() => void oidc.fixture.events());

const isLive = async (token: string): Promise<boolean> =>
  (await new Client(oidc.fixture, token).get('/api/users/?current')).status === 200;
const address = (): string => `${oidc.url}/api-auth/oidc/company/logout/`;

logout('ends the session of the browser, and sends it to the provider with the ID token', async () => {
  const [jar, other] = [new Jar(), new Jar()];
  const token = tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar }));
  const elsewhere = tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar: other }));
  oidc.fixture.events();
  const response = await jar.get(address());
  const url = new URL(response.headers.get('location') ?? '');
  assert.equal([response.status, response.headers.get('cache-control')], [302, 'no-store']);
  assert.equal([url.origin, url.pathname], [oidc.provider.issuer, '/session/end']);
  const { id_token_hint: hint, ...rest } = Object.fromEntries(url.searchParams) as Json;
  assert.equal(rest, { client_id: 'tenantry', post_logout_redirect_uri: 'https://app.example.com/logged-out' });
  assert.is(JSON.parse(Buffer.from(hint.split('.')[1], 'base64url').toString()).sub, 'alice');
  assert.equal(await Promise.all([token, elsewhere].map(isLive)), [false, true]);
  assert.equal(
    oidc.fixture.events().map(({ context, type }) => [type, context.user_username]),
    [['auth_logged_out', 'alice']],
  );
  assert.is((await jar.get(url.href)).status, 200);
});

logout('a browser without a session gets the message of SAML', async () => {
  const failed = `https://app.example.com/logout-failed?from=oidc&message=${encodeURIComponent('You are not logged in any IdP/AA.')}`;
  const jar = new Jar();
  assert.is((await jar.get(address())).headers.get('location'), failed);
  tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar }));
  assert.is((await jar.get(address())).headers.get('location')?.startsWith(oidc.provider.issuer), true);
  assert.is((await jar.get(address())).headers.get('location'), failed);
});

logout('with `revoked`, finds the session whose token the client has just revoked, once', async () => {
  const jar = new Jar();
  const revoke = async (): Promise<void> => {
    // The provider asks the user to log in again.
    jar.forget(oidc.provider.issuer);
    const client = new Client(oidc.fixture, tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar })));
    assert.is((await client.post('/api-auth/logout/')).status, 204);
    oidc.fixture.events();
  };
  const location = async (query = '?revoked'): Promise<string> =>
    (await jar.get(address() + query)).headers.get('location') ?? '';
  const other = tokenOf(await oidc.logIn({ accountId: 'bob' }, { jar }));
  await revoke();
  const hint = new URL(await location()).searchParams.get('id_token_hint') ?? '';
  assert.is(JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString()).sub, 'alice');
  assert.equal([await isLive(other), oidc.fixture.events()], [true, []]);
  assert.ok((await location('')).startsWith(oidc.provider.issuer), 'without it, the valid session');
  assert.is(await isLive(other), false);
  assert.is(await location(), 'https://app.example.com/logged-out', 'nothing is left to end');
  await revoke();
  assert.ok((await location('')).startsWith('https://app.example.com/logout-failed'));
  oidc.fixture.clock.advance(60);
  assert.is(await location(), 'https://app.example.com/logged-out', 'a minute later');
});

logout('a logout at the provider ends the session here by the back channel', async () => {
  const jar = new Jar();
  const token = tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar }));
  const other = tokenOf(await oidc.logIn({ accountId: 'alice' }, { jar: new Jar() }));
  assert.ok(await isLive(token));
  await oidc.provider.logOut(jar);
  assert.equal(oidc.reasons, []);
  assert.equal(await Promise.all([token, other].map(isLive)), [false, true]);
});

logout.run();
