/**
 * Logins with handmade discovery documents and tokens in the forms that four products document. Despite different names, the
 * service must find the user, the email and the groups.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { HandmadeFixture } from '../../../support/handmade-fixture.ts';
import type { HandmadeIssuer, HandmadeProvider } from '../../../support/handmade-provider.ts';
import { failedLogin } from '../../../support/oidc-fixture.ts';

const vendors = suite('OpenID Connect products');
const customer = 'a'.repeat(32);
const tenant = '9188040d-6c67-4c5b-b112-36a304b66dad';
const admins = 'f2b7c1de-0000-4000-8000-00000000a001';
let rig: HandmadeFixture;
const issuer = (name: string): HandmadeIssuer => rig.provider.issuers.get(name) as HandmadeIssuer;

/** The issuers with the paths and documents of the products. */
function providersOf(provider: HandmadeProvider) {
  const rule = (group: string) => [{ group, customer, role: 'owner' }];
  return [
    {
      name: 'keycloak',
      issuer: provider.issuer('keycloak', '/realms/acme').url,
      groups_claim: 'realm_access.roles',
      group_rules: rule('cloud-owner'),
    },
    {
      name: 'keycloak-groups',
      issuer: provider.issuer('keycloak-groups', '/realms/groups').url,
      group_rules: rule('/cloud/owners'),
    },
    {
      name: 'entra',
      issuer: provider.issuer('entra', `/${tenant}/v2.0`).url,
      group_rules: rule(admins),
      link_by_verified_email: true,
    },
    {
      name: 'entra-roles',
      issuer: provider.issuer('entra-roles', '/roles/v2.0').url,
      groups_claim: 'roles',
      group_rules: rule('Cloud.Owner'),
    },
    {
      name: 'google',
      issuer: provider.issuer('google').url,
      link_by_verified_email: true,
      group_rules: rule('owners'),
    },
    {
      name: 'authentik',
      issuer: provider.issuer('authentik', '/application/o/tenantry/').url,
      group_rules: rule('cloud owners'),
    },
  ];
}

vendors.before(async () => {
  rig = await HandmadeFixture.start(providersOf);
  const { uuid } = await rig.fixture.customer('Acme');
  const { db } = rig.fixture.server.app;
  db.write(() => db.run(sql`UPDATE customer SET uuid = ${customer} WHERE uuid = ${uuid}`));
});
vendors.after(() => rig?.close());
vendors.before.each(() => {
  rig.reasons.length = 0;
  for (const one of rig.provider.issuers.values()) one.reset();
});

const sourcesOf = async ({ uuid }: Json): Promise<string[]> =>
  (await rig.fixture.staff.get(`/api/customer-permissions/?user=${uuid}`)).body.map(
    ({ role, source }: Json) => `${role} ${source}`,
  );
const invalid = failedLogin('OpenID Connect response has errors. Please check the logs');

vendors('Keycloak: realm roles in a nested claim, and a session id', async () => {
  const realm = issuer('keycloak');
  Object.assign(realm.document, {
    authorization_response_iss_parameter_supported: false,
    backchannel_logout_supported: true,
    token_endpoint_auth_methods_supported: [
      'private_key_jwt',
      'client_secret_basic',
      'client_secret_post',
      'tls_client_auth',
    ],
    id_token_signing_alg_values_supported: ['PS384', 'RS384', 'EdDSA', 'ES384', 'HS256', 'HS512', 'ES256', 'RS256'],
  });
  realm.userInfo = { preferred_username: 'kim', name: 'Kim Lee', email: 'kim@example.com', email_verified: true };
  const user = await rig.userOf('keycloak', {
    sub: '0b1e3c3f-61b2-4f2c-9b5f-9f2f63a7c5a1',
    typ: 'ID',
    azp: 'tenantry',
    sid: 'c1d2',
    acr: '1',
    realm_access: { roles: ['offline_access', 'cloud-owner'] },
    ...realm.userInfo,
  });
  assert.equal([user.username, user.full_name, user.email], ['kim', 'Kim Lee', 'kim@example.com']);
  assert.equal(await sourcesOf(user), ['owner oidc:keycloak']);
});

