/** The API explorer of the console. */
import * as assert from 'uvu/assert';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('the API explorer of the console');

browser('finds a list, sends a request, and shows the response by API names', async (demo) => {
  const { ask, staff } = demo;
  const { page } = staff;
  await demo.visit('/all/');
  const lists = page.getByRole('complementary', { name: 'Lists' });
  const { length } = await ask('/api/gitlab-projects/?page_size=300');
  await lists.getByRole('link', { name: `gitlab-projects ${length}`, exact: true }).waitFor();
  await lists.getByRole('searchbox', { name: 'Search the API' }).fill('openstack inst');
  await lists.getByRole('link', { name: 'openstack-instances' }).click();
  const request = page.getByRole('region', { name: 'Request' });
  await request.getByLabel('Path').fill('/api/openstack-instances/?state=OK&field=name&field=cores&field=url');
  await request.getByLabel('Path').press('Enter');
  await staff.settled();
  assert.is(
    new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('path'),
    '/api/openstack-instances/?state=OK&field=name&field=cores&field=url',
  );
  const rows = request.getByRole('row');
  assert.equal(await rows.first().getByRole('columnheader').allInnerTexts(), ['name', 'cores']);
  const [first] = await ask('/api/openstack-instances/?state=OK&page_size=1');
  assert.equal(await rows.nth(1).getByRole('cell').allInnerTexts(), [first.name, String(first.cores)]);
  await request.getByText('JSON', { exact: true }).click();
  assert.is(JSON.parse(await request.locator('pre').innerText())[0].name, first.name);
  await request.getByText('Headers', { exact: true }).click();
  await request.getByText(/x-result-count: \d+/).waitFor();
  await request.getByText('Metadata (OPTIONS)').click();
  await request.getByText(/"actions": \{/).waitFor();
  assert.equal(await staff.findings('main'), []);
  await request.getByRole('link', { name: first.name, exact: true }).click();
  await request.getByRole('rowheader', { name: 'runtime_state' }).waitFor();
  await page
    .getByRole('region', { name: /^Fields/ })
    .getByText('vCPUs')
    .first()
    .waitFor();
  assert.equal(staff.complaints, []);
});

browser('counts the objects of each list once, and nothing on narrow screens', async (demo) => {
  const { staff } = demo;
  const counts = (): number =>
    staff.requests.splice(0).filter((request) => /^HEAD .*page_size=1$/.test(request)).length;
  counts();
  await demo.visit('/');
  await demo.visit('/all/');
  const listed = await staff.page.getByRole('complementary', { name: 'Lists' }).getByRole('link').count();
  assert.is(counts(), listed);
  await staff.page.setViewportSize({ width: 390, height: 900 });
  await demo.visit('/');
  await demo.visit('/all/');
  await staff.page.getByRole('combobox', { name: 'Lists' }).waitFor();
  assert.is(counts(), 0);
  await staff.page.setViewportSize({ width: 1300, height: 900 });
  assert.equal(staff.complaints, []);
});

browser('shows rejections, and links to the list of the console', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  await demo.visit(`/all/?${new URLSearchParams({ path: '/api/customers/?o=nothing' })}`);
  const request = page.getByRole('region', { name: 'Request' });
  await request.getByText('400', { exact: true }).waitFor();
  await request.locator('.callout.bad').waitFor();
  await request.getByRole('link', { name: 'Customers' }).click();
  await staff.heading('Customers').waitFor();
  staff.complaints.splice(0);
});

run();
