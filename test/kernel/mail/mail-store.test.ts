import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from '../../../src/kernel/log.ts';
import { Mailer } from '../../../src/kernel/mail/mail.ts';
import { MailStore } from '../../../src/kernel/mail/mail-store.ts';

const test = suite('mails without a mail server (services.md 10.6)');
const { log, close } = openLog('silent');
test.after(close);

const at = 1_515_127_624_000_000;
let folder: string;
test.before.each(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'tenantry-mails-')), 'mail');
});
test.after.each(() => rmSync(join(folder, '..'), { recursive: true }));

test('stores each mail in a file that only the operator can read and names it in the log', async () => {
  const lines: unknown[] = [];
  log.info = ((...line: unknown[]) => lines.push(line)) as typeof log.info;
  const mailer = new Mailer({ smtp_url: null, email_from: null, log, mailStore: new MailStore(folder) });
  const mail = { to: 'alice@example.com', subject: 'Subject', text: 'Text', html: '<p>Text</p>', id: 'id', at };
  for (let i = 0; i < 2; i++)
    assert.equal(await mailer.send(mail), { status: 'skipped', error: 'No mail server is set up.' });
  const files = ['2018-01-05T04-47-04Z-1.eml', '2018-01-05T04-47-04Z-2.eml'];
  assert.equal(readdirSync(folder).sort(), files);
  assert.equal(
    lines,
    files.map((file) => [{ mail: 'id', file: join(folder, file) }, 'mail is not sent: smtp_url is not set']),
  );
  const file = join(folder, files[0] as string);
  assert.equal([statSync(file).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700]);
  const text = readFileSync(file, 'utf8');
  for (const line of ['To: alice@example.com', 'Subject: Subject', 'Message-ID: <id@localhost>', 'Text'])
    assert.ok(text.split('\r\n').includes(line), line);
});

const mail = { to: 'a@example.com', subject: 's', text: 't', html: 'h', id: 'id', at };

test('keeps the newest 1,000 mail files across restarts, and does not touch other files', () => {
  mkdirSync(folder);
  for (let second = 0; second < 999; second++) {
    const time = new Date(at / 1000 + second * 1000).toISOString().slice(0, 19).replaceAll(':', '-');
    writeFileSync(join(folder, `${time}Z-1.eml`), 'x');
  }
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  const second = new MailStore(folder);
  for (let i = 0; i < 11; i++) second.store(Buffer.from('x'), { ...mail, at: at + 999 * 1_000_000 });
  const files = readdirSync(folder);
  assert.is(files.length, 1001);
  assert.ok(files.includes('notes.txt'));
  assert.not(files.includes('2018-01-05T04-47-13Z-1.eml'), 'the tenth');
  assert.ok(files.includes('2018-01-05T04-47-14Z-1.eml'), 'the eleventh');
  assert.ok(files.includes('2018-01-05T05-03-43Z-11.eml'));
});

test('without a folder the newest 1,000 are stored in memory', () => {
  const stored = new MailStore(undefined);
  for (let i = 0; i < 1005; i++) assert.is(stored.store(Buffer.from('x'), { ...mail, id: String(i) }), undefined);
  assert.equal([stored.inMemory.length, stored.inMemory[0]?.id, stored.inMemory.at(-1)?.id], [1000, '5', '1004']);
});

test('a mail that cannot be written is a temporary failure', async () => {
  writeFileSync(folder, 'in the way');
  const mailer = new Mailer({ smtp_url: null, email_from: null, log, mailStore: new MailStore(folder) });
  const outcome = await mailer.send(mail);
  assert.equal([outcome.status, (outcome as { final: boolean }).final], ['failed', false]);
});

test.run();
