/** API keys and service accounts in the console: scopes, the key that is shown once, rotation and revocation. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { Client, type Json } from '../support/fixture.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('API keys in the console');
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let owner: Console;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  for (const { url } of [cast.users.owner, cast.users.helper])
    await fixture.staff.post(`${url}password/`, { password });
  owner = await Console.as(chromium as Browser, fixture, 'owner');
});
tests.after(() => chromium?.close());

const keysOf = (opened: Console) => opened.page.getByRole('region', { name: 'API keys' });
const keys = async (): Promise<readonly Json[]> => (await fixture.staff.get('/api/api-keys/')).body;

/** Reads the key in the dialog that shows it once, and closes the dialog. */
async function savedKey({ page }: Console): Promise<string> {
  const field = page.getByRole('dialog').getByLabel('API key', { exact: true });
  const key = await field.inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await field.waitFor({ state: 'detached' });
  return key;
}

browser('creates a key with explained scopes, warns of lasting access, and shows the key once', async () => {
  const { page } = owner;
  await owner.go(`/users/${cast.users.owner.uuid}/`, /owner/);
  await keysOf(owner).getByText('No API keys yet.').waitFor();
  await keysOf(owner).getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Build server');
  const customers = dialog.getByLabel('Customers', { exact: true });
  await customers.selectOption({ label: 'Read only' });
  await dialog.getByText('Read customers and their images.').waitFor();
  await dialog.getByLabel('Invitations').selectOption({ label: 'Read and write' });
  await dialog.getByText('With invitations:write this key can create access').waitFor();
  assert.equal(await owner.findings(), []);
  await dialog.getByLabel('Invitations').selectOption({ label: 'No access' });
  await dialog.getByText('With invitations:write').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  const key = await savedKey(owner);
  const program = new Client(fixture, key);
  assert.is((await program.get('/api/customers/')).body.length, 1);
  assert.is((await program.get('/api/projects/')).status, 403);
  const [stored] = await keys();
  assert.equal([stored.name, stored.scopes, stored.owner_username], ['Build server', ['customers:read'], 'owner']);
  await keysOf(owner).getByText('customers:read').waitFor();
  await keysOf(owner).getByText('Never used').waitFor();
  assert.equal(await owner.findings(), []);
});

browser('asks for the password when the session is not confirmed, and then continues', async () => {
  const { page } = owner;
  fixture.clock.advance(16 * 60);
  await owner.go(`/users/${cast.users.owner.uuid}/`, /owner/);
  await keysOf(owner).getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog', { name: 'New API key' });
  await dialog.getByLabel('Name').fill('Confirmed');
  await dialog.getByLabel('Projects', { exact: true }).selectOption({ label: 'Read only' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  const question = page.getByRole('dialog', { name: 'Confirm your identity' });
  await question.getByLabel('Password').fill('wrong-password-1');
  await question.getByRole('button', { name: 'Confirm' }).click();
  await question.getByText('Wrong password.').waitFor();
  assert.equal(await owner.findings(), []);
  await question.getByLabel('Password').fill(password);
  await question.getByLabel('Password').press('Enter');
  assert.match(await savedKey(owner), /^tnt_/);
  assert.ok((await keys()).some(({ name }) => name === 'Confirmed'));
  owner.complaints.splice(0);
});

browser('closing the password prompt keeps the form unchanged', async () => {
  const { page } = owner;
  fixture.clock.advance(16 * 60);
  await keysOf(owner).getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog', { name: 'New API key' });
  await dialog.getByLabel('Name').fill('Abandoned');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog', { name: 'Confirm your identity' }).press('Escape');
  await dialog.getByText('Confirm your identity first.').waitFor();
  assert.is(await dialog.getByLabel('Name').inputValue(), 'Abandoned');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  owner.complaints.splice(0);
});

browser('rotates a key with an overlap, and revokes it', async () => {
  const { page } = owner;
  const row = keysOf(owner).getByRole('listitem').filter({ hasText: 'Build server' });
  await owner.actOn(row, 'Rotate');
  await owner.dialog().getByLabel('Overlap').fill('3600');
  await owner.dialog().getByRole('button', { name: 'Rotate' }).click();
  const question = page.getByRole('dialog', { name: 'Confirm your identity' });
  await question.getByLabel('Password').fill(password);
  await question.getByRole('button', { name: 'Confirm' }).click();
  const key = await savedKey(owner);
  await row.getByText(/old key until/).waitFor();
  await owner.actOn(row, 'Revoke');
  await owner.dialog().getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  assert.is((await new Client(fixture, key).get('/api/customers/')).status, 401);
  owner.complaints.splice(0);
});

browser('owners create a service account of a project and its key', async () => {
  const { page } = owner;
  await owner.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /^Team/ }).click();
  await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Service accounts' }).click();
  const region = page.getByRole('region', { name: 'Service accounts' });
  await region.getByText(/No service accounts yet/).waitFor();
  assert.equal(await owner.findings(), []);
  await region.getByRole('button', { name: 'New service account' }).click();
  const dialog = owner.dialog();
  await dialog.getByLabel('Name').fill('Nightly deployment');
  assert.equal(await dialog.getByLabel('Role').locator('option').allInnerTexts(), [
    'Choose…',
    'Support',
    'Administrator',
    'Manager',
  ]);
  await dialog.getByLabel('Role').selectOption('admin');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await owner.heading('Nightly deployment').waitFor();
  await keysOf(owner).getByRole('button', { name: 'New API key' }).click();
  await owner.dialog().getByLabel('Name').fill('Pipeline');
  await owner.dialog().getByLabel('Resources', { exact: true }).selectOption({ label: 'Read only' });
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  const key = await savedKey(owner);
  const program = new Client(fixture, key);
  const [self] = (await program.get('/api/resources/')).status === 200 ? await keys() : [];
  assert.match(self.owner_username, /^sa-[0-9a-f]{8}-nightly-deployment$/);
  await keysOf(owner).getByText('resources:read').waitFor();
  assert.equal(await owner.findings(), []);
  await owner.go(`/projects/${cast.project.uuid}/?tab=service-accounts`, 'Rocket');
  await region.getByRole('link', { name: 'Nightly deployment' }).waitFor();
  assert.equal(await owner.findings(), []);
});

browser('other members do not see service accounts in the team', async () => {
  const helper = await Console.as(chromium as Browser, fixture, 'helper');
  await helper.go(`/customers/${cast.customer.uuid}/?tab=team`, 'Alice');
  await helper.page.getByRole('region', { name: 'Roles', exact: true }).waitFor();
  assert.is(await helper.page.getByRole('link', { name: 'Service accounts' }).count(), 0);
  await helper.close();
  assert.equal(owner.complaints, []);
});

tests.run();
