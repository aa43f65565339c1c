/** Provider accounts in the console: the guide with its connection test, the account page, and connections. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { Receiver } from '../support/receiver.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('accounts at providers in the console', {
  provider_allowed_networks: ['127.0.0.0/8'],
});
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let vendor: Receiver;
let owner: Console;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  for (const { url } of Object.values(cast.users)) await fixture.staff.post(`${url}password/`, { password });
  vendor = await Receiver.start();
  owner = await Console.as(started(), fixture, 'owner');
});
tests.after(async () => {
  await chromium?.close();
  await vendor?.close();
});

browser('the guide asks for the credentials of the provider, and saves only working accounts', async () => {
  await owner.go('/service-settings/', 'Provider accounts');
  await owner.link('Add provider account').click();
  await owner.heading('Add provider account').waitFor();
  assert.equal(await owner.findings(), []);
  await owner.link('OpenStack Private clouds, instances, volumes').waitFor();
  await owner.page.getByRole('link', { name: /^DigitalOcean/ }).click();
  await owner.heading('Add an account at DigitalOcean').waitFor();
  const { page } = owner;
  await page.getByLabel('Token').waitFor();
  assert.is(await page.getByLabel('Password').count(), 0);
  assert.is(await page.getByLabel('Simulator seed').count(), 0);
  assert.equal(await owner.findings(), []);
  await owner.button('Test and continue').click();
  await page.getByText('Name cannot be empty').waitFor();
  await page.getByLabel('Name *', { exact: true }).fill('Droplets');
  await page.getByLabel('Customer *').selectOption({ label: 'Alice' });
  await page.getByLabel('Provider URL').fill(`${vendor.url}/v2`);
  await page.getByLabel('Token').fill('no-such-token');
  vendor.behaviour = { status: 401, body: '{"id":"Unauthorized","message":"Unable to authenticate you."}' };
  await owner.button('Test and continue').click();
  await page
    .getByRole('alert')
    .getByText('DigitalOcean rejected the credentials. Unable to authenticate you. Nothing was saved.')
    .waitFor();
  // The field that caused the rejection is marked.
  assert.is(await page.getByLabel('Token').getAttribute('aria-invalid'), 'true');
  await page.getByText('Check: token.').waitFor();
  const checks = page.getByRole('region', { name: 'Connection test' });
  await checks.getByText('Failed', { exact: true }).waitFor();
  assert.equal(await checks.getByRole('listitem').allInnerTexts(), [
    'Endpoint is reachable',
    'Certificate is trusted\nNot checked',
    'Credentials are accepted\nUnable to authenticate you.',
    'Resources can be read\nNot checked',
  ]);
  assert.equal(await owner.findings(), []);
  assert.ok(vendor.take().every(({ headers }) => headers.authorization === 'Bearer no-such-token'));
  assert.is(await page.getByLabel('Name *', { exact: true }).inputValue(), 'Droplets');
  assert.equal((await fixture.staff.get('/api/service-settings/')).body, []);
  owner.complaints.splice(0);
});

browser('the guide marks the address that does not respond, and opens the permissions that are missing', async () => {
  const { page } = owner;
  vendor.behaviour = { status: 404, body: '{}' };
  await owner.button('Test and continue').click();
  await page.getByText('Check the address.').waitFor();
  assert.is(await page.getByLabel('Provider URL').getAttribute('aria-invalid'), 'true');
  assert.is(await page.getByLabel('Token').getAttribute('aria-invalid'), null);
  const rights = page.getByText('A personal access token with read and write access.');
  assert.is(await rights.isVisible(), false);
  const skipped = { status: 'passed', message: '' };
  const checks = ['endpoint', 'certificate', 'authentication'].map((name) => ({ name, ...skipped }));
  await page.route('**/api/digitalocean/test/', (route) =>
    route.fulfill({
      json: {
        is_successful: false,
        checks: [...checks, { name: 'inventory', status: 'failed', message: 'Forbidden' }],
      },
    }),
  );
  await owner.button('Test and continue').click();
  await page
    .getByRole('alert')
    .getByText('The account has no permission to read its resources at DigitalOcean. Forbidden')
    .waitFor();
  await rights.waitFor();
  await page.unroute('**/api/digitalocean/test/');
  assert.equal(await owner.findings(), []);
  owner.complaints.splice(0);
});

