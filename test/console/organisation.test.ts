/** The pages of customers and projects in the console, with sample data. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import { placeOf } from '../support/console-places.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('customers and projects in the console', { seed: 'demo' });
const browser = chromium ? tests : tests.skip;
let staff: Console;

const region = (name: string) => staff.page.getByRole('region', { name, exact: true });
const first = async (path: string): Promise<Json> => (await fixture.staff.get(path)).body[0];

tests.before(async () => {
  if (!chromium) return;
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  await fixture.staff.post(`${me.url}password/`, { password });
  staff = await Console.as(chromium as Browser, fixture, 'admin');
});
tests.after(() => chromium?.close());

browser('the page of a customer lists the problems of that customer alone', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  await staff.go(placeOf(customer.url), customer.name);
  const problems = region('Needs attention');
  const failed = await first(`/api/resources/?state=Erred&customer_uuid=${customer.uuid}`);
  await problems.getByText(failed.name).waitFor();
  await problems.getByText('AWS Frankfurt has unmanaged resources').waitFor();
  const elsewhere = (await fixture.staff.get('/api/resources/?state=Erred')).body.filter(
    ({ customer_uuid: uuid }: Json) => uuid !== customer.uuid,
  );
  assert.ok(elsewhere.length > 0);
  for (const { name } of elsewhere) assert.is(await problems.getByText(name).count(), 0, name);
  await staff.page.locator('main .head').getByText('1 failed, 1 open alert').waitFor();
  assert.equal(await findFaults(staff), []);
  const healthy = await fixture.customer('Without problems');
  await staff.go(placeOf(healthy.url), healthy.name);
  await region('Projects').waitFor();
  assert.is(await problems.count(), 0, 'a customer without problems has no such card');
  assert.is(await staff.page.locator('main .head .badge').count(), 0);
});

browser('the tabs of a customer lead to its lists, with counts, and to every field', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  await staff.go(placeOf(customer.url), customer.name);
  const tab = (name: string) => staff.page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name });
  await tab('Projects 3').waitFor();
  const tabs = staff.page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
  assert.equal(
    (await tabs.allInnerTexts()).map((text) => text.replace(/\s*\d+$/, '')),
    ['Overview', 'Projects', 'Resources', 'Team', 'Provider accounts', 'Quotas', 'Activity', 'Settings'],
  );
  await tab('Team 11').waitFor();
  await tab('Provider accounts 3').waitFor();
  await fixture.staff.patch(customer.url, { phone_number: '+49 555 0102' });
  await tab('Activity').click();
  const events = staff.page.getByRole('region', { name: /^Events/ });
  await events.getByRole('listitem').first().waitFor();
  assert.not.match(await events.innerText(), new RegExp(`· ${customer.name}`), 'the page names the customer');
  await staff.page.getByRole('navigation', { name: 'Activity' }).getByRole('link', { name: 'History' }).click();
  await region('History').waitFor();
  await tab('Activity').and(staff.page.locator('[aria-current=page]')).waitFor();
  assert.equal(await findFaults(staff), []);
  // An address from before service accounts moved to the Team tab.
  await staff.go(`${placeOf(customer.url)}?tab=service-accounts`, customer.name);
  await region('Service accounts').waitFor();
  await tab('Team 11').and(staff.page.locator('[aria-current=page]')).waitFor();
  assert.equal(await findFaults(staff), []);
  await tab('Settings').click();
  await region('Identity').getByText('Native name').waitFor();
  await tab('Resources 40').click();
  await staff.heading('Resources').waitFor();
  await staff.page.getByText('1–20 of 40').waitFor();
});

browser('names four members, those of the customer first, and shows the others as faces', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  await staff.go(placeOf(customer.url), customer.name);
  const rows = region('Team').getByRole('listitem');
  assert.is(await rows.count(), 5);
  for (const role of ['Owner', 'Support']) await rows.getByText(role, { exact: true }).first().waitFor();
  await rows.last().getByRole('link', { name: '7 more' }).waitFor();
  await region('Company').getByText('HRB 12345 KI').waitFor();
  await region('Team').getByRole('link', { name: 'Manage', exact: true }).click();
  await region('Roles').getByRole('row').nth(5).waitFor();
  assert.equal((await staff.page.getByRole('columnheader').allInnerTexts()).slice(0, 5), [
    ...['User', 'Role', 'Scope', 'Expires', 'Granted'],
  ]);
});

browser('shows what the projects of a customer use, over a period that the user chooses', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  const [project] = (await fixture.staff.get(`/api/projects/?customer=${customer.uuid}`)).body;
  const { body: used } = await fixture.staff.get(`/api/stats/quota/?aggregate=project&uuid=${project.uuid}`);
  await staff.go(placeOf(customer.url), customer.name);
  assert.equal(await region('Projects').getByRole('columnheader').allInnerTexts(), [
    ...['Project', 'VMs', 'vCPUs', 'Memory', 'Storage', 'Status'],
  ]);
  const cells = region('Projects').getByRole('row').filter({ hasText: project.name }).getByRole('cell');
  await cells.nth(3).getByText('GiB').waitFor();
  assert.equal((await cells.allInnerTexts()).slice(2, 4), [`${used.vcpu_usage}`, `${used.ram_usage / 1024} GiB`]);
  const usage = region('Usage over time');
  assert.is(await usage.locator('[aria-current]').innerText(), '30 days');
  await usage.getByRole('link', { name: '7 days' }).click();
  await usage.locator('[aria-current]').getByText('7 days').waitFor();
  await staff.settled();
  const asked = staff.requests.filter((request) => request.includes('/api/stats/quota/timeline/')).at(-1) ?? '';
  const [from, to] = ['from', 'to'].map((name) => Number(new URL(asked.slice(4)).searchParams.get(name)));
  assert.is(Number(to) - Number(from), 7 * 24 * 3600);
});

browser('changes a limit in the unit that users read, on the tab of all quotas', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  await staff.go(`${placeOf(customer.url)}?tab=quotas`, customer.name);
  const row = region(`Quotas of ${customer.name}`).getByRole('row').filter({ hasText: 'Volume storage' });
  await row.getByText('576 GiB · no limit').waitFor();
  await row.getByRole('button', { name: 'Change the limit of Volume storage' }).click();
  await staff.dialog().getByLabel('Limit').fill('100');
  await staff.dialog().getByRole('button', { name: 'Save' }).click();
  await staff.dialog().getByText('Current quota usage exceeds new limit.').waitFor();
  await staff.dialog().getByLabel('Limit').fill('0.625 TiB');
  await staff.dialog().getByLabel('Alert threshold').fill('600');
  await staff.dialog().getByRole('button', { name: 'Save' }).click();
  await row.getByText('576 of 640 GiB').waitFor();
  const { url } = customer.quotas.find(({ name }: Json) => name === 'nc_volume_size');
  const { body } = await fixture.staff.get(url);
  assert.equal([body.limit, body.threshold], [640 * 1024, 600 * 1024]);
  await row.getByRole('button').click();
  assert.is(await staff.dialog().getByLabel('Limit').inputValue(), '640');
  for (const label of ['Limit', 'Alert threshold']) await staff.dialog().getByLabel(label).fill('');
  await staff.dialog().getByRole('button', { name: 'Save' }).click();
  await row.getByText('576 GiB · no limit').waitFor();
  const clouds = (await fixture.staff.get(`/api/openstack-tenants/?customer_uuid=${customer.uuid}`)).body;
  assert.is(await region('Private clouds').getByRole('listitem').count(), clouds.length);
  assert.equal(await findFaults(staff), []);
  assert.equal(staff.complaints.splice(0).length, 1, 'the rejected limit');
});

browser('home sums up vCPUs, memory and storage of the projects of the user', async () => {
  const { body: used } = await fixture.staff.get('/api/stats/quota/?aggregate=customer');
  await staff.go('/', greeting);
  const meters = region('Quotas').locator('.meter');
  const texts = (await meters.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  assert.ok(texts.includes(`vCPUs ${used.vcpu_usage} · no limit`), texts.join());
  for (const title of ['Memory', 'Storage'])
    assert.ok(
      texts.some((text) => text.startsWith(title)),
      title,
    );
  const resources = (await fixture.staff.get('/api/resources/?page_size=1')).headers.get('X-Result-Count');
  await staff.page.locator('main .head').getByText(`${resources} resources`).waitFor();
  // The limits that apply in a project are those of its private cloud.
  const project = await first('/api/projects/?name=Virtual+desktops');
  await staff.go(placeOf(project.url), project.name);
  const limit = region('Limits').locator('.meter').filter({ hasText: 'vCPUs' });
  assert.equal((await limit.innerText()).split('\n').filter(Boolean).slice(-1), ['Limit for nlrz-virtual-desktops']);
  await staff.page
    .locator('.tile')
    .filter({ hasText: 'Virtual machines' })
    .getByText(/^\d+ running$/)
    .waitFor();
  await region('Resources').getByRole('columnheader', { name: 'IP address' }).waitFor();
});

browser('lists customers with their usage, nearest limit and problems', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  const quota = customer.quotas.find(({ name }: Json) => name === 'nc_volume_size');
  await fixture.staff.put(quota.url, { limit: Math.round(quota.usage / 0.9) });
  await staff.go('/customers/', 'Customers');
  const heads = [
    'Customer',
    'Projects',
    'VMs',
    'Resources',
    'Storage',
    'Nearest limit',
    'Status',
    'Created',
    'Actions',
  ];
  assert.equal(await staff.page.getByRole('columnheader').allInnerTexts(), heads);
  const sorted = (name: string, order: string) =>
    staff.page
      .getByRole('columnheader', { name })
      .and(staff.page.locator(`[aria-sort=${order}]`))
      .waitFor();
  await sorted('Customer', 'ascending');
  await staff.link('Customer').click();
  await sorted('Customer', 'descending');
  await staff.page.goBack();
  const cells = staff.page.getByRole('row').filter({ hasText: customer.name }).getByRole('cell');
  await cells.getByText('1 failed, 1 open alert').waitFor();
  const [name = '', ...others] = (await cells.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  assert.match(name, /Nordlicht Rechenzentrum GmbH Germany · NLRZ$/);
  assert.equal(others.slice(0, 6), ['3', '18', '40', '576 GiB', 'Volume storage 90%', '1 failed, 1 open alert']);
  const statusOf = (owner: string) => staff.page.getByRole('row', { name: owner }).locator('td.state').innerText();
  assert.is(await statusOf('Fjellvind'), 'Account failed');
  // A resource that is missing at the provider does not count as failed.
  assert.is(await statusOf('Aoife Byrne'), '2 open alerts');
  assert.equal(await staff.findings(), []);
  await staff.button('Actions for Aoife Byrne').click();
  await staff.page.getByRole('menuitem', { name: 'Edit' }).waitFor();
  await staff.page.keyboard.press('Escape');
  await staff.go('/projects/?name=Photo', 'Projects');
  assert.is(await statusOf('Photo archive'), '2 open alerts');
  assert.equal(await staff.page.getByRole('columnheader').allInnerTexts(), ['Project', ...heads.slice(2)]);
  await fixture.staff.put(quota.url, { limit: quota.limit });
});

browser('lists users with their faces and roles, and invitations with their state and actions', async () => {
  const { page } = staff;
  await staff.go('/users/?full_name=Helena', 'People');
  const helena = page.getByRole('row').filter({ hasText: 'Helena Kask' }).getByRole('cell');
  const cells = (await helena.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  assert.match(cells[0] ?? '', /Helena Kask helena\.kask$/);
  assert.equal([cells[1], cells[2], cells[3]], ['Staff', 'helena.kask@tenantry.example', 'Active']);
  await staff.go('/user-invitations/?state=pending', 'Invitations');
  const row = page.getByRole('row').filter({ hasText: 'sigrid.lund' });
  const invitation = (await row.getByRole('cell').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  assert.equal(invitation.slice(1, 4), ['Manager', 'Client portal Põhjarannik Pilveteenused OÜ', 'Pending']);
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Resend' }).waitFor();
  assert.equal(await page.getByRole('menuitem').allInnerTexts(), ['Resend', 'Revoke']);
  await page.keyboard.press('Escape');
  assert.equal(await findFaults(staff), []);
});

browser('offers the next step for failed resources', async () => {
  const { page } = staff;
  const failed = (await fixture.staff.get('/api/digitalocean-droplets/?state=Erred')).body;
  const missing = failed.find(({ backend_id: id }: Json) => id === '');
  await staff.go(placeOf(missing.url), missing.name);
  await page.locator('.callout').getByText('Creation failed').waitFor();
  await page.locator('.callout').getByText(missing.error_message).waitFor();
  await page
    .locator('main .head')
    .getByText(/^Requested /)
    .waitFor();
  await page.getByRole('link', { name: 'Create again' }).click();
  await staff.heading('New Droplet').waitFor();
  const name = page.getByLabel('Name *', { exact: true });
  await name.waitFor();
  assert.is(await name.inputValue(), missing.name);
  // Image, region and size are names without links.
  for (const choice of [missing.image_name, 's-4vcpu-8gb'])
    assert.ok(await page.getByRole('radio', { name: new RegExp(`^${choice}`) }).isChecked(), choice);
  await staff.settled();
  assert.is(await page.getByLabel('Region *').locator('option:checked').innerText(), missing.region_name);
  assert.equal(
    await page.getByLabel('Project connection *').locator('option:checked').innerText(),
    'Backup vault (DigitalOcean)',
  );
  await staff.go(placeOf(missing.url), missing.name);
  await region('Also failed in this project')
    .getByText(/^node-\d$/)
    .first()
    .waitFor();
  await page.locator('.callout').getByRole('button', { name: 'Remove' }).click();
  await staff.dialog().getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('status').getByText(`${missing.name} is being removed`).waitFor();
  await staff.heading('Resources').waitFor();
  const stuck = failed.find(({ name: own }: Json) => own === 'cache-climate-archive');
  await staff.go(placeOf(stuck.url), stuck.name);
  await page.locator('.callout').getByText('Simulated failure of stop').waitFor();
  await page
    .locator('.callout')
    .getByRole('button', { name: /^Refresh/ })
    .click();
  await staff.status('Updating');
});

browser('shows an unreachable account once', async () => {
  await staff.go('/', greeting);
  await region('Needs attention').getByText('Field droplets is unreachable').waitFor();
  await region('Needs attention').getByRole('link', { name: 'Check account' }).waitFor();
});

browser('puts the quota nearest its limit first, and names it beside the project', async () => {
  const project = await first('/api/projects/?name=Job');
  const machines = project.quotas.find(({ name }: Json) => name === 'nc_vm_count');
  await fixture.staff.put(machines.url, { limit: machines.usage });
  await staff.go(placeOf(project.url), project.name);
  await region('Limits').locator('.meter').first().getByText('Virtual machines').waitFor();
  await staff.page.locator('main .head').getByText('Virtual machines 100%').waitFor();
  await region('Needs attention').getByText(`${project.name} uses 4 of 4: Virtual machines`).waitFor();
  await region('Connected providers').getByRole('link', { name: 'GitLab of the institute' }).waitFor();
  assert.equal(await findFaults(staff), []);
  const customer = await first('/api/customers/?name=Instytut');
  await staff.go(placeOf(customer.url), customer.name);
  await region('Projects').getByRole('row').filter({ hasText: project.name }).getByText('100%').waitFor();
});

browser('imports a resource of a provider into the chosen project', async () => {
  const account = await first('/api/service-settings/?name=AWS+Frankfurt');
  const [service] = (await fixture.staff.get(`/api/services/?settings_uuid=${account.uuid}`)).body;
  const [item, ...others] = (await fixture.staff.get(`${service.url}link/`)).body;
  assert.ok(others.length > 0);
  await staff.go(placeOf(account.url), account.name);
  const card = region('Not managed yet');
  await card.getByLabel('Import into the project').selectOption({ label: 'Project: Webshop' });
  assert.equal(await findFaults(staff), []);
  await card.getByRole('button', { name: `Import ${item.name}`, exact: true }).click();
  await staff.page.getByRole('status').getByText(`${item.name} was imported.`).waitFor();
  await card.getByText(item.name, { exact: true }).waitFor({ state: 'detached' });
  assert.is(await card.getByRole('listitem').count(), others.length);
  const imported = await first(`/api/resources/?name=${item.name}`);
  assert.equal([imported.project_name, imported.service_settings_uuid], ['Webshop', account.uuid]);
});

browser('offers no import from a shared account', async () => {
  const account = await first('/api/service-settings/?name=Baltic+Cloud');
  await staff.go(placeOf(account.url), account.name);
  await region('Customers and projects').getByText('Nordlicht').waitFor();
  await staff.settled();
  assert.is(await region('Not managed yet').count(), 0);
});

browser('fits every width', async () => {
  const customer = await first('/api/customers/?name=Nordlicht');
  const project = await first('/api/projects/?name=Job');
  for (const width of [360, 390, 768, 1280, 1440]) {
    await staff.page.setViewportSize({ width, height: 900 });
    for (const item of [customer, project]) {
      await staff.go(placeOf(item.url), item.name);
      assert.ok((await staff.page.evaluate<number>('document.documentElement.scrollWidth')) <= width, `${width}`);
    }
  }
  assert.equal(staff.complaints, []);
});

tests.run();
