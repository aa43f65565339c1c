/** Lists of ten thousand objects in the console: paging with a stable layout. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Route } from 'playwright-core';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { medium, password, seed } from '../bench/seed.ts';
import { startBrowser } from '../support/browser.ts';
import { Console } from '../support/console.ts';

const chromium = await startBrowser();
const tests = suite('long lists in the console');
const browser = chromium ? tests : tests.skip;
let folder: string;
let server: Server;
let visitor: Console;

tests.before(async () => {
  if (!chromium) return;
  folder = mkdtempSync(join(tmpdir(), 'tenantry-pages-'));
  await seed(join(folder, 'tenantry.db'), medium);
  server = await createServer({ data: folder, port: 0, log_level: 'silent' });
  visitor = await Console.open(chromium as Browser, `${server.url}/`);
  await visitor.signIn('staff', password);
});
tests.after(async () => {
  await chromium?.close();
  await server?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Returns the position of the page links, and the first row of the table. */
const seen = async () => {
  const top = (await visitor.page.getByRole('navigation', { name: 'Pages' }).boundingBox())?.y;
  return { top, first: await visitor.page.getByRole('row').nth(1).innerText() };
};

browser('the next page replaces the previous one without moving the page links', async () => {
  const { page } = visitor;
  await visitor.go('/customers/', 'Customers');
  await page.getByText('1–20 of 10,000').waitFor();
  const before = await seen();
  // The list must keep its rows while the request is pending.
  await page.evaluate(`
    globalThis.emptied = 0;
    new MutationObserver(() => { if (!document.querySelector('main tbody tr')) emptied++; })
      .observe(document.querySelector('main'), { childList: true, subtree: true })`);
  const pending: (() => Promise<void>)[] = [];
  const held = (route: Route): void => {
    pending.push(() => route.fallback());
  };
  await page.route('**/api/customers/?page=2&**', held);
  await visitor.link('Next').click();
  await page.getByRole('link', { name: 'Previous' }).waitFor();
  assert.equal(await seen(), before, 'while the request is pending');
  await page.evaluate('scrollTo(0, 1e6)');
  await pending[0]?.();
  await page.getByText('21–40 of 10,000').waitFor();
  await visitor.settled();
  const after = await seen();
  assert.is(after.top, before.top);
  assert.is.not(after.first, before.first);
  const first = await page.getByRole('row').first().boundingBox();
  assert.ok((first?.y ?? -1) >= 0, 'the next page is read from its first row on');
  assert.is(await page.evaluate('emptied'), 0);
  await page.goBack();
  await page.getByText('1–20 of 10,000').waitFor();
  assert.equal(visitor.complaints, []);
});

browser('every page has an address, including the last one', async () => {
  const { page } = visitor;
  await visitor.go('/customers/?page=500&o=name', 'Customers');
  await page.getByText('9,981–10,000 of 10,000').waitFor();
  assert.is(await page.getByRole('row').count(), 21);
  assert.is(await visitor.link('Next').count(), 0);
});

tests.run();