browser('adds a working account and follows it until it is synchronised', async () => {
  const { page } = owner;
  await page.getByLabel('Provider URL').fill('simulator://droplets');
  await owner.button('Test and continue').click();
  await owner.heading(/^Droplets/).waitFor();
  await page.getByText('was created. It is simulated: nothing is created at a provider.').waitFor();
  await work(fixture);
  await owner.status('In sync');
  await owner.status('Simulated');
  await page.getByText(/^Last synced /).waitFor();
  // The account is available to all projects of the customer.
  const services = page.getByRole('region', { name: 'Customers and projects' });
  await services.getByRole('link', { name: 'Rocket' }).waitFor();
  const project = await fixture.project('Second', cast.customer);
  await fixture.staff.delete(
    (await fixture.staff.get(`/api/digitalocean-service-project-link/?project_uuid=${project.uuid}`)).body[0].url,
  );
  assert.equal(await owner.findings(), []);
});

browser('connects an account to another project, and pulls it', async () => {
  const { page } = owner;
  await owner.button('Connect project').click();
  await owner.dialog().getByLabel('Project *').selectOption({ label: 'Second (Alice)' });
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  const services = page.getByRole('region', { name: 'Customers and projects' });
  await services.getByRole('link', { name: 'Second' }).waitFor();
  await owner.act('Refresh from provider');
  await owner.status('Syncing');
  await work(fixture);
  await owner.status('In sync');
  assert.equal(owner.complaints, []);
});

browser('a failed account shows the reason', async () => {
  const [settings] = (await fixture.staff.get('/api/service-settings/')).body;
  await fixture.staff.patch(settings.url, { simulator_failures: 'ping' });
  await owner.act('Refresh from provider');
  await owner.status('Syncing');
  await work(fixture);
  await owner.status('Account failed');
  await owner.page.getByText('Simulated failure of ping').first().waitFor();
  await owner.go('/service-settings/', 'Provider accounts');
  await owner.page.getByRole('row', { name: /Droplets.*Account failed.*Simulated failure of ping/ }).waitFor();
  const heads = owner.page.getByRole('columnheader');
  assert.equal(await heads.allInnerTexts(), ['Name', 'Status', 'Customer', 'Resources', 'Last synced']);
  const [name = '', , customer, resources, synced = ''] = await owner.page.getByRole('cell').allInnerTexts();
  assert.equal([name.split(/\s+/), customer, resources], [['Droplets', 'DigitalOcean', 'Simulated'], 'Alice', '0']);
  assert.match(synced, /Jan 2018|ago/);
});

browser('shows the usage of an account by customer to support, and hides it from other users', async () => {
  await fixture.customer('Bob & <b>sons</b>');
  const sea = { name: 'Common sea', type: 'DigitalOcean', shared: true, simulator_latency: '0' };
  const { body: shared } = await fixture.staff.post('/api/service-settings/', sea);
  await work(fixture);
  const support = await Console.as(started(), fixture, 'support');
  await support.go(`/service-settings/${shared.uuid}/`, /^Common sea/);
  const usage = support.page.getByRole('region', { name: 'Usage by customer' });
  await usage.getByRole('row', { name: 'Bob & <b>sons</b> 0 0 0 0 MiB 0 MiB' }).waitFor();
  await usage.getByRole('columnheader', { name: 'Memory' }).waitFor();
  assert.equal(await support.findings(), []);
  await usage
    .getByRole('row', { name: /^Alice \d+ 0/ })
    .getByRole('link', { name: 'Alice' })
    .click();
  await support.heading('Alice').waitFor();
  await support.go(`/service-settings/${shared.uuid}/usage/`, 'Used');
  await support.page.getByRole('cell', { name: 'Alice', exact: true }).first().waitFor();
  assert.equal(support.complaints, []);
  await support.close();
  await owner.go(`/service-settings/${shared.uuid}/`, /^Common sea/);
  assert.is(await owner.page.getByText('Usage by customer').count(), 0);
  assert.equal(owner.complaints, []);
});

