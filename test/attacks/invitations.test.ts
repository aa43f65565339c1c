import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw } from '../../src/kernel/db/sql.ts';
import { affecting, expectedEvent, inProject } from '../support/expected-event.ts';
import { type Client, Fixture, type Json } from '../support/fixture.ts';
import { createPersonas, type Personas, personaNames } from '../support/personas.ts';
import { newestSecret, sentMails } from '../support/sent-mails.ts';

const test = suite('attacks on invitations (services.md 10)');
const fixture = new Fixture();
let people: Personas;

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
  await fixture.user('newcomer', { email: 'newcomer@example.com' });
  fixture.events();
}
test.after.each(() => fixture.close());

const gone = [404, { detail: 'Not found.' }];
const revoked = [409, { detail: 'The inviter may not invite any more.' }];
const accepted = [200, { detail: 'Invitation has been successfully accepted.' }];

async function invite(client: Client = fixture.staff, fields: Json = {}): Promise<Json> {
  const { body, status } = await client.post('/api/user-invitations/', {
    link_template: 'https://app.example.com/{uuid}/',
    email: 'new@example.com',
    project: people.project.url,
    project_role: 'manager',
    ...fields,
  });
  assert.is(status, 201, JSON.stringify(body));
  const { is_mailed, link, ...invitation } = body;
  return invitation;
}
const toCustomer = (): Json => ({
  project: null,
  project_role: null,
  customer: people.customer.url,
  customer_role: 'owner',
});
const act = async (client: Client, key: string, action: string, body?: unknown): Promise<[number, Json]> => {
  const response = await client.post(`/api/user-invitations/${key}/${action}/`, body);
  return [response.status, response.body];
};
const newcomer = (): Client => fixture.as('newcomer');
const rolesOf = async (username: string): Promise<Json[]> => {
  const [user] = (await fixture.staff.get(`/api/users/?username=${username}`)).body;
  return [
    ...(await fixture.staff.get(`/api/customer-permissions/?user=${user.uuid}`)).body,
    ...(await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body,
  ];
};

test('shows an invitation only to users who may send it; global support cannot use it to accept', async () => {
  await begin();
  const [project, customer] = [await invite(), await invite(fixture.staff, toCustomer())];
  const listed = async (client: Client): Promise<string[]> =>
    (await client.get('/api/user-invitations/?o=created')).body.map(({ uuid }: Json) => uuid).sort();
  for (const part of personaNames) {
    const client = people.clients[part];
    const seen = part === 'staff' ? [project, customer] : part === 'owner' ? [project] : [];
    assert.equal(await listed(client), seen.map(({ uuid }) => uuid).sort(), part);
    for (const invitation of [project, customer]) {
      const response = await client.get(invitation.url);
      const isSeen = seen.includes(invitation);
      assert.equal([response.status, response.body], isSeen ? [200, invitation] : gone, part);
      if (isSeen) continue;
      for (const action of ['cancel', 'send']) assert.equal(await act(client, invitation.uuid, action), gone, part);
    }
  }
});

test('shows invitations to a customer to its owners with owners_can_manage_owners, until their role ends', async () => {
  await begin({ owners_can_manage_owners: true });
  await invite();
  await invite(fixture.staff, toCustomer());
  assert.is((await people.clients.owner.get('/api/user-invitations/')).body.length, 2);
  await fixture.grant(people.customer, await fixture.user('passing'), 'owner', '2018-01-05T04:47:29Z');
  const passing = fixture.as('passing');
  assert.equal((await passing.get('/api/user-invitations/')).body, []);
  for (const { uuid } of (await fixture.staff.get('/api/user-invitations/')).body)
    assert.equal(await act(passing, uuid, 'send'), gone);
});

test('puts the secret into the mail alone: not into responses, lists, events, the database or the log', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-secrets-'));
  await begin({ ephemeral: false, data });
  const lines: unknown[] = [];
  const { log } = fixture.server.app;
  for (const level of ['info', 'warn', 'error'] as const)
    log[level] = ((...line: unknown[]) => lines.push(line)) as typeof log.info;
  const invitation = await invite();
  await fixture.server.settled();
  const mail = readFileSync(join(data, 'mail', '2018-01-05T04-47-04Z-1.eml'), 'utf8');
  const secret = /app\.example\.com\/([0-9a-f]{32})\//.exec(mail)?.[1] as string;
  assert.not(mail.includes(invitation.uuid));
  assert.match(secret, /^[0-9a-f]{32}$/);
  const responses = [
    invitation,
    (await fixture.staff.get(invitation.url)).body,
    (await fixture.staff.get('/api/user-invitations/')).body,
    (await fixture.staff.get('/api/events/')).body,
    fixture.server.app.db.all(raw('SELECT hex(secret), hex(secret_digest) FROM invitation_mail, invitation')),
    lines,
  ];
  assert.not(JSON.stringify(responses).toLowerCase().includes(secret));
  for (const file of ['tenantry.db', 'tenantry.db-wal'])
    if (existsSync(join(data, file))) assert.not(readFileSync(join(data, file), 'latin1').includes(secret), file);
  await fixture.close();
  rmSync(data, { recursive: true });
});

