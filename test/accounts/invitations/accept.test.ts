import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent, inCustomer, inProject, without } from '../../support/expected-event.ts';
import { type ApiResponse, byStaff, Fixture, type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';

const test = suite('accepting an invitation (services.md 10.2 to 10.4)');
const accepted = [200, { detail: 'Invitation has been successfully accepted.' }];
const fixture = new Fixture();
let people: Personas;
let newcomer: Json;

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
  newcomer = await fixture.user('newcomer', {
    email: 'old@example.com',
    civil_number: '12345',
    full_name: 'New Comer',
  });
  fixture.events();
}
test.after.each(() => fixture.close());

async function invite(
  fields: Json = { project: people.project.url, project_role: 'admin' },
  client = fixture.staff,
): Promise<Json> {
  const response = await client.post('/api/user-invitations/', {
    link_template: 'https://app.example.com/{uuid}',
    email: 'new@example.com',
    ...fields,
  });
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
}
const toCustomer = (role = 'owner'): Json => ({ customer: people.customer.url, customer_role: role });
const accept = async ({ url }: Json, body?: Json, username = 'newcomer'): Promise<unknown[]> => {
  const response: ApiResponse<Json> = await fixture.as(username).post(`${url}accept/`, body);
  return [response.status, response.body];
};
const stateOf = async ({ url }: Json): Promise<string> => (await fixture.staff.get(url)).body.state;
const rolesOf = async (user: Json): Promise<Json[]> => [
  ...(await fixture.staff.get(`/api/customer-permissions/?user=${user.uuid}`)).body,
  ...(await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body,
];
const accountOf = async (user: Json): Promise<Json> => (await fixture.staff.get(user.url)).body;

test('the inviter grants a project role without an end, and is the actor of the event', async () => {
  await begin();
  const invitation = await invite(undefined, people.clients.owner);
  assert.equal(await accept(invitation), accepted);
  assert.is(await stateOf(invitation), 'accepted');
  const [{ created, created_by, expiration_time, project, role, user }, ...others] = (await rolesOf(newcomer)) as [
    Json,
    ...Json[],
  ];
  assert.equal(others, []);
  assert.equal(
    { created, created_by, expiration_time, project, role, user },
    {
      created: start,
      created_by: people.users.owner.url,
      expiration_time: null,
      project: people.project.url,
      role: 'admin',
      user: newcomer.url,
    },
  );
  assert.equal(fixture.events(), [
    expectedEvent(
      'role_granted',
      'User newcomer has gained role of Administrator in project Rocket.',
      without(by(people.users.owner), 'ip_address'),
      inProject(people.project, people.customer),
      affecting(newcomer),
      { structure_type: 'project', role_name: 'Administrator' },
    ),
  ]);
});

test('accepting grants a customer role and counts the user in nc_user_count', async () => {
  await begin();
  const count = async (): Promise<number> =>
    (await fixture.staff.get(people.customer.url)).body.quotas.find(({ name }: Json) => name === 'nc_user_count').usage;
  const before = await count();
  assert.equal(await accept(await invite(toCustomer('support'))), accepted);
  assert.is(await count(), before + 1);
  assert.equal(fixture.events(), [
    expectedEvent(
      'role_granted',
      'User newcomer has gained role of Support in customer Alice.',
      without(await byStaff(fixture), 'ip_address'),
      inCustomer(people.customer),
      affecting(newcomer),
      { structure_type: 'customer', role_name: 'Support' },
    ),
  ]);
  assert.is((await fixture.as('newcomer').get(people.customer.url)).status, 200);
});

test('any user may accept, whether or not they can see the invitation; 404 for an unknown uuid, 401 without a token', async () => {
  await begin();
  const invitation = await invite();
  assert.is((await people.clients.stranger.get(invitation.url)).status, 404);
  assert.is((await fixture.anonymous.post(`${invitation.url}accept/`)).status, 401);
  assert.equal(await accept(invitation, {}, 'stranger'), accepted);
  assert.equal(await accept({ url: `/api/user-invitations/${'0'.repeat(32)}/` }), [404, { detail: 'Not found.' }]);
});

test('replace_email replaces the email and records user_update_succeeded after role_granted', async () => {
  await begin();
  assert.equal(await accept(await invite(), { replace_email: true }), accepted);
  assert.is((await accountOf(newcomer)).email, 'new@example.com');
  const [granted, updated, ...others] = fixture.events();
  assert.is(granted?.type, 'role_granted');
  assert.equal(
    updated,
    expectedEvent('user_update_succeeded', 'User newcomer has been updated.', by(newcomer), affecting(newcomer)),
  );
  assert.equal(others, []);
  assert.is(
    (await fixture.staff.post('/api/users/', { username: 'late', email: 'NEW@example.com' })).status,
    400,
    'the new address is taken',
  );
  assert.is(
    (await fixture.staff.post('/api/users/', { username: 'late', email: 'old@example.com' })).status,
    201,
    'the old one is free',
  );
});

test('keeps the email if replace_email is missing, null, empty or false in any spelling', async () => {
  await begin();
  for (const body of [
    undefined,
    {},
    { replace_email: null },
    { replace_email: '' },
    { replace_email: false },
    { replace_email: 'no' },
    new URLSearchParams({ replace_email: '' }),
  ]) {
    const user = await fixture.user(`user.${fixture.clock.now()}`, { email: 'mine@example.com' });
    fixture.events();
    assert.equal(await accept(await invite(), body, user.username), accepted);
    assert.is((await accountOf(user)).email, 'mine@example.com');
    assert.equal(
      fixture.events().map(({ type }) => type),
      ['role_granted'],
    );
    await fixture.staff.delete(user.url);
    fixture.clock.advance(1);
  }
});

test('an address that the user already has is not an update', async () => {
  await begin();
  assert.equal(
    await accept(await invite({ ...toCustomer(), email: 'old@example.com' }), { replace_email: 'yes' }),
    accepted,
  );
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['role_granted'],
  );
});

