/** Backups in the console, of the built program with data on disk. */
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
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

tests.run();
