/** Secrets in the console: those that the server returns once are shown once, others are hidden until requested. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('secrets in the console');
const browser = chromium ? tests : tests.skip;
let owner: Console;

tests.before(async () => {
  if (!chromium) return;
  const { url } = await fixture.user('owner');
  await fixture.staff.post(`${url}password/`, { password });
  owner = await Console.as(chromium as Browser, fixture, 'owner');
  await owner.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});
tests.after(() => chromium?.close());

const secret = (): Promise<string> => owner.dialog().getByLabel('Secret').inputValue();

browser('shows the secret of a new hook once, copies it, and ignores Escape', async () => {
  const { page } = owner;
  await owner.go('/hooks-web/', /./);
  await owner.button('Create').click();
  await owner.dialog().getByLabel('Endpoint URL *').fill('https://example.com/hook');
  await owner.dialog().getByLabel('Customers').check();
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  await owner.dialog().getByText('This is shown only once.').waitFor();
  const value = await secret();
  assert.match(value, /^whsec_/);
  assert.equal(await owner.findings(), []);
  await owner.dialog().getByRole('button', { name: 'Copy' }).click();
  await owner.dialog().getByText('Copied.').waitFor();
  assert.is(await page.evaluate('navigator.clipboard.readText()'), value);
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Escape');
  assert.is(await secret(), value);
  await owner.dialog().getByRole('button', { name: 'I have saved it' }).click();
  await owner.dialog().waitFor({ state: 'detached' });
  assert.not((await page.content()).includes(value));
});

browser('shows a rotated secret once', async () => {
  const [{ url }] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  await owner.go(new URL(url).pathname.slice('/api'.length), /./);
  await owner.act('Rotate secret');
  await owner.dialog().getByText('This is shown only once.').waitFor();
  assert.match(await secret(), /^whsec_/);
  await owner.dialog().getByRole('button', { name: 'I have saved it' }).click();
});

browser('hides the token of the user until requested', async () => {
  const [me] = (await fixture.as('owner').get('/api/users/?current')).body;
  await owner.go(`${new URL(me.url).pathname.slice('/api'.length)}?tab=details`, 'owner');
  const token = (await owner.page.evaluate(
    'Object.values(sessionStorage).find((value) => /^[0-9a-f]{40}$/.test(value))',
  )) as string;
  assert.match(token, /^[0-9a-f]{40}$/);
  assert.not((await owner.page.content()).includes(token));
  await owner.button('Show').click();
  assert.is(await secret(), token);
  await owner.page.keyboard.press('Escape');
  await owner.dialog().waitFor({ state: 'detached' });
  assert.equal(owner.complaints, []);
});

tests.run();
