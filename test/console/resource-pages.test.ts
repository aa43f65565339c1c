/** The pages of resources: the first section of each kind, and the section beside it. */
import * as assert from 'uvu/assert';
import { placeOf } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';
import type { Json } from '../support/fixture.ts';

const { browser, run } = await suiteWithDemoConsole('the pages of resources');

browser('a private cloud shows the remainder of each quota, its machines, and links to its contents', async (demo) => {
  const { ask, staff } = demo;
  const [cloud] = await ask('/api/openstack-tenants/?name=nlrz-virtual-desktops');
  await staff.go(placeOf(cloud.url), cloud.name);
  const region = (name: string) => staff.page.getByRole('region', { name, exact: true });
  const limits = new Map(cloud.quotas.map(({ name, limit, usage }: Json) => [name, [usage, limit]]));
  const [vcpu, vcpuLimit] = limits.get('vcpu') as [number, number];
  const meters = await region('Quotas').locator('> .in .meter').allInnerTexts();
  assert.is(meters.length, 6);
  assert.is(meters[0]?.replace(/\s+/g, ' '), `vCPUs ${vcpu} of ${vcpuLimit}`);
  await region('Quotas').getByText(`All ${cloud.quotas.length} quotas`).click();
  await region('Quotas').getByText('Security group rules').waitFor();
  const machines = await ask(`/api/openstack-instances/?tenant_uuid=${cloud.uuid}`);
  assert.is(await region('Virtual machines').getByRole('listitem').count(), machines.length);
  await staff.page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('link', { name: /^Networks/ })
    .click();
  await staff.heading('OpenStack networks').waitFor();
  await staff.page.getByRole('row').nth(1).waitFor();
});

browser('a volume names each fact once, and its snapshots', async ({ ask, staff }) => {
  const [snapshot] = await ask('/api/openstack-snapshots/?name=web-point-of-sale');
  const volume = await ask(snapshot.source_volume);
  await staff.go(placeOf(volume.url), volume.name);
  const region = (name: string) => staff.page.getByRole('region', { name, exact: true });
  const labels = await region('Configuration').locator('dt').allInnerTexts();
  assert.equal(labels, ['Size', 'Attached to', 'Device', 'Private cloud', 'Type']);
  await staff.page.locator('main .head').getByText(`Attached to ${volume.instance_name}`).waitFor();
  await region('Snapshots').getByText(snapshot.name).waitFor();
  assert.match(await region('Snapshots').getByRole('listitem').first().innerText(), /50 GiB/);
});

browser('a machine shows the volumes with their state at the provider, each with its actions', async (demo) => {
  const { ask, staff } = demo;
  const [machine] = await ask('/api/openstack-instances/?name=web-point-of-sale');
  await staff.go(placeOf(machine.url), machine.name);
  const row = staff.page.getByRole('region', { name: 'Volumes' }).getByRole('row').nth(1);
  for (const text of ['20 GiB', '/dev/vda', 'In use']) await row.getByText(text, { exact: true }).waitFor();
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await staff.page.getByRole('menuitem', { name: /^Extend/ }).waitFor();
  await staff.page.keyboard.press('Escape');
  await staff.page.getByRole('region', { name: 'Identifiers' }).getByRole('link', { name: 'Open in explorer' }).click();
  await staff.heading('API explorer').waitFor();
  await staff.page.getByText(machine.backend_id).first().waitFor();
});

browser('warns of a machine whose disk is nearly full, with its largest volume', async ({ ask, staff }) => {
  const [machine] = await ask('/api/openstack-instances/?name=web-point-of-sale');
  await ask('/api/monitoring-items/', 'PUT', { scope: machine.url, name: 'disk_usage', value: 97 });
  await staff.go('/', /^Good/);
  await staff.go(placeOf(machine.url), machine.name);
  const callout = staff.page.locator('.callout.warn');
  await callout.getByText('Disk is 97% full').waitFor();
  await callout.getByRole('link', { name: 'Open volume' }).click();
  await staff.heading(/-data$/).waitFor();
});

browser('applications show their issues and repositories, and their visibility as text', async ({ ask, staff }) => {
  const [jira] = await ask('/api/jira-projects/?name=Mail');
  const [issue] = await ask(`/api/jira-issues/?jira_project_uuid=${jira.uuid}`);
  await staff.go(placeOf(jira.url), jira.name);
  const first = staff.page.getByRole('region', { name: 'JIRA issues' }).getByRole('listitem').first();
  assert.equal((await first.innerText()).split('\n').filter(Boolean), [
    issue.summary,
    `${issue.key} · ${issue.type_name} · ${issue.priority_name}`,
    issue.status,
  ]);
  const [repository] = await ask('/api/gitlab-projects/?page_size=1');
  await staff.go(placeOf(repository.url), repository.name);
  await staff.page.getByRole('region', { name: 'Configuration' }).getByText('Public', { exact: true }).waitFor();
  const group = await ask(repository.group);
  await staff.go(placeOf(group.url), group.name);
  await staff.page
    .getByRole('region', { name: 'GitLab projects' })
    .getByRole('link', { name: repository.name })
    .waitFor();
  assert.equal(staff.complaints, []);
});

run();
