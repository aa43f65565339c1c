/** Shell and components of the console with sample data: keyboard, addresses, and stored choices. */
import * as assert from 'uvu/assert';
import { greeting } from '../support/console.ts';
import { placeOf } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('the components of the console');

browser('a menu opens by keyboard, moves by arrows and letters, and returns the focus', async ({ ask, staff }) => {
  const { page } = staff;
  const [machine] = await ask('/api/openstack-instances/?state=OK&runtime_state=ACTIVE');
  await staff.go(placeOf(machine.url), machine.name);
  const more = page.getByRole('button', { name: 'More actions' });
  const item = page.locator('[role=menuitem]:focus');
  await more.focus();
  await page.keyboard.press('ArrowDown');
  await item.waitFor();
  const first = await item.innerText();
  await page.keyboard.press('End');
  await item.filter({ hasText: 'Destroy' }).waitFor();
  // The disabled item shows its reason and can still be focused.
  assert.match(await item.innerText(), /^Destroy\nPlease stop the instance/);
  assert.is(await item.getAttribute('aria-disabled'), 'true');
  await page.keyboard.press('ArrowDown');
  assert.is(await item.innerText(), first);
  await page.keyboard.press('e');
  await item.filter({ hasText: /^Edit/ }).waitFor();
  assert.equal(await staff.findings(), []);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  assert.is(await more.evaluate((element) => element.matches(':focus')), true);
  // Destructive actions are only in the menu.
  for (const name of ['Destroy', 'Stop managing']) assert.is(await staff.button(name).count(), 0, name);
});

browser(
  'the switcher narrows every list, as a chip that can be removed, and follows the opened object',
  async (demo) => {
    const { ask, staff } = demo;
    const { page } = staff;
    const [nordlicht] = await ask('/api/customers/?name=Nordlicht');
    const [other] = await ask('/api/customers/?name=Sakura');
    const switcher = page.locator('.switcher');
    const chip = page.getByRole('button', { name: `Customer: ${nordlicht.name}, remove` });
    await staff.go('/projects/', 'Projects');
    const all = await page.getByRole('navigation', { name: 'Pages' }).innerText();
    await switcher.click();
    await page.getByRole('combobox', { name: 'Search customers and projects' }).fill('nordl');
    await page.getByRole('option', { name: /^(NR )?Nordlicht/ }).waitFor();
    assert.equal(await staff.findings(), []);
    await page.keyboard.press('Enter');
    await chip.waitFor();
    await page.getByText(`1–${nordlicht.projects.length} of ${nordlicht.projects.length}`).waitFor();
    for (const [place, heading] of [
      ['/resources/', 'Resources'],
      ['/events/', 'Events'],
      ['/alerts/', 'Alerts'],
    ] as const) {
      await staff.go(place, heading);
      await chip.waitFor();
    }
    // The address overrides the switcher.
    await staff.go(`/projects/?customer=${other.uuid}`, 'Projects');
    await page.getByText(`1–${other.projects.length} of ${other.projects.length}`).waitFor();
    assert.is(await chip.count(), 0);
    await staff.go(placeOf(other.url), other.name);
    await switcher.getByText(other.name).waitFor();
    await staff.go('/projects/', 'Projects');
    await page.getByRole('button', { name: `Customer: ${other.name}, remove` }).click();
    await switcher.getByText('All customers').waitFor();
    await staff.settled();
    assert.is(await page.getByRole('navigation', { name: 'Pages' }).innerText(), all);
    assert.equal(staff.complaints, []);
  },
);

browser('shows the filters of the address as chips with selectable values', async ({ staff }) => {
  const { page } = staff;
  await staff.go('/resources/?category=vms', 'Resources');
  await page.getByRole('searchbox').fill('web');
  await page.getByText(/^\d+ of \d+$/).waitFor();
  assert.is(new URL(page.url()).hash, '#/resources/?category=vms&name=web');
  await staff.button('Status').click();
  await page.getByRole('menuitemradio', { name: 'Failed' }).press('Enter');
  await page.getByRole('button', { name: 'Status: Failed, remove' }).waitFor();
  assert.match(new URL(page.url()).hash, /&state=Erred$/);
  await staff.button('Customer').click();
  await page.getByRole('combobox', { name: 'Search: Customer' }).fill('helios');
  await page.getByRole('option', { name: /Helios/ }).click();
  await page.getByRole('button', { name: /^Customer: Helios.*, remove$/ }).waitFor();
  await page.getByText('Nothing matches.').waitFor();
  assert.equal(await staff.findings(), []);
  await staff.link('Clear filters').click();
  await page.getByRole('row').nth(1).waitFor();
  // The tab remains, the filters are cleared.
  assert.is(new URL(page.url()).hash, '#/resources/?category=vms');
  await staff.button('More filters').click();
  await page.getByRole('menuitem', { name: 'Description', exact: true }).click();
  await page.locator('.menu-list input:focus').waitFor();
  await page.keyboard.press('Escape');
});

