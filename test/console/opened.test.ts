/** Whatever opens on a page of the console: fit for screen readers, in both themes, and for telephones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { lookAt } from '../support/console-look.ts';
import { everyPlace } from '../support/console-places.ts';
import { DemoConsole } from '../support/demo-console.ts';

const chromium = await startBrowser();
const tests = suite('what opens in the console');
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
  const { staff } = demo;
  const { page } = staff;
  const opening = page.locator('[aria-haspopup=dialog]:not([aria-disabled=true])');
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const place of await everyPlace(demo.ask)) {
    await demo.visit(place);
    for (let at = 0; at < (await opening.count()); at += 1) {
      const button = opening.nth(at);
      const title = await button.innerText();
      // What only asks whether it is meant, and what stands around every page.
      if (seen.has(title)) continue;
      const opener = await button.elementHandle();
      await button.click();
      await staff.dialog().waitFor();
      await staff.settled();
      if ((await staff.dialog().locator('form').count()) === 0) seen.add(title);
      const labels = (await staff.dialog().locator('label, legend').allInnerTexts()).join();
      // The same form opens at several places.
      if (labels === '' || !seen.has(labels)) {
        seen.add(labels);
        await page.evaluate(`document.querySelectorAll('dialog details').forEach((part) => (part.open = true))`);
        wrong.push(...(await lookAt(staff, 'dialog[open]')).map((text) => `${place} ${title}: ${text}`));
      }
      await page.keyboard.press('Escape');
      await staff.dialog().waitFor({ state: 'detached' });
      await staff.settled();
      // The page may have got more buttons meanwhile.
      if (!(await opener?.evaluate((element) => element.matches(':focus'))))
        wrong.push(`${place} ${title}: the keyboard is lost`);
    }
  }
  assert.ok(seen.size > 60);
  assert.equal(wrong, []);
});

tests.run();
