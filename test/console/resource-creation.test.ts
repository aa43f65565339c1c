/** Creation of resources in the console: the form, its quota impact, views, and bulk actions. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createDroplet, type Droplets } from '../support/droplets.ts';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';
import type { Personas } from '../support/personas.ts';
import { simulatedService, work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('creating resources in the console');
const browser = chromium ? tests : tests.skip;
let setup: { people: Personas; cloud: Droplets; droplet: Json };
let manager: Console;

const started = (): Browser => chromium as Browser;

/** Sets the limit of a project quota. */
async function limit(name: string, to: number): Promise<void> {
  const { quotas } = (await fixture.staff.get(setup.people.project.url)).body;
  const { url } = quotas.find((quota: Json) => quota.name === name);
  await fixture.staff.patch(url, { limit: to });
}

tests.before(async () => {
  if (!chromium) return;
  setup = await createDroplet(fixture);
  // The form must not offer sizes of another account for a droplet.
  await simulatedService(fixture, 'openstack', setup.people, { name: 'Private cloud' });
  await limit('nc_vm_count', 2);
  const { users } = setup.people;
  for (const { url } of [users.manager, users.observer]) await fixture.staff.post(`${url}password/`, { password });
  manager = await Console.as(started(), fixture, 'manager');
});
tests.after(() => chromium?.close());

browser('the form of a chosen kind shows the quota impact during input', async () => {
  const { page } = manager;
  await manager.go('/resources/', 'Resources');
  await manager.link('Create').click();
  await manager.heading('Create a resource').waitFor();
  await manager.link('OpenStack instances').waitFor();
  assert.equal(await manager.findings(), []);
  await manager.link('Droplets').click();
  await manager.heading('New Droplet').waitFor();
  const takes = page.getByRole('region', { name: 'Quota impact' });
  const choose = async (label: string, index = 1): Promise<void> => {
    const select = page.getByLabel(label);
    await select.locator('option').nth(index).waitFor({ state: 'attached' });
    // A choice narrows other fields, whose old choices remain until the new ones have been read.
    await manager.settled();
    await select.selectOption({ index });
    await manager.settled();
  };
  await page.getByLabel('Name *', { exact: true }).fill('cache');
  // The only connection is preselected.
  await takes.getByText('Virtual machines').first().waitFor();
  await takes.getByText('1 + 1 of 2').waitFor();
  assert.is(await takes.getByText('over the limit').count(), 0);
  await choose('Region *');
  await page.getByRole('group', { name: 'Image' }).getByRole('radio').first().check();
  await page
    .getByRole('group', { name: 'Size' })
    .getByRole('radio', { name: /s-2vcpu-4gb/ })
    .check();
  // Unlimited quotas need a click: 1 GiB is used, and the machine needs 4 GiB.
  await takes.getByText(/All \d+ quotas$/).click();
  await takes.getByText('1 GiB + 4 GiB · no limit').waitFor();
  assert.equal(await manager.findings(), []);
  await manager.button('Create Droplet').click();
  await manager.heading(/^cache/).waitFor();
  await work(fixture);
  await manager.status('Running');
  await page.getByRole('region', { name: 'Activity' }).getByText('cache was created').waitFor();
  assert.is((await fixture.staff.get('/api/resources/?name=cache')).body[0].project_name, 'Rocket');
});

browser('a short list of flavors and images is offered as cards, the smallest first', async () => {
  const { page } = manager;
  await manager.go('/new-resource/openstack-instances/', 'New OpenStack instance');
  // Creation requires a private cloud.
  await page.locator('.callout').getByText('A private cloud is missing.').waitFor();
  await manager.link('Create a private cloud').first().waitFor();
  const link = page.getByLabel('Project connection *');
  await link.locator('option').nth(1).waitFor({ state: 'attached' });
  await link.selectOption({ index: 1 });
  await manager.settled();
  const flavors = page.getByRole('group', { name: 'Flavor' });
  await flavors.getByRole('radio').first().waitFor();
  const cards = await flavors.locator('label').allInnerTexts();
  assert.match(cards[0] as string, /^m1\.tiny\n1 vCPU · 512 MiB memory/);
  assert.match(cards.at(-1) as string, /^m1\.xlarge\n8 vCPU · 16 GiB memory/);
  await flavors.getByRole('radio', { name: /m1\.small/ }).check();
  // The flavor suggests the size of the system volume.
  const systemVolume = page.getByLabel('System volume *');
  await eventually('the flavor suggests a volume', async () => (await systemVolume.inputValue()) === '20');
  await page
    .getByRole('region', { name: 'Quota impact' })
    .getByText(/All \d+ quotas$/)
    .click();
  await page
    .getByRole('region', { name: 'Quota impact' })
    .getByText(/\+ 20 GiB/)
    .first()
    .waitFor();
  await page
    .getByRole('group', { name: 'Image' })
    .getByText(/^needs .* disk/)
    .first()
    .waitFor();
  assert.is(await page.getByText('MiB.').count(), 0);
  assert.equal(await manager.findings(), []);
});

