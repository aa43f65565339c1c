/**
 * Takes screenshots of the console's main pages with sample data, 1280 and 390 pixels wide, light and dark:
 *
 *   node build.mjs pictures [folder] [part of a name …]
 *
 * The default folder is dist/pictures. Further arguments select pages by name. `manual` takes the screenshots of the README and
 * the manual:
 *
 *   node build.mjs pictures src/manual manual
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { createServer } from 'tenantry';
import { launchBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';

const [folder = fileURLToPath(new URL('../../pictures/', import.meta.url)), ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo' });

async function ask(path: string, method = 'GET', body?: Json): Promise<Json> {
  const headers = { Authorization: `Token ${server.issueToken()}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await (await fetch(server.url + path, { method, headers, ...sent })).json();
}

const first = async (list: string): Promise<string> => {
  const [item] = await ask(`/api/${list}`);
  return new URL(item.url).pathname.replace(/^\/api/, '');
};

/** Returns the pages by screenshot name. */
async function pages(): Promise<Readonly<Record<string, string>>> {
  const customer = await first('customers/?name=Nordlicht');
  return {
    home: '/',
    customers: '/customers/',
    customer,
    team: `${customer}team/`,
    project: await first('projects/?name=Job'),
    resources: '/resources/?category=vms',
    machine: await first('openstack-instances/?state=OK'),
    details: `${await first('openstack-instances/?state=OK')}?tab=details`,
    failed: await first('digitalocean-droplets/?state=Erred'),
    create: '/new-resource/openstack-instances/',
    accounts: '/service-settings/',
    account: await first('service-settings/?type=OpenStack'),
    provider: '/add-provider/OpenStack/',
    events: '/events/',
    event: `/events/?feature=resources&event=${(await ask('/api/events/?feature=resources&page_size=3'))[1].uuid}`,
    alerts: '/alerts/?opened=true',
    notifications: '/hooks/',
    inbox: '/notifications/',
    notification: await first('hooks-web/'),
    statistics: '/statistics/',
    operation: '/operation/',
    explorer: '/all/',
    projects: '/projects/',
  };
}

/** Takes the four screenshots of the manual, in the size of a screen. */
async function takeManual(browser: Browser): Promise<void> {
  const visitor = await Console.open(browser, `${server.url}/`, 1280);
  const { page } = visitor;
  await page.setViewportSize({ width: 1280, height: 780 });
  await visitor.signIn('helena.kask', 'demo-world-1');
  const take = async (name: string, place: string, colorScheme: 'light' | 'dark' = 'light'): Promise<void> => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await visitor.settled();
    await page.screenshot({ path: join(folder, `${name}.png`) });
  };
  await take('console', '/');
  await take('console-resources', '/resources/?category=vms', 'dark');
  await take('console-machine', await first('openstack-instances/?state=OK'));
  const [{ service_project_link: link, url: tenant }] = await ask('/api/openstack-tenants/?name=nlrz-virtual-desktops');
  const query = new URLSearchParams({ name: 'desktop-pool-4', service_project_link: link, tenant });
  await page.evaluate(`location.hash = ${JSON.stringify(`/new-resource/openstack-instances/?${query}`)}`);
  await page.getByRole('radio', { name: /m1\.medium/ }).check();
  await visitor.settled();
  await page.screenshot({ path: join(folder, 'console-form.png') });
  await visitor.close();
}

const chromium = (await launchBrowser()) as Browser | undefined;
if (chromium && wanted[0] === 'manual') {
  await takeManual(chromium);
  await chromium.close();
} else if (chromium) {
  const [{ uuid }] = await ask('/api/users/?current');
  await ask(`/api/users/${uuid}/password/`, 'POST', { password });
  const all = Object.entries(await pages()).filter(
    ([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
  );
  for (const width of [1280, 390]) {
    const visitor = await Console.open(chromium, `${server.url}/`, width);
    const { page } = visitor;
    if (wanted.length === 0 || wanted.includes('sign-in'))
      await page.screenshot({ path: join(folder, `sign-in-${width}-light.png`) });
    await visitor.signIn('admin');
    for (const [name, place] of all) {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await visitor.settled();
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      await page.setViewportSize({ width, height: Math.min(2400, Math.max(900, height)) });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await visitor.settled();
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
      await page.setViewportSize({ width, height: 900 });
    }
    for (const complaint of visitor.complaints) console.log(`${width}: ${complaint}`);
    await visitor.close();
  }
  await chromium.close();
} else console.log('No browser runs on this machine.');
await server.close();
