import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';

const test = suite('who may invite, cancel and send again (services.md 10.5)');
const fixture = new Fixture();
let people: Personas;

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
}
test.after.each(() => fixture.close());

const base = { link_template: 'https://app.example.com/{uuid}', email: 'new@example.com' };
const toProject = (): Json => ({ ...base, project: people.project.url, project_role: 'manager' });
const toCustomer = (): Json => ({ ...base, customer: people.customer.url, customer_role: 'support' });

/** Returns the statuses of inviting, and of sending and cancelling an invitation of staff. */
async function statuses(client: Client, body: Json): Promise<number[]> {
  const { url } = (await fixture.staff.post('/api/user-invitations/', body)).body;
  return [
    (await client.post('/api/user-invitations/', body)).status,
    (await client.post(`${url}send/`)).status,
    (await client.post(`${url}cancel/`)).status,
  ];
}

/** Another owner of the customer, whose role expires. */
async function passingOwner(): Promise<Client> {
  await fixture.grant(people.customer, await fixture.user('passing'), 'owner', '2019-01-01T00:00:00Z');
  return fixture.as('passing');
}

test('staff can invite to any customer, global support to none', async () => {
  await begin({ owners_can_manage_owners: true });
  for (const body of [toProject(), toCustomer()]) {
    assert.equal(await statuses(people.clients.staff, body), [201, 200, 200]);
    assert.equal(await statuses(people.clients.support, body), [403, 404, 404]);
  }
});

test('an owner invites to projects of their customer, and to the customer itself only with owners_can_manage_owners', async () => {
  await begin();
  assert.equal(await statuses(people.clients.owner, toProject()), [201, 200, 200]);
  assert.equal(await statuses(people.clients.owner, toCustomer()), [403, 404, 404]);
  await fixture.close();
  await begin({ owners_can_manage_owners: true });
  assert.equal(await statuses(people.clients.owner, toCustomer()), [201, 200, 200]);
});

test('the granted role has no end, so owners whose own role ends cannot invite, even with that setting', async () => {
  await begin({ owners_can_manage_owners: true });
  const passing = await passingOwner();
  for (const body of [toProject(), toCustomer()]) assert.equal(await statuses(passing, body), [403, 404, 404]);
});

test('other members see no invitation: POST 403, cancel and send 404; for users without a role the link is invalid: 400', async () => {
  await begin({ owners_can_manage_owners: true });
  for (const part of ['helper', 'manager', 'admin', 'observer'] as const) {
    for (const body of [toProject(), toCustomer()])
      assert.equal(await statuses(people.clients[part], body), [403, 404, 404], part);
  }
  assert.equal(await statuses(people.clients.stranger, toProject()), [400, 404, 404]);
});

test('global support who owns the customer invites as its owner', async () => {
  await begin();
  await fixture.grant(people.customer, people.users.support, 'owner');
  assert.equal(await statuses(people.clients.support, toProject()), [201, 200, 200]);
});

test('cancel returns 200 and cancels; 409 unless the invitation is pending', async () => {
  await begin();
  const { url } = (await fixture.staff.post('/api/user-invitations/', toProject())).body;
  const first = await fixture.staff.post(`${url}cancel/`);
  assert.equal([first.status, first.body], [200, { detail: 'Invitation has been successfully canceled.' }]);
  assert.is((await fixture.staff.get(url)).body.state, 'canceled');
  const second = await fixture.staff.post(`${url}cancel/`);
  assert.equal([second.status, second.body], [409, { detail: 'Only pending invitation can be canceled.' }]);
  assert.equal(fixture.events(), []);
});

test('send returns 200 and leaves the invitation and its end unchanged; 409 unless it is pending', async () => {
  await begin();
  const { is_mailed, link, ...invitation } = (await fixture.staff.post('/api/user-invitations/', toProject())).body;
  fixture.clock.advance(3600);
  const first = await fixture.staff.post(`${invitation.url}send/`);
  const detail = 'Invitation sending has been successfully scheduled.';
  assert.equal([first.status, first.body], [200, { detail, link: first.body.link, is_mailed }]);
  assert.is.not(first.body.link, link);
  assert.equal((await fixture.staff.get(invitation.url)).body, invitation);
  await fixture.staff.post(`${invitation.url}cancel/`);
  const second = await fixture.staff.post(`${invitation.url}send/`);
  assert.equal([second.status, second.body], [409, { detail: 'Only pending invitation can be resent.' }]);
  assert.equal(fixture.events(), []);
});

test('does not reveal the state of an invitation to users who cannot see it', async () => {
  await begin();
  const { url } = (await fixture.staff.post('/api/user-invitations/', toProject())).body;
  await fixture.staff.post(`${url}cancel/`);
  for (const action of ['cancel', 'send'])
    assert.is((await people.clients.support.post(`${url}${action}/`)).status, 404);
});

test.run();