browser('shows the requirements of a machine before its project is known', async () => {
  const { page } = manager;
  await page.route('**/api/openstack-service-project-link/?*', async (route) => {
    const response = await route.fetch();
    const [link] = await response.json();
    // With several connections, none is preselected.
    await route.fulfill({
      response,
      json: [link, { ...link, url: `${link.url}?` }],
      headers: { 'X-Result-Count': '2' },
    });
  });
  await manager.go('/new-resource/', 'Create a resource');
  await manager.go('/new-resource/openstack-instances/', 'New OpenStack instance');
  await page.getByRole('radio', { name: /m1\.small/ }).check();
  const impact = page.getByRole('region', { name: 'Quota impact' });
  await impact.getByText('Choose a project connection to see the limits.').waitFor();
  // The form reads the flavor when it is chosen.
  await impact.getByText('+ 20 GiB').waitFor();
  const facts = await impact.locator('dl').innerText();
  assert.equal(facts.split('\n').filter(Boolean), [
    ...['Virtual machines', '+ 1', 'vCPUs', '+ 1', 'Memory', '+ 2 GiB', 'Storage', '+ 20 GiB'],
  ]);
  // A refresh may be waiting in the route handler.
  await page.unrouteAll({ behavior: 'wait' });
});

browser('a card that exceeds a limit or does not fit the image says why', async () => {
  const { page } = manager;
  const [link] = (await fixture.staff.get('/api/openstack-service-project-link/')).body;
  const limitOf = async (name: string, to: number): Promise<void> => {
    const { quotas } = (await fixture.staff.get(link.url)).body;
    await fixture.staff.patch(quotas.find((quota: Json) => quota.name === name).url, { limit: to });
  };
  await limitOf('vcpu', 4);
  await manager.go('/new-resource/', 'Create a resource');
  await manager.go('/new-resource/openstack-instances/', 'New OpenStack instance');
  const choice = page.getByLabel('Project connection *');
  await choice.locator('option').nth(1).waitFor({ state: 'attached' });
  await choice.selectOption({ index: 1 });
  await manager.settled();
  const card = (group: string, name: RegExp) => page.getByRole('group', { name: group }).getByRole('radio', { name });
  await page.getByText('vCPUs: only 4 left').waitFor();
  assert.ok(await card('Flavor', /m1\.xlarge/).isDisabled());
  assert.not(await card('Flavor', /m1\.large/).isDisabled());
  await card('Image', /Windows/).check();
  await page.getByText('At least 40 GiB for Windows Server 2016.').waitFor();
  for (const name of [/m1\.tiny/, /m1\.small/])
    assert.match(
      await card('Flavor', name).locator('..').innerText(),
      /Windows Server 2016 needs 4 GiB memory$/,
      String(name),
    );
  await card('Image', /CirrOS/).check();
  await card('Flavor', /m1\.tiny/).check();
  await page.getByText('m1.tiny has only 512 MiB memory').first().waitFor();
  assert.ok(await card('Image', /Ubuntu/).isDisabled());
  assert.equal(await manager.findings(), []);
  await limitOf('vcpu', -1);
});

browser('warns before a quota is exceeded, and shows the rejection of the server', async () => {
  const { page } = manager;
  await manager.go('/digitalocean-droplets/', 'Droplets');
  await manager.act('Create');
  const dialog = manager.dialog();
  const link = dialog.getByLabel('Project connection *');
  await link.locator('option').nth(1).waitFor({ state: 'attached' });
  await link.selectOption({ index: 1 });
  await dialog.getByText('2 + 1 of 2').waitFor();
  await dialog.getByText('Rocket: 1 over the limit').waitFor();
  await page.keyboard.press('Escape');
});

browser('the address has the view', async () => {
  const { page } = manager;
  await manager.go('/resources/', 'Resources');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByText('Nothing here yet.').waitFor();
  assert.is(new URL(page.url()).hash, '#/resources/?category=apps');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Virtual machines' }).press('Enter');
  await page.getByRole('row', { name: /cache/ }).waitFor();
  await page.getByRole('cell', { name: '2 vCPU · 4 GiB' }).waitFor();
});

browser('stops several resources, and reports each rejection', async () => {
  const { page } = manager;
  await fixture.staff.post(`${setup.droplet.url}stop/`);
  await work(fixture);
  for (const name of ['web', 'cache']) await page.getByLabel(`Select ${name}`).check();
  const bar = page.getByRole('region', { name: 'Selected resources' });
  await bar.getByText('2 selected').waitFor();
  await bar.getByRole('button', { name: 'Stop' }).click();
  const toast = page.getByRole('alert').filter({ hasText: 'Stop: 1 started.' });
  await toast.getByText('web: Valid runtime states for operation: online.').waitFor();
  await toast.getByRole('button', { name: 'Dismiss' }).click();
  await bar.waitFor({ state: 'detached' });
  await work(fixture);
  const [cache] = (await fixture.staff.get('/api/resources/?name=cache')).body;
  assert.is(cache.runtime_state, 'offline');
  assert.equal(manager.complaints.splice(0).length, 1);
  assert.equal(await manager.findings(), []);
});

browser('offers no creation and no selection to users who can only read', async () => {
  const observer = await Console.as(started(), fixture, 'observer', 360);
  await observer.go('/resources/', 'Resources');
  assert.is(await observer.button('Create').count(), 0);
  assert.is(await observer.page.getByRole('checkbox').count(), 0);
  assert.is(await observer.page.evaluate('document.documentElement.scrollWidth'), 360);
  for (const [list, title] of [
    ['openstack-volumes', 'OpenStack volumes'],
    ['jira-priorities', 'JIRA priorities'],
  ] as const) {
    await observer.go(`/${list}/`, title);
    await observer.page.getByText('Nothing here yet.').waitFor();
    assert.is(await observer.page.locator('.empty .icon').count(), 1, list);
  }
  await observer.go('/new-resource/', 'Create a resource');
  await observer.page.getByText('You cannot create resources.').waitFor();
  await observer.go('/new-resource/digitalocean-droplets/', 'New Droplet');
  await observer.page.getByText('You cannot create this type of resource.').waitFor();
  assert.is(await observer.link('Change type').count(), 0);
  assert.equal(observer.complaints, []);
  await observer.close();
});

tests.run();
