/** Hooks send mail only to addresses whose owners agreed. */
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ApiResponse, type Client, Fixture, type Json } from '../support/fixture.ts';
import { Mailbox, type ReceivedMail } from '../support/mailbox.ts';

const test = suite('attacks by email hooks');
const base = 'https://cloud.example.com';
const stranger = 'stranger@example.org';
const fixture = new Fixture();
let mailbox: Mailbox;
let mallory: Client;
let malloryUrl: string;

test.before(async () => {
  mailbox = await Mailbox.start();
});

test.after.each(async () => {
  await fixture.close();
  mailbox.reset();
});

test.after(() => mailbox.close());

async function begin(options: ServerOptions = { base_url: base }): Promise<void> {
  await fixture.open({ ...mailbox.settings, ...options });
  malloryUrl = (await fixture.user('mallory', { email: 'mallory@example.com' })).url;
  await fixture.staff.patch(malloryUrl, { agree_with_policy: true });
  mallory = fixture.as('mallory');
  mailbox.reset();
}

const hook = (client: Client, email = stranger): Promise<ApiResponse<Json>> =>
  client.post('/api/hooks-email/', { email, event_types: ['user_update_succeeded'] });

/** Causes an event that mallory sees; returns the mails sent since the last call. */
async function mails(): Promise<ReceivedMail[]> {
  await mallory.patch(malloryUrl, { job_title: `Job ${Math.random()}` });
  await fixture.server.settled();
  return mailbox.take();
}

const subjects = (received: readonly ReceivedMail[]): [string, string][] =>
  received.map(({ recipient, subject = '' }): [string, string] => [recipient, subject]).sort();
const question = 'Notifications from Tenantry: please confirm';
const notification = 'Notifications from Tenantry';

/** Returns the path of the page that the link in a mail opens. */
const linkIn = (mail: ReceivedMail | undefined): string =>
  /https:\/\/cloud\.example\.com(\/hooks\/\S+)/.exec(mail?.text ?? '')?.[1] ?? 'none';
const unsubscribeIn = (mail: ReceivedMail | undefined): string =>
  /<https:\/\/cloud\.example\.com(\/\S+)>/.exec(
    mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '',
  )?.[1] ?? 'none';

const asBrowser = { Accept: 'text/html,application/xhtml+xml' };

