/** services.md 11: which accounts a login may use, depending on settings and after a restart. */

import { join } from 'node:path';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { failedLogin, SamlFixture, tokenIn } from '../../../support/saml-fixture.ts';

const accounts = suite('SAML accounts');
const none = failedLogin('SAML2 authentication failed.');

const withFixture =
  (options: Parameters<typeof SamlFixture.start>[0], run: (saml: SamlFixture) => Promise<void>) =>
  async (): Promise<void> => {
    const saml = await SamlFixture.start(options);
    await run(saml).finally(() => saml.close());
  };

accounts(
  'without saml_create_unknown_user only known users log in',
  withFixture({ saml_create_unknown_user: false, saml_link_existing_users: true }, async (saml) => {
    await saml.fixture.user('known');
    saml.fixture.events();
    assert.is(await saml.logIn({ uid: 'unknown' }), none);
    assert.equal(saml.fixture.events(), []);
    tokenIn(await saml.logIn({ uid: 'known', cn: 'Known' }));
    assert.equal(
      saml.fixture.events().map(({ type }) => type),
      ['user_update_succeeded', 'token_created'],
    );
  }),
);

accounts(
  'with saml_link_existing_users accounts of other people are entered, and keep their ways to log in and their rights',
  withFixture({ saml_link_existing_users: true }, async (saml) => {
    const user = await saml.fixture.user('Local', { is_support: true, email: 'old@example.com' });
    await saml.fixture.staff.post(`${user.url}password/`, { password: 'secret 1' });
    const token = tokenIn(await saml.logIn({ uid: 'local', mail: 'new@example.com' }));
    const [own] = (await saml.fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${token}` })).body;
    assert.equal(
      [own.username, own.email, own.registration_method, own.is_support],
      ['Local', 'new@example.com', 'default', true],
    );
    assert.is(
      (await saml.fixture.anonymous.post('/api-auth/password/', { username: 'local', password: 'secret 1' })).status,
      200,
    );
    // A service account cannot log in, even if an identity provider knows its name.
    const customer = (await saml.fixture.staff.post('/api/customers/', { name: 'Alice' })).body;
    const service = { name: 'Deploy', customer: customer.url, role: 'support' };
    const { body } = await saml.fixture.staff.post('/api/service-accounts/', service);
    saml.fixture.events();
    assert.is(await saml.logIn({ uid: body.username, mail: 'deploy@example.com' }), none);
    assert.equal(saml.fixture.events(), []);
    assert.is((await saml.fixture.staff.get(body.user)).body.email, '');
  }),
);

accounts(
  'without LOCAL_SIGNIN the identity provider is the only way in',
  withFixture({ authentication_methods: ['SAML2'] }, async (saml) => {
    assert.is(
      (await saml.fixture.anonymous.post('/api-auth/password/', { username: 'admin', password: 'x' })).status,
      401,
    );
    tokenIn(await saml.logIn({ uid: 'alice' }));
  }),
);

accounts(
  'the configuration for web clients',
  withFixture(
    {
      saml_enable_single_logout: true,
      saml_allow_to_select_identity_provider: false,
      saml_identity_provider_url: 'https://idp.example.com/metadata',
      saml_identity_provider_label: 'Example',
    },
    async (saml) => {
      const { body } = await saml.fixture.anonymous.get('/api/configuration/');
      assert.equal(body.WALDUR_CORE.AUTHENTICATION_METHODS, ['LOCAL_SIGNIN', 'SAML2']);
      assert.equal(body.WALDUR_AUTH_SAML2, {
        ENABLE_SINGLE_LOGOUT: true,
        ALLOW_TO_SELECT_IDENTITY_PROVIDER: false,
        IDENTITY_PROVIDER_URL: 'https://idp.example.com/metadata',
        IDENTITY_PROVIDER_LABEL: 'Example',
      });
    },
  ),
);

accounts(
  'as the configuration does without these settings',
  withFixture({}, async (saml) => {
    const { body } = await saml.fixture.anonymous.get('/api/configuration/');
    assert.equal(body.WALDUR_AUTH_SAML2, {
      ENABLE_SINGLE_LOGOUT: false,
      ALLOW_TO_SELECT_IDENTITY_PROVIDER: true,
      IDENTITY_PROVIDER_URL: '',
      IDENTITY_PROVIDER_LABEL: '',
    });
  }),
);

accounts(
  'a password of an account that SAML created can be set by staff, and its user can be deleted with their sessions',
  withFixture({}, async (saml) => {
    const browser = saml.browser;
    tokenIn(await saml.logIn({ uid: 'alice' }, browser));
    const [user] = (await saml.fixture.staff.get('/api/users/?username=alice')).body;
    assert.is((await saml.fixture.staff.delete(user.url)).status, 204);
    const { db } = saml.fixture.server.app;
    assert.is(db.value(sql`SELECT count(*) FROM saml_session`), 0);
    assert.match(await browser.start(saml.idp.entityId), `${saml.idp.url}/login?`);
  }),
);

accounts(
  'old requests and messages are removed',
  withFixture({}, async (saml) => {
    const { db } = saml.fixture.server.app;
    const counts = (): unknown[] =>
      ['saml_request', 'saml_used_message'].map((table) =>
        db.value({ text: `SELECT count(*) FROM ${table}`, values: [] }),
      );
    tokenIn(await saml.logIn({ uid: 'alice' }));
    await saml.browser.start(saml.idp.entityId);
    assert.equal(counts(), [1, 1]);
    // The identity provider uses the machine's clock, which a slow login advances.
    saml.fixture.clock.advance(2 * 3600);
    saml.fixture.server.tick();
    assert.equal(counts(), [0, 0]);
  }),
);

accounts('rejects a used response after a restart, and accepts a pending one', async () => {
  const saml = await SamlFixture.start();
  const { config, clock } = saml.fixture.server.app;
  await saml.fixture.close();
  const options = { ...config, clock, data: join(saml.files.folder, 'data') };
  const post = async (cookie: string, SAMLResponse: string): Promise<string> =>
    (
      await fetch(`${saml.fixture.url}/api-auth/saml2/login/complete/`, {
        method: 'POST',
        redirect: 'manual',
        headers: { Cookie: cookie },
        body: new URLSearchParams({ SAMLResponse }),
      })
    ).headers.get('location') as string;
  const first = await createServer(options);
  await saml.idp.next({ user: { attributes: { uid: 'alice' } } });
  const [used, due] = [saml.browser, saml.browser];
  const forms = [await used.form(saml.idp.entityId), await due.form(saml.idp.entityId)] as const;
  tokenIn(await used.post(forms[0].SAMLResponse));
  await first.close();
  const second = await createServer(options);
  try {
    assert.is(
      await post(used.cookie as string, forms[0].SAMLResponse),
      failedLogin('SAML response has errors. Please check the logs'),
    );
    const token = tokenIn(await post(due.cookie as string, forms[1].SAMLResponse));
    const own = (await (
      await fetch(`${second.url}/api/users/?current`, { headers: { Authorization: `Token ${token}` } })
    ).json()) as Json;
    assert.is(own[0].username, 'alice');
  } finally {
    await second.close();
    await saml.close();
  }
});

accounts.run();
