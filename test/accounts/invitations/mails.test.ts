import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { nameInMail } from '../../../src/kernel/mail/letter.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { Mailbox, type ReceivedMail } from '../../support/mailbox.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { secretIn, sentMails } from '../../support/sent-mails.ts';

const test = suite('mails of invitations (services.md 10.6)');
let mailbox: Mailbox;
const fixture = new Fixture();
let people: Personas;

test.before(async () => {
  mailbox = await Mailbox.start();
});
test.after.each(async () => {
  await fixture.close();
  mailbox.reset();
});
test.after(() => mailbox.close());

async function begin(options: ServerOptions = mailbox.settings): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
}

async function invite(fields: Json = {}, client = fixture.staff): Promise<Json> {
  const response = await client.post('/api/user-invitations/', {
    link_template: 'https://app.example.com/?a=1&invitation={uuid}',
    email: 'new@example.com',
    project: people.project.url,
    project_role: 'admin',
    ...fields,
  });
  assert.is(response.status, 201, JSON.stringify(response.body));
  await fixture.server.settled();
  return response.body;
}
const toCustomer = (role: string): Json => ({
  project: null,
  project_role: null,
  customer: people.customer.url,
  customer_role: role,
});
const mails = (): Json[] =>
  fixture.server.app.db.all(
    raw('SELECT status, attempts, error_message, response_code FROM invitation_mail ORDER BY id'),
  );
const statuses = (): unknown[] => mails().map(({ attempts, status }) => [status, attempts]);
const errorOf = async ({ url }: Json): Promise<string> => (await fixture.staff.get(url)).body.error_message;

test('sends one mail with text and HTML parts from the default sender, with the link of link_template', async () => {
  await begin();
  await fixture.staff.patch(people.users.owner.url, { full_name: 'Olga <Owner>' });
  await invite({}, people.clients.owner);
  const [mail, ...others] = mailbox.take() as [ReceivedMail, ...ReceivedMail[]];
  assert.is(others.length, 0);
  assert.is(mail.recipient, 'new@example.com');
  assert.equal(mail.from, { address: 'noreply@tenantry.example.com', name: 'Tenantry' });
  assert.equal(mail.to, [{ address: 'new@example.com', name: '' }]);
  assert.is(mail.subject, 'Invitation to Rocket project');
  const secret = secretIn(mail);
  assert.is(
    mail.text?.trim(),
    [
      'Hello!',
      'Olga <Owner> has invited you to join Rocket project in system administrator role.',
      'Please visit this page to sign up and accept your invitation:',
      `https://app.example.com/?a=1&invitation=${secret}`,
    ].join('\n'),
  );
  const href = `https://app.example.com/?a=1&amp;invitation=${secret}`;
  assert.is(
    mail.html?.trim(),
    [
      '<p>Hello!</p>',
      '<p>Olga &lt;Owner&gt; has invited you to join Rocket project in system administrator role.</p>',
      '<p>Please visit this page to sign up and accept your invitation:</p>',
      `<p><a href="${href}">${href}</a></p>`,
    ].join('\n'),
  );
  assert.is(new Date(mail.date as string).toISOString(), '2018-01-05T04:47:04.000Z');
  assert.equal(mails(), [{ status: 'delivered', attempts: 1, error_message: '', response_code: null }]);
});

test('names roles and targets in words; a sender without a full name is shown by username', async () => {
  await begin();
  const sentence = async (fields: Json): Promise<string | undefined> => {
    await invite(fields);
    return mailbox.take()[0]?.text?.split('\n')[1];
  };
  assert.is(
    await sentence({ project_role: 'manager' }),
    'admin has invited you to join Rocket project in project manager role.',
  );
  assert.is(
    await sentence({ project_role: 'admin' }),
    'admin has invited you to join Rocket project in system administrator role.',
  );
  assert.is(
    await sentence({ project_role: 'support' }),
    'admin has invited you to join Rocket project in system support role.',
  );
  assert.is(await sentence(toCustomer('owner')), 'admin has invited you to join Alice organization in owner role.');
  assert.is(await sentence(toCustomer('support')), 'admin has invited you to join Alice organization in support role.');
  await invite(toCustomer('owner'));
  assert.is(mailbox.take()[0]?.subject, 'Invitation to Alice organization');
});

