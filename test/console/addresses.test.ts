/** How the console handles invalid addresses and browser languages. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('addresses and languages that the console has no page for');
const browser = chromium ? tests : tests.skip;
let people: Personas;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  people = await createPersonas(fixture);
  await fixture.staff.post(`${people.users.owner.url}password/`, { password });
});
tests.after(() => chromium?.close());

/** Names that every JavaScript object inherits, and text that is no name. */
const inherited = [
  'valueOf',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '%',
  '%E0%A4%A',
  '{uuid}',
  '?#',
];

/** Browser errors except those about responses with status 4xx, which unknown objects cause. */
const faultsOf = (visitor: Console): readonly string[] =>
  visitor.complaints.splice(0).filter((text) => !/the server responded with a status of 40[04]/.test(text));

browser('opens every page with an invalid address, and the next page works', async () => {
  const visitor = await Console.as(started(), fixture, 'owner');
  const { uuid } = people.customer;
  for (const name of inherited) {
    const places = [
      ...[`/${name}/`, `/${name}/${name}/`, `/customers/${name}/`, `/customers/${uuid}/${name}/`],
      ...[`/customers/${uuid}/team/${name}/`, `/add-provider/${name}/`, `/new-resource/${name}/`],
      ...[`/customers/?o=${name}&${name}=1`, `/events/?from=${name}&to=${name}&feature=${name}`],
      ...[`/statistics/?days=${name}`, `/resources/?category=${name}&${name}=${name}`, `/invitation/${name}/`],
    ];
    for (const place of places) {
      await visitor.page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await visitor.page.getByRole('heading', { level: 1 }).first().waitFor();
      await visitor.settled();
      assert.is(await visitor.heading('This page cannot be shown').count(), 0, place);
      assert.equal(faultsOf(visitor), [], place);
    }
    await visitor.go('/customers/', 'Customers');
  }
  await visitor.go('/valueOf/', 'Page not found');
  await visitor.go('/', greeting);
  await visitor.close();
});

browser('opens the sign-in page with any address', async () => {
  for (const name of inherited) {
    const visitor = await Console.open(started(), `${fixture.url}/#/${name}/`);
    await visitor.heading(/^Sign in/).waitFor();
    assert.equal(faultsOf(visitor), [], name);
    await visitor.close();
  }
});

browser('a failed page leaves the sidebar usable, and the next page opens', async () => {
  const visitor = await Console.as(started(), fixture, 'owner');
  await visitor.page.route('**/api/customers/?*', (route) => route.fulfill({ json: [null] }));
  await visitor.page.evaluate(`location.hash = '/customers/'`);
  await visitor.heading('This page cannot be shown').waitFor();
  await visitor.go('/projects/', 'Projects');
  await visitor.page.unroute('**/api/customers/?*');
  await visitor.go('/customers/', 'Customers');
  await visitor.close();
});

browser('an invalid browser language falls back to the language without a region', async () => {
  for (const [languages, expected] of [
    [['en-US@posix'], 'Sign in'],
    [['et_EE.UTF-8@euro', 'en'], 'Logi sisse'],
    [['@', '', 'x'.repeat(300), 'etx'], 'Sign in'],
    [[], 'Sign in'],
  ] as const) {
    const context = await started().newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.addInitScript(`
      Object.defineProperty(Navigator.prototype, 'languages', { get: () => ${JSON.stringify(languages)} });
      Object.defineProperty(Navigator.prototype, 'language', { get: () => ${JSON.stringify(languages[0] ?? '')} });`);
    await page.goto(`${fixture.url}/`);
    await page.getByLabel(/^(Username|Kasutajanimi)/).fill('owner');
    await page.getByLabel(/^(Password|Parool)/).fill(password);
    await page.getByRole('button', { name: expected, exact: true }).click();
    await page.locator('nav#places').waitFor();
    // This page formats numbers and times.
    await page.evaluate(`location.hash = '/customers/'`);
    await page.getByRole('row').nth(1).waitFor();
    assert.equal(errors, [], languages.join());
    await context.close();
  }
});

tests.run();
