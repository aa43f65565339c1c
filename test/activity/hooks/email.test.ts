import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { ConfigError } from '../../../src/kernel/config/config.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { Mailbox, type ReceivedMail } from '../../support/mailbox.ts';
import { Receiver } from '../../support/receiver.ts';
import { sentMails } from '../../support/sent-mails.ts';

const test = suite('email hooks');
let mailbox: Mailbox;
const fixture = new Fixture();

test.before(async () => {
  mailbox = await Mailbox.start();
});

test.after.each(async () => {
  await fixture.close();
  mailbox.reset();
});

test.after(() => mailbox.close());

async function begin(options: ServerOptions = mailbox.settings): Promise<Json> {
  await fixture.open(options);
  return (
    await fixture.staff.post('/api/hooks-email/', { email: 'ops@example.com', event_types: ['custom_notification'] })
  ).body;
}

async function emit(message: string): Promise<void> {
  await fixture.staff.post('/api/events/', { level: 'info', message });
  await fixture.server.settled();
}

const outcomes = (): Json[] =>
  fixture.server.app.db.all(sql`SELECT status, attempts, error_message, response_code FROM delivery ORDER BY id`);

test('sends one mail for each event: From, Subject, a text part with the message, an HTML part with title, message and time', async () => {
  await begin({ ...mailbox.settings, product_name: 'Cloud & Co' });
  await emit('Disk <b>full</b> & "hot"\nÕhtu');
  const [mail, ...others] = mailbox.take() as [ReceivedMail, ...ReceivedMail[]];
  assert.is(others.length, 0);
  assert.is(mail.recipient, 'ops@example.com');
  assert.equal(mail.from, { address: 'noreply@tenantry.example.com', name: 'Tenantry' });
  assert.equal(mail.to, [{ address: 'ops@example.com', name: '' }]);
  assert.is(mail.subject, 'Notifications from Cloud & Co');
  assert.is(mail.text?.trim(), 'Disk <b>full</b> & "hot"\nÕhtu');
  assert.is(
    mail.html?.trim(),
    '<h1>Notifications from Cloud &amp; Co</h1>\n<ul>\n<li>Disk &lt;b&gt;full&lt;/b&gt; &amp; &quot;hot&quot;\nÕhtu <time>Jan 05 04:47</time></li>\n</ul>',
  );
  assert.is(new Date(mail.date as string).toISOString(), '2018-01-05T04:47:04.000Z');
  const uuid = fixture.server.app.db.value(sql`SELECT uuid FROM delivery`);
  assert.is(mail.messageId, `<${uuid}@tenantry.example.com>`);
  assert.equal(outcomes(), [{ status: 'delivered', attempts: 1, error_message: '', response_code: null }]);
});

test('retries after a temporary SMTP 4xx', async () => {
  await begin();
  mailbox.rejection = [451, 'Try later'];
  await emit('Greylisted');
  const [outcome] = outcomes();
  assert.equal([outcome.status, outcome.attempts, outcome.response_code], ['pending', 1, 451]);
  assert.match(outcome.error_message, /451 Try later/);
  mailbox.rejection = undefined;
  await fixture.advance(10);
  assert.is(mailbox.take().length, 1);
  assert.equal(outcomes(), [{ status: 'delivered', attempts: 2, error_message: '', response_code: null }]);
});

test('gives up immediately on a permanent SMTP 5xx', async () => {
  await begin();
  mailbox.rejection = [550, 'No such user'];
  await emit('Rejected');
  const [outcome] = outcomes();
  assert.equal([outcome.status, outcome.attempts, outcome.response_code], ['failed', 1, 550]);
  assert.match(outcome.error_message, /550 No such user/);
  mailbox.rejection = undefined;
  await fixture.advance(3600);
  assert.equal(mailbox.take(), []);
});

test('while the mail server is down, mails stay in the outbox for a retry', async () => {
  const down = await Mailbox.start();
  await down.close();
  await begin({ ...mailbox.settings, smtp_url: `smtp://127.0.0.1:${down.port}` });
  for (const message of ['1', '2', '3']) await emit(message);
  assert.equal(
    outcomes().map(({ attempts, status }) => [status, attempts]),
    [
      ['pending', 1],
      ['pending', 1],
      ['pending', 1],
    ],
  );
  assert.match(outcomes()[0].error_message, /ECONNREFUSED/);
  await fixture.advance(10);
  assert.equal(
    outcomes().map(({ attempts, status }) => [status, attempts]),
    [
      ['pending', 2],
      ['pending', 2],
      ['pending', 2],
    ],
  );
});

