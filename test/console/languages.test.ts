/** The console in two languages, in a real browser. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
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

/** Signs in whatever the language. */
async function enter({ page }: Console, username: string): Promise<void> {
  await page.locator('[name=username]').fill(username);
  await page.locator('[name=password]').fill(password);
  await page.locator('[type=submit]').click();
  await page.locator('nav#places').waitFor();
}

browser('the browser tells the language of who is not known, the profile that of who is signed in', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`, 1300, 'et-EE');
  await visitor.button('Logi sisse').waitFor();
  assert.is(await languageOf(visitor), 'et');
  await enter(visitor, 'mary');
  await visitor.heading(/^Welcome/).waitFor();
  assert.is(await languageOf(visitor), 'en');
  await visitor.button('Sign out').click();
  await visitor.button('Logi sisse').waitFor();
  await enter(visitor, 'mari');
  await visitor.heading(/^Tere tulemast/).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('titles, values, dates and numbers are in the language', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await enter(visitor, 'mari');
  await visitor.go('/customers/', 'Kliendid');
  const { page } = visitor;
  assert.equal(await page.getByRole('columnheader').allInnerTexts(), ['Nimi', 'Loodud', 'Ettevõte']);
  const day = new Intl.DateTimeFormat('et', { dateStyle: 'medium', timeStyle: 'short' }).format(
    fixture.clock.now() / 1000,
  );
  assert.is(await page.getByRole('row').nth(1).innerText(), `Alice\t${day}\tEi`);
  await page.getByPlaceholder('Otsi välja järgi: nimi').waitFor();
  await page.getByText('Lehekülg 1/1, kokku 1').waitFor();
  await visitor.link('Alice').click();
  await page.getByRole('region', { name: 'Üksikasjad' }).getByText('Registrikood').waitFor();
  await visitor.close();
});

browser('another language is chosen in the frame, and stays chosen', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  await enter(visitor, 'mary');
  await visitor.button('Eesti').click();
  await visitor.heading(/^Tere tulemast/).waitFor();
  await visitor.link('Projektid').first().waitFor();
  assert.is(await languageOf(visitor), 'et');
  await visitor.page.reload();
  await visitor.heading(/^Tere tulemast/).waitFor();
  await visitor.button('English').click();
  await visitor.heading(/^Welcome/).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

tests.run();