vendors('Keycloak: groups with slashes are compared as a whole', async () => {
  const owner = await rig.userOf('keycloak-groups', { sub: 'k-1', groups: ['/cloud/owners', '/cloud'] });
  assert.equal(await sourcesOf(owner), ['owner oidc:keycloak-groups']);
  assert.equal(
    await sourcesOf(await rig.userOf('keycloak-groups', { sub: 'k-2', groups: ['cloud/owners', '/cloud'] })),
    [],
  );
});

vendors('Entra: an issuer with the id of the tenant, object ids of groups, and no email_verified', async () => {
  const { document } = issuer('entra');
  Object.assign(document, {
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    id_token_signing_alg_values_supported: ['RS256'],
    tenant_region_scope: 'EU',
    cloud_instance_name: 'microsoftonline.com',
  });
  const known = await rig.fixture.user('ann', { email: 'ann@example.com' });
  const user = await rig.userOf('entra', {
    sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
    oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
    tid: tenant,
    ver: '2.0',
    preferred_username: 'ann@example.com',
    name: 'Ann Oak',
    email: 'ann@example.com',
    groups: [admins],
  });
  // Microsoft does not verify this claim, so it neither links nor fills an address.
  assert.is.not(user.uuid, known.uuid);
  assert.equal([user.username, user.full_name, user.email], ['ann@example.com', 'Ann Oak', '']);
  assert.equal(await sourcesOf(user), ['owner oidc:entra']);
});

vendors('Entra: too many groups fail the login; app roles are complete even then', async () => {
  const overage = {
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://graph.windows.net/t/users/u/getMemberObjects' } },
  };
  assert.is(await rig.logIn('entra', { sub: 'many', ...overage }), invalid);
  assert.match(rig.reasons.at(-1) ?? '', /so many groups/);
  const user = await rig.userOf('entra-roles', { sub: 'many', roles: ['Cloud.Owner'], ...overage });
  assert.equal(await sourcesOf(user), ['owner oidc:entra-roles']);
});

vendors('Entra: the template of the issuer for all tenants is rejected', async () => {
  assert.is(await rig.logIn('entra', { sub: 'x', iss: issuer('entra').url.replace(tenant, '{tenantid}') }), invalid);
  assert.match(rig.reasons.at(-1) ?? '', /iss/);
});

vendors('Google: no username and no groups, and email_verified as a boolean', async () => {
  const google = issuer('google');
  Object.assign(google.document, {
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  });
  const known = await rig.fixture.user('gil', { email: 'gil@example.com' });
  const claims = {
    sub: '110169484474386276334',
    azp: 'tenantry',
    hd: 'example.com',
    at_hash: undefined,
    given_name: 'Gil',
    name: 'Gil Ash',
  };
  assert.is(
    (await rig.userOf('google', { ...claims, email: 'gil@example.com', email_verified: true })).uuid,
    known.uuid,
  );
  const created = await rig.userOf('google', { ...claims, sub: '2', email: 'fay@example.com', email_verified: true });
  assert.equal([created.username, created.email], ['fay', 'fay@example.com']);
  assert.equal(await sourcesOf(created), []);
});

vendors(
  'Authentik: an issuer for each application that ends with a slash, and names of groups with spaces',
  async () => {
    const authentik = issuer('authentik');
    const origin = rig.provider.origin;
    // All applications share the endpoints.
    Object.assign(authentik.document, {
      scopes_supported: ['openid', 'email', 'profile'],
      claims_supported: ['sub', 'groups'],
    });
    assert.ok(authentik.url.startsWith(origin) && authentik.url.endsWith('/o/tenantry/'));
    const user = await rig.userOf('authentik', {
      sub: '0f4b6f3d1a',
      preferred_username: 'uma',
      nickname: 'uma',
      groups: ['authentik Admins', 'cloud owners'],
      email: 'uma@example.com',
      email_verified: true,
    });
    assert.equal([user.username, await sourcesOf(user)], ['uma', ['owner oidc:authentik']]);
    assert.is(await rig.logIn('authentik', { sub: 'x', iss: authentik.url.replace(/\/$/, '') }), invalid);
  },
);

vendors.run();