test('removes line breaks from names, so that they cannot add text to the mail', async () => {
  await begin();
  // A stored name from before such names were rejected.
  const { db } = fixture.server.app;
  const name = 'Rocket\n\nPlease pay here: https://evil.example/\r\nBcc: eve@example.com';
  db.write(() => db.run(sql`UPDATE project SET name = ${name} WHERE uuid = ${people.project.uuid}`));
  await invite();
  const [mail] = mailbox.take() as [ReceivedMail];
  assert.is(mail.subject, 'Invitation to Rocket Please pay here: [link] Bcc: eve@example.com project');
  assert.equal(
    [mail.text?.trim().split('\n').length, mail.text?.trim().split('\n')[3], mail.bcc],
    [4, `https://app.example.com/?a=1&invitation=${secretIn(mail)}`, undefined],
  );
});

test('send queues the mail again with a new secret', async () => {
  await begin();
  const { url, uuid } = await invite();
  await fixture.staff.post(`${url}send/`);
  await fixture.server.settled();
  const received = mailbox.take();
  assert.is(new Set([uuid, ...received.map(secretIn)]).size, 3);
  assert.is.not(received[0]?.messageId, received[1]?.messageId);
});

test('the sender of the mail is the user who sent it last', async () => {
  await begin();
  const { url } = await invite({}, people.clients.owner);
  await fixture.staff.post(`${url}send/`);
  await fixture.server.settled();
  assert.equal(
    mailbox.take().map(({ text }) => text?.split('\n')[1]?.split(' ')[0]),
    ['owner', 'admin'],
  );
});

test('requests never wait for the mail server, and a failed request sends nothing', async () => {
  await begin();
  assert.is((await fixture.staff.post('/api/user-invitations/', { email: 'new@example.com' })).status, 400);
  assert.is(
    (
      await people.clients.manager.post('/api/user-invitations/', {
        link_template: 'https://a.example/{uuid}',
        email: 'new@example.com',
        project: people.project.url,
        project_role: 'admin',
      })
    ).status,
    403,
  );
  await fixture.server.settled();
  assert.equal([mails(), mailbox.take()], [[], []]);
});

test('retries 4xx and connection errors on the schedule of hooks; after the last attempt sets error_message and stays pending', async () => {
  await begin({ ...mailbox.settings, invitation_lifetime: 30 * 86_400e6 });
  mailbox.rejection = [451, 'Try later'];
  const invitation = await invite();
  // With 20 % jitter: a delay plus a fifth of it is enough.
  const delays = [5, 30, 120, 600, 3600, 6 * 3600, 24 * 3600];
  for (const [retry, delay] of delays.entries()) {
    assert.equal(statuses(), [['pending', retry + 1]]);
    assert.is(await errorOf(invitation), '');
    await fixture.advance(delay * 0.79);
    assert.equal(statuses(), [['pending', retry + 1]], 'not before its time');
    await fixture.advance(delay * 0.42);
  }
  assert.equal(statuses(), [['failed', 8]]);
  const { error_message, state } = (await fixture.staff.get(invitation.url)).body;
  assert.match(error_message, /451 Try later/);
  assert.is(state, 'pending');
  await fixture.advance(2 * 86_400);
  assert.equal(statuses(), [['failed', 8]]);
});

test('gives up immediately on 5xx; a successful mail clears the error', async () => {
  await begin();
  mailbox.rejection = [550, 'No such user'];
  const invitation = await invite();
  assert.equal(statuses(), [['failed', 1]]);
  assert.match(await errorOf(invitation), /550 No such user/);
  mailbox.rejection = undefined;
  await fixture.staff.post(`${invitation.url}send/`);
  await fixture.server.settled();
  assert.equal(statuses(), [
    ['failed', 1],
    ['delivered', 1],
  ]);
  assert.is(await errorOf(invitation), '');
});

