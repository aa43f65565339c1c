import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { affecting, by, expectedEvent, inProject, without } from '../../support/expected-event.ts';
import { Client, Fixture, type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { newestSecret } from '../../support/sent-mails.ts';

const test = suite('signing up by an invitation (services.md 10.4)');
const fixture = new Fixture();
let people: Personas;

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
  fixture.events();
}
test.after.each(() => fixture.close());

/** Returns the secret of a new invitation of the owner. */
async function invite(fields: Json = {}, client = people.clients.owner): Promise<string> {
  const { body, status } = await client.post('/api/user-invitations/', {
    link_template: 'https://app.example.com/{uuid}/',
    email: 'New@example.com',
    project: people.project.url,
    project_role: 'manager',
    ...fields,
  });
  assert.is(status, 201, JSON.stringify(body));
  return newestSecret(fixture);
}

const account = { username: 'dora', password: 'correct-horse-1', agree_with_policy: true, full_name: 'Dora Day' };
const signUp = async (key: string, body: unknown = account, client = fixture.anonymous): Promise<[number, Json]> => {
  const response = await client.post(`/api/user-invitations/${key}/accept/`, body);
  return [response.status, response.body];
};
const unauthenticated = [401, { detail: 'Authentication credentials were not provided.' }];
const accounts = (): number =>
  fixture.server.app.db.scalar<number>(raw("SELECT count(*) FROM user WHERE registration_method = 'invitation'"));

test('a recipient without an account gets one with the role of the invitation, and a token', async () => {
  await begin();
  const secret = await invite();
  const [status, body] = await signUp(secret);
  assert.is(status, 201, JSON.stringify(body));
  assert.equal(Object.keys(body), ['token']);
  const dora = new Client(fixture, body.token);
  const me = (await dora.get('/api/users/?current')).body[0];
  const { agreement_date, date_joined, email, full_name, is_staff, is_support, registration_method, username } = me;
  assert.equal(
    { agreement_date, date_joined, email, full_name, is_staff, is_support, registration_method, username },
    {
      agreement_date: start,
      date_joined: start,
      email: 'New@example.com',
      full_name: 'Dora Day',
      is_staff: undefined,
      is_support: false,
      registration_method: 'invitation',
      username: 'dora',
    },
  );
  const [permission, ...others] = (await fixture.staff.get(`/api/project-permissions/?user=${me.uuid}`)).body;
  assert.equal(
    [permission.role, permission.created_by, permission.expiration_time, others],
    ['manager', people.users.owner.url, null, []],
  );
  assert.is(fixture.server.app.db.value(raw("SELECT email_verified FROM user WHERE username = 'dora'")), 1);
  assert.equal(fixture.events(), [
    expectedEvent('user_creation_succeeded', 'User dora has been created.', by(me), affecting(me)),
    expectedEvent(
      'role_granted',
      'User dora has gained role of Manager in project Rocket.',
      without(by(people.users.owner), 'ip_address'),
      inProject(people.project, people.customer),
      affecting(me),
      { structure_type: 'project', role_name: 'Manager' },
    ),
    expectedEvent('token_created', 'Token has been updated for dora', by(me), affecting(me)),
  ]);
  const login = await fixture.anonymous.post('/api-auth/password/', account);
  assert.is(login.status, 200, 'the password is theirs');
  assert.equal(await signUp(secret, { ...account, username: 'eve' }), [
    409,
    { detail: 'Only pending invitation can be accepted.' },
  ]);
});

test('accepts a form for signing up', async () => {
  await begin();
  const form = new URLSearchParams({ ...account, agree_with_policy: 'true' });
  assert.is((await signUp(await invite(), form))[0], 201);
});

test('returns 401 without Authorization and secret, also for the uuid, and for an invalid Authorization with the secret', async () => {
  await begin();
  const secret = await invite();
  const [{ uuid }] = (await fixture.staff.get('/api/user-invitations/')).body;
  for (const key of [uuid, '0'.repeat(32)]) assert.equal(await signUp(key), unauthenticated);
  const response = await fixture.anonymous.send('POST', `/api/user-invitations/${secret}/accept/`, account, {
    Authorization: 'Token nonsense',
  });
  assert.equal([response.status, response.body], [401, { detail: 'Invalid token.' }]);
  assert.is((await fixture.anonymous.options(`/api/user-invitations/${secret}/accept/`)).status, 401);
  assert.is((await fixture.anonymous.get(`/api/user-invitations/${secret}/accept/`)).status, 401);
  assert.is(accounts(), 0);
});

test('returns 401 without invitation_signup or without LOCAL_SIGNIN', async () => {
  await begin({ invitation_signup: false });
  assert.equal(await signUp(await invite()), unauthenticated);
  await begin({ authentication_methods: [] });
  assert.equal(await signUp(await invite()), unauthenticated);
});

