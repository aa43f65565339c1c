/** services.md 11: logins at an OpenID Connect provider, and the users they create. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { completedPage, failedLogin, OidcFixture, tokenOf } from '../../../support/oidc-fixture.ts';
import { Jar } from '../../../support/openid-provider.ts';

const login = suite('OpenID Connect login');
let oidc: OidcFixture;

login.before(async () => {
  oidc = await OidcFixture.start({
    claims: {
      preferred_username: ['username'],
      name: ['full_name', 'native_name'],
      email: ['email'],
      sub: ['description'],
    },
  });
});
login.after(() => oidc?.close());
login.before.each(() => {
  oidc.fixture.events();
  oidc.reasons.length = 0;
});

const alice = {
  accountId: 'subject-of-alice',
  claims: { preferred_username: 'alice', name: 'Alice Lee', email: 'alice@example.com', email_verified: true },
};
const named = async (username: string): Promise<Json> =>
  (await oidc.fixture.staff.get(`/api/users/?username_exact=${username}&username=${username}`)).body[0];
const types = (): string[] => oidc.fixture.events().map(({ type }) => type);

login('a first login creates the user from the claims, and returns a token of that user', async () => {
  const location = await oidc.logIn(alice);
  assert.ok(location.startsWith(completedPage), location);
  const own = (await new Client(oidc.fixture, tokenOf(location)).get('/api/users/?current')).body[0];
  assert.equal(
    [own.username, own.full_name, own.native_name, own.email, own.registration_method, own.is_staff, own.is_support],
    ['alice', 'Alice Lee', 'Alice Lee', 'alice@example.com', 'oidc', undefined, false],
  );
  assert.equal(own.identities, [{ provider: 'company', subject: 'subject-of-alice' }]);
  assert.is((await named('alice')).description, 'subject-of-alice');
  assert.equal(types(), ['user_creation_succeeded', 'token_created']);
});

login(
  'a later login finds the user by issuer and subject, and stores changed claims but not the username',
  async () => {
    const before = await named('alice');
    const renamed = { ...alice.claims, preferred_username: 'mallory', name: 'Alice Moss' };
    const own = await oidc.userOf({ ...alice, claims: renamed });
    assert.equal([own.uuid, own.username, own.full_name], [before.uuid, 'alice', 'Alice Moss']);
    assert.equal(types(), ['user_update_succeeded', 'token_created']);
  },
);

login('the session has the method oidc, and can be listed and ended', async () => {
  const client = new Client(oidc.fixture, tokenOf(await oidc.logIn(alice)));
  const current = (await client.get('/api/sessions/')).body.find(({ is_current: isCurrent }: Json) => isCurrent);
  assert.is(current.method, 'oidc');
  assert.is((await client.delete(current.url)).status, 204);
  assert.is((await client.get('/api/users/?current')).status, 401);
});

login('redirects to the provider with PKCE, state, nonce and a cookie that is not readable by scripts', async () => {
  const response = await fetch(oidc.loginAddress(), { redirect: 'manual' });
  assert.is(response.status, 302);
  assert.match(response.headers.get('set-cookie') ?? '', /^oidc=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/);
  const { origin, searchParams: sent } = new URL(response.headers.get('location') ?? '');
  assert.is(origin, oidc.provider.issuer);
  assert.equal(
    ['client_id', 'response_type', 'scope', 'redirect_uri', 'code_challenge_method'].map((name) => sent.get(name)),
    ['tenantry', 'code', 'openid email profile', `${oidc.url}/api-auth/oidc/company/complete/`, 'S256'],
  );
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(sent.get(name) ?? '', /^[\w-]{43}$/, name);
});

login('a username that is taken gets a number, and never gives access to the account that has it', async () => {
  const owner = await oidc.fixture.user('taken', { email: 'taken@example.com' });
  const usernames: string[] = [];
  for (const subject of ['taken-1', 'taken-2'])
    usernames.push((await oidc.userOf({ accountId: subject, claims: { preferred_username: 'Taken' } })).username);
  assert.equal(usernames, ['Taken-2', 'Taken-3']);
  assert.equal((await oidc.fixture.staff.get(owner.url)).body.identities, []);
});

login('characters that usernames cannot have become hyphens, and long usernames are cut', async () => {
  const of = async (accountId: string, claims: object): Promise<string> =>
    (await oidc.userOf({ accountId, claims: { ...claims } })).username;
  assert.is(await of('odd-1', { preferred_username: 'Jüri Õun/äri' }), 'Jüri-Õun-äri');
  assert.is(await of('odd-2', { preferred_username: 'x'.repeat(40) }), 'x'.repeat(30));
  assert.is(await of('odd-3', { preferred_username: 'x'.repeat(40) }), `${'x'.repeat(28)}-2`);
  assert.is(await of('odd-4', { email: 'mari@example.com' }), 'mari');
  assert.is(await of('odd-5', {}), 'odd-5');
});

login('omits an email address that is not verified by the provider, or belongs to another user', async () => {
  const emailOf = async (accountId: string, claims: Readonly<Record<string, unknown>>): Promise<string> =>
    (await oidc.userOf({ accountId, claims })).email;
  assert.is(await emailOf('mail-1', { email: 'mail-1@example.com' }), '');
  assert.is(await emailOf('mail-2', { email: 'mail-2@example.com', email_verified: 'true' }), '');
  assert.is(await emailOf('mail-3', { email: 'ALICE@example.com', email_verified: true }), '');
  assert.is(await emailOf('mail-4', { email: 'mail-4@example.com', email_verified: true }), 'mail-4@example.com');
});

login('an inactive user cannot log in', async () => {
  const own = await oidc.userOf({ accountId: 'leaver' });
  await oidc.fixture.staff.patch(own.url, { is_active: false });
  assert.is(await oidc.logIn({ accountId: 'leaver' }), failedLogin('OpenID Connect authentication failed.'));
});

login('a service account cannot log in, and no one can set its identities', async () => {
  const { staff } = oidc.fixture;
  const { url: customer } = await oidc.fixture.customer('Acme');
  const { body } = await staff.post('/api/service-accounts/', { name: 'Robot', customer, role: 'owner' });
  const identities = [{ provider: 'company', subject: 'robot' }];
  const { body: rejection, status } = await staff.patch(body.user, { identities });
  assert.equal([status, rejection], [409, { detail: 'This user is a service account.' }]);
  // Stored in the form of an earlier version.
  const { db } = oidc.fixture.server.app;
  db.write(() =>
    db.run(sql`
      INSERT INTO user_identity (user_id, issuer, provider, subject)
      SELECT id, ${oidc.provider.issuer}, 'company', 'robot' FROM user WHERE username = ${body.username}`),
  );
  const refused = failedLogin('OpenID Connect authentication failed.');
  assert.is(await oidc.logIn({ accountId: 'robot', claims: { preferred_username: 'robot' } }), refused);
  assert.equal(oidc.reasons, ['its subject cannot log in']);
});

login('`next` is a path that the completion page gets percent-encoded', async () => {
  const query = `?next=${encodeURIComponent('/projects/?name=a b&x=1#top')}`;
  const location = await oidc.logIn(alice, { query });
  assert.ok(location.endsWith(`/oidc/?next=${encodeURIComponent('/projects/?name=a b&x=1#top')}`), location);
  assert.ok((await oidc.logIn(alice)).endsWith('/oidc/?next='));
});

login('the error of a provider fails the login with a message', async () => {
  assert.is(
    await oidc.logIn({ accountId: 'alice', error: 'access_denied' }),
    failedLogin('The identity provider refused the login.'),
  );
});

login('logins and rejected ones have audit records', async () => {
  const { uuid } = await named('alice');
  tokenOf(await oidc.logIn(alice));
  await oidc.logIn({ ...alice, error: 'access_denied' });
  const newest = async (outcome: string): Promise<unknown> => {
    const { body } = await oidc.fixture.staff.get(
      `/api/audit/?page_size=1&operation=getOpenIDConnectLoginComplete&outcome=${outcome}`,
    );
    return body.map(({ actor, status, via }: Json) => [status, actor, via?.kind]);
  };
  assert.equal(await newest('done'), [[302, { kind: 'user', uuid }, 'oidc']]);
  assert.equal(await newest('refused'), [[302, { kind: 'anonymous', uuid: null }, undefined]]);
});

login('an unknown provider name returns 404', async () => {
  for (const path of ['login', 'complete']) {
    const response = await fetch(`${oidc.url}/api-auth/oidc/other/${path}/`, { redirect: 'manual' });
    assert.equal([response.status, await response.json()], [404, { detail: 'Not found.' }]);
  }
});

login('the configuration lists the providers for web clients', async () => {
  assert.equal((await oidc.fixture.anonymous.get('/api/configuration/')).body.TENANTRY_AUTH_OIDC, {
    PROVIDERS: [{ NAME: 'company', LABEL: 'Example Company', LOGIN_URL: oidc.loginAddress(), AUTO_REDIRECT: false }],
  });
});

login('users without a password cannot get one by mail', async () => {
  const own = await oidc.userOf(alice);
  assert.is(own.registration_method, 'oidc');
});

login('two logins in one browser are independent of each other', async () => {
  const jar = new Jar();
  const first = await oidc.response(alice, jar);
  const second = await oidc.response(alice, jar);
  for (const url of [second, first]) {
    const response = await jar.get(url);
    assert.equal(oidc.reasons, []);
    tokenOf(response.headers.get('location') ?? '');
  }
});

login.run();
