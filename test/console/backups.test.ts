/** Backups in the console, with the built program and data on disk. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { Program, type Serving } from '../support/program.ts';

const chromium = await startBrowser();
const tests = suite('backups in the console');
const browser = chromium ? tests : tests.skip;
let program: Program;
let server: Serving;

tests.before(async () => {
  if (!chromium) return;
  program = new Program(undefined);
  server = await program.serve(['--backup-schedule', '03:00']);
  await program.run(['user', 'add', 'boss', '--staff', '--password-stdin'], { input: password });
});
tests.after(async () => {
  await chromium?.close();
  await server?.stop();
  await program?.end();
});

browser('staff take a backup, download it, and delete it', async () => {
  const boss = await Console.open(chromium as Browser, `${server.url}/`);
  await boss.signIn('boss');
  await boss.go('/operation/', 'Operation');
  const checks = boss.page.getByRole('region', { name: 'Checks' }).getByRole('listitem');
  await checks.filter({ hasText: 'No backups yet.' }).waitFor();
  await boss.button('Back up now: Backups').click();
  await checks.filter({ hasText: 'Backed up' }).locator('time').first().waitFor();
  await checks.filter({ hasText: '1 backup' }).getByRole('link', { name: 'View backups' }).click();
  await boss.heading('Backups').waitFor();
  await boss.page.getByRole('link', { name: /^backup-/ }).click();
  await boss.heading(/^backup-/).waitFor();
  const [download] = await Promise.all([boss.page.waitForEvent('download'), boss.button('Download').click()]);
  assert.match(download.suggestedFilename(), /^backup-.*\.gz$/);
  assert.equal([...readFileSync(await download.path()).subarray(0, 2)], [0x1f, 0x8b]);
  await boss.act('Delete');
  await boss.dialog().getByRole('button', { name: 'Delete' }).click();
  await boss.heading('Backups').waitFor();
  await boss.page.getByText('Nothing here yet.').waitFor();
  assert.equal(boss.complaints, []);
});

browser('staff see how old scheduled backups are, and whether they are verified', async () => {
  for (const command of ['now', 'verify'])
    assert.is((await program.run(['backups', command, '--quiet', '--data', 'data'])).code, 0);
  const boss = await Console.open(chromium as Browser, `${server.url}/`);
  await boss.signIn('boss');
  await boss.go('/operation/', 'Operation');
  const line = boss.page.getByRole('listitem').filter({ hasText: 'Last verified backup' });
  await line.locator('time').nth(1).waitFor();
  await line.getByRole('link', { name: 'View backups' }).click();
  await boss.heading('Backups').waitFor();
  const row = boss.page.getByRole('row', { name: /^tenantry-/ });
  assert.match((await row.textContent()) ?? '', /\d [KM]iB/);
  assert.is(await row.locator('time').count(), 2, 'created and verified');
  await row.getByRole('link', { name: /^tenantry-/ }).click();
  await boss.heading(/^tenantry-/).waitFor();
  const [download] = await Promise.all([boss.page.waitForEvent('download'), boss.button('Download').click()]);
  assert.match(download.suggestedFilename(), /^tenantry-\w+-\w+\.db\.gz$/);
  assert.equal(boss.complaints, []);
});

browser('doctor, metrics, notifications and the console agree on the age of the last verified backup', async () => {
  const own = new Program(undefined);
  try {
    const words = ['user', 'add', 'boss', '--staff', '--password-stdin', '--data', 'data'];
    assert.is((await own.run(words, { input: password })).code, 0);
    assert.equal(await own.run(['backups', 'now', '--quiet', '--data', 'data']), { code: 0, stdout: '', stderr: '' });
    const [newest = ''] = readdirSync(join(own.folder, 'data/backups'));
    const verifiedAt = `${new Date(Date.now() - 15 * 86_400_000).toISOString().slice(0, 19)}Z`;
    const name = newest.replace(/\d{8}T\d{6}Z/, verifiedAt.replace(/[-:]/g, ''));
    writeFileSync(join(own.folder, 'data/backups', name), '');
    const db = new SQLite(join(own.folder, 'data/tenantry.db'));
    const [created, now] = [Date.parse(verifiedAt) * 1000, Date.now() * 1000];
    db.prepare(
      `INSERT INTO backup (name, target, size, sha256, is_encrypted, created, verified)
       SELECT ?, target, 0, '', 0, ?, ? FROM backup`,
    ).run(name, created, created + 1);
    // The next scheduled verification is a week away.
    db.prepare('UPDATE deployment SET verification_at = ?').run(now);
    db.close();
    const schedule = ['--backup-schedule', '03:00'];
    const running = await own.serve([...schedule, '--admin-listen', '127.0.0.1:0']);
    const metrics = await (await fetch(`${running.startup.admin}/metrics`)).text();
    const seconds = /^tenantry_backup_last_verified_timestamp_seconds (\S+)$/m.exec(metrics)?.[1];
    assert.is(Number(seconds), created / 1e6);
    const { stdout } = await own.run(['doctor', '--data', 'data', ...schedule]);
    assert.ok(stdout.includes(`the last verified backup was made on ${verifiedAt}\n`), stdout);
    assert.ok(stdout.includes(`; last verified: ${verifiedAt} (15 days ago)\n`), stdout);
    const boss = await Console.open(chromium as Browser, `${running.url}/`);
    await boss.signIn('boss');
    await boss.go('/operation/', 'Operation');
    const times = boss.page.getByRole('listitem').filter({ hasText: 'Last verified backup' }).locator('time');
    assert.is(await times.nth(0).getAttribute('datetime'), verifiedAt);
    await boss.page.getByText(`the last verified backup was made on ${verifiedAt}`).waitFor();
    const token = (await own.run(['token', 'boss', '--data', 'data'])).stdout.trim();
    const messages = async (): Promise<string> =>
      (
        await fetch(`${running.url}/api/notifications/?kind=backup_overdue`, {
          headers: { Authorization: `Token ${token}` },
        })
      ).text();
    const sentence = `Last verified backup: ${verifiedAt}.`;
    await eventually('staff are notified', async () => (await messages()).includes(sentence), 30, 200);
    await running.stop();
  } finally {
    await own.end();
  }
});

tests.run();