test('the settings for passwords and token lifetimes apply to new users', async () => {
  await begin({ password_min_length: 12, password_refuse_weak: true, token_lifetime_max: 600 });
  const secret = await invite({ email: 'doralice@example.com' });
  for (const [password, message] of [
    ['short-of-1', 'Ensure this field has at least 12 characters.'],
    ['dora-is-here-1', 'The password is too similar to the username.'],
    ['my DORALICE 1000', 'The password is too similar to the username.'],
  ])
    assert.equal(await signUp(secret, { ...account, password }), [400, { password: [message] }]);
  assert.equal([accounts(), fixture.events()], [0, []]);
  const [status, { token }] = await signUp(secret);
  assert.is(status, 201);
  assert.is((await new Client(fixture, token).get('/api/users/?current')).body[0].token_lifetime, 600);
});

test('validates the fields by the rules of users and passwords, and reports all errors together', async () => {
  await begin();
  const secret = await invite();
  const agreement = ['User must agree with the policy.'];
  assert.equal(await signUp(secret, {}), [
    400,
    { username: ['This field is required.'], password: ['This field is required.'], agree_with_policy: agreement },
  ]);
  assert.equal(
    await signUp(secret, { username: 'OWNER', password: 'x', full_name: 'x'.repeat(101), agree_with_policy: 'no' }),
    [
      400,
      {
        username: ['user with this username already exists.'],
        password: ['Ensure this field has at least one digit.', 'Ensure this field has at least 7 characters.'],
        full_name: ['Ensure this field has no more than 100 characters.'],
        agree_with_policy: agreement,
      },
    ],
  );
  for (const agrees of [false, null, 0, 'x', {}])
    assert.equal(await signUp(secret, { ...account, agree_with_policy: agrees }), [
      400,
      { agree_with_policy: agreement },
    ]);
  assert.equal([accounts(), fixture.events()], [0, []]);
});

test('ignores other fields of the body, so that new users cannot become staff', async () => {
  await begin();
  const more = { is_staff: true, is_support: true, email: 'eve@example.com', civil_number: '1', token_lifetime: null };
  assert.is((await signUp(await invite(), { ...account, ...more }))[0], 201);
  const [user] = (await fixture.staff.get('/api/users/?username=dora')).body;
  assert.equal(
    [user.is_staff, user.is_support, user.email, user.civil_number],
    [false, false, 'New@example.com', null],
  );
  assert.is.not(user.token_lifetime, null);
});

test('checks state, inviter, civil number, fields, email and quota in this order, before it hashes the password', async () => {
  await begin();
  const { passwords } = fixture.server.app;
  let hashes = 0;
  const hash = passwords.hash.bind(passwords);
  passwords.hash = (...input) => {
    hashes++;
    return hash(...input);
  };
  const quota = people.customer.quotas.find(({ name }: Json) => name === 'nc_user_count');
  const fifth = { ...account, username: '' };
  const secret = await invite({ civil_number: '1' });
  const secrets = [secret, await invite({ email: 'taken@example.com' }), await invite()] as const;
  await fixture.user('taken', { email: 'TAKEN@example.com' });
  await fixture.staff.patch(quota.url, { limit: 5 });
  await fixture.staff.patch(people.users.owner.url, { is_active: false });
  assert.equal(await signUp(secrets[0], fifth), [409, { detail: 'The inviter may not invite any more.' }]);
  await fixture.staff.patch(people.users.owner.url, { is_active: true });
  assert.equal(await signUp(secrets[0], fifth), [400, { detail: 'User has an invalid civil number.' }]);
  assert.equal(await signUp(secrets[1], fifth), [400, { username: ['This field may not be blank.'] }]);
  assert.equal(await signUp(secrets[1]), [400, { detail: 'User with email "taken@example.com" already exists.' }]);
  assert.equal(await signUp(secrets[2]), [
    409,
    { detail: 'One or more quotas were exceeded: nc_user_count quota limit: 5.0, requires 6.0 (Alice (ALC))' },
  ]);
  const [{ url }] = (await fixture.staff.get('/api/user-invitations/?civil_number=1')).body;
  await fixture.staff.post(`${url}cancel/`);
  await fixture.staff.patch(people.users.owner.url, { is_active: false });
  assert.equal(await signUp(secrets[0], fifth), [409, { detail: 'Only pending invitation can be accepted.' }]);
  assert.equal([hashes, accounts()], [0, 0]);
});

test('creates one account if two requests use the same invitation at once', async () => {
  await begin();
  const secret = await invite();
  const responses = await Promise.all(
    ['dora', 'eve', 'dora'].map((username) => signUp(secret, { ...account, username })),
  );
  assert.equal(responses.map(([status]) => status).sort(), [201, 409, 409]);
  assert.is(accounts(), 1);
});

test('with a token, the same path accepts for its user and ignores the fields of an account', async () => {
  await begin();
  const secret = await invite();
  assert.equal(await signUp(secret, account, people.clients.stranger), [
    200,
    { detail: 'Invitation has been successfully accepted.' },
  ]);
  assert.is(accounts(), 0);
});

test.run();
