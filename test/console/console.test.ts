/** The console (core.md 3.1): sign-in, finding and changing objects, security. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the console in a browser');
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let staff: Console;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  for (const { url } of [me, ...Object.values(cast.users)]) await fixture.staff.post(`${url}password/`, { password });
  staff = await Console.open(started(), `${fixture.url}/`);
});
tests.after(() => chromium?.close());

browser('asks for a password and reports a wrong one', async () => {
  const { page } = staff;
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password').fill('wrong');
  await staff.button('Sign in').click();
  assert.is(await page.getByRole('alert').innerText(), 'Invalid username/password.');
  // The browser logs every response with an error status.
  assert.equal(staff.complaints.splice(0), [
    'Failed to load resource: the server responded with a status of 401 (Unauthorized)',
  ]);
  await staff.signIn('admin');
});

browser('starts with the problems', async () => {
  // Until the first machine exists, staff see the steps that create it.
  const owner = await Console.as(started(), fixture, 'owner');
  await owner.page.getByRole('region', { name: 'Needs attention' }).getByText('Everything is fine.').waitFor();
  await owner.page.getByRole('region', { name: 'Recent activity' }).waitFor();
  await owner.close();
});

browser('a list links to its objects, and the address has its search', async () => {
  const { page } = staff;
  await staff.link('Customers').first().click();
  await staff.heading('Customers').waitFor();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('unknown');
  await page.getByText('Nothing matches.').waitFor();
  assert.is(new URL(page.url()).hash, '#/customers/?name=unknown');
  await page.goBack();
  await page.getByRole('row', { name: /Alice/ }).getByRole('link', { name: 'Alice' }).click();
  await staff.heading('Alice').waitFor();
  assert.is(new URL(page.url()).hash, `#/customers/${cast.customer.uuid}/`);
  await page.getByRole('region', { name: 'Projects' }).getByRole('link', { name: 'Rocket' }).waitFor();
  await page.getByRole('region', { name: 'Team' }).getByText('Owner', { exact: true }).last().waitFor();
});

browser('a form shows an error beside the field, keeps the input, and creates the object', async () => {
  const { page } = staff;
  await staff.go('/customers/', 'Customers');
  await staff.act('New customer');
  const dialog = staff.dialog();
  await dialog.getByLabel('Email').fill('no address');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const name = dialog.getByLabel('Name *', { exact: true });
  await dialog.getByText('This field may not be blank.').waitFor();
  assert.is(await name.getAttribute('aria-invalid'), 'true');
  const described = await name.getAttribute('aria-describedby');
  assert.is(await page.locator(`[id="${described}"]`).innerText(), 'This field may not be blank.');
  await dialog.locator('[name=name]:focus').waitFor();
  await dialog.getByText('Enter a valid email address.').waitFor();
  assert.is(await dialog.getByLabel('Email').inputValue(), 'no address');

  await dialog.getByLabel('Email').fill('office@example.com');
  await name.fill('<img src=x onerror=alert(1)>');
  await dialog.getByLabel('Country').selectOption('EE');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await staff.heading('<img src=x onerror=alert(1)>').waitFor();
  assert.is(await page.locator('img').count(), 0);
  const [made] = (await fixture.staff.get('/api/customers/?name=img')).body;
  assert.equal([made.name, made.email, made.country], ['<img src=x onerror=alert(1)>', 'office@example.com', 'EE']);
  staff.complaints.splice(0);
});

browser('changes an object with its form, and deletes it after a confirmation', async () => {
  await staff.act('Edit');
  const dialog = staff.dialog();
  await dialog.getByLabel('Name *', { exact: true }).fill('Carol');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await staff.heading('Carol').waitFor();
  const [carol] = (await fixture.staff.get('/api/customers/?name=Carol')).body;
  assert.is(carol.country, 'EE');
  await staff.act('Delete');
  await staff.dialog().getByRole('button', { name: 'Delete' }).click();
  await staff.heading('Customers').waitFor();
  assert.is((await fixture.staff.get(carol.url)).status, 404);
});

browser('reports concurrent changes by another user and keeps the typed input', async () => {
  await staff.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await staff.act('Edit');
  const form = staff.dialog();
  await form.getByLabel('Description').fill('Changed here.');
  await fixture.staff.patch(cast.project.url, { name: 'Rocket II', description: 'Changed elsewhere.' });
  await form.getByRole('button', { name: 'Save' }).click();
  const conflict = form.getByRole('alert').filter({ hasText: 'Someone else changed this' });
  await conflict.getByText('The object has been changed since you read it.').waitFor();
  assert.equal(await conflict.locator('dt, dd').allInnerTexts(), [
    ...['Name, theirs', 'Rocket II'],
    ...['Description, theirs', 'Changed elsewhere.', 'Description, yours', 'Changed here.'],
  ]);
  assert.equal(await staff.findings('dialog[open]'), []);
  assert.is((await fixture.staff.get(cast.project.url)).body.description, 'Changed elsewhere.');
  assert.equal(
    [await form.getByLabel('Name *').inputValue(), await form.getByLabel('Description').inputValue()],
    ['Rocket II', 'Changed here.'],
  );
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await staff.heading('Rocket II').waitFor();
  const { description, name } = (await fixture.staff.get(cast.project.url)).body;
  assert.equal([name, description], ['Rocket II', 'Changed here.']);
  staff.complaints.splice(0);
});

browser('takes the values of the other user, or keeps changes to other fields', async () => {
  await staff.act('Edit');
  const form = staff.dialog();
  const conflict = form.getByRole('alert').filter({ hasText: 'Someone else changed this' });
  await form.getByLabel('Description').fill('Mine.');
  await fixture.staff.patch(cast.project.url, { description: 'Theirs.' });
  await form.getByRole('button', { name: 'Save' }).click();
  await conflict.getByRole('button', { name: 'Use theirs' }).press('Enter');
  await conflict.waitFor({ state: 'detached' });
  await form.locator('[name=description]:focus').waitFor();
  assert.is(await form.getByLabel('Description').inputValue(), 'Theirs.');
  await form.getByLabel('Name *').fill('Rocket III');
  await fixture.staff.patch(cast.project.url, { description: 'Theirs again.' });
  await form.getByRole('button', { name: 'Save' }).click();
  await conflict.getByText('Your changes are to other fields. Save again to keep both.').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await staff.heading('Rocket III').waitFor();
  assert.is((await fixture.staff.get(cast.project.url)).body.description, 'Theirs again.');
  await fixture.staff.patch(cast.project.url, { name: 'Rocket', description: '' });
  await staff.heading(/^Rocket$/).waitFor();
  staff.complaints.splice(0);
});

browser('sends requests only to its server, and never violates the content security policy', () => {
  assert.equal(
    staff.requests.filter(
      (request) => !/^(GET|POST|PATCH|DELETE|OPTIONS) data:/.test(request) && !request.includes(` ${fixture.url}/`),
    ),
    [],
  );
  assert.equal(staff.complaints, []);
});

browser('hides the buttons to create, change and delete from users without the right', async () => {
  for (const name of ['stranger', 'observer', 'support', 'owner'] as const) {
    const visitor = await Console.as(started(), fixture, name);
    await visitor.go('/customers/', 'Customers');
    assert.is(await visitor.button('New customer').count(), 0, name);
    if (name !== 'stranger') {
      await visitor.go(`/customers/${cast.customer.uuid}/`, 'Alice');
      const titles = (await visitor.offered()).map(({ title }) => title);
      assert.equal(
        titles.filter((title) => ['Edit', 'Delete'].includes(title)),
        [],
        name,
      );
    }
    await visitor.go('/projects/', 'Projects');
    assert.is(await visitor.button('New project').count(), name === 'owner' ? 1 : 0, name);
    assert.equal(visitor.complaints, [], name);
    await visitor.close();
  }
});

browser('reports a missing object with a link to another page', async () => {
  const visitor = await Console.as(started(), fixture, 'stranger');
  await visitor.go(`/customers/${cast.customer.uuid}/`, 'Not found');
  await visitor.page.getByRole('alert').getByText('Not found.').waitFor();
  await visitor.close();
});

browser('signing out revokes the token and removes it from the browser', async () => {
  const visitor = await Console.as(started(), fixture, 'owner');
  const token = await visitor.page.evaluate<string>(
    'Object.values(sessionStorage).find((value) => /^[0-9a-f]{40}$/.test(value))',
  );
  await visitor.signOut();
  await visitor.button('Sign in').waitFor();
  const { status } = await fixture.anonymous.get('/api/', { Authorization: `Token ${token}` });
  const stored = await visitor.page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
  assert.equal([status, stored.includes(token)], [401, false]);
  await visitor.close();
});

tests.run();
