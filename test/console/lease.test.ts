/** The console of a server that cannot renew its lease, with the built program (core.md 14.8). */
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { Leased } from '../support/leased.ts';
import type { Serving } from '../support/program.ts';

const chromium = await startBrowser();
const tests = suite('the lease in the console');
const browser = chromium ? tests : tests.skip;
let leased: Leased;
let server: Serving;

tests.before(async () => {
  if (!chromium) return;
  leased = await Leased.start();
  await leased.run(['user', 'add', 'boss', '--staff', '--password-stdin', '--data', 'data'], password);
  server = await leased.serve();
});
tests.after(async () => {
  await chromium?.close();
  await leased?.end();
});

const secondsLeft = async (): Promise<number> =>
  Number(
    /^tenantry_lease_seconds_left (\S+)$/m.exec(await (await fetch(`${server.startup.admin}/metrics`)).text())?.[1],
  );

browser('staff see that the store is down and no changes are accepted, and that the server has resumed', async () => {
  const boss = await Console.open(chromium as Browser, `${server.url}/`);
  await boss.signIn('boss');
  await boss.go('/operation/', 'Operation');
  const problem = boss.page.getByRole('listitem').filter({ hasText: 'the lease has expired' });
  await boss.page.getByText('No problems found.').waitFor();
  leased.store.fault = () => 'cut';
  await eventually('the lease has expired', async () => (await secondsLeft()) === 0, 20);
  await boss.go('/', /^Good /);
  await boss.go('/operation/', 'Operation');
  await problem.waitFor();
  assert.match(
    (await problem.textContent()) ?? '',
    /no changes are accepted: the object store of lease_url at \S+ does not respond/,
  );
  await boss.page.getByText('1 problem', { exact: true }).waitFor();
  await boss.button('Back up now: Backups').click();
  await boss.page.getByText('This server does not hold the lease and does not accept changes.').first().waitFor();
  leased.store.fault = () => undefined;
  await eventually('the lease is held again', async () => (await secondsLeft()) > 0, 30);
  await boss.go('/', /^Good /);
  await boss.go('/operation/', 'Operation');
  await boss.page.getByText('No problems found.').waitFor();
  assert.is(await problem.count(), 0);
});

tests.run();
