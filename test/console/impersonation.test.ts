/** Impersonation in the console: every page shows a banner with a button that returns to the session of the staff user. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { type AuthenticatorApp, enrol } from '../support/second-factors.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('impersonation in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
let alice: Json;
let app: AuthenticatorApp;
let staff: Console;

tests.before(async () => {
  if (!chromium) return;
  alice = await fixture.user('alice', { full_name: 'Alice Adams' });
  const boss = await fixture.user('boss', { is_staff: true });
  await fixture.staff.post(`${boss.url}password/`, { password });
  ({ app } = await enrol(fixture, fixture.as('boss')));
  fixture.clock.advance(60);
  staff = await Console.open(started(), `${fixture.url}/`, 390);
  await staff.page.getByLabel('Username').fill('boss');
  await staff.page.getByLabel('Password').fill(password);
  await staff.button('Sign in').click();
  await staff.page.getByLabel('Code from your authenticator app').fill(app.code());
  await staff.page.keyboard.press('Enter');
  await staff.heading(greeting).waitFor();
});
tests.after(() => chromium?.close());

const banner = () => staff.page.getByRole('region', { name: 'Impersonation' });

/** Impersonates Alice from her page. */
async function impersonate(): Promise<void> {
  await staff.go(`/users/${alice.uuid}/`, /Alice/);
  await staff.act('Impersonate');
  await staff.dialog().getByLabel('Reason').fill('Request 4711');
  await staff.dialog().getByRole('button', { name: 'Impersonate' }).click();
}

browser('asks for a reason, shows a banner on every page, and returns to the session of staff', async () => {
  await impersonate();
  await banner().getByText('You act as Alice Adams until').waitFor();
  await staff.heading(greeting).waitFor();
  assert.equal(await staff.findings(), []);
  await staff.go(`/users/${alice.uuid}/`, /Alice/);
  assert.is(await staff.page.getByRole('region', { name: 'Sessions' }).count(), 0, 'closed while impersonating');
  await staff.page.reload();
  await banner().waitFor();
  await staff.settled();
  // Browsers log the 401 that requires the second factor, and the 403 of requests that impersonators may not send.
  assert.equal(
    staff.complaints.filter((text) => !/status of 40[13]/.test(text)),
    [],
  );
  await banner().getByRole('button', { name: 'End impersonation' }).click();
  await banner().waitFor({ state: 'detached' });
  await staff.go(`/users/${alice.uuid}/`, /Alice/);
  await staff.page.getByRole('region', { name: 'Sessions' }).getByText('No sessions.').waitFor();
});

browser('returns to the session of staff when the user has ended the impersonation', async () => {
  await impersonate();
  await banner().waitFor();
  await staff.switchLanguage();
  await staff.page.getByText('Tegutsed kasutajana Alice Adams kuni').waitFor();
  await staff.switchLanguage();
  await fixture.as('alice').post('/api/sessions/end_others/');
  await staff.page.evaluate('location.hash = "/customers/"');
  await staff.button('Return to your session').click();
  await banner().waitFor({ state: 'detached' });
  await staff.heading(greeting).waitFor();
  await staff.signOut();
  await staff.heading(/^Sign in/).waitFor();
});

tests.run();
