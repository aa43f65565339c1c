/** services.md 11.1 "Group rules": roles and rights from the groups of a user at a real OpenID Connect provider. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { failedLogin, OidcFixture, tokenOf } from '../../../support/oidc-fixture.ts';

const groups = suite('groups of an OpenID Connect provider');
const uuids = { acme: 'a'.repeat(32), rocket: 'b'.repeat(32), gone: 'c'.repeat(32) };
let oidc: OidcFixture;
let acme: Json;
let rocket: Json;
/** The details of logged group rules without effect. */
const idle: Json[] = [];

groups.before(async () => {
  oidc = await OidcFixture.start({
    label: 'Acme Login',
    scopes: 'openid email profile groups',
    link_by_verified_email: true,
    group_roles_last: '10d',
    group_rules: [
      { group: '/staff', staff: true },
      { group: '/helpers', support: true },
      { group: '/owners', customer: uuids.acme, role: 'owner' },
      { group: '/everyone', customer: uuids.acme, role: 'support' },
      { group: '/builders', project: uuids.rocket, role: 'admin' },
      { group: '/everyone', project: uuids.rocket, role: 'support' },
      { group: '/managers', project: uuids.rocket, role: 'manager' },
      { group: '/lost', customer: uuids.gone, role: 'owner' },
    ],
  });
  const { fixture } = oidc;
  const { db, log } = fixture.server.app;
  acme = await fixture.customer('Acme');
  rocket = await fixture.project('Rocket', acme);
  // The provider file contains the uuids, which exist only after the server starts.
  db.write(() => {
    db.run(sql`UPDATE customer SET uuid = ${uuids.acme} WHERE uuid = ${acme.uuid}`);
    db.run(sql`UPDATE project SET uuid = ${uuids.rocket} WHERE uuid = ${rocket.uuid}`);
  });
  acme = (await fixture.staff.get(`/api/customers/${uuids.acme}/`)).body;
  rocket = (await fixture.staff.get(`/api/projects/${uuids.rocket}/`)).body;
  Object.assign(log, {
    warn: (details: Json) => (details.reason && !('request' in details) ? idle : oidc.reasons).push(details),
  });
});
groups.after(() => oidc?.close());
groups.before.each(() => {
  oidc.fixture.events();
  oidc.reasons.length = 0;
  idle.length = 0;
});

const logIn = (accountId: string, names: unknown, claims: Json = {}): Promise<string> =>
  oidc.logIn({
    accountId,
    claims: { preferred_username: accountId, ...(names !== undefined && { groups: names }), ...claims },
  });
/** Logs a user in with these groups; returns the user as staff see them. */
const userIn = async (accountId: string, names: unknown, claims?: Json): Promise<Json> => {
  const token = tokenOf(await logIn(accountId, names, claims));
  const { uuid } = (await new Client(oidc.fixture, token).get('/api/users/?current')).body[0];
  return (await oidc.fixture.staff.get(`/api/users/${uuid}/`)).body;
};
/** Returns the roles of a user, such as `customer owner oidc:company`. */
const rolesOf = async ({ uuid }: Json): Promise<string[]> => {
  const lists = await Promise.all(
    ['customer', 'project'].map(async (kind) => {
      const { body } = await oidc.fixture.staff.get(`/api/${kind}-permissions/?user=${uuid}`);
      return body.map(({ role, source }: Json) => `${kind} ${role} ${source}`);
    }),
  );
  return lists.flat();
};
const permissionOf = async (kind: string, { uuid }: Json): Promise<Json> =>
  (await oidc.fixture.staff.get(`/api/${kind}-permissions/?user=${uuid}`)).body[0];
const eventsOf = (): string[] => oidc.fixture.events().map(({ message }) => message);

groups('a login grants the highest role of the groups in each place, until ten days later', async () => {
  const user = await userIn('anna', ['/owners', '/everyone', '/builders', '/other']);
  assert.equal(await rolesOf(user), ['customer owner oidc:company', 'project admin oidc:company']);
  const granted = oidc.fixture.events().filter(({ type }) => type === 'role_granted');
  assert.equal(
    granted.map(({ context, message }) => [message, context.user_uuid]),
    [
      ['User anna has gained role of Owner in customer Acme.', undefined],
      ['User anna has gained role of Administrator in project Rocket.', undefined],
    ],
  );
  const { created, created_by: by, expiration_time: end } = await permissionOf('customer', user);
  assert.is(by, null);
  assert.is(Date.parse(end) - Date.parse(created), 10 * 86_400_000);
});

groups('the next login ends the roles of lost groups, changes others and moves the end of the rest', async () => {
  const user = await userIn('anna', ['/everyone', '/builders']);
  assert.equal(eventsOf().slice(0, 2), [
    'User anna has lost role of Owner in customer Acme.',
    'User anna has gained role of Support in customer Acme.',
  ]);
  assert.equal(await rolesOf(user), ['customer support oidc:company', 'project admin oidc:company']);
  const first = await permissionOf('project', user);
  await oidc.fixture.advance(30);
  assert.is((await userIn('anna', ['/everyone', '/builders'])).uuid, user.uuid);
  const second = await permissionOf('project', user);
  assert.is(second.pk, first.pk);
  assert.ok(Date.parse(second.expiration_time) - Date.parse(first.expiration_time) >= 30_000);
  assert.equal(await rolesOf(await userIn('anna', [])), []);
  assert.equal(await rolesOf(await userIn('anna', '/managers')), ['project manager oidc:company']);
  assert.equal(await rolesOf(await userIn('anna', undefined)), []);
});

