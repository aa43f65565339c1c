/** Opens all dialogs on places of the console, and checks them. */
import { findFaults } from './console-look.ts';
import type { DemoConsole } from './demo-console.ts';

/** Finds faults of the forms and dialogs on these places, and of focus after Escape closes them. */
export async function findFaultsOfDialogs(demo: DemoConsole, places: readonly string[]): Promise<readonly string[]> {
  const { staff } = demo;
  const { page } = staff;
  const opening = page.locator('[aria-haspopup=dialog]:not([aria-disabled=true])');
  const wrong: string[] = [];
  const visited = new Set<string>();
  for (const place of places) {
    await demo.visit(place);
    for (let at = 0; at < (await opening.count()); at += 1) {
      const button = opening.nth(at);
      const title = await button.innerText();
      // Confirmations, and the controls around every page.
      if (visited.has(title)) continue;
      const opener = await button.elementHandle();
      await button.click();
      await staff.dialog().waitFor();
      await staff.settled();
      if ((await staff.dialog().locator('form').count()) === 0) visited.add(title);
      const labels = (await staff.dialog().locator('label, legend').allInnerTexts()).join();
      // The same form opens at several places.
      if (labels === '' || !visited.has(labels)) {
        visited.add(labels);
        await page.evaluate(`document.querySelectorAll('dialog details').forEach((part) => (part.open = true))`);
        wrong.push(...(await findFaults(staff, 'dialog[open]')).map((text) => `${place} ${title}: ${text}`));
      }
      await page.keyboard.press('Escape');
      await staff.dialog().waitFor({ state: 'detached' });
      await staff.settled();
      // The page may have more buttons meanwhile.
      if (!(await opener?.evaluate((element) => element.matches(':focus'))))
        wrong.push(`${place} ${title}: the keyboard is lost`);
    }
  }
  if (visited.size < 20) wrong.push(`only ${visited.size} forms opened`);
  return wrong;
}