test('retries a busy mail server on the schedule of web hooks; fails after 8 attempts', async () => {
  await begin();
  mailbox.rejection = [452, 'Insufficient system storage'];
  await emit('Full');
  for (let attempts = 1; attempts < 8; attempts++) {
    assert.equal(
      outcomes().map(({ attempts, status }) => [status, attempts]),
      [['pending', attempts]],
    );
    fixture.clock.set(fixture.server.app.db.value<number>(sql`SELECT next_attempt FROM delivery`) as number);
    await fixture.advance(0);
  }
  const [outcome] = outcomes();
  assert.equal([outcome.status, outcome.attempts, outcome.response_code], ['failed', 8, 452]);
  assert.match(outcome.error_message, /452 Insufficient system storage/);
  assert.equal(mailbox.take(), []);
});

test('disables a hook whose every attempt failed for 5 days', async () => {
  const { url } = await begin();
  mailbox.rejection = [550, 'No such user'];
  await emit('First');
  fixture.clock.advance(5 * 24 * 3600);
  await emit('Last');
  assert.is((await fixture.staff.get(url)).body.is_active, false);
  assert.match(
    outcomes().at(-1).error_message,
    /550 No such user The hook was disabled: every attempt has failed for 5 days\.$/,
  );
});

test('an unresponsive mail server holds eight mails; the others stay in the outbox, and neither requests nor web hooks wait', async () => {
  const connections = new Set<Socket>();
  const mute = createServer((socket) => connections.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const receiver = await Receiver.start();
  await begin({
    ...mailbox.settings,
    smtp_url: `smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`,
    hooks_allowed_networks: ['127.0.0.1'],
  });
  for (let i = 1; i < 30; i++)
    await fixture.staff.post('/api/hooks-email/', { email: `${i}@example.com`, event_types: ['custom_notification'] });
  await fixture.staff.post('/api/hooks-web/', { destination_url: receiver.url, event_types: ['custom_notification'] });
  for (const message of ['1', '2', '3']) {
    assert.is((await fixture.staff.post('/api/events/', { level: 'info', message })).status, 201);
    while (receiver.requests.length < Number(message)) await new Promise(setImmediate);
  }
  while (connections.size < 8) await new Promise(setImmediate);
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
  assert.is(connections.size, 8);
  assert.equal(
    receiver.takeJson().map(({ message }) => message),
    ['1', '2', '3'],
  );
  const waiting = outcomes().filter(({ status }) => status === 'pending');
  assert.equal([waiting.length, new Set(waiting.map(({ attempts }) => attempts))], [90, new Set([0])]);
  for (const socket of connections) socket.destroy();
  mute.close();
  await receiver.close();
});

test('stores the mail and its delivery as skipped without SMTP settings', async () => {
  await begin({});
  await emit('Hello');
  assert.equal(
    (await sentMails(fixture)).map(({ subject, text, to }) => [to?.[0]?.address, subject, text?.trim()]),
    [['ops@example.com', 'Notifications from Tenantry', 'Hello']],
  );
  assert.equal(outcomes(), [
    { status: 'skipped', attempts: 0, error_message: 'No mail server is set up.', response_code: null },
  ]);
});

test('email_from is required with smtp_url, which is smtp:// or smtps://', async () => {
  await begin();
  const problem = (env: Record<string, string>): string => {
    try {
      loadConfig({ env });
      return 'none';
    } catch (error) {
      assert.instance(error, ConfigError);
      return (error as Error).message;
    }
  };
  assert.is(
    problem({ TENANTRY_SMTP_URL: 'smtp://localhost' }),
    'TENANTRY_EMAIL_FROM must be set with TENANTRY_SMTP_URL',
  );
  assert.is(
    problem({ TENANTRY_SMTP_URL: 'localhost:25', TENANTRY_EMAIL_FROM: 'a@example.com' }),
    'TENANTRY_SMTP_URL must be a URL that starts with smtp:// or smtps://',
  );
  assert.is(
    problem({ TENANTRY_SMTP_URL: 'smtp://user:100%@localhost', TENANTRY_EMAIL_FROM: 'a@example.com' }),
    'TENANTRY_SMTP_URL must write a percent sign in its user or password as %25',
  );
  assert.is(
    problem({ TENANTRY_SMTP_URL: 'smtp://user:100%25@localhost', TENANTRY_EMAIL_FROM: 'a@example.com' }),
    'none',
  );
  assert.is(
    problem({ TENANTRY_SMTP_URL: 'smtps://user:word@mail.example.com:465', TENANTRY_EMAIL_FROM: 'a@example.com' }),
    'none',
  );
});

test.run();
