/** The home page of a new installation, and of a user without access. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the first day in the console');
const browser = chromium ? tests : tests.skip;

tests.before(async () => {
  if (!chromium) return;
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  const { url } = await fixture.user('newcomer');
  for (const user of [me.url, url]) await fixture.staff.post(`${user}password/`, { password });
});
tests.after(() => chromium?.close());

browser('offers staff the next step until each is done, and stays hidden', async () => {
  const staff = await Console.as(chromium as Browser, fixture, 'admin');
  const setup = staff.page.getByRole('region', { name: 'Setup' });
  await setup.getByText('1 of 5 complete').waitFor();
  const checks = staff.page.getByRole('region', { name: 'Before you go live' });
  await checks.getByText('Pass on the links of invitations yourself.').waitFor();
  await checks.getByRole('link', { name: 'Set up backups' }).waitFor();
  await staff.page
    .getByRole('region', { name: 'For developers' })
    .getByRole('link', { name: 'API explorer' })
    .waitFor();
  // An empty installation shows nothing else.
  assert.is(await staff.page.getByRole('region', { name: 'Needs attention' }).count(), 0);
  assert.equal(await findFaults(staff), []);
  await setup.getByRole('button', { name: 'Create customer' }).click();
  await staff.dialog().getByLabel('Name *', { exact: true }).fill('Acme');
  await staff.dialog().getByRole('button', { name: 'Create' }).click();
  await staff.heading('Acme').waitFor();
  await staff.go('/', greeting);
  await setup.getByText('2 of 5 complete').waitFor();
  await setup.getByRole('button', { name: 'Create project' }).waitFor();
  await setup.getByRole('link', { name: 'Connect' }).click();
  await staff.heading('Add provider account').waitFor();
  await staff.go('/', greeting);
  await setup.getByRole('button', { name: 'Hide' }).click();
  await setup.waitFor({ state: 'detached' });
  await staff.page.reload();
  await staff.heading(greeting).waitFor();
  await staff.settled();
  assert.is(await setup.count(), 0);
  await staff.page.getByRole('region', { name: 'Needs attention' }).waitFor();
  assert.equal(staff.complaints, []);
  await staff.close();
});

browser('shows a user without roles how to get access', async () => {
  const newcomer = await Console.as(chromium as Browser, fixture, 'newcomer');
  await newcomer.page
    .getByRole('region', { name: 'You have no access yet' })
    .getByText('Ask for an invitation')
    .waitFor();
  assert.is(await newcomer.page.getByRole('region', { name: 'Setup' }).count(), 0);
  assert.equal(await findFaults(newcomer), []);
  assert.equal(newcomer.complaints, []);
  await newcomer.close();
});

tests.run();
