/** The console in two languages. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the languages of the console');
const browser = chromium ? tests : tests.skip;

const started = (): Browser => chromium as Browser;
const languageOf = ({ page }: Console): Promise<unknown> => page.evaluate('document.documentElement.lang');

tests.before(async () => {
  if (!chromium) return;
  await fixture.customer('Alice');
  for (const [name, preferred_language] of [
    ['mari', 'et'],
    ['mary', 'en'],
  ] as const) {
    const { url } = await fixture.user(name, { preferred_language, is_support: true });
    await fixture.staff.post(`${url}password/`, { password });
  }
});
tests.after(() => chromium?.close());

/** Signs in in any language. */
async function enter({ page }: Console, username: string): Promise<void> {
  await page.locator('[name=username]').fill(username);
  await page.locator('[name=password]').fill(password);
  await page.locator('[type=submit]').click();
  await page.locator('nav#places').waitFor();
}

browser('uses the language of the browser before the sign-in, and that of the profile after it', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`, 1300, 'et-EE');
  await visitor.button('Logi sisse').waitFor();
  assert.is(await languageOf(visitor), 'et');
  await enter(visitor, 'mary');
  await visitor.heading(greeting).waitFor();
  assert.is(await languageOf(visitor), 'en');
  await visitor.signOut();
  await visitor.button('Logi sisse').waitFor();
  await enter(visitor, 'mari');
  await visitor.heading(/^Tere (hommikust|päevast|õhtust)/).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('shows titles, values, dates and numbers in the language', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await enter(visitor, 'mari');
  await visitor.go('/customers/', 'Kliendid');
  const { page } = visitor;
  const heads = await page.getByRole('columnheader').allInnerTexts();
  assert.ok(heads.includes('Klient') && heads.includes('Loodud'), heads.join());
  const instant = new Date(fixture.clock.now() / 1000);
  const month = new Intl.DateTimeFormat('et', { month: 'short', year: 'numeric' }).format(instant);
  const exact = new Intl.DateTimeFormat('et', { dateStyle: 'medium', timeStyle: 'short' }).format(instant);
  const time = page.getByRole('row').nth(1).getByText(month);
  assert.is(await time.getAttribute('title'), exact);
  await page.getByPlaceholder('Otsi välja järgi: nimi').waitFor();
  await page.getByText('1–1, kokku 1').waitFor();
  await visitor.link('Alice').click();
  await page.getByRole('main').getByRole('link', { name: 'Seaded', exact: true }).first().click();
  await page.getByText('Registrikood').waitFor();
  await visitor.close();
});

browser('stores the language that the user menu chooses', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await enter(visitor, 'mary');
  await visitor.switchLanguage();
  await visitor.heading(/^Tere (hommikust|päevast|õhtust)/).waitFor();
  await visitor.link('Projektid').first().waitFor();
  assert.is(await languageOf(visitor), 'et');
  await visitor.page.reload();
  await visitor.heading(/^Tere (hommikust|päevast|õhtust)/).waitFor();
  await visitor.switchLanguage();
  await visitor.heading(greeting).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

tests.run();
