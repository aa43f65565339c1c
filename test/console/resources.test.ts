/** Resources in the console: the form and its links, live states, and why actions are unavailable. */
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
let setup: { people: Personas; cloud: Droplets; droplet: Json };
let manager: Console;

tests.before(async () => {
  if (!chromium) return;
  setup = await createDroplet(fixture);
  const { users } = setup.people;
  for (const { url } of [users.manager, users.observer]) await fixture.staff.post(`${url}password/`, { password });
  manager = await Console.as(chromium, fixture, 'manager');
});
tests.after(() => chromium?.close());

browser('shows resources of every type in one list', async () => {
  await manager.go('/resources/', 'Resources');
  const row = manager.page.getByRole('row', { name: /web/ });
  for (const words of ['Droplet', 'Running', 'Alice', 'Rocket']) await row.getByText(words, { exact: true }).waitFor();
});

browser('performs an available action immediately, and explains an unavailable one', async () => {
  const { page } = manager;
  await manager.page.getByRole('row', { name: /web/ }).getByRole('link').first().click();
  await manager.heading(/^web/).waitFor();
  const start = (await manager.offered()).find(({ title }) => title === 'Start');
  assert.equal(start, { title: 'Start', reason: 'Valid runtime states for operation: offline.' });
  await manager.act('Stop');
  await page.getByRole('status').getByText('web is stopping').waitFor();
  await work(fixture);
  await manager.status('Stopped');
  assert.is((await fixture.staff.get(setup.droplet.url)).body.runtime_state, 'offline');
});

browser('creates a resource with links chosen by name', async () => {
  await manager.go('/digitalocean-droplets/', 'Droplets');
  await manager.act('Create');
  const dialog = manager.dialog();
  await dialog.getByLabel('Name *', { exact: true }).fill('cache');
  const choose = async (label: string): Promise<void> => {
    const select = dialog.getByLabel(label);
    await select.locator('option').nth(1).waitFor({ state: 'attached' });
    await select.selectOption({ index: 1 });
  };
  for (const label of ['Project connection *', 'Region *', 'Image *', 'Size *']) await choose(label);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await manager.heading(/^cache/).waitFor();
  await work(fixture);
  await manager.status('Running');
  assert.is((await fixture.staff.get('/api/resources/?name=cache')).body[0].project_name, 'Rocket');
});

browser('deletes a resource after a confirmation', async () => {
  await manager.act('Stop');
  await manager.page.getByRole('status').getByText('cache is stopping').waitFor();
  await work(fixture);
  await manager.status('Stopped');
  await manager.act('Destroy');
  const dialog = manager.dialog();
  await dialog.getByText(/This cannot be undone\.$/).waitFor();
  // The button stays disabled until the user types the name.
  const destroy = dialog.getByRole('button', { name: 'Destroy' });
  assert.is(await destroy.getAttribute('aria-disabled'), 'true');
  await destroy.press('Enter');
  assert.is((await fixture.staff.get('/api/resources/?name=cache')).body[0].state, 'OK');
  await dialog.getByLabel('Type cache to confirm').fill('cache');
  await destroy.click();
  await manager.status('Deleting');
  await work(fixture);
  await manager.heading('Not found').waitFor();
  assert.equal((await fixture.staff.get('/api/resources/?name=cache')).body, []);
});

browser('every action explains its missing right to users who can only read', async () => {
  const observer = await Console.as(chromium as Browser, fixture, 'observer');
  await observer.go(`/digitalocean-droplets/${setup.droplet.uuid}/`, /^web/);
  const actions = await observer.offered();
  for (const name of ['Start', 'Stop', 'Destroy', 'Edit'])
    assert.ok(actions.find(({ title }) => title === name)?.reason, `${name} has a reason`);
  await observer.go('/digitalocean-droplets/', 'Droplets');
  assert.is(await observer.button('Create').count(), 0);
  assert.equal(observer.complaints, []);
  await observer.close();
});

tests.run();
