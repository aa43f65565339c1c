/** The list of people in the console. */
import * as assert from 'uvu/assert';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('the people in the console');

browser('shows the first role of each user, how many more there are, and when they were last seen', async (demo) => {
  const { ask, staff } = demo;
  const { page } = staff;
  await staff.go('/users/?username=arjun', 'People');
  const row = page.getByRole('row', { name: /Arjun Patel/ });
  await row.getByText('Protein folding and 2 more').waitFor();
  const cells = await row.getByRole('cell').allInnerTexts();
  assert.is(cells[1]?.split('\n')[0], 'Manager');
  const [{ last_seen: seen }] = await ask('/api/users/stats/?username=arjun');
  assert.is(await row.locator('time').getAttribute('datetime'), seen);
  assert.is(
    await row.locator('small.cut').getAttribute('title'),
    'Manager of Protein folding\nSupport of Render nodes\nAdmin of Solar forecast',
  );
  await row.getByRole('link', { name: 'Protein folding' }).click();
  await staff.heading('Protein folding').waitFor();
  assert.equal(staff.complaints, []);
});

browser('shows how to reach a person, and that they are staff', async ({ staff }) => {
  await staff.go('/users/?username=helena', 'People');
  await staff.link('Helena Kask').click();
  await staff.heading('Helena Kask').waitFor();
  assert.is(await staff.page.locator('main .head .badge').innerText(), 'Staff');
  assert.match(
    await staff.page.locator('main .head .about').innerText(),
    /^helena\.kask\s+helena\.kask@tenantry\.example\s+\+372 555 0154\s+Platform lead$/,
  );
  assert.equal(await staff.findings(), []);
});

run();
