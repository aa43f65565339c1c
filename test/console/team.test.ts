/** Teams of customers and projects in the console: roles and invitations. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('teams in the console');
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let owner: Console;

const started = (): Browser => chromium as Browser;
const teamOf = (): string => `/customers/${cast.customer.uuid}/?tab=team`;
const teamOfProject = (): string => `/projects/${cast.project.uuid}/?tab=team`;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  for (const { url } of Object.values(cast.users)) await fixture.staff.post(`${url}password/`, { password });
  owner = await Console.as(started(), fixture, 'owner');
});
tests.after(() => chromium?.close());

browser('the page of a customer links to its team', async () => {
  await owner.go(`/customers/${cast.customer.uuid}/`, 'Alice');
  await owner.page.getByRole('region', { name: 'Team' }).getByRole('link', { name: 'Manage', exact: true }).click();
  const rows = owner.page.getByRole('region', { name: 'Roles', exact: true }).getByRole('row');
  await rows.nth(5).waitFor();
  const cells = async () =>
    (await rows.allInnerTexts()).slice(1).map((text) => text.split(/[\n\t]+/).filter((part) => part.trim() !== ''));
  const [first = [], ...others] = await cells();
  assert.equal(
    [first, ...others].map((row) => row.filter((part) => !/@|ago|now|Jan|^[A-Z]{2}$/.test(part))),
    [
      ['admin.of.project', 'Admin', 'Rocket', 'Never'],
      ['helper', 'Support', 'Entire customer', 'Never'],
      ['manager', 'Manager', 'Rocket', 'Never'],
      ['observer', 'Support', 'Rocket', 'Never'],
      ['owner', 'Owner', 'Entire customer', 'Never'],
    ],
  );
  assert.equal(await owner.findings(), []);
  const { page } = owner;
  await page.getByRole('status').getByText('5 people, 5 roles').waitFor();
  await page.getByRole('searchbox', { name: 'Search people' }).fill('HELP');
  await page.getByRole('status').getByText('1 person, 1 role').waitFor();
  assert.is((await cells()).length, 1);
  await page.getByRole('searchbox', { name: 'Search people' }).fill('');
  await page.getByRole('search').getByRole('button', { name: 'Role', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Owner' }).click();
  await page.getByRole('button', { name: 'Role: Owner, remove' }).waitFor();
  assert.equal((await cells())[0]?.[1], 'owner');
  await page.getByRole('button', { name: 'Role: Owner, remove' }).click();
  await page.getByRole('columnheader', { name: 'Role' }).getByRole('link').click();
  await page.getByRole('columnheader', { name: 'Role' }).and(page.locator('[aria-sort=ascending]')).waitFor();
  assert.equal(
    (await cells()).map(([, name]) => name),
    ['admin.of.project', 'manager', 'owner', 'helper', 'observer'],
  );
  // The address of earlier versions.
  await owner.go(`/customers/${cast.customer.uuid}/team/`, 'Alice');
  await page.waitForURL(/\?tab=team$/);
  await rows.nth(5).waitFor();
});

browser('assigns a role with an end, and extends it', async () => {
  const { page } = owner;
  await owner.go(teamOfProject(), 'Rocket');
  await owner.button('Assign role').click();
  await owner.dialog().getByLabel('Role *').selectOption('admin');
  await owner.dialog().getByLabel('User *').selectOption({ label: 'helper' });
  await owner.dialog().getByLabel('Expires').fill('2018-02-01T12:00');
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row').filter({ hasText: /helper.*Admin/s });
  await row.getByText(/^(1 Feb|Feb 2018|in \d+ days)/i).waitFor();
  await owner.actOn(row, 'Change expiry');
  await owner.dialog().getByLabel('Expires').fill('2018-03-01T12:00');
  await owner.dialog().getByRole('button', { name: 'Save' }).click();
  await row.getByText(/^(1 Mar|Mar 2018)/).waitFor();
  const [role] = (await fixture.staff.get('/api/project-permissions/?username=helper')).body;
  assert.equal([role.role, role.expiration_time.slice(0, 10)], ['admin', '2018-03-01']);
});

browser('ends a role after a confirmation, and keeps it in the log', async () => {
  const { page } = owner;
  const row = page.getByRole('row').filter({ hasText: /helper.*Admin/s });
  await owner.actOn(row, 'Revoke role');
  await owner.dialog().getByRole('button', { name: 'Revoke role' }).press('Enter');
  await row.waitFor({ state: 'detached' });
  await page.getByText('Past roles (1)').click();
  await page.getByRole('group').getByText('admin of Rocket').waitFor();
  assert.equal((await fixture.staff.get('/api/project-permissions/?username=helper')).body, []);
});

browser('does not overwrite a concurrent change of the end of a role', async () => {
  const [role] = (await fixture.staff.get('/api/project-permissions/?username=manager')).body;
  await owner.go(teamOfProject(), 'Rocket');
  const row = owner.page.getByRole('row').filter({ hasText: 'Manager' });
  await owner.actOn(row, 'Change expiry');
  const form = owner.dialog();
  await form.getByLabel('Expires').fill('2038-01-19T03:14');
  await fixture.staff.patch(role.url, { expiration_time: '2030-01-01T00:00:00Z' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Expires, yours').waitFor();
  assert.match((await fixture.staff.get(role.url)).body.expiration_time, /^2030/);
  assert.is(await form.getByLabel('Expires').inputValue(), '2038-01-19T03:14');
  await form.getByRole('button', { name: 'Save' }).click();
  await row.getByText('2038').waitFor();
  owner.complaints.splice(0);
});

browser('sends, resends and cancels an invitation', async () => {
  const { page } = owner;
  await owner.button('Invite').click();
  await owner.dialog().getByLabel('Email *').fill('new@example.com');
  await owner.dialog().getByLabel('Project role').selectOption('manager');
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  await owner.dialog().getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('region', { name: 'Pending invitations' }).locator('li:has(.kind)');
  await row.getByText('manager of Rocket').waitFor();
  await owner.actOn(row, 'Resend');
  await owner.dialog().getByRole('button', { name: 'Done' }).click();
  await page.getByRole('status').getByText('Invitation sending has been successfully scheduled.').waitFor();
  await owner.actOn(row, 'Revoke');
  await owner.dialog().getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No pending invitations.').waitFor();
  const [invitation] = (await fixture.staff.get('/api/user-invitations/')).body;
  assert.equal([invitation.email, invitation.state], ['new@example.com', 'canceled']);
  assert.equal(owner.complaints, []);
});

browser('without a mail server the user copies the link of an invitation, and a new user joins with it', async () => {
  const { page } = owner;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await owner.button('Invite').click();
  await owner.dialog().getByLabel('Email *').fill('dora@example.com');
  await owner.dialog().getByLabel('Project role').selectOption('support');
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  await owner.dialog().getByText('This server cannot send email: no mail server is configured.').waitFor();
  assert.equal(await owner.findings(), []);
  await owner.dialog().getByRole('button', { name: 'Copy' }).click();
  await owner.dialog().getByText('Copied.').waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.is(await owner.dialog().getByLabel('Invitation link').inputValue(), link);
  await owner.dialog().getByRole('button', { name: 'Done' }).click();
  await page.getByRole('region', { name: 'Pending invitations' }).getByText('support of Rocket').waitFor();
  assert.not((await page.content()).includes(link));
  const newcomer = await Console.open(started(), link);
  await newcomer.page.getByText('This invitation is for dora@example.com.').waitFor();
  await newcomer.page.getByLabel('Username *').fill('dora');
  await newcomer.page.getByLabel('Password *').fill(password);
  assert.is(await newcomer.page.getByRole('checkbox').count(), 0, 'there is no policy');
  await newcomer.button('Create account').click();
  await newcomer.heading(greeting).waitFor();
  const [role] = (await fixture.staff.get('/api/project-permissions/?username=dora')).body;
  assert.is(role.role, 'support');
  assert.equal([...owner.complaints, ...newcomer.complaints], []);
  await newcomer.close();
});

browser('with a mail server the link is also shown', async () => {
  const { page } = owner;
  await page.route('**/api/user-invitations/', async (route) => {
    const response = await route.fetch();
    const isCreation = route.request().method() === 'POST';
    await route.fulfill({ response, json: { ...(await response.json()), ...(isCreation && { is_mailed: true }) } });
  });
  await owner.button('Invite').click();
  await owner.dialog().getByLabel('Email *').fill('eve@example.com');
  await owner.dialog().getByLabel('Project role').selectOption('support');
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  await owner.dialog().getByText('The invitation is sent by email.').waitFor();
  await owner.dialog().getByRole('button', { name: 'Done' }).click();
  await page.unroute('**/api/user-invitations/');
  assert.equal(owner.complaints, []);
});

browser('hides the buttons to assign and end roles from users without the right', async () => {
  for (const name of ['helper', 'support', 'manager'] as const) {
    const visitor = await Console.as(started(), fixture, name);
    await visitor.go(teamOfProject(), 'Rocket');
    await visitor.page.getByRole('region', { name: 'Roles' }).waitFor();
    for (const button of ['Assign role', 'Invite'])
      assert.is(await visitor.button(button).count(), 0, `${name}: ${button}`);
    for (const more of await visitor.page.getByRole('button', { name: /^Actions for/ }).all()) {
      await more.click();
      await visitor.settled();
      assert.equal(await visitor.page.getByRole('menuitem').allInnerTexts(), [], name);
      await visitor.page.keyboard.press('Escape');
    }
    assert.equal(visitor.complaints, [], name);
    await visitor.close();
  }
});

browser('fits the screen of a phone', async () => {
  const visitor = await Console.as(started(), fixture, 'owner', 360);
  await visitor.go(teamOf(), 'Alice');
  await visitor.page.getByRole('region', { name: 'Roles' }).getByText('Entire customer').first().waitFor();
  assert.is(await visitor.page.evaluate('document.documentElement.scrollWidth'), 360);
  await visitor.close();
});

tests.run();
