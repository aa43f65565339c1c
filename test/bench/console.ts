/**
 * The console in Chromium, on the built program with sample data: how long a user waits when they open it, navigate, open the
 * palette and type, and how much of a page moves while it loads. Measured inside the page, until the frame that shows the result.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { startTenantry } from './processes.ts';
import { footprintTable, median } from './report.ts';

const person = 'bench';
const openings = 7;
const rounds = 3;

/** Returns the milliseconds from an action to the frame in which a condition holds. Both are code of the page. */
const waitTime = (page: Page, act: string, readySelector: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done, failed) => {
    const began = performance.now();
    ${act};
    const look = () => {
      const passed = performance.now() - began;
      if (${readySelector}) done(passed);
      else if (passed > 10_000) failed(new Error('nothing came of it'));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  })`);

/** Sums the layout shifts of the page in `shift`. Includes shifts after an input: every page is opened by a click on a link. */
const observeShifts = `
  window.shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (window.shift += value))).observe({
    type: 'layout-shift',
  });`;

/** First paints in new browser sessions. */
async function paints(browser: Awaited<ReturnType<typeof launchBrowser>> & object, url: string): Promise<number[]> {
  const matches: number[] = [];
  for (let i = 0; i < openings; i++) {
    const visitor = await Console.open(browser, `${url}/`);
    await visitor.page.getByLabel('Username').waitFor();
    matches.push(
      await visitor.page.evaluate<number>(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()",
      ),
    );
    await visitor.close();
  }
  return matches;
}

/** Measures the console. Returns no figures where no browser runs. */
export async function run(folder: string, bundle: string): Promise<string> {
  const browser = await launchBrowser();
  if (!browser) return '';
  const data = mkdtempSync(join(folder, 'console-'));
  execFileSync(process.execPath, [bundle, 'demo', '--data', data], { stdio: 'ignore' });
  const making = ['user', 'add', person, '--staff', '--password-stdin', '--data', data];
  execFileSync(process.execPath, [bundle, ...making], { input: password, stdio: ['pipe', 'ignore', 'ignore'] });
  const server = await startTenantry(bundle, data);
  try {
    const first = await paints(browser, server.url);
    const visitor = await Console.open(browser, `${server.url}/`);
    await visitor.signIn(person);
    const { page } = visitor;
    await visitor.settled();
    const links = await page.evaluate<readonly string[]>(
      `[...new Set([...document.querySelectorAll('#places a[href^="#"]')].map((link) => link.getAttribute('href')))]`,
    );
    await page.evaluate(observeShifts);
    const heading = "document.querySelector('main h1')?.textContent";
    const [visible, whole, shifts]: [number[], number[], number[]] = [[], [], []];
    /** The slowest page so far, by the time until it has all of its data. */
    let slowest = { link: '', took: 0 };
    for (let round = 0; round < rounds; round++)
      for (const link of links.slice(round === 0 ? 1 : 0)) {
        const go = `const was = ${heading}; document.querySelector('#places a[href="${link}"]').click()`;
        const isShown = `${heading} !== undefined && ${heading} !== was`;
        visible.push(await waitTime(page, go, isShown));
        await visitor.settled();
        await page.evaluate('history.back()');
        await visitor.settled();
        await page.evaluate('window.shift = 0');
        const took = await waitTime(page, go, `${isShown} && !document.querySelector('main [aria-busy=true]')`);
        if (took > slowest.took) slowest = { link, took };
        whole.push(took);
        await visitor.settled();
        shifts.push((await page.evaluate<number>('window.shift')) * 100);
      }
    const key = "dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))";
    const [opened, matches]: [number[], number[]] = [[], []];
    for (let round = 0; round < openings; round++) {
      opened.push(await waitTime(page, key, "document.querySelector('dialog[open] [role=combobox]')"));
      const typed =
        "const field = document.querySelector('[role=combobox]'); field.value = 'stat'; field.dispatchEvent(new Event('input', { bubbles: true }))";
      matches.push(
        await waitTime(page, typed, "document.querySelector('[role=option]')?.textContent.includes('Stat')"),
      );
      await visitor.settled();
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
    }
    await visitor.close();
    const figure = (what: string, values: readonly number[], atMost: number, which = '') => [
      { what: `${what}, median of ${values.length}`, value: median(values), unit: 'ms', atMost },
      { what: `… at most${which}`, value: Math.max(...values), unit: 'ms' },
    ];
    return footprintTable([
      ...figure('Console: first paint in a new browser', first, 300),
      ...figure('Page shown after a click', visible, 100),
      ...figure('Page with all of its data', whole, 100, ` (${slowest.link})`),
      {
        what: `Layout shift of a page, at most, of ${shifts.length}`,
        value: Math.max(...shifts),
        unit: '%',
        atMost: 5,
      },
      ...figure('Palette open after its key', opened, 100),
      ...figure('Palette with the matches of a query', matches, 100),
    ]);
  } finally {
    await browser.close();
    await server.stop();
    rmSync(data, { recursive: true });
  }
}