browser('rows are chosen and opened by single keys, which can be turned off', async ({ staff }) => {
  const { page } = staff;
  await staff.go('/resources/?category=vms', 'Resources');
  await page.getByRole('row').nth(1).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 selected').waitFor();
  assert.is(await page.locator('tr[aria-selected=true]').count(), 2);
  await page.keyboard.press('k');
  const name = await page.locator('tr :focus').innerText();
  await page.keyboard.press('Enter');
  await staff.heading(name).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await staff.heading('Customers').waitFor();
  await page.keyboard.press('/');
  await page.locator('input[type=search]:focus').waitFor();
  // Shortcuts do not apply in a field.
  await page.keyboard.type('gp?');
  assert.is(await page.getByRole('searchbox').inputValue(), 'gp?');
  await page.getByRole('searchbox').fill('');
  await page.locator('main h1').focus();
  await page.keyboard.press('?');
  await staff.dialog().getByRole('switch', { name: 'Single keys are shortcuts' }).click();
  assert.equal(await staff.findings(), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await staff.settled();
  assert.is(await staff.heading('Customers').count(), 1);
  await staff.chooseInUserMenu(/^Keyboard shortcuts/);
  await staff.dialog().getByRole('switch').click();
  await page.keyboard.press('Escape');
});

browser('a click anywhere in a row opens its object; on a phone a row is a card', async ({ staff }) => {
  const { page } = staff;
  await staff.go('/resources/?category=vms', 'Resources');
  const row = page.getByRole('row').nth(1);
  const name = await row.locator('td.name a').innerText();
  await page.setViewportSize({ width: 390, height: 800 });
  await staff.settled();
  assert.is(await page.evaluate('document.documentElement.scrollWidth'), 390);
  assert.ok(((await page.locator('tbody tr').first().boundingBox())?.height ?? 0) > 45, 'two lines');
  await page.setViewportSize({ width: 1300, height: 900 });
  await row.locator('td.nowrap').click();
  await staff.heading(name).waitFor();
});

browser('a drawer has an address, moves by arrows, and returns the focus', async ({ ask, staff }) => {
  const { page } = staff;
  const [project] = await ask('/api/projects/');
  for (const description of ['One', 'Two', 'Three']) await ask(project.url, 'PATCH', { description });
  await staff.go('/events/', 'Events');
  const rows = page.locator('.timeline.clock > li');
  await rows.nth(1).locator('a.when').click();
  const drawer = page.getByRole('dialog', { name: 'Project update succeeded' });
  await drawer.waitFor();
  assert.match(new URL(page.url()).hash, /[?&]event=[0-9a-f]{32}$/);
  assert.equal(await staff.findings(), []);
  // Seconds distinguish events of the same minute.
  await drawer.getByText(/ · \d\d:\d\d:\d\d$/).waitFor();
  const before = await drawer.innerText();
  await page.keyboard.press('ArrowDown');
  await rows.nth(2).and(page.locator('.open')).waitFor();
  assert.is.not(await drawer.innerText(), before);
  await page.setViewportSize({ width: 390, height: 800 });
  const box = await drawer.boundingBox();
  assert.equal([box?.x, box?.width], [0, 390]);
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  assert.is(new URL(page.url()).hash, '#/events/');
  await page.locator('main :focus').waitFor();
  await page.setViewportSize({ width: 1300, height: 900 });
});

browser('light and dark follow the system or the choice of the user, which this browser keeps', async ({ staff }) => {
  const { page } = staff;
  const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.emulateMedia({ colorScheme: 'light' });
  await staff.go('/', greeting);
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  assert.is.not(dark, light);
  await page.getByRole('button', { name: 'Appearance: System' }).click();
  await page.getByRole('menuitemradio', { name: 'Light' }).click();
  await page.locator('html[data-theme=light]').waitFor();
  assert.is(await ground(), light);
  await page.reload();
  await staff.heading(greeting).waitFor();
  assert.is(await ground(), light);
  await page.getByRole('button', { name: 'Appearance: Light' }).click();
  await page.getByRole('menuitemradio', { name: 'System' }).click();
  await page.locator('html:not([data-theme])').waitFor();
  assert.is(await ground(), dark);
  await page.emulateMedia({ colorScheme: 'light' });
  assert.is(await ground(), light);
  await page.getByRole('button', { name: 'Appearance: System' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await page.locator('html[data-theme=dark]').waitFor();
  assert.is(await ground(), dark);
  await page.getByRole('button', { name: 'Appearance: Dark' }).click();
  await page.getByRole('menuitemradio', { name: 'System' }).click();
  await page.locator('html:not([data-theme])').waitFor();
});

browser('every field is under Details by groups, and the JSON behind it is copied', async ({ ask, staff }) => {
  const { page } = staff;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const [machine] = await ask('/api/openstack-instances/?state=OK');
  await staff.go(`${placeOf(machine.url)}?tab=details`, machine.name);
  const machines = page.getByRole('region', { name: 'Virtual machines and volumes' });
  await machines
    .getByText(/^4 GiB \(4,096 MiB\)$|GiB \(/)
    .first()
    .waitFor();
  const identity = page.getByRole('region', { name: 'Identity' });
  for (const id of [machine.uuid, machine.backend_id, machine.url])
    await identity.getByText(id, { exact: true }).waitFor();
  await identity.getByRole('button', { name: 'Copy UUID' }).click();
  await identity.getByRole('button', { name: 'Copied' }).waitFor();
  // No fact is repeated.
  const labels = await page.locator('main .halves > .card > .in > dl > dt').allInnerTexts();
  for (const label of ['Status', 'Provider account']) assert.is(labels.filter((one) => one === label).length, 1, label);
  assert.not(labels.includes('Project connection'));
  await page
    .getByRole('region', { name: 'State' })
    .getByText(/^\d+(\.\d)?%$/)
    .first()
    .waitFor();
  assert.is(await page.evaluate('navigator.clipboard.readText()'), machine.uuid);
  await page.getByRole('button', { name: 'Copy JSON' }).click();
  const copied = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'));
  assert.is(copied.uuid, machine.uuid);
});

browser('accepts a size with or without a unit, and removes an error when its value changes', async (demo) => {
  const { staff } = demo;
  const { page } = staff;
  await staff.go('/new-resource/aws-volumes/', /./);
  const size = page.getByLabel('Size *');
  await size.fill('much');
  await page.getByText('Enter a size, such as 20, 500 MiB or 1.5 TiB.').waitFor();
  await size.fill('1.5 TiB');
  await page.getByText('Enter a size').waitFor({ state: 'detached' });
  await page.locator('main form [type=submit]').click();
  const name = page.getByLabel('Name *', { exact: true });
  await name.and(page.locator('[aria-invalid=true]')).waitFor();
  await name.fill('x');
  await name.and(page.locator(':not([aria-invalid])')).waitFor();
  staff.complaints.splice(0);
});

browser('nothing on a page moves while it loads', async ({ ask, staff }) => {
  const { page } = staff;
  await page.evaluate(`
    globalThis.shifts = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts += entry.value;
    }).observe({ type: 'layout-shift' })`);
  const [machine] = await ask('/api/openstack-instances/?state=OK');
  const [customer] = await ask('/api/customers/?name=Nordlicht');
  const moved: string[] = [];
  for (const place of [
    '/',
    '/customers/',
    placeOf(customer.url),
    '/resources/',
    placeOf(machine.url),
    '/events/',
    '/alerts/',
  ]) {
    await page.evaluate(`shifts = 0; location.hash = ${JSON.stringify(place)}`);
    await staff.settled();
    await page.evaluate('new Promise((done) => setTimeout(done, 100))');
    const shift = await page.evaluate<number>('shifts');
    if (shift > 0.05) moved.push(`${place}: ${shift.toFixed(3)}`);
  }
  assert.equal(moved, []);
});

run();
