/** Every kind of page of the console: fit for screen readers, in both themes, and for telephones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { lookAt } from '../support/console-look.ts';
import { everyPlace, isRefused } from '../support/console-places.ts';
import { DemoConsole } from '../support/demo-console.ts';

const chromium = await startBrowser();
const tests = suite('every page of the console');
const browser = chromium ? tests : tests.skip;
let demo: DemoConsole;

tests.before(async () => {
  if (chromium) demo = await DemoConsole.start(chromium);
});
tests.after(async () => {
  if (!chromium) return;
  await demo.close();
  await chromium.close();
});

browser('no page keeps people out who hear it, who see it in the dark, or who touch it on a telephone', async () => {
  const { ask, staff } = demo;
  const wrong: string[] = [];
  const places = await everyPlace(ask);
  assert.ok(places.length > 150);
  for (const place of places) {
    await demo.visit(place);
    // What stands around the pages is the same everywhere.
    wrong.push(...(await lookAt(staff, place === '/' ? 'html' : 'main')).map((text) => `${place} ${text}`));
    const complaints = staff.complaints.splice(0);
    if (!isRefused(place)) wrong.push(...complaints.map((text) => `${place}: ${text}`));
  }
  assert.equal(wrong, []);
});

tests.run();
