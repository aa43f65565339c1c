import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { SMTPServerAuthentication, SMTPServerAuthenticationResponse, SMTPServerOptions } from 'smtp-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from '../../../src/kernel/log.ts';
import type { Mail } from '../../../src/kernel/mail/letter.ts';
import { Mailer, type MailOutcome } from '../../../src/kernel/mail/mail.ts';
import { MailStore } from '../../../src/kernel/mail/mail-store.ts';
import { certificate } from '../../support/certificate.ts';
import { withFastTimers } from '../../support/fast-timers.ts';
import { Mailbox } from '../../support/mailbox.ts';

const test = suite('mail');
const { log, close } = openLog('silent');
const stored = new MailStore(undefined);
test.after(close);

const mail: Mail = {
  to: 'alice@example.com',
  subject: 'Subject',
  text: 'Text',
  html: '<p>Text</p>',
  id: 'id',
  at: 1_515_127_624_000_000,
};
const authority = certificate.cert;

const onAuth = (
  { password, username }: SMTPServerAuthentication,
  _: unknown,
  done: (error: Error | null, response?: SMTPServerAuthenticationResponse) => void,
): void =>
  username === 'user@x' && password === 'p:w'
    ? done(null, { user: 'user@x' })
    : done(Object.assign(new Error('Wrong'), { responseCode: 535 }));

/** Sends the mail to a mail server with these options. The address contains its port. */
async function sent(options: SMTPServerOptions, address: (port: number) => string, trusted?: string) {
  const mailbox = await Mailbox.start(options);
  const mailer = new Mailer({
    smtp_url: address(mailbox.port),
    email_from: 'noreply@example.com',
    mailStore: stored,
    log,
    ...(trusted !== undefined && { authority: trusted }),
  });
  const outcome = await mailer.send(mail);
  mailer.close();
  await mailbox.close();
  const [received] = mailbox.take();
  return {
    outcome,
    received: received && { user: received.user, isEncrypted: received.isEncrypted, text: received.text?.trim() },
  };
}

test('plain, if the mail server offers nothing else', async () => {
  assert.equal(await sent({}, (port) => `smtp://127.0.0.1:${port}`), {
    outcome: { status: 'sent' },
    received: { user: undefined, isEncrypted: false, text: 'Text' },
  });
});

test('STARTTLS, if the mail server offers it', async () => {
  const { outcome, received } = await sent(
    { ...certificate, disabledCommands: ['AUTH'] },
    (port) => `smtp://127.0.0.1:${port}`,
    authority,
  );
  assert.equal([outcome, received?.isEncrypted], [{ status: 'sent' }, true]);
});

test('TLS from the start with smtps://', async () => {
  const { outcome, received } = await sent(
    { ...certificate, secure: true, disabledCommands: ['AUTH'] },
    (port) => `smtps://127.0.0.1:${port}`,
    authority,
  );
  assert.equal([outcome, received?.isEncrypted], [{ status: 'sent' }, true]);
});

test('with user and password of the address, percent-decoded', async () => {
  const options = { ...certificate, secure: true, disabledCommands: [], onAuth };
  const { outcome, received } = await sent(options, (port) => `smtps://user%40x:p%3Aw@127.0.0.1:${port}`, authority);
  assert.equal([outcome, received?.user], [{ status: 'sent' }, 'user@x']);
  const wrong = await sent(options, (port) => `smtps://user%40x:other@127.0.0.1:${port}`, authority);
  assert.equal(
    [(wrong.outcome as { code: number }).code, (wrong.outcome as { final: boolean }).final, wrong.received],
    [535, true, undefined],
  );
});

test('rejects an untrusted certificate', async () => {
  const { outcome, received } = await sent(
    { ...certificate, secure: true, disabledCommands: ['AUTH'] },
    (port) => `smtps://127.0.0.1:${port}`,
  );
  assert.equal([outcome.status, (outcome as { final: boolean }).final, received], ['failed', false, undefined]);
  assert.match((outcome as { error: string }).error, /self-signed certificate/);
});

test('a server that is not a mail server, or disconnects, is a temporary failure', async () => {
  const rude = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve));
  const mailer = new Mailer({
    smtp_url: `smtp://127.0.0.1:${(rude.address() as AddressInfo).port}`,
    email_from: 'a@example.com',
    mailStore: stored,
    log,
  });
  const outcome = (await mailer.send(mail)) as Extract<MailOutcome, { status: 'failed' }>;
  assert.equal([outcome.status, outcome.code, outcome.final], ['failed', undefined, false]);
  rude.close();
});

test('a silent mail server is a temporary failure after 10 seconds', async () => {
  const mute = createServer();
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const mailer = new Mailer({
    smtp_url: `smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`,
    email_from: 'a@example.com',
    mailStore: stored,
    log,
  });
  const waits = await withFastTimers(async () => {
    const { code, final, status } = (await mailer.send(mail)) as Extract<MailOutcome, { status: 'failed' }>;
    assert.equal([status, code, final], ['failed', undefined, false]);
  });
  assert.is(Math.max(...waits), 10_000);
  mailer.close();
  mute.close();
});

/** A mail server whose response to the first command never ends. `closed` resolves when the client disconnects. */
async function endless(): Promise<{
  mailer: Mailer;
  connected: Promise<void>;
  closed: Promise<void>;
  close: () => void;
}> {
  const server = createServer();
  const connection = new Promise<Socket>((resolve) => server.on('connection', resolve));
  const closed = connection.then(
    (socket) =>
      new Promise<void>((resolve) => {
        const line = setInterval(() => socket.write('250-wait\r\n'), 5);
        socket.on('error', () => undefined).on('close', () => resolve(clearInterval(line)));
        socket.resume().write('220 mail.example.com\r\n');
      }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mailer = new Mailer({
    smtp_url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    email_from: 'a@example.com',
    mailStore: stored,
    log,
  });
  return { mailer, connected: connection.then(() => undefined), closed, close: () => server.close() };
}

test('aborts an exchange after 10 seconds even if it is active, so that the mail is not sent later', async () => {
  const { close, closed, mailer } = await endless();
  await withFastTimers(async () => {
    const { error, final } = (await mailer.send(mail)) as Extract<MailOutcome, { status: 'failed' }>;
    assert.equal([error, final], ['The mail server took longer than 10 seconds.', false]);
  });
  await closed;
  close();
});

test('aborts a mail in progress when the mailer closes', async () => {
  const { close, closed, connected, mailer } = await endless();
  const sending = mailer.send(mail);
  await connected;
  mailer.close();
  assert.equal(await sending, { status: 'failed', error: 'The server was stopped.', code: undefined, final: false });
  await closed;
  close();
});

test('prevents mail content from adding headers or recipients', async () => {
  const mailbox = await Mailbox.start();
  const mailer = new Mailer({
    smtp_url: `smtp://127.0.0.1:${mailbox.port}`,
    email_from: 'a@example.com',
    mailStore: stored,
    log,
  });
  await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nbody', to: 'alice@example.com' });
  const [received] = mailbox.take();
  assert.equal([received?.recipient, received?.bcc, received?.text?.trim()], ['alice@example.com', undefined, 'Text']);
  await mailbox.close();
});

test.run();
