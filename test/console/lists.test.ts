/** Lists in forms of the console: rows of controls from the API's metadata, with errors beside them. */
import * as assert from 'uvu/assert';
import { findFaults } from '../support/console-faults.ts';
import { placeOf } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';

const { browser, run } = await suiteWithDemoConsole('lists in forms of the console');

browser('edits the rules of a security group in rows, and shows an error in its row', async (demo) => {
  const { ask, staff } = demo;
  const groups = await ask('/api/openstack-security-groups/?state=OK');
  const group = groups.find(({ rules }: Json) => rules.length === 1);
  await demo.visit(placeOf(group.url));
  await staff.act('Set rules');
  const dialog = staff.dialog();
  const row = (number: number) => dialog.getByRole('region', { name: `Rule ${number}`, exact: true });
  // The form replaces all rules, so it starts with the current ones.
  await row(1).waitFor();
  assert.is(await row(1).getByLabel('IP range').inputValue(), group.rules[0].cidr);
  await dialog.getByRole('button', { name: 'Add rule' }).press('Enter');
  await row(2).getByLabel('Protocol').and(staff.page.locator(':focus')).waitFor();
  await row(2).getByLabel('Protocol').selectOption('tcp');
  await row(2).getByLabel('From port').fill('many');
  await row(2).getByText('A valid integer is required.').waitFor();
  await row(2).getByLabel('From port').fill('8080');
  await row(2).getByText('A valid integer is required.').waitFor({ state: 'detached' });
  await row(2).getByLabel('To port').fill('8000');
  await row(2).getByLabel('IP range').fill('10.0.0.0/8');
  await dialog.getByRole('button', { name: 'Set rules' }).click();
  await row(2).getByText('Invalid port range.').waitFor();
  assert.equal(await findFaults(staff, 'dialog[open]'), []);
  await row(2).getByLabel('To port').fill('8090');
  await row(2).getByLabel('IP range').fill('10.0.0.0');
  await dialog.getByRole('button', { name: 'Set rules' }).click();
  await row(2).getByText('Enter a valid IPv4 CIDR.').waitFor();
  assert.is(await row(2).getByLabel('IP range').getAttribute('aria-invalid'), 'true');
  await row(2).getByLabel('IP range').fill('10.0.0.0/8');
  await dialog.getByRole('button', { name: 'Remove rule 1', exact: true }).click();
  await row(2).waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Set rules' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually('the provider has the rules', async () => (await ask(group.url)).state === 'OK');
  assert.equal((await ask(group.url)).rules, [
    { id: 1, protocol: 'tcp', from_port: 8080, to_port: 8090, cidr: '10.0.0.0/8' },
  ]);
});

browser('chooses linked objects from their lists, limited to the chosen tenant', async (demo) => {
  const { ask, staff } = demo;
  const [{ service_project_link: link, url: tenant }] = await ask('/api/openstack-tenants/?state=OK');
  await demo.visit(`/new-resource/openstack-instances/?${new URLSearchParams({ service_project_link: link, tenant })}`);
  const groups = await ask(`/api/openstack-security-groups/?tenant_uuid=${tenant.split('/').at(-2)}`);
  const choices = staff.page.getByRole('group', { name: 'Security groups' }).getByRole('checkbox');
  await choices.first().waitFor();
  assert.is(await choices.count(), groups.length);
  assert.is(await staff.page.locator('main textarea[name=security_groups]').count(), 0);
  assert.equal(
    staff.complaints.filter((text) => !text.includes('400')),
    [],
  );
});

browser('the private cloud of a machine is one choice, which says what its limits leave', async (demo) => {
  const { ask, staff } = demo;
  const { page } = staff;
  // Without the scope of the object opened before, the form offers the clouds of all projects.
  await page.evaluate(
    'Object.keys(sessionStorage).filter((key) => /scope/.test(key)).forEach((key) => sessionStorage.removeItem(key))',
  );
  await page.reload();
  await demo.visit('/new-resource/openstack-instances/');
  await page.getByLabel('Name *', { exact: true }).fill('one-choice');
  const impact = page.getByRole('region', { name: 'Quota impact' });
  await impact.getByText('Choose a private cloud to see the limits.').waitFor();
  assert.is(await page.getByLabel('Project connection *').count(), 0);
  const [tenant] = await ask('/api/openstack-tenants/?state=OK');
  const rest = (wanted: string): number => {
    const { limit, usage } = tenant.quotas.find(({ name }: Json) => name === wanted);
    return limit - usage;
  };
  const cloud = page.getByLabel('Private cloud *');
  const option = cloud.locator('option').filter({ hasText: tenant.name });
  await option.waitFor({ state: 'attached' });
  assert.ok(
    (await option.innerText()).startsWith(
      `${tenant.name} (${tenant.project_name}, ${tenant.service_name}) · ${rest('vcpu')} vCPU, ${rest('ram') / 1024} GiB memory`,
    ),
    await option.innerText(),
  );
  assert.match(await option.innerText(), / disk left$/);
  await page.getByRole('radio', { name: /m1\.small/ }).check();
  await page.getByRole('radio', { name: /CirrOS/ }).check();
  // If no cloud is chosen, only its field shows a message.
  await staff.button('Create OpenStack instance').click();
  await page.getByText('This field is required.').waitFor();
  assert.is(await page.getByText('This field is required.').count(), 1);
  assert.is(await cloud.getAttribute('aria-invalid'), 'true');
  await cloud.selectOption({ label: await option.innerText() });
  await impact.getByText(`Limit for ${tenant.name}`).first().waitFor();
  await staff.settled();
  assert.ok((await cloud.locator('option').count()) > 2, 'another cloud can still be chosen');
  assert.equal(await findFaults(staff), []);
  // The connection comes from the private cloud, which the form reads first.
  const own = `**${new URL(tenant.url).pathname}`;
  await page.route(own, (route) => route.fulfill({ status: 500, json: { detail: 'Server error.' } }));
  await staff.button('Create OpenStack instance').click();
  const problem = page.getByRole('alert').filter({ hasText: 'The private cloud cannot be read: Server error.' });
  await problem.waitFor();
  assert.is(await page.getByText('This field is required.').count(), 0);
  assert.equal(await findFaults(staff), []);
  await page.unroute(own);
  staff.complaints.splice(0);
  await problem.getByRole('button', { name: 'Try again' }).click();
  await staff.heading('one-choice').waitFor();
  const [made] = await ask('/api/openstack-instances/?name=one-choice');
  assert.equal([made.tenant, made.service_project_link], [tenant.url, tenant.service_project_link]);
});

