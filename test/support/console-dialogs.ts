/** Opens every dialog on pages of the console and checks it. */
import * as assert from 'uvu/assert';
import { findFaults } from './console-faults.ts';
import { allPlaces } from './console-places.ts';
import type { DemoConsole } from './demo-console.ts';
import { eventually } from './eventually.ts';

/** Number of tests that share the pages: a single one could time out on a busy machine. */
const parts = 4;

/** Registers tests of the dialogs on the pages that match a rule. */
export function testDialogs(
  browser: (title: string, check: (demo: DemoConsole) => Promise<void>) => void,
  includes: (place: string) => boolean,
): void {
  const visited = new Set<string>();
  for (let part = 1; part <= parts; part++)
    browser(
      `every form and dialog is accessible, and Escape returns to the button that opened it (${part} of ${parts})`,
      async (demo) => {
        // For about five seconds after a reset, operations of the sample data disable forms of their resources.
        const hasEnded = async (): Promise<boolean> => (await demo.ask('/api/jobs/')).length === 0;
        await eventually('the operations of the sample data have ended', hasEnded, 60);
        const places = (await allPlaces(demo.ask)).filter(includes).filter((_, at) => at % parts === part - 1);
        assert.equal(await findFaultsOfDialogs(demo, places, visited), []);
        if (part === parts) assert.ok(visited.size >= 20, `only ${visited.size} forms opened`);
      },
    );
}

/** Finds problems of the dialogs on these pages, and of the focus after Escape closes them. Adds the dialogs to `visited`. */
async function findFaultsOfDialogs(
  demo: DemoConsole,
  places: readonly string[],
  visited: Set<string>,
): Promise<readonly string[]> {
  const { staff } = demo;
  const { page } = staff;
  const opening = page.locator('[aria-haspopup=dialog]:not([aria-disabled=true])');
  const wrong: string[] = [];
  for (const place of places) {
    await demo.visit(place);
    for (let at = 0; at < (await opening.count()); at += 1) {
      const button = opening.nth(at);
      const title = await button.innerText();
      // Skip repeated confirmations and the controls that every page has.
      if (visited.has(title)) continue;
      const opener = await button.elementHandle();
      await button.click();
      await staff.dialog().waitFor();
      await staff.settled();
      if ((await staff.dialog().locator('form').count()) === 0) visited.add(title);
      const labels = (await staff.dialog().locator('label, legend').allInnerTexts()).join();
      // Several pages open the same form.
      if (labels === '' || !visited.has(labels)) {
        visited.add(labels);
        await page.evaluate(`document.querySelectorAll('dialog details').forEach((part) => (part.open = true))`);
        wrong.push(...(await findFaults(staff, 'dialog[open]')).map((text) => `${place} ${title}: ${text}`));
      }
      await page.keyboard.press('Escape');
      await staff.dialog().waitFor({ state: 'detached' });
      await staff.settled();
      // The page may have gained buttons.
      if (!(await opener?.evaluate((element) => element.matches(':focus'))))
        wrong.push(`${place} ${title}: the keyboard is lost`);
    }
  }
  return wrong;
}