browser(
  'the guide requires an address for the provider, and nothing but a name and a customer for the simulator',
  async () => {
    await owner.go('/add-provider/DigitalOcean/', 'Add an account at DigitalOcean');
    const { page } = owner;
    const address = page.getByLabel('Provider URL *');
    assert.is(await address.inputValue(), 'https://api.digitalocean.com/v2');
    await page.getByLabel('Name *', { exact: true }).fill('Playground');
    await page.getByLabel('Customer *').selectOption({ label: 'Alice' });
    await page.getByLabel('Token').fill('any-token');
    await address.fill('');
    const before = owner.requests.length;
    await owner.button('Test and continue').click();
    await page.getByText('This field is required.').waitFor();
    assert.equal(
      owner.requests.slice(before).filter((request) => request.startsWith('POST')),
      [],
    );
    await page.getByRole('radio', { name: /^Simulator/ }).check();
    await page.getByText('Runs on this server and needs no credentials.').waitFor();
    assert.equal([await address.count(), await page.getByLabel('Token').count()], [0, 0]);
    // Simulator options belong to accounts on the simulator.
    const seed = page.getByLabel('Simulator seed');
    await page.getByText('More options', { exact: true }).click();
    await seed.fill('7');
    await page.getByRole('radio', { name: /^DigitalOcean/ }).check();
    await address.waitFor();
    assert.is(await seed.count(), 0);
    await page.getByRole('radio', { name: /^Simulator/ }).check();
    await seed.waitFor({ state: 'attached' });
    assert.is(await seed.inputValue(), '7');
    assert.equal(await owner.findings(), []);
    // The customer has several projects, so the next step asks which of them use the account. No other step may ask.
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (!document.body.innerText.includes('Projects that can use the account')) return;
      observer.disconnect();
      document.body.dataset.step = document.querySelector('.steps [aria-current=step]').innerText;
    }).observe(document.body, { childList: true, subtree: true })`);
    await owner.button('Add account').click();
    await page.getByText('Projects that can use the account').waitFor();
    assert.is(await page.locator('body').getAttribute('data-step'), 'Projects');
    assert.equal(await owner.findings(), []);
    await owner.button('Back').click();
    assert.is(await page.getByLabel('Name *', { exact: true }).inputValue(), 'Playground');
    assert.equal((await fixture.staff.get('/api/service-settings/?name=Playground')).body, []);
    await owner.button('Add account').click();
    await page.getByRole('radio', { name: 'Selected projects' }).check();
    await page.getByRole('checkbox', { name: 'Second' }).check();
    await owner.button('Add account').click();
    await owner.heading(/^Playground/).waitFor();
    await fixture.advance(30);
    await owner.status('In sync');
    const [settings] = (await fixture.staff.get('/api/service-settings/?name=Playground')).body;
    const { backend_url, is_simulated, token } = (await fixture.staff.get(settings.url)).body;
    assert.equal([backend_url, is_simulated, token], [null, true, null]);
    const [service] = (await fixture.staff.get(`/api/services/?settings_uuid=${settings.uuid}`)).body;
    assert.equal([service.available_for_all, service.projects.map(({ name }: Json) => name)], [false, ['Second']]);
    // For a real account, the last step lists the resources to import.
    await owner.go(`/add-provider/DigitalOcean/?account=${settings.uuid}`, 'Add an account at DigitalOcean');
    await page.getByText('The account is in sync.').waitFor();
    await page.getByText('Nothing at the provider is left to import.').waitFor();
    assert.equal(await owner.findings(), []);
    await owner.link('Open the account').click();
    await owner.heading(/^Playground/).waitFor();
    assert.equal(owner.complaints, []);
  },
);

browser('the guide reports a disabled simulator', async () => {
  // Leave the guide first: it keeps its form if only its address changes.
  await owner.go('/service-settings/', 'Provider accounts');
  await owner.page.route('**/api/digitalocean/', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 400,
          json: { non_field_errors: ['Either service settings or credentials must be supplied.'] },
        })
      : route.continue(),
  );
  await owner.go('/add-provider/DigitalOcean/', 'Add an account at DigitalOcean');
  await owner.page.getByRole('radio', { name: /^Simulator/ }).check();
  await owner.button('Add account').click();
  await owner.page.getByText('Projects that can use the account').waitFor();
  await owner.button('Add account').click();
  await owner.page.getByRole('alert').getByText('Simulation is switched off.').waitFor();
  await owner.page.unroute('**/api/digitalocean/');
  owner.complaints.splice(0);
});

browser('only the form of a simulated account has options of the simulator', async () => {
  const common = { type: 'DigitalOcean', customer: cast.customer.url };
  const real = { ...common, name: 'Real sea', backend_url: `${vendor.url}/v2`, token: 'no-such-token' };
  for (const [account, count] of [[real, 0] as const, [{ ...common, name: 'Simulated sea' }, 1] as const]) {
    const { body } = await fixture.staff.post('/api/service-settings/', account);
    await owner.go(`/service-settings/${body.uuid}/`, new RegExp(`^${account.name}`));
    await owner.act('Edit');
    await owner.dialog().getByLabel('Name *', { exact: true }).waitFor();
    assert.is(await owner.dialog().getByLabel('Simulator seed').count(), count, account.name);
    await owner.button('Cancel').click();
  }
});

browser('a file field shows the chosen file on a button of the console', async () => {
  await owner.go('/add-provider/OpenStack/', 'Add an account at OpenStack');
  const field = owner.page.locator('input[type=file]');
  await field.waitFor({ state: 'attached' });
  await owner.page.evaluate("for (const fold of document.querySelectorAll('form details')) fold.open = true");
  await field.setInputFiles({ name: 'ca.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from('pem') });
  await owner.page.locator('.file').getByText('ca.pem').waitFor();
  await owner.page.locator('.file').getByText('Choose file…').waitFor();
  // A click on the button opens the file chooser of the input.
  const chooser = owner.page.waitForEvent('filechooser');
  await owner.page.locator('.file').click({ position: { x: 20, y: 16 } });
  await chooser;
  // A file can also be dropped on its end, even on narrow screens, where a long name wraps beside the button.
  const folder = mkdtempSync(join(tmpdir(), 'dropped-'));
  const name = 'certificate-of-the-internal-authority-of-our-company-2026-renewed.pem';
  writeFileSync(join(folder, name), 'pem');
  const devtools = await owner.page.context().newCDPSession(owner.page);
  await owner.page.setViewportSize({ width: 360, height: 900 });
  // A trial hover scrolls to the field and waits until it no longer moves.
  await owner.page.locator('.file').hover({ trial: true });
  const { height = 0, width = 0, x = 0, y = 0 } = (await owner.page.locator('.file').boundingBox()) ?? {};
  const data = { items: [], files: [join(folder, name)], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: x + width - 5, y: y + height / 2, data });
  await owner.page.locator('.file').getByText(name).waitFor();
  assert.is(await owner.page.evaluate('document.documentElement.scrollWidth'), 360);
  const button = await owner.page.locator('.file .btn').boundingBox();
  assert.is(button?.x, x, 'the button keeps its place');
  await owner.page.setViewportSize({ width: 1300, height: 900 });
  rmSync(folder, { recursive: true });
  assert.equal(await owner.findings(), []);
});

browser('hides the guide from users who may not add an account', async () => {
  for (const name of ['support', 'helper', 'manager', 'stranger'] as const) {
    const visitor = await Console.as(started(), fixture, name);
    await visitor.go('/service-settings/', 'Provider accounts');
    assert.is(await visitor.link('Add provider account').count(), 0, name);
    assert.is(await visitor.button('Create').count(), 0, name);
    await visitor.go('/add-provider/', 'Add provider account');
    await visitor.page.getByText('You cannot add provider accounts.').waitFor();
    assert.is(await visitor.page.getByRole('link', { name: /^DigitalOcean/ }).count(), 0, name);
    assert.equal(visitor.complaints, [], name);
    await visitor.close();
  }
});

tests.run();
