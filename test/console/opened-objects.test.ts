/** Whatever opens on objects of the console: fit for screen readers, in both themes, and for telephones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { lookAtOpened } from '../support/console-opened.ts';
import { everyPlace, isList } from '../support/console-places.ts';
import { DemoConsole } from '../support/demo-console.ts';

const chromium = await startBrowser();
const tests = suite('what opens on objects of the console');
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

browser('no form and no question keeps people out, and Escape leads back to what opened it', async () => {
  const places = (await everyPlace(demo.ask)).filter((place) => !isList(place));
  assert.equal(await lookAtOpened(demo, places), []);
});

tests.run();
