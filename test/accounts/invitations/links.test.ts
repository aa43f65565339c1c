/** The link that an inviter gets for an invitation, and its rights (services.md 10.1, 10.2). */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, Fixture, type Json } from '../../support/fixture.ts';
import { Mailbox } from '../../support/mailbox.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { newestSecret } from '../../support/sent-mails.ts';

const test = suite('links of invitations (services.md 10.1, 10.2)');
const fixture = new Fixture();
let people: Personas;

test.after.each(() => fixture.close());

async function begin(options: ServerOptions = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
  fixture.events();
}

const body = (fields: Json = {}): Json => ({
  link_template: 'https://app.example.com/{uuid}/{uuid}',
  email: 'new@example.com',
  project: people.project.url,
  project_role: 'admin',
  ...fields,
});
const invite = async (fields: Json = {}, client = people.clients.owner): Promise<Json> => {
  const response = await client.post('/api/user-invitations/', body(fields));
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
};
const secretOf = ({ link }: Json): string => {
  const [, secret = ''] = /^https:\/\/app\.example\.com\/([0-9a-f]{32})\/\1$/.exec(link) ?? [];
  assert.ok(secret, link);
  return secret;
};
const check = async (key: string): Promise<unknown[]> => {
  const response = await fixture.anonymous.post(`/api/user-invitations/${key}/check/`);
  return [response.status, response.body];
};
const known = [200, { email: 'new@example.com' }];
const unknown = [404, { detail: 'Not found.' }];
const account = { username: 'dora', password: 'correct-horse-1', agree_with_policy: true };

test('only the response to the creation has the link; its secret differs from that in the mail', async () => {
  await begin();
  const { is_mailed, link, ...invitation } = await invite();
  const secret = secretOf({ link });
  assert.is(is_mailed, false, 'no mail server is set up');
  assert.is.not(await newestSecret(fixture), secret);
  assert.equal((await people.clients.owner.get(invitation.url)).body, invitation);
  assert.equal((await people.clients.owner.get('/api/user-invitations/')).body, [invitation]);
  assert.equal((await fixture.staff.get('/api/user-invitations/?field=link&field=is_mailed')).body, [{}]);
  assert.equal(await check(secret), known);
  assert.equal(await check(await newestSecret(fixture)), known, 'the mail works, too');
});

test('send returns another link and invalidates the previous one', async () => {
  await begin();
  const invitation = await invite();
  const sent = await fixture.staff.post(`${invitation.url}send/`);
  assert.equal(sent.body, {
    detail: 'Invitation sending has been successfully scheduled.',
    link: sent.body.link,
    is_mailed: false,
  });
  assert.equal(await check(secretOf(invitation)), unknown);
  assert.equal(await check(secretOf(sent.body)), known);
  await fixture.staff.post(`${invitation.url}cancel/`);
  assert.equal(await check(secretOf(sent.body)), unknown);
  const late = await fixture.staff.post(`${invitation.url}send/`);
  assert.equal([late.status, late.body], [409, { detail: 'Only pending invitation can be resent.' }]);
});

test('with a mail server, sends the mail and also returns the link', async () => {
  const mailbox = await Mailbox.start();
  try {
    await begin(mailbox.settings);
    const invitation = await invite();
    assert.is(invitation.is_mailed, true);
    await fixture.server.settled();
    assert.not(mailbox.take()[0]?.text?.includes(secretOf(invitation)));
    assert.is((await fixture.staff.post(`${invitation.url}send/`)).body.is_mailed, true);
  } finally {
    await fixture.close();
    await mailbox.close();
  }
});

test('returns a link only to users who may invite', async () => {
  await begin();
  const { url } = await invite();
  for (const name of ['helper', 'manager', 'admin', 'observer', 'stranger', 'support'] as const) {
    const created = await people.clients[name].post('/api/user-invitations/', body());
    assert.equal([created.status >= 400, created.body.link], [true, undefined], name);
    assert.equal((await people.clients[name].post(`${url}send/`)).body, { detail: 'Not found.' }, name);
  }
});

test('a new user signs up with the link and gets an unverified email address', async () => {
  await begin();
  const [byLink, byMail] = [await invite(), await invite({ email: 'mail@example.com' })];
  const mailed = await newestSecret(fixture);
  const signUp = async (secret: string, username: string): Promise<Client> => {
    const created = await fixture.anonymous.post(`/api/user-invitations/${secret}/accept/`, { ...account, username });
    assert.is(created.status, 201, JSON.stringify(created.body));
    return new Client(fixture, created.body.token);
  };
  const [dora, mia] = [await signUp(secretOf(byLink), 'dora'), await signUp(mailed, 'mia')];
  /** An email hook needs no confirmation if its address is the verified one of its author. */
  const isVerified = async (client: Client, email: string): Promise<boolean> =>
    (await client.post('/api/hooks-email/', { email, event_groups: ['users'] })).body.is_confirmed;
  assert.equal([await isVerified(dora, 'new@example.com'), await isVerified(mia, 'mail@example.com')], [false, true]);
  const roles = (await fixture.staff.get('/api/project-permissions/?username=dora')).body;
  assert.equal(
    roles.map(({ created_by, role }: Json) => [role, created_by]),
    [['admin', people.users.owner.url]],
  );
  assert.is((await fixture.staff.get(byMail.url)).body.state, 'accepted');
});

test('a user accepts with the link, and the email address replaced by it is not verified', async () => {
  await begin();
  await fixture.user('guest', { email: 'guest@example.com' });
  const accepted = await fixture
    .as('guest')
    .post(`/api/user-invitations/${secretOf(await invite())}/accept/`, { replace_email: true });
  assert.equal([accepted.status, accepted.body], [200, { detail: 'Invitation has been successfully accepted.' }]);
  const hook = { email: 'new@example.com', event_groups: ['users'] };
  assert.is((await fixture.as('guest').post('/api/hooks-email/', hook)).body.is_confirmed, false);
});

test('with validate_invitation_email, the link cannot be used to sign up', async () => {
  await begin({ validate_invitation_email: true });
  const secret = secretOf(await invite());
  const rejection = await fixture.anonymous.post(`/api/user-invitations/${secret}/accept/`, account);
  assert.equal([rejection.status, rejection.body], [400, { detail: 'Invitation and user emails mismatch.' }]);
  const mailed = await newestSecret(fixture);
  assert.is((await fixture.anonymous.post(`/api/user-invitations/${mailed}/accept/`, account)).status, 201);
});

test('the secret of the link appears in no event, log, export or file of the data folder', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-links-'));
  try {
    await begin({ ephemeral: false, data });
    const lines: string[] = [];
    const { log } = fixture.server.app;
    for (const level of ['debug', 'info', 'warn'] as const)
      log[level] = ((...line: unknown[]) => lines.push(JSON.stringify(line))) as typeof log.info;
    const invitation = await invite();
    const sent = (await people.clients.owner.post(`${invitation.url}send/`)).body;
    const secrets = [secretOf(invitation), secretOf(sent)];
    await check(secrets[1] ?? '');
    await fixture.server.settled();
    const { body: events } = await fixture.staff.get('/api/events/');
    await fixture.close();
    const files = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'latin1'));
    assert.ok(files.some((text) => text.includes(invitation.uuid)));
    for (const secret of secrets)
      for (const text of [...files, ...lines, JSON.stringify(events)]) assert.not(text.includes(secret));
    await fixture.open({ ephemeral: false, data });
    assert.equal(await check(secrets[1] ?? ''), known, 'the link survives a restart');
  } finally {
    await fixture.close();
    rmSync(data, { recursive: true });
  }
});

test.run();
