/** services.md 11: logins at an identity provider, and the users they create. */
import { createVerify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { serviceAddresses } from '../../../support/identity-provider.ts';
import { failedLogin, SamlFixture, tokenIn } from '../../../support/saml-fixture.ts';
import { serviceKeys } from '../../../support/saml-keys.ts';

const login = suite('SAML login');
const path = '/api-auth/saml2/login/';
let saml: SamlFixture;

login.before(async () => {
  saml = await SamlFixture.start({
    strict_input: true,
    user_competences: ['Chemistry'],
    saml_attribute_mapping: {
      uid: ['username', 'description'],
      cn: ['full_name', 'native_name'],
      mail: ['email'],
      job: ['job_title'],
      unit: ['organization'],
      pid: ['civil_number'],
      lang: ['preferred_language'],
      skill: ['competence'],
    },
  });
});
login.after(() => saml?.close());
login.before.each(() => void saml.fixture.events());

const own = async (token: string): Promise<Json> =>
  (await saml.fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${token}` })).body[0];
const named = async (username: string): Promise<Json[]> =>
  (await saml.fixture.staff.get(`/api/users/?username=${username}`)).body;
const types = (): string[] => saml.fixture.events().map(({ type }) => type);

login('accepts additional fields from identity providers even with strict_input', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'relayed' } } });
  const { browser } = saml;
  const { SAMLResponse } = await browser.form(saml.idp.entityId);
  const form = { SAMLResponse, RelayState: 'https://app.example.com/start', SigAlg: 'none' };
  const { headers, status } = await browser.send('POST', `${path}complete/`, form);
  assert.equal([status, headers.get('x-ignored')], [302, null]);
  assert.is((await own(tokenIn(headers.get('location') ?? ''))).username, 'relayed');
});

login('a first login creates the user from the attributes, and returns a token of that user', async () => {
  const location = await saml.logIn({
    uid: 'alice',
    cn: 'Alice Lee',
    mail: 'alice@example.com',
    job: 'Chemist',
    unit: 'Example University',
    pid: 'EE47101010033',
    lang: 'et',
    skill: 'Chemistry',
  });
  const user = await own(tokenIn(location));
  const {
    username,
    full_name,
    native_name,
    email,
    job_title,
    organization,
    organization_approved,
    civil_number,
    description,
    preferred_language,
    competence,
    registration_method,
    token_lifetime,
    is_staff,
    is_support,
    is_active,
  } = (await named('alice'))[0];
  assert.is(user.username, 'alice');
  assert.equal(
    {
      username,
      full_name,
      native_name,
      email,
      job_title,
      organization,
      organization_approved,
      civil_number,
      description,
      preferred_language,
      competence,
      registration_method,
      token_lifetime,
      is_staff,
      is_support,
      is_active,
    },
    {
      username: 'alice',
      full_name: 'Alice Lee',
      native_name: 'Alice Lee',
      email: 'alice@example.com',
      job_title: 'Chemist',
      organization: 'Example University',
      organization_approved: false,
      civil_number: 'EE47101010033',
      description: 'alice',
      preferred_language: 'et',
      competence: 'Chemistry',
      registration_method: 'saml2',
      token_lifetime: 3600,
      is_staff: false,
      is_support: false,
      is_active: true,
    },
  );
  const actor = {
    ip_address: '127.0.0.1',
    user_uuid: user.uuid,
    user_username: 'alice',
    user_full_name: 'Alice Lee',
    user_native_name: 'Alice Lee',
  };
  const affected = {
    affected_user_uuid: user.uuid,
    affected_user_username: 'alice',
    affected_user_full_name: 'Alice Lee',
    affected_user_native_name: 'Alice Lee',
  };
  assert.equal(saml.fixture.events(), [
    {
      type: 'user_creation_succeeded',
      level: 'info',
      message: 'User alice has been created.',
      context: { ...actor, ...affected },
    },
    {
      type: 'token_created',
      level: 'info',
      message: 'Token has been updated for alice',
      context: { ...actor, ...affected },
    },
  ]);
});

login('the user has no password; a password that staff set works in addition', async () => {
  assert.is(
    (await saml.fixture.anonymous.post('/api-auth/password/', { username: 'alice', password: '' })).status,
    401,
  );
  assert.is(
    (await saml.fixture.anonymous.post('/api-auth/password/', { username: 'alice', password: 'alice' })).status,
    401,
  );
});

login('a later login finds the user ignoring the case of their name, and returns another token', async () => {
  const first = tokenIn(await saml.logIn({ uid: 'alice', cn: 'Alice Lee' }));
  assert.equal(types(), ['token_created']);
  const second = tokenIn(await saml.logIn({ uid: 'ALICE', cn: 'Alice Lee' }));
  assert.is.not(first, second);
  assert.equal(
    (await Promise.all([own(first), own(second)])).map(({ username }) => username),
    ['alice', 'alice'],
  );
  assert.is((await named('alice')).length, 1);
});

login('changes at the identity provider are applied here, once', async () => {
  const token = tokenIn(await saml.logIn({ uid: 'alice', cn: 'Alice Smith', job: ['Professor', 'Dean'] }));
  const user = await own(token);
  assert.equal(
    [user.full_name, user.native_name, user.job_title, user.email],
    ['Alice Smith', 'Alice Smith', 'Professor', 'alice@example.com'],
  );
  const [update, created] = saml.fixture.events();
  assert.equal(
    [update?.type, update?.context.user_full_name, update?.context.affected_user_full_name],
    ['user_update_succeeded', 'Alice Lee', 'Alice Smith'],
  );
  assert.equal([created?.type, created?.context.user_full_name], ['token_created', 'Alice Smith']);
  await saml.logIn({ uid: 'alice', cn: 'Alice Smith', job: 'Professor' });
  assert.equal(types(), ['token_created']);
});

login('omits values that the rules of users reject, and those of another user', async () => {
  await saml.fixture.user('holder', { email: 'taken@example.com', civil_number: 'EE1' });
  saml.fixture.events();
  const user = await own(
    tokenIn(
      await saml.logIn({
        uid: 'alice',
        mail: 'Taken@Example.com',
        pid: 'EE1',
        lang: 'klingon',
        skill: 'Magic',
        job: 'x'.repeat(41),
        cn: 'A'.repeat(101),
      }),
    ),
  );
  assert.equal(
    [user.email, user.preferred_language, user.competence, user.job_title],
    ['alice@example.com', 'et', 'Chemistry', 'Professor'],
  );
  assert.is((await named('alice'))[0].civil_number, 'EE47101010033');
  const fresh = await own(tokenIn(await saml.logIn({ uid: 'bob', mail: 'no address', cn: 'B'.repeat(101) })));
  assert.equal([fresh.email, fresh.full_name], ['', '']);
});

login('a changed organization is no longer approved', async () => {
  const user = (await named('alice'))[0];
  await saml.fixture.staff.post(`${user.url}approve_organization/`);
  await saml.logIn({ uid: 'alice', unit: 'Example University' });
  assert.is((await named('alice'))[0].organization_approved, true);
  await saml.logIn({ uid: 'alice', unit: 'Another University' });
  const changed = (await named('alice'))[0];
  assert.equal([changed.organization, changed.organization_approved], ['Another University', false]);
});

login('attributes that are not mapped, and those that look like rights, change nothing', async () => {
  const user = await own(
    tokenIn(
      await saml.logIn({
        uid: 'carol',
        is_staff: 'true',
        is_support: 'true',
        username: 'admin',
        constructor: 'x',
        __proto__: 'y',
      }),
    ),
  );
  const [seen] = await named('carol');
  assert.equal([user.username, seen.is_staff, seen.is_support], ['carol', false, false]);
});

login('rejects a login without a valid username', async () => {
  await saml.idp.next({ user: { nameId: 'nobody', attributes: { uid: '' } } });
  assert.is(await saml.browser.logIn(saml.idp.entityId), failedLogin('SAML2 authentication failed.'));
  for (const uid of [' ', 'has blank', 'x'.repeat(31), '<b>', 'a&b']) {
    assert.is(await saml.logIn({ uid }), failedLogin('SAML2 authentication failed.'), uid);
  }
  await saml.idp.next({ user: { nameId: 'nobody', attributes: { cn: 'Nobody' } } });
  assert.is(await saml.browser.logIn(saml.idp.entityId), failedLogin('SAML2 authentication failed.'));
  assert.equal(types(), []);
});

login('does not use or change an account that SAML did not create', async () => {
  await saml.fixture.user('local', { full_name: 'Local' });
  saml.fixture.events();
  for (const uid of ['local', 'LOCAL', 'admin'])
    assert.is(await saml.logIn({ uid, cn: 'Stranger' }), failedLogin('SAML2 authentication failed.'));
  assert.is((await named('local'))[0].full_name, 'Local');
  assert.equal(types(), []);
});

login('does not log in or change an inactive user', async () => {
  const [user] = await named('bob');
  await saml.fixture.staff.patch(user.url, { is_active: false });
  saml.fixture.events();
  assert.is(await saml.logIn({ uid: 'bob', cn: 'Back Again' }), failedLogin('SAML2 authentication failed.'));
  assert.is((await named('bob'))[0].full_name, '');
  assert.equal(types(), []);
});

login('the request to the identity provider is signed, names the service, and has no relay state', async () => {
  const location = new URL(await saml.browser.start(saml.idp.entityId));
  assert.is(location.origin + location.pathname, `${saml.idp.url}/login`);
  assert.equal([...location.searchParams.keys()], ['SAMLRequest', 'SigAlg', 'Signature']);
  assert.is(location.searchParams.get('SigAlg'), 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256');
  const [signed = '', signature = ''] = location.search.slice(1).split('&Signature=');
  assert.ok(
    createVerify('RSA-SHA256').update(signed).verify(serviceKeys.cert, decodeURIComponent(signature), 'base64'),
  );
  const message = inflateRawSync(Buffer.from(location.searchParams.get('SAMLRequest') as string, 'base64')).toString();
  const { assertionConsumer, entityId } = serviceAddresses(saml.fixture.url);
  assert.match(message, `AssertionConsumerServiceURL="${assertionConsumer}"`);
  assert.match(message, `Destination="${saml.idp.url}/login"`);
  assert.match(message, `>${entityId}</saml:Issuer>`);
  assert.match(message, /<samlp:NameIDPolicy [^>]*AllowCreate="true"\/>/);
  assert.not.match(message, /RequestedAuthnContext|Format=/);
});

login('a form and JSON both start a login, and the response sets a cookie that scripts cannot read', async () => {
  for (const response of [
    await saml.fixture.anonymous.post(path, { idp: saml.idp.entityId }),
    await saml.browser.send('POST', path, { idp: saml.idp.entityId }),
  ]) {
    assert.equal([response.status, response.body], [302, undefined]);
    assert.match(response.headers.get('set-cookie') ?? '', /^saml2=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.equal(
      [response.headers.get('cache-control'), response.headers.get('referrer-policy')],
      ['no-store', 'no-referrer'],
    );
  }
});

login('reports a missing or unknown identity provider', async () => {
  const ask = async (body: unknown) => {
    const { body: reports, headers, status } = await saml.fixture.anonymous.post(path, body);
    return [status, reports, headers.get('set-cookie')];
  };
  assert.equal(await ask({}), [400, { idp: ['This field is required.'] }, null]);
  assert.equal(await ask({ idp: '' }), [400, { idp: ['This field may not be blank.'] }, null]);
  assert.equal(await ask({ idp: 'https://other.example.com' }), [400, { idp: ['Unknown identity provider.'] }, null]);
  assert.equal(await ask({ idp: ['x'] }), [400, { idp: ['Not a valid string.'] }, null]);
  assert.equal(await ask({ idp: 'x'.repeat(1025) }), [
    400,
    { idp: ['Ensure this field has no more than 1024 characters.'] },
    null,
  ]);
});

login('a logged-in user cannot start another login until their token ends', async () => {
  const browser = saml.browser;
  const token = tokenIn(await saml.logIn({ uid: 'dora' }, browser));
  assert.is(await browser.start(saml.idp.entityId), failedLogin('This endpoint is for anonymous users only.'));
  await saml.fixture.anonymous.send('POST', '/api-auth/logout/', undefined, { Authorization: `Token ${token}` });
  assert.match(await browser.start(saml.idp.entityId), `${saml.idp.url}/login?`);
});

login('two simultaneous logins of one browser both finish, with different tokens', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'eve' } } });
  const browser = saml.browser;
  const first = await browser.form(saml.idp.entityId);
  const second = await browser.form(saml.idp.entityId);
  const [one, other] = await Promise.all([browser.post(first.SAMLResponse), browser.post(second.SAMLResponse)]);
  assert.is.not(tokenIn(one), tokenIn(other));
  assert.is((await named('eve')).length, 1);
  assert.equal(types(), ['user_creation_succeeded', 'token_created', 'token_created']);
});

login('the logins of two browsers are independent', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'fay' } } });
  const [one, other] = [saml.browser, saml.browser];
  const [mine, theirs] = [await one.form(saml.idp.entityId), await other.form(saml.idp.entityId)];
  assert.is(await one.post(theirs.SAMLResponse), failedLogin('SAML response has errors. Please check the logs'));
  tokenIn(await other.post(theirs.SAMLResponse));
  tokenIn(await one.post(mine.SAMLResponse));
});

login('handles other methods and OPTIONS as everywhere, without a token or with an expired one', async () => {
  for (const [place, allow] of [
    [path, 'POST, OPTIONS'],
    [`${path}complete/`, 'POST, OPTIONS'],
    ['/api-auth/saml2/logout/', 'GET, HEAD, OPTIONS'],
    ['/api-auth/saml2/logout/complete/', 'GET, POST, HEAD, OPTIONS'],
    ['/api-auth/saml2/metadata/', 'GET, HEAD, OPTIONS'],
    ['/api-auth/saml2/providers/', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const options = await saml.fixture.anonymous.options(place);
    assert.equal([options.status, options.headers.get('allow')], [200, allow], place);
    const put = await saml.fixture.anonymous.send('PUT', place, {}, { Authorization: 'Token stale' });
    assert.equal(
      [put.status, put.body, put.headers.get('allow')],
      [405, { detail: 'Method "PUT" not allowed.' }, allow],
      place,
    );
  }
});

login('limits the logins that one address starts', async () => {
  saml.fixture.clock.advance(60);
  const statuses: number[] = [];
  for (let i = 0; i < 122; i++) statuses.push((await saml.fixture.anonymous.post(path, { idp: 'unknown' })).status);
  assert.equal([statuses.indexOf(429), statuses.filter((status) => status === 429).length], [120, 2]);
  const { body, headers } = await saml.fixture.anonymous.post(path, { idp: saml.idp.entityId });
  assert.equal([body, headers.get('retry-after')], [{ detail: 'Too many logins. Try again later.' }, '60']);
  saml.fixture.clock.advance(60);
  assert.is((await saml.fixture.anonymous.post(path, { idp: saml.idp.entityId })).status, 302);
});

login.run();
