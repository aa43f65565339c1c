/** Second factors in the console: enrolment, sign-in, recovery codes, and recovery links from the operator. */
import type { Browser, Locator } from 'playwright-core';
import * as assert from 'uvu/assert';
import { recoveryUrl } from '../../src/app/people/people.ts';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import type { Json } from '../support/fixture.ts';
import { AuthenticatorApp } from '../support/second-factors.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('second factors in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
let alice: Json;
let app: AuthenticatorApp;
let codes: readonly string[] = [];

tests.before(async () => {
  if (!chromium) return;
  alice = await fixture.user('alice', { full_name: 'Alice Adams' });
  await fixture.staff.post(`${alice.url}password/`, { password });
  await fixture.as('alice').patch(alice.url, { agree_with_policy: true });
});
tests.after(() => chromium?.close());

const region = (opened: Console): Locator => opened.page.getByRole('region', { name: 'Second factors' });

/** Opens the sign-in and enters the password. */
async function withPassword(): Promise<Console> {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await visitor.page.getByLabel('Username').fill('alice');
  await visitor.page.getByLabel('Password').fill(password);
  await visitor.button('Sign in').click();
  await visitor.heading('Second factor').waitFor();
  return visitor;
}

browser('adds an authenticator app, and shows recovery codes once, to download', async () => {
  const own = await Console.as(started(), fixture, 'alice');
  await own.go(`/users/${alice.uuid}/`, /Alice/);
  await region(own).getByRole('button', { name: 'Add authenticator app' }).click();
  const dialog = own.page.getByRole('dialog');
  await dialog.getByRole('img', { name: 'QR code for the secret' }).waitFor();
  assert.equal(await own.findings(), []);
  const secret = (await dialog.locator('p.mono').innerText()).replaceAll(' ', '');
  app = new AuthenticatorApp(fixture, secret);
  const code = dialog.getByLabel('Code from your authenticator app');
  await code.fill(app.wrongCode());
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('Wrong code.').waitFor();
  await code.fill(app.code());
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await own.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
  codes = await dialog.getByRole('listitem').allInnerTexts();
  assert.is(codes.length, 10);
  assert.equal(await own.findings(), []);
  const [download] = await Promise.all([
    own.page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.is(download.suggestedFilename(), 'Tenantry-recovery-codes.txt');
  await dialog.getByRole('button', { name: 'I have saved them' }).click();
  await region(own).getByText('Authenticator app', { exact: true }).waitFor();
  await region(own).getByText('Not used yet').waitFor();
  // Browsers log the rejection of the wrong code.
  assert.equal(
    own.complaints.filter((text) => !/status of 400/.test(text)),
    [],
  );
  await own.close();
});

browser('asks for the code after the password, and accepts it by the keyboard alone', async () => {
  fixture.clock.advance(60);
  const visitor = await withPassword();
  assert.equal(await findFaults(visitor), []);
  // The field has the focus.
  await visitor.page.keyboard.type(app.wrongCode());
  await visitor.page.keyboard.press('Enter');
  await visitor.page.getByText('Invalid second factor.').waitFor();
  await visitor.page.getByLabel('Code from your authenticator app').fill(app.code());
  await visitor.page.keyboard.press('Enter');
  await visitor.heading(greeting).waitFor();
  await visitor.close();
});

browser('accepts a recovery code instead', async () => {
  const visitor = await withPassword();
  await visitor.button('Use a recovery code').click();
  await visitor.page.getByLabel('Recovery code').fill(codes[0] ?? '');
  await visitor.button('Continue').click();
  await visitor.heading(greeting).waitFor();
  await visitor.close();
});

browser('the link of the operator signs in once, without a factor', async () => {
  const place = recoveryUrl(fixture.server.app, 'alice').replace(/^https?:\/\/[^/]*/, fixture.url);
  const visitor = await Console.open(started(), place);
  await visitor.heading('Recover your account').waitFor();
  assert.equal(await findFaults(visitor), []);
  await visitor.button('Sign in').click();
  await visitor.heading(greeting).waitFor();
  await visitor.close();
  const late = await Console.open(started(), place);
  await late.button('Sign in').click();
  await late.page.getByText('This link does not work any more').waitFor();
  await late.close();
});

browser('a user who must set up a second factor can do nothing else', async () => {
  await fixture.open({ second_factor_required: 'all' });
  const bob = await fixture.user('bob', { full_name: 'Bob Brown' });
  await fixture.staff.post(`${bob.url}password/`, { password });
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await visitor.page.getByLabel('Username').fill('bob');
  await visitor.page.getByLabel('Password').fill(password);
  await visitor.button('Sign in').click();
  await visitor.heading('Set up a second factor').waitFor();
  assert.is(await visitor.button('Continue').isDisabled(), true);
  assert.is(await visitor.page.getByRole('navigation').count(), 0);
  await region(visitor).getByRole('button', { name: 'Add authenticator app' }).click();
  const dialog = visitor.page.getByRole('dialog');
  const secret = (await dialog.locator('p.mono').innerText()).replaceAll(' ', '');
  const code = new AuthenticatorApp(fixture, secret).code();
  await dialog.getByLabel('Code from your authenticator app').fill(code);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByRole('button', { name: 'I have saved them' }).click();
  await region(visitor).getByText('Not used yet').waitFor();
  assert.is(await region(visitor).getByRole('link').count(), 0, 'no other page is available yet');
  await visitor.button('Continue').click();
  await visitor.heading(greeting).waitFor();
});

tests.run();
