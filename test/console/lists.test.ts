/** Lists in forms of the console: rows of controls from the API's metadata, with errors beside them. */
import * as assert from 'uvu/assert';
import { findFaults } from '../support/console-look.ts';
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
  // The form replaces the rules, so it starts with the current ones.
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

run();
