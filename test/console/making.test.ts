/** Resources in the console: made by a form that says what they take, found by views, and worked on several at once. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createDroplet, type Droplets } from '../support/droplets.ts';
import type { Json } from '../support/fixture.ts';
import type { Personas } from '../support/personas.ts';
import { simulatedService, work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('making resources in the console');
const browser = chromium ? tests : tests.skip;
let world: { people: Personas; cloud: Droplets; droplet: Json };
let manager: Console;

const started = (): Browser => chromium as Browser;

/** Limits a quota of the project. */
async function limit(name: string, to: number): Promise<void> {
  const { quotas } = (await fixture.staff.get(world.people.project.url)).body;
  const { url } = quotas.find((quota: Json) => quota.name === name);
  await fixture.staff.patch(url, { limit: to });
}

tests.before(async () => {
  if (!chromium) return;
  world = await createDroplet(fixture);
  // Sizes of another account, which are no choice for a droplet.
  await simulatedService(fixture, 'openstack', world.people, { name: 'Private cloud' });
  await limit('nc_vm_count', 2);
  const { users } = world.people;
  for (const { url } of [users.manager, users.observer]) await fixture.staff.post(`${url}password/`, { password });
  manager = await Console.as(started(), fixture, 'manager');
});
tests.after(() => chromium?.close());

browser('a kind is chosen, and the form says what it takes of which quota as it is filled in', async () => {
  const { page } = manager;
  await manager.go('/resources/', 'Resources');
  await manager.button('Create').click();
  await manager.heading('Create a resource').waitFor();
  await manager.link('OpenStack instances').waitFor();
  assert.equal(await manager.findings(), []);
  await manager.link('DigitalOcean droplets').click();
  await manager.heading('Create: DigitalOcean droplets').waitFor();
  const takes = page.getByRole('region', { name: 'What it takes' });
  const choose = async (label: string, index = 1): Promise<void> => {
    const select = page.getByLabel(label);
    await select.locator('option').nth(index).waitFor({ state: 'attached' });
    await select.selectOption({ index });
  };
  await page.getByLabel('Name *', { exact: true }).fill('cache');
  assert.is(await takes.count(), 0);
  await choose('Service project link *');
  await takes.getByText('Rocket: Vm count').waitFor();
  await takes.getByText('1 + 1 of 2').waitFor();
  assert.is(await takes.getByText('too much').count(), 0);
  await choose('Region *');
  await choose('Image *');
  await page.getByLabel('Size *').selectOption({ label: 's-2vcpu-4gb' });
  // Of the link, whose quotas have no limits: memory in MiB.
  await takes.getByText('1,024 + 4,096').waitFor();
  assert.equal(await manager.findings(), []);
  await manager.button('Create').click();
  await manager.heading(/^cache/).waitFor();
  await work(fixture);
  await manager.heading(/^cache OK/).waitFor();
  await page.getByRole('region', { name: 'History' }).getByText('Resource cache has been created.').waitFor();
  assert.is((await fixture.staff.get('/api/resources/?name=cache')).body[0].project_name, 'Rocket');
});

browser('what there is no room for is told before, and refused with the words of the server', async () => {
  const { page } = manager;
  await manager.go('/digitalocean-droplets/', /droplets/);
  await manager.button('Create').click();
  const dialog = manager.dialog();
  const link = dialog.getByLabel('Service project link *');
  await link.locator('option').nth(1).waitFor({ state: 'attached' });
  await link.selectOption({ index: 1 });
  await dialog.getByText('2 + 1 of 2').waitFor();
  await dialog.getByText('That is 1 too much.').waitFor();
  await page.keyboard.press('Escape');
});

browser('the views stand in the address', async () => {
  const { page } = manager;
  await manager.go('/resources/', 'Resources');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByText('Nothing matches.').waitFor();
  assert.is(new URL(page.url()).hash, '#/resources/?category=apps');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Virtual machines' }).press('Enter');
  await page.getByRole('row', { name: /cache/ }).waitFor();
  // All of one kind: the columns are those of machines.
  await page.getByRole('columnheader', { name: 'External IPs' }).waitFor();
});

browser('several are stopped at once, and each refusal is told', async () => {
  const { page } = manager;
  await fixture.staff.post(`${world.droplet.url}stop/`);
  await work(fixture);
  for (const name of ['web', 'cache']) await page.getByLabel(`Choose ${name}`).check();
  await page.getByText('2 are chosen').waitFor();
  await manager.button('Stop').click();
  const refusals = page.getByRole('dialog', { name: 'Not all could be done' });
  const row = refusals.getByRole('listitem');
  await row.getByText('Valid runtime states for operation: online.').waitFor();
  assert.match(await row.innerText(), /^web\s/);
  await refusals.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('status').getByText('Stop: 1 has begun.').waitFor();
  await work(fixture);
  const [cache] = (await fixture.staff.get('/api/resources/?name=cache')).body;
  assert.is(cache.runtime_state, 'offline');
  assert.equal(manager.complaints.splice(0).length, 1);
  assert.equal(await manager.findings(), []);
});

browser('who only looks on is offered neither to create nor to choose', async () => {
  const observer = await Console.as(started(), fixture, 'observer', 360);
  await observer.go('/resources/', 'Resources');
  assert.is(await observer.button('Create').count(), 0);
  assert.is(await observer.page.getByRole('checkbox').count(), 0);
  assert.is(await observer.page.evaluate('document.documentElement.scrollWidth'), 360);
  assert.equal(observer.complaints, []);
  await observer.close();
});

tests.run();
