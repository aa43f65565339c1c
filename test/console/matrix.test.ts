/**
 * The main pages for every kind of user, on wide and narrow screens, light and dark: no page logs an error, sends a rejected
 * request, scrolls sideways, shifts while it loads, or has serious accessibility problems.
 */
import type { Browser } from 'playwright-core';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console } from '../support/console.ts';
import { placeOf } from '../support/console-places.ts';
import type { Json } from '../support/fixture.ts';

const chromium = await startBrowser();
const tests = suite('the main pages as every kind of user');
const browser = chromium ? tests : tests.skip;
let server: Server;

tests.before(async () => {
  if (chromium) server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo' });
});
tests.after(async () => {
  await chromium?.close();
  await server?.close();
});

/** The password of users in the sample data. */
const password = 'demo-world-1';

const people = {
  staff: 'helena.kask',
  support: 'ngozi.okafor',
  owner: 'mari.tamm',
  manager: 'tonu.kuusk',
  administrator: 'liis.rebane',
  stranger: 'emeka.obi',
};

const screens = [
  { width: 1280, widest: 1440, schemes: ['light', 'dark'] },
  { width: 390, widest: 360, schemes: ['dark', 'light'] },
] as const;

/** Maximum sum of layout shifts while a page loads. */
const maxShift = 0.05;

const observeShifts = `
  window.shifts = new PerformanceObserver((list) => countShifts(list.getEntries()));
  window.countShifts = (entries) => entries.forEach(({ hadRecentInput, value }) => (window.shift += hadRecentInput ? 0 : value));
  window.shift = 0;
  window.shifts.observe({ type: 'layout-shift' });`;

/** Returns the main pages that a user can open, including the first object of the main lists. */
async function placesOf(username: string): Promise<readonly string[]> {
  const headers = { Authorization: `Token ${server.issueToken(username)}` };
  const first = async (list: string): Promise<string[]> => {
    const [item]: Json[] = await (await fetch(`${server.url}/api/${list}`, { headers })).json();
    return item ? [placeOf(item.url)] : [];
  };
  const objects = ['customers/', 'projects/', 'openstack-instances/?state=OK', 'digitalocean-droplets/?state=Erred'];
  const found = await Promise.all(objects.map(first));
  return [
    ...['/', '/customers/', '/projects/', '/resources/?category=vms', '/service-settings/', '/events/', '/alerts/'],
    ...['/hooks/', '/statistics/', '/users/', '/new-resource/', '/all/?path=/api/projects/'],
    ...found.flat(),
  ];
}

Object.entries(people).forEach(([role, username], turn) => {
  browser(`works for ${role}`, async () => {
    const places = await placesOf(username);
    assert.ok(places.length >= 12);
    const visitor = await Console.open(chromium as Browser, `${server.url}/`);
    const { page } = visitor;
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill(password);
    await visitor.button('Sign in').click();
    // Find it by id: some users prefer Estonian.
    await page.locator('nav#places').waitFor({ state: 'attached' });
    await visitor.settled();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.evaluate(observeShifts);
    const wrong: string[] = [];
    for (const [at, { schemes, widest, width }] of screens.entries()) {
      await page.setViewportSize({ width, height: 900 });
      for (const [number, place] of places.entries()) {
        const open = async (): Promise<number> => {
          await page.evaluate(`window.shift = 0; location.hash = ${JSON.stringify(place)}`);
          await visitor.settled();
          return await page.evaluate<number>('countShifts(shifts.takeRecords()), shift');
        };
        let shift = await open();
        // On a busy machine, responses arrive in more steps. Only shifts on every attempt count.
        for (let again = 0; again < 3 && shift >= maxShift; again += 1) {
          await page.evaluate(`location.hash = '/no-such-page/'`);
          await visitor.settled();
          shift = await open();
        }
        if (shift >= maxShift) wrong.push(`${place} at ${width}: moves by ${shift.toFixed(3)}`);
        // Check each page in every colour scheme and width, but only once among the roles.
        const isChecked = (turn + number + at) % 3 === 0;
        const scheme = schemes[(turn + number) % 2 ? 0 : 1];
        if (isChecked) {
          await page.emulateMedia({ colorScheme: scheme });
          wrong.push(...(await visitor.findings('main')).map((text) => `${place} at ${width}, ${scheme}: ${text}`));
        }
        const wide = async (): Promise<void> => {
          const [is = 0, may = 0] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
          if (is > may) wrong.push(`${place} at ${may}: ${is} wide`);
        };
        await wide();
        if (isChecked) {
          await page.setViewportSize({ width: widest, height: 900 });
          await wide();
          await page.setViewportSize({ width, height: 900 });
        }
        wrong.push(...visitor.complaints.splice(0).map((text) => `${place} at ${width}: ${text}`));
      }
    }
    await visitor.close();
    assert.equal(wrong, []);
  });
});

tests.run();
