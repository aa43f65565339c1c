/** Takes screenshots of the main pages at three widths into dist/screenshots, and checks that they fit the screen. */

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';

const chromium = await startBrowser();
const tests = suite('pictures of the console');
const browser = chromium ? tests : tests.skip;
const folder = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));
const widths = [360, 820, 1400];

/** A server with the complete sample data, including events, which other tests delete. */
let server: Server;

/** Sends a request as the administrator. */
async function ask(path: string, method = 'GET', body?: Json): Promise<Json> {
  const headers = { Authorization: `Token ${server.issueToken()}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await (await fetch(server.url + path, { method, headers, ...sent })).json();
}

tests.before(async () => {
  if (!chromium) return;
  mkdirSync(folder, { recursive: true });
  server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo' });
  const [{ uuid }] = await ask('/api/users/?current');
  await ask(`/api/users/${uuid}/password/`, 'POST', { password });
});
tests.after(async () => {
  await chromium?.close();
  await server?.close();
});

/** Returns the page of the first object in a list, and its heading. */
async function first(list: string): Promise<readonly [place: string, heading: RegExp]> {
  const [item] = await ask(`/api/${list}`);
  return [new URL(item.url).pathname.replace(/^\/api/, ''), new RegExp(`^${item.name}`)];
}

/** Returns the main pages by screenshot name. */
async function pages(): Promise<Record<string, readonly [place: string, heading: string | RegExp]>> {
  const customer = await first('customers/?name=Nordlicht');
  return {
    home: ['/', greeting],
    customer,
    team: [`${customer[0]}?tab=team`, customer[1]],
    project: await first('projects/?name=Job'),
    resources: ['/resources/?category=vms', 'Resources'],
    machine: await first('openstack-instances/?state=OK'),
    making: ['/new-resource/', 'Create a resource'],
    providers: ['/service-settings/', 'Provider accounts'],
    account: await first('service-settings/?type=OpenStack'),
    events: ['/events/', 'Events'],
    alerts: ['/alerts/', 'Alerts'],
    statistics: ['/statistics/?days=365', 'Statistics'],
  };
}

for (const width of widths)
  browser(`no page is wider than a screen of ${width}`, async () => {
    const visitor = await Console.open(chromium as Browser, `${server.url}/`, width);
    const { page } = visitor;
    await visitor.signIn('admin');
    for (const [name, [place, heading]] of Object.entries(await pages())) {
      await visitor.go(place, heading);
      assert.is(await page.evaluate('document.documentElement.scrollWidth'), width, name);
      // Resize the window to the page, so that fixed elements are in the right place.
      const height = await page.evaluate('document.documentElement.scrollHeight');
      await page.setViewportSize({ width, height: Number(height) });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await visitor.settled();
        const suffix = colorScheme === 'dark' ? '-dark' : '';
        await page.screenshot({ path: `${folder}${name}-${width}${suffix}.png` });
      }
      await page.setViewportSize({ width, height: 900 });
    }
    assert.equal(visitor.complaints, []);
    await visitor.close();
  });

tests.run();
