/** The audit trail in the console: the page for staff and owners, and the history of objects. */
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the audit trail in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
let customer: Json;
let staff: Console;

tests.before(async () => {
  if (!chromium) return;
  customer = await fixture.customer('Alice Ltd');
  const olga = await fixture.user('olga');
  const boss = await fixture.user('boss', { is_staff: true });
  for (const { url } of [olga, boss]) await fixture.staff.post(`${url}password/`, { password });
  await fixture.grant(customer, olga, 'owner');
  for (let i = 0; i < 40; i++) await fixture.staff.patch(customer.url, { phone_number: `+372 ${i}` });
  await fixture.anonymous.post('/api-auth/password/', { username: 'olga', password: 'wrong' });
  staff = await Console.signedIn(started(), fixture, 'boss');
});
tests.after(() => chromium?.close());

const trail = (opened: Console) => opened.page.getByRole('region', { name: 'Audit trail' });

browser('shows staff who changed what, with the values before and after', async () => {
  await staff.go('/audit/', 'Audit trail');
  const entries = trail(staff).getByRole('listitem');
  assert.is(await entries.count(), 30);
  assert.match(await entries.nth(1).innerText(), /^Not signed in: Sign in with a password\s+Refused/);
  const entry = entries.filter({ hasText: '+372 39' });
  assert.match(await entry.innerText(), /^admin: Edit Alice Ltd\s+Phone\s*\+372 38\s*\+372 39/);
  await entry.locator('a.when').click();
  const drawer = staff.page.getByRole('dialog', { name: 'Edit' });
  await drawer.getByText('patchCustomer', { exact: true }).waitFor();
  await drawer.getByText('127.0.0.1', { exact: true }).waitFor();
  assert.equal(await staff.findings(), []);
  await staff.page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  const [download] = await Promise.all([staff.page.waitForEvent('download'), staff.button('Export').click()]);
  assert.is(download.suggestedFilename(), 'audit-trail.ndjson');
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n');
  assert.ok(JSON.parse(lines.at(-1) ?? '').head, 'a signed head ends the export');
  assert.equal(staff.complaints, []);
});

browser('pages by the link of the server, and filters by outcome', async () => {
  const entries = trail(staff).getByRole('listitem');
  const first = await entries.first().innerText();
  await staff.link('Show older').click();
  await staff.link('Show newest').waitFor();
  await staff.settled();
  assert.is.not(await entries.first().innerText(), first);
  await staff.link('Show newest').click();
  await staff.button('Outcome').click();
  await staff.page.getByRole('menuitemradio', { name: 'Refused' }).click();
  await staff.page.getByRole('button', { name: 'Outcome: Refused, remove' }).waitFor();
  await staff.settled();
  assert.is(await entries.count(), 1);
});

browser('every object has a history for those who may read it, at 390 pixels and in Estonian', async () => {
  const owner = await Console.as(started(), fixture, 'olga', 390);
  await owner.go(`/customers/${customer.uuid}/?tab=history`, 'Alice Ltd');
  const history = owner.page.getByRole('region', { name: /^(History|Ajalugu)$/ });
  await history.getByText('+372 39').waitFor();
  // The tabs scroll; the current one is visible.
  const tab = owner.page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Activity' });
  const { x = 0, width: tabWidth = 0 } = (await tab.boundingBox()) ?? {};
  assert.ok(x >= 0 && x + tabWidth <= 390, `the current tab is at ${x}`);
  assert.equal(await owner.findings(), []);
  await owner.switchLanguage();
  await owner.page.getByRole('link', { name: 'Näita vanemaid' }).click();
  await owner.heading('Auditilogi').waitFor();
  await owner.settled();
  assert.equal(await owner.findings(), []);
  const width = await owner.page.evaluate<number>('document.documentElement.scrollWidth');
  assert.is(width, 390);
  await owner.go(`/users/${(await fixture.staff.get('/api/users/?username=olga')).body[0].uuid}/`, 'olga');
  assert.is(await owner.page.getByRole('link', { name: 'Ajalugu' }).count(), 0, 'not of a user');
  assert.equal(owner.complaints, []);
  await owner.close();
});

tests.run();