test('logs every failed attempt for the operator', async () => {
  await begin();
  const warnings: Json[] = [];
  const { db, log } = fixture.server.app;
  log.warn = ((values: unknown, text?: string) => warnings.push([values, text])) as typeof log.warn;
  mailbox.rejection = [451, 'Try later'];
  await invite();
  await fixture.advance(10);
  const warning = [
    {
      mail: db.value(raw('SELECT uuid FROM invitation_mail')),
      to: 'new@example.com',
      code: 451,
      reason: "Can't send mail - all recipients were rejected: 451 Try later",
    },
    'mail could not be sent',
  ];
  assert.equal(warnings, [warning, warning]);
});

test('stores the mail as skipped without SMTP, and logs that without any of its content', async () => {
  await begin({});
  const lines: Json[] = [];
  const { db, log } = fixture.server.app;
  log.info = ((...line: unknown[]) => lines.push(line)) as typeof log.info;
  const { is_mailed, link, ...invitation } = await invite();
  const [mail, ...others] = await sentMails(fixture);
  assert.equal(
    [mail?.subject, mail?.to, mail?.text?.split('\n')[3], others],
    [
      'Invitation to Rocket project',
      [{ address: 'new@example.com', name: '' }],
      `https://app.example.com/?a=1&invitation=${secretIn(mail ?? {})}`,
      [],
    ],
  );
  assert.equal(mails(), [
    { status: 'skipped', attempts: 0, error_message: 'No mail server is set up.', response_code: null },
  ]);
  const id = db.value(raw('SELECT uuid FROM invitation_mail'));
  assert.equal(
    lines.filter(([, text]) => /mail/.test(text)),
    [[{ mail: id }, 'mail is not sent: smtp_url is not set']],
  );
  assert.equal((await fixture.staff.get(invitation.url)).body, invitation);
});

test('unsent mails of an ended invitation are never sent', async () => {
  await begin();
  await fixture.user('newcomer');
  mailbox.rejection = [451, 'Try later'];
  const [accepted, canceled, deleted, expired] = [
    await invite(),
    await invite(),
    await invite(toCustomer('owner')),
    await invite(),
  ];
  await fixture.as('newcomer').post(`${accepted.url}accept/`);
  await fixture.staff.post(`${canceled.url}cancel/`);
  await fixture.server.settled();
  assert.equal(statuses(), [
    ['canceled', 1],
    ['canceled', 1],
    ['pending', 1],
    ['pending', 1],
  ]);
  const other = await fixture.customer('Bob');
  await fixture.staff.patch(people.project.url, { customer: other.url });
  await fixture.staff.delete(people.customer.url);
  assert.is((await fixture.staff.get(deleted.url)).status, 404);
  mailbox.rejection = undefined;
  fixture.clock.set(expired.expires);
  await fixture.staff.get(expired.url);
  await fixture.advance(3600);
  assert.equal(mailbox.take(), []);
});

test('send replaces a mail that waits for its retry', async () => {
  await begin();
  mailbox.rejection = [451, 'Try later'];
  const { url } = await invite();
  mailbox.rejection = undefined;
  await fixture.staff.post(`${url}send/`);
  await fixture.server.settled();
  await fixture.advance(3600);
  assert.is(mailbox.take().length, 1);
  assert.equal(statuses(), [
    ['canceled', 1],
    ['delivered', 1],
  ]);
});