browser('says that the private clouds cannot be read, and reads them again', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  const lists = '**/api/openstack-tenants/?*';
  await page.route(lists, (route) => route.fulfill({ status: 500, json: { detail: 'Server error.' } }));
  await demo.visit('/new-resource/openstack-volumes/');
  const callout = page.locator('.callout').filter({ hasText: 'The private clouds cannot be read.' });
  await callout.getByText('Server error.').waitFor();
  assert.is(await page.getByText('A private cloud is missing.').count(), 0);
  assert.equal(await findFaults(staff), []);
  await page.unroute(lists);
  staff.complaints.splice(0);
  await callout.getByRole('button', { name: 'Try again' }).click();
  await page.getByLabel('Private cloud *').waitFor();
});

browser('chooses the private cloud of the page that opened the form, once it is ready', async (demo) => {
  const { ask, staff } = demo;
  const { page } = staff;
  const [tenant] = await ask('/api/openstack-tenants/?state=OK');
  await demo.visit(placeOf(tenant.url));
  const lists = '**/api/openstack-tenants/?*';
  await page.route(lists, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()).map((item: Json) => ({ ...item, state: 'Updating' }));
    const isReady = new URL(route.request().url()).searchParams.has('state');
    await (isReady
      ? route.fulfill({ json: [], headers: { 'X-Result-Count': '0' } })
      : route.fulfill({ json, headers: { 'X-Result-Count': String(json.length) } }));
  });
  await staff.link('Create virtual machine').click();
  const callout = page.locator('.callout').filter({ hasText: `${tenant.name} is not ready: Updating` });
  await callout.getByText('Machines and volumes can be created only in a private cloud that is ready.').waitFor();
  const cloud = page.getByLabel('Private cloud *');
  assert.is(await cloud.inputValue(), '');
  assert.equal(await findFaults(staff), []);
  await page.unrouteAll({ behavior: 'wait' });
  await callout.waitFor({ state: 'detached' });
  await cloud.locator('option:checked').filter({ hasText: tenant.name }).waitFor({ state: 'attached' });
  assert.ok(tenant.url.endsWith(await cloud.inputValue()));
});

browser('says that no private cloud is ready', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  const ready = '**/api/openstack-tenants/?*state=OK*';
  await page.route(ready, (route) => route.fulfill({ json: [], headers: { 'X-Result-Count': '0' } }));
  await demo.visit('/new-resource/openstack-volumes/');
  await page.locator('.callout').getByText('No private cloud is ready.').waitFor();
  await page.unroute(ready);
});

browser('keeps the form of the current address when the response for an earlier one arrives late', async (demo) => {
  const { ask, staff } = demo;
  const { page } = staff;
  const [{ url: tenant }] = await ask('/api/openstack-tenants/?state=OK');
  const held: (() => Promise<void>)[] = [];
  await page.route('**/api/openstack-tenants/?*uuid=*', (route) => {
    held.push(() => route.fallback());
  });
  const form = '/new-resource/openstack-volumes/';
  await page.evaluate(`location.hash = ${JSON.stringify(`${form}?${new URLSearchParams({ tenant })}`)}`);
  await eventually('the page reads the private cloud', async () => held.length > 0);
  await page.evaluate(`location.hash = ${JSON.stringify(form)}`);
  const cloud = page.getByLabel('Private cloud *');
  await cloud.waitFor();
  for (const release of held) await release();
  await staff.settled();
  assert.is(await cloud.count(), 1);
  await page.unrouteAll({ behavior: 'wait' });
});

run();