test('sends nothing to an address that the author has not verified until its owner confirms', async () => {
  await begin();
  const created = await hook(mallory);
  assert.is(created.status, 201);
  assert.equal(Object.entries(created.body).slice(-2), [
    ['email', stranger],
    ['is_confirmed', false],
  ]);
  const [asking, ...others] = await mails();
  assert.equal(others, [], 'only the confirmation mail is sent');
  assert.equal([asking?.recipient, asking?.subject], [stranger, question]);
  assert.not.match(asking?.text ?? '', /mallory/i, 'the mail has no text of users');
  const link = linkIn(asking);
  assert.match(link, /^\/hooks\/confirm\/[0-9a-f]{32}\/$/);
  const page = await fixture.anonymous.get(link, asBrowser);
  assert.equal([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.equal([page.body.match(/<form/g).length, page.body.match(/<button/g).length], [1, 1]);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.is((await mallory.get(created.body.url)).body.is_confirmed, false, 'opening the page confirms nothing');
  const confirmed = await fixture.anonymous.send('POST', link, undefined, asBrowser);
  assert.equal([confirmed.status, confirmed.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.is((await mallory.get(created.body.url)).body.is_confirmed, true);
  assert.equal(subjects(await mails()), [[stranger, notification]]);
  const again = await fixture.anonymous.post(link);
  assert.equal([again.status, again.body], [404, { detail: 'Not found.' }], 'a link works once');
});

test('responds 404 to a confirmation link that is unknown, older than 7 days, or of a former address', async () => {
  await begin();
  for (const path of ['/hooks/confirm/', '/hooks/unsubscribe/'])
    for (const secret of ['0'.repeat(32), 'x', '0'.repeat(64), '%00'])
      for (const method of ['GET', 'POST']) {
        const reply = await fixture.anonymous.send(method, `${path}${secret}/`);
        assert.equal([reply.status, reply.body], [404, { detail: 'Not found.' }], `${method} ${path}${secret}`);
        assert.is((await fixture.anonymous.send(method, `${path}${secret}/`, undefined, asBrowser)).status, 404);
      }
  const first = (await hook(mallory)).body;
  const [asking] = await mails();
  fixture.clock.advance(7 * 86_400);
  assert.is((await fixture.anonymous.post(linkIn(asking))).status, 404);
  await mallory.patch(first.url, { email: stranger });
  const [askingAgain] = await mails();
  assert.is((await fixture.anonymous.get(linkIn(askingAgain))).status, 200);
  await mallory.patch(first.url, { email: 'other@example.org' });
  assert.is((await fixture.anonymous.post(linkIn(askingAgain))).status, 404);
});

test('confirms the verified address of the author, in any case, and every address of staff', async () => {
  await begin();
  const own = await hook(mallory, 'Mallory@Example.com');
  assert.equal([own.status, own.body.is_confirmed], [201, true]);
  assert.is((await hook(fixture.staff, 'ops@example.org')).body.is_confirmed, true);
  assert.equal(subjects(await mails()), [
    ['Mallory@example.com', notification],
    ['ops@example.org', notification],
  ]);
  await mallory.patch(malloryUrl, { email: 'victim@example.org' });
  assert.is(
    (await hook(mallory, 'victim@example.org')).body.is_confirmed,
    false,
    'an address that the author wrote is not verified',
  );
});

test('checks a changed address again, and sends it no mail queued for the former address', async () => {
  await begin();
  const { url } = (await hook(mallory, 'mallory@example.com')).body;
  mailbox.rejection = [451, 'Try later'];
  assert.equal(await mails(), []);
  const changed = await mallory.patch(url, { email: stranger });
  assert.equal([changed.status, changed.body.is_confirmed], [200, false]);
  await fixture.server.settled();
  mailbox.rejection = undefined;
  await fixture.advance(60);
  assert.equal(subjects(mailbox.take()), [[stranger, question]]);
  assert.is((await mallory.patch(url, { is_active: true })).body.is_confirmed, false);
  assert.is((await mallory.put(url, { email: 'mallory@example.com' })).body.is_confirmed, true);
  assert.is((await mallory.put(url, { email: 'mallory@example.com' })).body.is_confirmed, true);
});

test('sends one confirmation mail a day to an address, from all users together; later a PATCH with the email sends another', async () => {
  await begin();
  await fixture.user('eve');
  const { url } = (await hook(mallory)).body;
  for (const client of [mallory, fixture.as('eve')])
    assert.is((await hook(client, stranger.toUpperCase())).status, 201);
  await mallory.patch(url, { email: stranger });
  assert.equal(subjects(await mails()), [[stranger, question]]);
  fixture.clock.advance(86_400);
  assert.equal(await mails(), [], 'nothing is sent without a request');
  await mallory.patch(url, { is_active: true });
  assert.equal(await mails(), [], 'nor after a change of another field');
  await mallory.patch(url, { email: stranger });
  assert.equal(subjects(await mails()), [[stranger, question]]);
});

test('rejects a hook after 10 confirmation mails of a user within an hour, and stores nothing', async () => {
  await begin();
  for (let i = 0; i < 10; i++) assert.is((await hook(mallory, `${i}@example.org`)).status, 201);
  const denial = await hook(mallory, 'eleventh@example.org');
  assert.equal([denial.status, denial.body], [429, { detail: 'Too many mails. Try again later.' }]);
  assert.is(denial.headers.get('Retry-After'), '3600');
  assert.is((await hook(mallory, '1@example.org')).status, 201, 'an address without a second mail does not count');
  const present = (await mallory.get('/api/hooks-email/?page_size=50')).body as Json[];
  assert.is(present.length, 11);
  const change = await mallory.patch(present[0].url, { email: 'eleventh@example.org' });
  assert.equal([change.status, change.body], [429, { detail: 'Too many mails. Try again later.' }]);
  assert.is((await mallory.get(present[0].url)).body.email, '0@example.org');
  assert.is((await mails()).length, 10);
  fixture.clock.advance(3600);
  assert.is((await hook(mallory, 'eleventh@example.org')).status, 201);
});

test('links confirmation mails to email_hook_confirmation_url without base_url, and sends none without either', async () => {
  await begin({ email_hook_confirmation_url: 'https://app.example.com/confirm?key={secret}' });
  await hook(mallory);
  const [asking] = await mails();
  const secret = /https:\/\/app\.example\.com\/confirm\?key=([0-9a-f]{32})\s/.exec(asking?.text ?? '')?.[1];
  const confirmed = await fixture.anonymous.post(`/hooks/confirm/${secret}/`);
  assert.equal(
    [confirmed.status, confirmed.body],
    [200, { detail: 'Notifications will be sent to your email address.' }],
  );
  const [mail] = await mails();
  assert.equal([mail?.subject, unsubscribeIn(mail)], [notification, 'none']);
  await fixture.close();
  await begin({});
  assert.is((await hook(mallory)).body.is_confirmed, false);
  assert.equal(await mails(), []);
});

test('shows the secret of a link in its mail only', async () => {
  await begin();
  const created = await hook(mallory);
  const [asking] = await mails();
  const secret = linkIn(asking).split('/').at(-2) as string;
  assert.not.match(JSON.stringify([created.body, (await fixture.staff.get('/api/hooks/')).body]), new RegExp(secret));
  assert.is(fixture.server.app.db.serialize().indexOf(secret), -1);
});

test('adds a one-click unsubscribe address to every mail of a hook (RFC 8058)', async () => {
  await begin();
  const { url } = (await hook(mallory, 'mallory@example.com')).body;
  await hook(mallory);
  const received = await mails();
  assert.equal(
    received.map(({ headers }) => headers.find(({ key }) => key === 'list-unsubscribe-post')?.value),
    ['List-Unsubscribe=One-Click', 'List-Unsubscribe=One-Click'],
  );
  const path = unsubscribeIn(received.find(({ recipient }) => recipient === 'mallory@example.com'));
  const page = await fixture.anonymous.get(path, asBrowser);
  assert.equal([page.status, page.body.match(/<form/g).length], [200, 1]);
  assert.is((await mallory.get(url)).body.is_active, true, 'opening the page unsubscribes nothing');
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const reply = await fixture.anonymous.send('POST', path, 'List-Unsubscribe=One-Click', form);
  assert.equal(
    [reply.status, reply.body],
    [200, { detail: 'These notifications will no longer be sent to your email address.' }],
  );
  const { is_active, is_confirmed } = (await mallory.get(url)).body;
  assert.equal([is_active, is_confirmed], [false, false]);
  await mallory.patch(url, { is_active: true });
  assert.equal(await mails(), [], 'its author cannot just activate it again');
  const multipart = new FormData();
  multipart.set('List-Unsubscribe', 'One-Click');
  const response = await fetch(fixture.url + path, { method: 'POST', body: multipart });
  assert.is(response.status, 200, 'any number of times, in both forms');
});

test('gathers mails beyond hook_mail_limit per author into one mail per hook at the end of the hour', async () => {
  await begin({ base_url: base, hook_mail_limit: 3 });
  const event_types = ['user_update_succeeded'];
  for (let i = 0; i < 2; i++) await mallory.post('/api/hooks-email/', { email: 'mallory@example.com', event_types });
  const sent: number[] = [];
  for (let i = 0; i < 4; i++) {
    fixture.clock.advance(60);
    sent.push((await mails()).length);
  }
  assert.equal(sent, [2, 1, 0, 0], 'the third mail belongs to the first hook');
  await fixture.advance(3600 - 181);
  assert.equal(mailbox.take(), []);
  mailbox.rejection = [451, 'Try later'];
  await fixture.advance(1);
  mailbox.rejection = undefined;
  await fixture.advance(10);
  const gathered = mailbox.take().sort((a, b) => (a.text ?? '').length - (b.text ?? '').length);
  assert.equal(
    gathered.map(({ recipient, subject, text }) => [
      recipient,
      subject,
      text
        ?.trim()
        .split('\n')
        .map((line) => line.slice(0, 12)),
    ]),
    [
      ['mallory@example.com', notification, ['Jan 05 04:50', 'Jan 05 04:51']],
      ['mallory@example.com', notification, ['Jan 05 04:49', 'Jan 05 04:50', 'Jan 05 04:51']],
    ],
  );
  assert.match(gathered[1]?.text ?? '', /^Jan 05 04:49 User mallory .*updated\.$/m);
  assert.is(gathered[1]?.html?.match(/<li>/g)?.length, 3);
  await fixture.advance(24 * 3600);
  assert.equal(mailbox.take(), [], 'each event once');
  assert.equal((await mails()).length, 2, 'the limit starts again with the next hour');
});

test('lists 100 events in a gathered mail and counts the rest', async () => {
  await begin({ base_url: base, hook_mail_limit: 0 });
  await hook(mallory, 'mallory@example.com');
  for (let i = 0; i < 112; i++) await mallory.patch(malloryUrl, { job_title: `Job ${i}` });
  await fixture.server.settled();
  assert.equal(mailbox.take(), []);
  await fixture.advance(3600);
  const [mail, ...others] = mailbox.take();
  assert.equal(others, []);
  assert.is(mail?.html?.match(/<li>/g)?.length, 100);
  assert.match(mail?.html ?? '', /<\/ul>\s*<p>and 12 more<\/p>/);
  assert.match(mail?.text ?? '', /\n\nand 12 more\s*$/);
});

test('shortens names in mails and removes their links, in single and gathered mails, except texts that staff post', async () => {
  const name = `Your account is locked, go to https://evil.example/login and ${'hurry '.repeat(15)}`.trim();
  const text = 'Your account is locked, go to [link] and hurry hurry hurry h';
  for (const limit of [10, 0]) {
    await begin({ base_url: base, hook_mail_limit: limit });
    const customer = await fixture.customer('Alice');
    await fixture.grant(customer, { url: malloryUrl }, 'owner');
    await mallory.post('/api/hooks-email/', {
      email: 'mallory@example.com',
      event_types: ['project_creation_succeeded', 'project_update_succeeded'],
    });
    const project = await fixture.project(name, customer);
    await fixture.staff.patch(project.url, { description: 'See www.evil.example' });
    await fixture.advance(3600);
    const received = mailbox.take();
    const texts = received.map(({ text = '' }) => text.trim().replace(/^Jan \d\d [\d:]+ /gm, '')).join('\n');
    assert.equal(texts.split('\n').sort(), [
      `Project ${text} has been created.`,
      `Project ${text} has been updated. Description has been changed from '' to 'See [link]`,
    ]);
    for (const { html = '', subject } of received) {
      assert.is(subject, notification);
      assert.not.match(html, /evil/);
    }
    assert.is(received.length, limit === 0 ? 1 : 2);
  }
  await begin({ base_url: base });
  await fixture.staff.post('/api/hooks-email/', { email: 'admin@example.com', event_types: ['custom_notification'] });
  await fixture.staff.post('/api/events/', { level: 'info', message: 'See https://status.example.com/ for more.' });
  await fixture.server.settled();
  assert.equal(
    mailbox.take().map(({ text = '' }) => text.trim()),
    ['See https://status.example.com/ for more.'],
  );
});

test('omits the confirmation pages from the documentation', async () => {
  await begin();
  const { paths } = (await fixture.anonymous.get('/docs/')).body;
  assert.equal(
    Object.keys(paths).filter((path) => path.startsWith('/hooks/')),
    [],
  );
});

test.run();