groups('staff and owners cannot change or end a managed role', async () => {
  const user = await userIn('bert', ['/everyone']);
  const owner = await oidc.fixture.user('owner');
  await oidc.fixture.grant(acme, owner, 'owner');
  const rejection = { detail: 'This role is managed by Acme Login.' };
  for (const [client, kind] of [
    [oidc.fixture.staff, 'customer'],
    [oidc.fixture.as('owner'), 'project'],
  ] as const) {
    const { url } = await permissionOf(kind, user);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { body, status } = await client.send(
        method,
        url,
        method === 'DELETE' ? undefined : { expiration_time: null },
      );
      assert.equal([status, body], [409, rejection], `${method} ${kind}`);
    }
  }
  const { url } = await permissionOf('project', user);
  assert.is((await oidc.fixture.as('bert').delete(url)).status, 403);
  assert.equal(await rolesOf(user), ['customer support oidc:company', 'project support oidc:company']);
});

groups('a role that a user granted has precedence, and is changed as before', async () => {
  const user = await userIn('cora', []);
  const granted = await oidc.fixture.grant(acme, user, 'support');
  assert.is(granted.source, null);
  await userIn('cora', ['/owners']);
  assert.equal(await rolesOf(user), ['customer support null']);
  await userIn('cora', []);
  assert.equal(await rolesOf(user), ['customer support null']);
  assert.is((await oidc.fixture.staff.delete(granted.url)).status, 204);
  await userIn('cora', ['/owners']);
  assert.equal(await rolesOf(user), ['customer owner oidc:company']);
});

groups('groups grant staff and global support, and revoke them only if this provider granted them', async () => {
  const rights = ({ is_staff: isStaff, is_support: isSupport }: Json): boolean[] => [isStaff, isSupport];
  const dora = await userIn('dora', ['/staff', '/helpers']);
  assert.equal(rights(dora), [true, true]);
  assert.equal(rights(await userIn('dora', ['/helpers'])), [false, true]);
  await oidc.fixture.staff.patch(dora.url, { is_support: false });
  await oidc.fixture.staff.patch(dora.url, { is_staff: true, is_support: true });
  assert.equal(rights(await userIn('dora', [])), [true, true]);
});

groups(
  'a rule of a customer that does not exist, and one that a quota rejects, have no effect but a line in the log',
  async () => {
    assert.equal(await rolesOf(await userIn('emil', ['/lost'])), []);
    const { url } = (await oidc.fixture.staff.get(`/api/customers/${uuids.acme}/`)).body.quotas.find(
      ({ name }: Json) => name === 'nc_user_count',
    );
    const { usage } = (await oidc.fixture.staff.get(url)).body;
    await oidc.fixture.staff.patch(url, { limit: usage });
    assert.equal(await rolesOf(await userIn('emil', ['/owners'])), []);
    await oidc.fixture.staff.patch(url, { limit: -1 });
    assert.is(idle.length, 2);
    assert.equal(idle[0], { provider: 'company', group: '/lost', customer: uuids.gone, reason: 'it does not exist' });
    assert.match(idle[1].reason, /nc_user_count quota limit/);
  },
);

groups('missing groups, and groups that are not strings, fail the login and change nothing', async () => {
  const user = await userIn('frida', ['/owners']);
  const invalid = failedLogin('OpenID Connect response has errors. Please check the logs');
  assert.is(
    await logIn('frida', undefined, {
      _claim_names: { groups: 'more' },
      _claim_sources: { more: { endpoint: 'https://x.example/' } },
    }),
    invalid,
  );
  assert.is(await logIn('frida', [{ name: '/owners' }]), invalid);
  assert.equal(
    oidc.reasons.map(({ reason }: Json) => reason),
    ['the user has so many groups that the provider left out the claim groups', 'the claim groups is no list of texts'],
  );
  assert.equal(await rolesOf(user), ['customer owner oidc:company']);
});

groups('staff set identities, so that a user gets roles before the first login', async () => {
  const { staff } = oidc.fixture;
  const gina = await oidc.fixture.user('gina');
  const identities = [{ provider: 'company', subject: 'g-1' }];
  assert.equal((await staff.patch(gina.url, { identities })).body.identities, identities);
  assert.equal((await staff.patch((await oidc.fixture.user('other')).url, { identities })).body, {
    identities: ['This identity belongs to another user.'],
  });
  assert.equal((await staff.patch(gina.url, { identities: [{ provider: 'nobody', subject: 'x' }] })).body, {
    identities: ['"nobody" is not a valid choice.'],
  });
  const found = async (client: Client, text: string): Promise<string[]> =>
    (await client.get(`/api/users/?identity=${text}`)).body.map(({ username }: Json) => username);
  assert.equal(await found(staff, 'company:g-1'), ['gina']);
  assert.equal(await found(staff, 'company:g-2'), []);
  assert.equal(await found(staff, 'nobody:g-1'), []);
  await oidc.fixture.grant(rocket, gina, 'manager');
  assert.is((await userIn('g-1', ['/everyone'])).uuid, gina.uuid);
  assert.equal(await rolesOf(gina), ['customer support oidc:company', 'project manager null']);
  assert.is((await oidc.fixture.as('gina').patch(gina.url, { identities: [], agree_with_policy: true })).status, 200);
  assert.equal((await staff.get(gina.url)).body.identities, identities);
});

groups('roles end ten days after the last login', async () => {
  const user = await userIn('hugo', ['/everyone']);
  await oidc.fixture.advance(10 * 86_400 - 5);
  assert.is((await rolesOf(user)).length, 2);
  await oidc.fixture.advance(10);
  assert.equal(await rolesOf(user), []);
});

groups.run();