test('rejects a replace_email that is not a boolean before it checks the state of the invitation', async () => {
  await begin();
  const invitation = await invite();
  await fixture.staff.post(`${invitation.url}cancel/`);
  assert.equal(await accept(invitation, { replace_email: 'x' }), [
    400,
    { replace_email: ['"x" is not a valid boolean.'] },
  ]);
  assert.equal(await accept(invitation, { replace_email: true }), [
    409,
    { detail: 'Only pending invitation can be accepted.' },
  ]);
});

test('returns 409 for accepted, canceled and expired invitations', async () => {
  await begin();
  const [once, canceled, expired] = [await invite(toCustomer()), await invite(), await invite()];
  await accept(once);
  await fixture.staff.post(`${canceled.url}cancel/`);
  fixture.clock.set('2018-01-12T04:47:04Z');
  fixture.events();
  for (const invitation of [once, canceled, expired])
    assert.equal(await accept(invitation, {}, 'stranger'), [
      409,
      { detail: 'Only pending invitation can be accepted.' },
    ]);
  assert.equal(await rolesOf(people.users.stranger), []);
  assert.equal(fixture.events(), []);
});

test('a civil_number must equal that of the user', async () => {
  await begin();
  const wrong = [400, { detail: 'User has an invalid civil number.' }];
  const invitation = await invite({ ...toCustomer(), civil_number: '12345' });
  await fixture.user('other', { civil_number: '123456' });
  for (const username of ['stranger', 'other']) assert.equal(await accept(invitation, {}, username), wrong);
  assert.is(await stateOf(invitation), 'pending');
  assert.equal(await accept(invitation), accepted);
});

test('rejects a user with an active role there; an ended role does not count', async () => {
  await begin();
  assert.equal(await accept(await invite(), {}, 'manager'), [
    400,
    { detail: 'User already has role within this project.' },
  ]);
  assert.equal(await accept(await invite(toCustomer()), {}, 'helper'), [
    400,
    { detail: 'User already has role within this customer.' },
  ]);
  assert.equal(
    await accept(await invite(toCustomer()), {}, 'manager'),
    accepted,
    'a role in the project is none in the customer',
  );
  const { url } = await fixture.grant(people.project, newcomer, 'support');
  await fixture.staff.delete(url);
  assert.equal(await accept(await invite()), accepted);
});

test('validate_invitation_email compares the emails of invitation and user, ignoring case', async () => {
  await begin({ validate_invitation_email: true });
  const invitation = await invite();
  assert.equal(await accept(invitation, { replace_email: true }), [
    400,
    { detail: 'Invitation and user emails mismatch.' },
  ]);
  assert.equal(await accept(await invite({ ...toCustomer(), email: 'OLD@Example.com' })), accepted);
});

test('does not replace the email with that of another user, and grants nothing', async () => {
  await begin();
  await fixture.user('namesake', { email: 'New@Example.com' });
  const invitation = await invite();
  fixture.events();
  assert.equal(await accept(invitation, { replace_email: true }), [
    400,
    { detail: 'User with email "new@example.com" already exists.' },
  ]);
  assert.equal([await rolesOf(newcomer), fixture.events(), await stateOf(invitation)], [[], [], 'pending']);
  assert.equal(await accept(invitation), accepted);
});

test('returns 409 for a new user when nc_user_count is full, and changes nothing; existing members can still accept', async () => {
  await begin();
  const quota = people.customer.quotas.find(({ name }: Json) => name === 'nc_user_count');
  assert.is((await fixture.staff.patch(quota.url, { limit: 5 })).status, 200);
  const invitation = await invite();
  assert.equal(await accept(invitation, { replace_email: true }), [
    409,
    { detail: 'One or more quotas were exceeded: nc_user_count quota limit: 5.0, requires 6.0 (Alice (ALC))' },
  ]);
  assert.equal(
    [await rolesOf(newcomer), fixture.events(), await stateOf(invitation), (await accountOf(newcomer)).email],
    [[], [], 'pending', 'old@example.com'],
  );
  assert.equal(await accept(invitation, {}, 'helper'), accepted);
});

test('checks civil number, role, emails, duplicate email and quota in this order', async () => {
  await begin({ validate_invitation_email: true });
  await fixture.staff.patch(people.customer.quotas.find(({ name }: Json) => name === 'nc_user_count').url, {
    limit: 5,
  });
  const detail = async (invitation: Json, username = 'newcomer'): Promise<string> =>
    ((await accept(invitation, { replace_email: true }, username))[1] as Json).detail;
  const strict = await invite({ project: people.project.url, project_role: 'admin', civil_number: '9' });
  assert.is(await detail(strict, 'manager'), 'User has an invalid civil number.');
  assert.is(await detail(await invite(), 'manager'), 'User already has role within this project.');
  assert.is(
    await detail(await invite({ ...toCustomer(), civil_number: '12345' })),
    'Invitation and user emails mismatch.',
  );
  assert.match(await detail(await invite({ ...toCustomer(), email: 'old@example.com' })), /^One or more quotas/);
});

test.run();
