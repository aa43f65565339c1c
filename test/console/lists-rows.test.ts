/** Rows of lists in the console: columns, actions, counts, and descriptions of failures. */
import * as assert from 'uvu/assert';
import { resourceStates } from '../../src/cloud/catalogue/resource-row.ts';
import { present } from '../../src/kernel/present.ts';
import { Console, password } from '../support/console.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';

const { browser, run } = await suiteWithDemoConsole('rows of lists in the console');

browser('counts the resources of each view', async (demo) => {
  const { ask, staff } = demo;
  const unfinished = new URLSearchParams(
    resourceStates.filter((state) => state !== 'OK' && state !== 'Erred').map((state) => ['state', state]),
  );
  // Operations of the sample data are in progress and change the counts.
  await eventually(
    'the operations in progress have ended',
    async () => (await ask(`/api/resources/?${unfinished}`)).length === 0,
    60,
    200,
  );
  await demo.visit('/resources/?category=vms');
  const { page } = staff;
  const views = page.getByRole('navigation', { name: 'Views' });
  const count = async (name: string): Promise<string> =>
    await views.getByRole('link', { name }).locator('.count').innerText();
  const failed = await ask('/api/resources/?state=Erred&page_size=100');
  assert.is(await count('Failed'), String(failed.length));
  const counted = Object.values<number>(await ask('/api/resources/count/')).reduce((sum, each) => sum + each, 0);
  assert.is(await count('All'), String(counted));
  assert.is(await page.locator('main .head .count').innerText(), String(counted));
});

browser('names the failed action of a resource in lists and on its page', async (demo) => {
  const { ask, staff } = demo;
  const failed: Json[] = await ask('/api/resources/?state=Erred&page_size=100');
  const stopped = failed.find(({ error_message: text }) => text === 'Simulated failure of stop');
  await demo.visit('/resources/?state=Erred');
  const { page } = staff;
  const row = page.getByRole('row', { name: stopped.name });
  await row.getByText('Stop failed', { exact: true }).waitFor();
  await page.getByRole('row', { name: 'node-1' }).getByText('Creation failed', { exact: true }).waitFor();
  await page.getByRole('row', { name: 'db-photo-archive' }).getByText('Missing at provider').waitFor();
  // The whole row links to the object.
  await row.getByText('Simulated failure of stop').click();
  await staff.heading(stopped.name).waitFor();
  await staff.status('Stop failed');
  await page.keyboard.press('Control+k');
  await page.keyboard.type(stopped.name);
  await page.getByRole('option', { name: /Stop failed/ }).waitFor();
  await page.keyboard.press('Escape');
});

browser('names the type of each resource in a category, because a category has several', async (demo) => {
  await demo.visit('/resources/?category=vms');
  const row = demo.staff.page.getByRole('row', { name: 'node-1' });
  await row.getByText('Droplet', { exact: true }).waitFor();
});

browser('offers to fix a failed resource only to users who can', async (demo) => {
  const { ask, staff } = demo;
  const failed: Json = (await ask('/api/resources/?state=Erred&name=node-1'))[0];
  const [other] = await ask('/api/projects/?name=Client portal');
  const manager = await ask('/api/users/', 'POST', { username: 'manager', email: 'manager@example.com' });
  await ask(`${manager.url}password/`, 'POST', { password });
  await ask('/api/project-permissions/', 'POST', { user: manager.url, project: other.url, role: 'manager' });
  await ask('/api/project-permissions/', 'POST', { user: manager.url, project: failed.project, role: 'support' });
  const place = new URL(failed.url).pathname.replace(/^\/api/, '');
  const visitor = await Console.open(present(staff.page.context().browser()), `${demo.server.url}/`);
  try {
    for (const { page } of [staff, await visitor.signIn('manager').then(() => visitor)]) {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await page.getByText('It does not exist at the provider').waitFor();
    }
    await staff.button('Remove').waitFor();
    await visitor.settled();
    assert.is(await visitor.button('Remove').count(), 0);
  } finally {
    await visitor.close();
  }
});

browser('shows and hides columns, and keeps the choice', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  const heads = () => page.locator('main thead th:not(.pick, .acts)').allInnerTexts();
  await demo.visit('/resources/?category=vms');
  assert.equal(await heads(), ['Name', 'Status', 'Size', 'IP address', 'Project', 'Created']);
  await page.getByRole('columnheader', { name: 'Created' }).and(page.locator('[aria-sort=descending]')).waitFor();
  await staff.button('Columns').click();
  const item = (name: string) => page.getByRole('menuitemcheckbox', { name, exact: true });
  assert.is(await item('Name').count(), 0, 'the name always stays');
  await item('Provider account').click();
  await item('Size').press('Enter');
  await page.keyboard.press('Escape');
  await staff.button('Columns').and(page.locator(':focus')).waitFor();
  const chosen = await heads();
  assert.not(chosen.includes('Size'));
  assert.ok(chosen.includes('Provider account'));
  await page.reload();
  await staff.heading('Resources').waitFor();
  await staff.settled();
  assert.equal(await heads(), chosen);
  assert.equal(await staff.findings(), []);
  await demo.visit('/projects/');
  assert.not((await heads()).includes('Provider account'));
});

browser('offers the actions of each resource in its row', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  await demo.visit('/resources/?category=vms&name=db-harbour-sensors');
  const row = page.getByRole('row', { name: 'db-harbour-sensors' });
  await staff.actOn(row, 'Stop');
  await page.getByRole('status').getByText('db-harbour-sensors is stopping').waitFor();
  await row.getByText(/^Stop(ping|ped)$/).waitFor();
  assert.equal(staff.complaints, []);
});

run();