test('creates uuids with 122 random bits that do not reveal the time of the invitation', async () => {
  await begin();
  const uuids: string[] = [];
  for (let i = 0; i < 4; i++) uuids.push((await invite()).uuid);
  for (const uuid of uuids) assert.match(uuid, /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  assert.is(new Set(uuids.map((uuid) => uuid.slice(0, 8))).size, 4, uuids.join());
});

test('accepts the secret instead of the uuid in accept and check, and only the uuid elsewhere', async () => {
  await begin();
  await invite();
  const secret = await newestSecret(fixture);
  assert.equal(await act(fixture.anonymous, secret, 'check'), [200, { email: 'new@example.com' }]);
  assert.equal(await act(fixture.anonymous, secret.toUpperCase(), 'check'), [200, { email: 'new@example.com' }]);
  for (const action of ['cancel', 'send']) assert.equal(await act(fixture.staff, secret, action), gone);
  assert.is((await fixture.staff.get(`/api/user-invitations/${secret}/`)).status, 404);
  assert.equal(await act(newcomer(), secret, 'accept'), accepted);
  assert.equal(await act(fixture.anonymous, secret, 'check'), gone);
});

test('rejects the uuid in accept and check without invitation_accept_by_uuid', async () => {
  await begin({ invitation_accept_by_uuid: false });
  const { uuid } = await invite();
  const secret = await newestSecret(fixture);
  assert.equal(await act(newcomer(), uuid, 'accept'), gone);
  assert.is((await newcomer().options(`/api/user-invitations/${uuid}/accept/`)).status, 404);
  assert.equal(await act(fixture.anonymous, uuid, 'check'), gone);
  assert.equal(await act(newcomer(), secret, 'accept'), accepted);
});

test('replaces the secret on send, so that the former one is invalid', async () => {
  await begin({ invitation_accept_by_uuid: false });
  const { uuid } = await invite();
  const first = await newestSecret(fixture);
  assert.is((await act(fixture.staff, uuid, 'send'))[0], 200);
  const second = await newestSecret(fixture);
  assert.is.not(first, second);
  assert.equal(await act(newcomer(), first, 'accept'), gone);
  assert.equal(await act(newcomer(), second, 'accept'), accepted);
});

test('stores the secret encrypted until its mail is sent or given up', async () => {
  await begin({ smtp_url: 'smtp://127.0.0.1:1', email_from: 'noreply@example.com' });
  const stored = (): unknown[] =>
    fixture.server.app.db.values(raw('SELECT secret IS NOT NULL FROM invitation_mail ORDER BY id'));
  const { uuid } = await invite();
  await fixture.server.settled();
  assert.equal(stored(), [1], 'the mail is retried');
  await act(fixture.staff, uuid, 'send');
  await fixture.server.settled();
  assert.equal(stored(), [0, 1], 'another secret replaces it');
  await act(fixture.staff, uuid, 'cancel');
  assert.equal(stored(), [0, 0]);
});

test('accepts an invitation from before secrets by its uuid, and gives it a secret when it is sent', async () => {
  await begin();
  const { uuid } = await invite();
  const { db } = fixture.server.app;
  db.write(() => db.run(raw('UPDATE invitation SET secret_digest = NULL')));
  assert.equal(await act(fixture.anonymous, uuid, 'check'), [200, { email: 'new@example.com' }]);
  await act(fixture.staff, uuid, 'send');
  assert.equal(await act(fixture.anonymous, await newestSecret(fixture), 'check'), [200, { email: 'new@example.com' }]);
  assert.equal(await act(newcomer(), uuid, 'accept'), accepted);
});

test('shortens project names in the subject and removes their links, so that they cannot phish', async () => {
  await begin();
  await fixture.staff.patch(people.users.owner.url, { full_name: `${'Olga '.repeat(19)}end` });
  const named = async (name: string): Promise<string | undefined> => {
    assert.is((await fixture.staff.patch(people.project.url, { name })).status, 200);
    await invite(people.clients.owner);
    const [mail] = (await sentMails(fixture)).slice(-1);
    assert.not(/evil/.test(`${mail?.subject}${mail?.text}${mail?.html}`), name);
    return mail?.subject?.replace(/^Invitation to (.*) project$/, '$1');
  };
  assert.is(
    await named(
      'Your account is locked, unlock it at https://evil.example/login?a=1 within 24 hours or lose all of it',
    ),
    'Your account is locked, unlock it at [link] within 24 hours',
  );
  assert.is(await named('See HTTP://evil.example, www.evil.example'), 'See [link] [link]');
  assert.is(await named('evil.example/login and sub.evil.example:8080/x'), '[link] and [link]');
  assert.is(await named('mailto:eve@evil.example'), '[link]');
  assert.is(await named('Node.js 2.0/3.0 and/or Booking.com'), 'Node.js 2.0/3.0 and/or Booking.com');
  const [mail] = (await sentMails(fixture)).slice(-1);
  assert.is(
    mail?.text?.split('\n')[1]?.indexOf(' has invited'),
    59,
    'the trailing blank of the 60 characters is removed',
  );
});

test('limits templates to hosts named in the settings when link_template_hosts is not set', async () => {
  const status = async (host: string): Promise<number> =>
    (
      await fixture.staff.post('/api/user-invitations/', {
        link_template: `${host.includes('://') ? '' : 'https://'}${host}/{uuid}`,
        email: 'new@example.com',
        project: people.project.url,
        project_role: 'admin',
      })
    ).status;
  await begin({
    base_url: 'https://api.example.com/cloud',
    allowed_origins: ['https://app.example.com', 'http://localhost:3000'],
  });
  for (const host of ['api.example.com', 'app.example.com', 'app.example.com:8443', 'http://localhost:3000'])
    assert.is(await status(host), 201, host);
  for (const host of ['evil.example', 'http://localhost', 'http://localhost:3001', 'x.app.example.com', 'example.com'])
    assert.is(await status(host), 400, host);
  await begin({ allowed_origins: ['https://app.example.com'], link_template_hosts: ['mail.example.com'] });
  assert.equal(
    [await status('mail.example.com'), await status('app.example.com')],
    [201, 400],
    'the setting takes precedence',
  );
  await begin({ allowed_origins: ['https://*.example.com', 'http://localhost:*'] });
  for (const host of ['a.example.com', 'http://localhost:1234', 'http://localhost'])
    assert.is(await status(host), 201, host);
  for (const host of ['example.com', 'a.b.example.com', '.example.com', 'evil.example'])
    assert.is(await status(host), 400, host);
  await begin({ allowed_origins: ['*'] });
  assert.is(await status('anything.example'), 201);
});

test('rejects an invitation whose inviter lost the role, was deactivated or deleted, and leaves it pending', async () => {
  const losses: Readonly<Record<string, () => Promise<unknown>>> = {
    'the role is revoked': async () =>
      fixture.staff.delete((await rolesOf('owner')).find(({ role }) => role === 'owner').url),
    'the role has ended': async () => {
      await fixture.staff.patch((await rolesOf('owner'))[0].url, { expiration_time: '2018-01-05T04:48:00Z' });
      fixture.clock.advance(60);
      fixture.server.tick();
    },
    deactivated: () => fixture.staff.patch(people.users.owner.url, { is_active: false }),
    deleted: () => fixture.staff.delete(people.users.owner.url),
  };
  for (const [loss, lose] of Object.entries(losses)) {
    await begin();
    const { url, uuid } = await invite(people.clients.owner);
    const secret = await newestSecret(fixture);
    await lose();
    fixture.events();
    for (const key of [secret, uuid]) assert.equal(await act(newcomer(), key, 'accept'), revoked, loss);
    assert.equal([await rolesOf('newcomer'), fixture.events()], [[], []], loss);
    assert.is((await fixture.staff.get(url)).body.state, 'pending', loss);
    const [status, { detail }] = await act(fixture.staff, uuid, 'send');
    assert.equal([status, detail], [200, 'Invitation sending has been successfully scheduled.']);
    assert.equal(await act(newcomer(), uuid, 'accept'), accepted, loss);
    await fixture.close();
  }
});

test('rejects an invitation from a former staff user, and from an owner who may no longer invite owners', async () => {
  await begin();
  const boss = await fixture.user('boss', { is_staff: true });
  const { uuid } = await invite(fixture.as('boss'), toCustomer());
  await fixture.staff.patch(boss.url, { is_staff: false });
  assert.equal(await act(newcomer(), uuid, 'accept'), revoked);
  await fixture.grant(people.customer, boss, 'owner');
  assert.equal(await act(newcomer(), uuid, 'accept'), revoked, 'an owner may not invite owners');
});

test('checks the state before the inviter, and the inviter before the requirements of the caller', async () => {
  await begin();
  const { uuid } = await invite(people.clients.owner, { civil_number: '1' });
  await fixture.staff.patch(people.users.owner.url, { is_active: false });
  assert.equal(await act(newcomer(), uuid, 'accept', { replace_email: 'x' }), [
    400,
    { replace_email: ['"x" is not a valid boolean.'] },
  ]);
  assert.equal(await act(newcomer(), uuid, 'accept'), revoked);
  await act(fixture.staff, uuid, 'cancel');
  assert.equal(await act(newcomer(), uuid, 'accept'), [409, { detail: 'Only pending invitation can be accepted.' }]);
});

test('ends a role that an owner grants with the role of the owner; the event names the inviter without an address', async () => {
  await begin();
  const { uuid } = await invite(people.clients.owner);
  const end = '2018-02-01T00:00:00Z';
  await fixture.staff.patch((await rolesOf('owner'))[0].url, { expiration_time: end });
  fixture.events();
  assert.equal(await act(newcomer(), uuid, 'accept'), accepted);
  const [{ created_by, expiration_time, role }] = (await rolesOf('newcomer')) as [Json];
  assert.equal([role, expiration_time, created_by], ['manager', end, people.users.owner.url]);
  const { uuid: owner } = people.users.owner;
  assert.equal(fixture.events(), [
    expectedEvent(
      'role_granted',
      'User newcomer has gained role of Manager in project Rocket.',
      { user_uuid: owner, user_username: 'owner', user_full_name: '', user_native_name: '' },
      inProject(people.project, people.customer),
      affecting((await fixture.staff.get('/api/users/?username=newcomer')).body[0]),
      { structure_type: 'project', role_name: 'Manager' },
    ),
  ]);
});

test('does not accept an email that the user wrote for validate_invitation_email', async () => {
  await begin({ validate_invitation_email: true });
  const mismatch = [400, { detail: 'Invitation and user emails mismatch.' }];
  const { uuid } = await invite();
  const secret = await newestSecret(fixture);
  const [me] = (await newcomer().get('/api/users/?current')).body;
  const own = await newcomer().patch(me.url, { email: 'new@example.com', agree_with_policy: true });
  assert.is(own.status, 200, JSON.stringify(own.body));
  for (const key of [uuid, secret]) assert.equal(await act(newcomer(), key, 'accept'), mismatch);
  await fixture.staff.patch(me.url, { email: 'other@example.com' });
  await fixture.staff.patch(me.url, { email: 'NEW@example.com' });
  assert.equal(await act(newcomer(), uuid, 'accept'), accepted, 'written by staff');
});

test('verifies the email from an invitation accepted by its secret, not by its uuid', async () => {
  await begin({ validate_invitation_email: false });
  const verified = (): unknown =>
    fixture.server.app.db.value(raw("SELECT email_verified FROM user WHERE username = 'newcomer'"));
  const { uuid } = await invite();
  assert.equal(await act(newcomer(), uuid, 'accept', { replace_email: true }), accepted);
  assert.is(verified(), 0);
  await invite(fixture.staff, toCustomer());
  assert.equal(await act(newcomer(), await newestSecret(fixture), 'accept', { replace_email: true }), accepted);
  assert.is(verified(), 1);
});

test.run();