test('mails survive a restart', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-invitations-'));
  mailbox.rejection = [451, 'Try later'];
  await begin({ ...mailbox.settings, ephemeral: false, data });
  await invite();
  const messageId = fixture.server.app.db.value(raw('SELECT uuid FROM invitation_mail'));
  await fixture.close();
  mailbox.rejection = undefined;
  await fixture.open({ ...mailbox.settings, ephemeral: false, data });
  await fixture.advance(10);
  const [mail, ...others] = mailbox.take() as [ReceivedMail, ...ReceivedMail[]];
  assert.is(others.length, 0);
  const opened = await fixture.anonymous.post(`/api/user-invitations/${secretIn(mail)}/check/`);
  assert.equal([opened.status, opened.body], [200, { email: 'new@example.com' }]);
  assert.is(mail.messageId, `<${messageId}@tenantry.example.com>`);
  await fixture.close();
  rmSync(data, { recursive: true });
});

test('limits users other than staff to invitation_mail_limit mails an hour, then returns 429 with Retry-After', async () => {
  await begin({ invitation_mail_limit: 2 });
  const owner = people.clients.owner;
  const body = {
    link_template: 'https://app.example.com/{uuid}',
    email: 'new@example.com',
    project: people.project.url,
    project_role: 'admin',
  };
  const denial = async (method: string, url: string, wait: string): Promise<void> => {
    const response = await owner.send(method, url, body);
    assert.equal(
      [response.status, response.body, response.headers.get('Retry-After')],
      [429, { detail: 'Too many invitations. Try again later.' }, wait],
    );
  };
  const { url } = await invite({}, owner);
  fixture.clock.advance(600);
  assert.is((await owner.post(`${url}send/`)).status, 200);
  fixture.clock.advance(600);
  await denial('POST', '/api/user-invitations/', '2400');
  await denial('POST', `${url}send/`, '2400');
  assert.is((await fixture.staff.get('/api/user-invitations/')).body.length, 1, 'a rejected invitation is not created');
  for (let i = 0; i < 3; i++) await invite();
  fixture.clock.advance(2400);
  assert.is((await owner.post(`${url}send/`)).status, 200, 'an hour after the first');
  await denial('POST', `${url}send/`, '600');
});

test('counts mails of invitations that were deleted with their project, and removes them after an hour', async () => {
  await begin({ invitation_mail_limit: 1 });
  const [owner, hangar] = [people.clients.owner, await fixture.project('Hangar', people.customer)];
  await invite({ project: hangar.url }, owner);
  await owner.delete(hangar.url);
  const body = {
    link_template: 'https://app.example.com/{uuid}',
    email: 'new@example.com',
    project: people.project.url,
    project_role: 'admin',
  };
  assert.is((await owner.post('/api/user-invitations/', body)).status, 429);
  assert.is(mails().length, 1);
  await fixture.advance(3600);
  assert.equal(mails(), []);
  assert.is((await owner.post('/api/user-invitations/', body)).status, 201);
});

test('shows a name with encoded words literally in the subject', async () => {
  await begin();
  const hidden = Buffer.from('http://evil.example/ \u202e').toString('base64');
  for (const name of [
    `=?utf-8?B?${hidden}?=`,
    `Ministry =?utf-8?Q?=E2=80=AE?=`,
    `Café =?utf-8?B?${hidden}?=`,
    '=?utf-8?B?YWJj?= =?utf-8?B?YWJj?=',
    `${'ŝ'.repeat(40)} =? 🦊🦊🦊`,
    '=?=?=?',
  ]) {
    await fixture.staff.patch(people.customer.url, { name });
    await invite(toCustomer('owner'));
    const [mail] = mailbox.take() as [ReceivedMail];
    assert.is(mail.subject, `Invitation to ${nameInMail(name)} organization`);
    const head = mail.source.slice(0, mail.source.indexOf('\r\n\r\n'));
    const [, lines = ''] = /^Subject: (.*(?:\r\n[ \t].*)*)$/m.exec(head) ?? [];
    for (const line of lines.split('\r\n')) {
      assert.match(
        line.trim(),
        /^=\?UTF-8\?[BQ]\?[\x21-\x3e\x40-\x7e]+\?=$/,
        'nothing but encoded words of the server',
      );
      assert.ok(line.length <= 76, line);
    }
    assert.is(mail.from?.address, 'noreply@tenantry.example.com');
  }
});

test.run();
