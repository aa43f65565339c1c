/** Resources in the console: created by a form of links, followed while they change, and what cannot be done says why. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createDroplet, type Droplets } from '../support/droplets.ts';
import type { Json } from '../support/fixture.ts';
import type { Personas } from '../support/personas.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('resources in the console');
const browser = chromium ? tests : tests.skip;
let world: { people: Personas; cloud: Droplets; droplet: Json };
let manager: Console;

tests.before(async () => {
  if (!chromium) return;
  world = await createDroplet(fixture);
  const { users } = world.people;
  for (const { url } of [users.manager, users.observer]) await fixture.staff.post(`${url}password/`, { password });
  manager = await Console.as(chromium, fixture, 'manager');
});
tests.after(() => chromium?.close());

browser('one list shows resources of every type', async () => {
  await manager.go('/resources/', 'Resources');
  const row = manager.page.getByRole('row', { name: /web/ });
  for (const words of ['DigitalOcean.Droplet', 'OK', 'online', 'Alice', 'Rocket'])
    await row.getByText(words, { exact: true }).waitFor();
});

browser('an action that is possible is done at once, one that is not says why', async () => {
  const { page } = manager;
  await manager.page.getByRole('row', { name: /web/ }).getByRole('link').first().click();
  await manager.heading(/^web/).waitFor();
  const start = manager.button('Start');
  assert.is(await start.getAttribute('aria-disabled'), 'true');
  const reason = await start.getAttribute('aria-description');
  await start.press('Enter');
  await page
    .getByRole('status')
    .getByText(reason ?? '')
    .waitFor();
  await manager.button('Stop').click();
  await manager.heading(/Update Scheduled/).waitFor();
  await work(fixture);
  // The page looks at what is under way by itself.
  await manager.heading(/^web OK/).waitFor();
  await page.getByText('offline', { exact: true }).waitFor();
  assert.is((await fixture.staff.get(world.droplet.url)).body.runtime_state, 'offline');
});

browser('a resource is created by a form whose links are chosen by name', async () => {
  await manager.go('/digitalocean-droplets/', /droplets/);
  await manager.button('Create').click();
  const dialog = manager.dialog();
  await dialog.getByLabel('Name *', { exact: true }).fill('cache');
  const choose = async (label: string): Promise<void> => {
    const select = dialog.getByLabel(label);
    await select.locator('option').nth(1).waitFor({ state: 'attached' });
    await select.selectOption({ index: 1 });
  };
  for (const label of ['Service project link *', 'Region *', 'Image *', 'Size *']) await choose(label);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await manager.heading(/^cache/).waitFor();
  await work(fixture);
  await manager.heading(/^cache OK/).waitFor();
  assert.is((await fixture.staff.get('/api/resources/?name=cache')).body[0].project_name, 'Rocket');
});

browser('a removal is asked for, and done', async () => {
  await manager.button('Stop').click();
  await manager.heading(/Update Scheduled/).waitFor();
  await work(fixture);
  await manager.heading(/^cache OK/).waitFor();
  await manager.button('Destroy').click();
  await manager.dialog().getByText('This cannot be undone.').waitFor();
  await manager.dialog().getByRole('button', { name: 'Destroy' }).click();
  await manager.heading(/Deletion Scheduled/).waitFor();
  await work(fixture);
  await manager.heading('Not here').waitFor();
  assert.equal((await fixture.staff.get('/api/resources/?name=cache')).body, []);
});

browser('who only looks on is told so by every action', async () => {
  const observer = await Console.as(chromium as Browser, fixture, 'observer');
  await observer.go(`/digitalocean-droplets/${world.droplet.uuid}/`, /^web/);
  for (const name of ['Start', 'Stop', 'Destroy', 'Update'])
    assert.is(await observer.button(name).getAttribute('aria-disabled'), 'true', name);
  await observer.go('/digitalocean-droplets/', /droplets/);
  assert.is(await observer.button('Create').count(), 0);
  assert.equal(observer.complaints, []);
  await observer.close();
});

tests.run();
