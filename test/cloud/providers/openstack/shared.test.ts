import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, Fixture, type Json } from '../../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas } from '../../../support/personas.ts';
import { work } from '../../../support/simulated.ts';

const test = suite('OpenStack: tenants on shared settings, and their credentials (services.md 8.7, providers.md 4.3)');

interface Shared {
  readonly fixture: Fixture;
  readonly people: Personas;
  readonly link: Json;
}

/** A server with shared OpenStack settings, linked to every project. */
async function startShared(options: Readonly<Record<string, boolean>>): Promise<Shared> {
  const fixture = await Fixture.start(options);
  const people = await createPersonas(fixture);
  await fixture.staff.post('/api/service-settings/', {
    name: 'Public',
    type: 'OpenStack',
    shared: true,
    simulator_latency: '0',
  });
  await work(fixture);
  return { fixture, people, link: (await fixture.staff.get('/api/openstack-service-project-link/')).body[0] };
}

const tenant = async ({ fixture, link }: Shared, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> => {
  const { body } = await fixture.staff.post('/api/openstack-tenants/', {
    service_project_link: link.url,
    name: 'Lab',
    ...fields,
  });
  await work(fixture);
  return body;
};

test('only staff create tenants on shared settings', async () => {
  const shared = await startShared({});
  const responses = await asEachPersona(shared.people, async (client, part) => {
    const { body, status } = await client.post('/api/openstack-tenants/', {
      service_project_link: shared.link.url,
      name: `of ${part}`,
    });
    return [status, body.detail];
  });
  const rejection = 'You do not have permissions to create tenant in this project using selected service.';
  const common = 'You do not have permission to perform this action.';
  assert.equal(responses, {
    staff: [201, undefined],
    support: [403, common],
    owner: [403, rejection],
    helper: [403, common],
    manager: [403, rejection],
    admin: [403, rejection],
    observer: [403, common],
    stranger: [400, undefined],
  });
  await shared.fixture.close();
});

test('owners delete tenants on shared settings, managers and administrators do not', async () => {
  const shared = await startShared({});
  for (const [part, status] of [
    ['support', 403],
    ['helper', 403],
    ['manager', 403],
    ['admin', 403],
    ['observer', 403],
    ['stranger', 404],
    ['owner', 202],
  ] as [PersonaName, number][]) {
    const { url } = await tenant(shared, { name: `of ${part}` });
    assert.is((await shared.people.clients[part].delete(url)).status, status, part);
  }
  await shared.fixture.close();
});

test('allows managers and administrators to delete tenants with manager_can_manage_tenants', async () => {
  const shared = await startShared({ manager_can_manage_tenants: true });
  for (const [part, status] of [
    ['manager', 202],
    ['admin', 202],
    ['observer', 403],
  ] as [PersonaName, number][]) {
    const { url } = await tenant(shared, { name: `of ${part}` });
    assert.is((await shared.people.clients[part].delete(url)).status, status, part);
  }
  await shared.fixture.close();
});

test('with tenant_credentials_visible, details show user and password to users who may change the tenant', async () => {
  const shared = await startShared({ tenant_credentials_visible: true });
  const {
    url,
    user_password: password,
    user_username: user,
  } = await tenant(shared, { name: 'A very long name of a cloud' });
  assert.match(user, /^a-very-long-name-of-a-clo-user-[a-z0-9]{4}$/);
  assert.match(password, /^[A-Za-z0-9]{20}$/);
  const displayed = await asEachPersona(shared.people, async (client) => (await client.get(url)).body.user_password);
  assert.equal(displayed, {
    staff: password,
    support: undefined,
    owner: password,
    helper: undefined,
    manager: password,
    admin: password,
    observer: undefined,
    stranger: undefined,
  });
  const [listed] = (await shared.fixture.staff.get('/api/openstack-tenants/')).body;
  assert.is('user_username' in listed || 'user_password' in listed, false);
  assert.is('user_password' in (await shared.fixture.staff.get('/api/resources/')).body[0], false);
  const { db } = shared.fixture.server.app;
  assert.is(db.serialize().includes(password), false, 'nothing holds the password in the clear');
  await shared.fixture.close();
});

test('an API key shows the password only with resources:write', async () => {
  const shared = await startShared({ tenant_credentials_visible: true });
  const { fixture } = shared;
  const { url, user_password: password, user_username: user } = await tenant(shared);
  const shownTo = async (scope: string): Promise<unknown> => {
    const { body } = await fixture.staff.post('/api/api-keys/', { name: scope, scopes: [scope] });
    const { body: displayed } = await new Client(fixture, body.key).get(url);
    return [displayed.user_username, displayed.user_password];
  };
  for (const [scope, shown] of [
    ['resources:read', undefined],
    ['*:read', undefined],
    ['resources:write', password],
    ['*:write', password],
  ])
    assert.equal(await shownTo(scope), [user, shown], scope);
  await fixture.close();
});

test('change_password stores the new password after the provider has accepted it', async () => {
  const shared = await startShared({ tenant_credentials_visible: true });
  const { fixture } = shared;
  const { url, user_password: password } = await tenant(shared);
  const change = async (body: Json): Promise<unknown[]> => {
    const response = await fixture.staff.post(`${url}change_password/`, body);
    return [response.status, response.body];
  };
  assert.equal(await change({}), [400, { user_password: ['This field is required.'] }]);
  assert.equal(await change({ user_password: 'x'.repeat(51) }), [
    400,
    { user_password: ['Ensure this field has no more than 50 characters.'] },
  ]);
  assert.equal(await change({ user_password: password }), [
    400,
    { user_password: ['New password cannot match the old password.'] },
  ]);
  assert.equal(await change({ user_password: 'correct horse' }), [
    202,
    { status: 'Password update has been scheduled.' },
  ]);
  assert.is((await fixture.staff.get(url)).body.user_password, password);
  await work(fixture);
  assert.is((await fixture.staff.get(url)).body.user_password, 'correct horse');
  await fixture.close();
});

test.run();
