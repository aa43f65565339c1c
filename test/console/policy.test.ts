/** The service's policy in the console: a link and a checkbox if there is one. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { Fixture, type Json } from '../support/fixture.ts';
import { createPersonas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const policy_url = 'https://example.com/policy';
const { test: tests, fixture } = suiteWithServer('the policy in the console', { policy_url });
const browser = chromium ? tests : tests.skip;
const plain = new Fixture();

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (chromium) await plain.open();
});
tests.after(async () => {
  await chromium?.close();
  await plain.close();
});

/** Creates an invitation and returns its link. */
async function invited(on: Fixture): Promise<string> {
  const { project } = await createPersonas(on);
  const invitation = await on.staff.post('/api/user-invitations/', {
    link_template: `${on.url}/#/invitation/{uuid}/`,
    email: 'new@example.com',
    project: project.url,
    project_role: 'admin',
  });
  return invitation.body.link;
}

const agreed = async (on: Fixture, username: string): Promise<boolean> => {
  const [user] = (await on.staff.get(`/api/users/?username=${username}`)).body as Json[];
  return user.agreement_date !== null;
};

browser('a new user accepts the policy before the account is created', async () => {
  const newcomer = await Console.open(started(), await invited(fixture));
  const { page } = newcomer;
  await page.getByLabel('Username *').fill('dora');
  await page.getByLabel('Password *').fill(password);
  assert.is(await newcomer.link('Read the policy').getAttribute('href'), policy_url);
  assert.equal(await newcomer.findings(), []);
  await newcomer.button('Create account').click();
  await page.getByText('User must agree with the policy.').waitFor();
  newcomer.complaints.splice(0);
  await page.getByLabel('I agree to the policy of this service').check();
  await newcomer.button('Create account').click();
  await newcomer.heading(greeting).waitFor();
  assert.is(await agreed(fixture, 'dora'), true);
  assert.equal(newcomer.complaints, []);
  await newcomer.close();
});

browser('a user accepts the policy with the first change of their account', async () => {
  const { url } = (await fixture.staff.get('/api/users/?username=manager')).body[0];
  await fixture.staff.post(`${url}password/`, { password });
  const manager = await Console.as(started(), fixture, 'manager');
  await manager.go(new URL(url).pathname.slice('/api'.length), 'manager');
  await manager.act('Edit');
  await manager.dialog().getByLabel('Job title').fill('Head of department');
  assert.is(await manager.dialog().getByRole('link', { name: 'Read the policy' }).getAttribute('href'), policy_url);
  await manager.dialog().getByLabel('Accepts the terms').check();
  await manager.dialog().getByRole('button', { name: 'Save' }).click();
  await manager.dialog().waitFor({ state: 'detached' });
  assert.is(await agreed(fixture, 'manager'), true);
  assert.equal(manager.complaints, []);
  await manager.close();
});

browser('without a policy neither new users nor changes of an account need consent', async () => {
  const newcomer = await Console.open(started(), await invited(plain));
  await newcomer.page.getByLabel('Username *').fill('dora');
  await newcomer.page.getByLabel('Password *').fill(password);
  assert.is(await newcomer.page.getByRole('checkbox').count(), 0);
  await newcomer.button('Create account').click();
  await newcomer.heading(greeting).waitFor();
  const { url } = (await plain.staff.get('/api/users/?username=manager')).body[0];
  await plain.staff.post(`${url}password/`, { password });
  const manager = await Console.as(started(), plain, 'manager');
  await manager.go(new URL(url).pathname.slice('/api'.length), 'manager');
  await manager.act('Edit');
  await manager.dialog().getByLabel('Job title').fill('Head of department');
  assert.is(await manager.dialog().getByLabel('Accepts the terms').count(), 0);
  await manager.dialog().getByRole('button', { name: 'Save' }).click();
  await manager.dialog().waitFor({ state: 'detached' });
  assert.is((await plain.staff.get(url)).body.job_title, 'Head of department');
  assert.equal([...newcomer.complaints, ...manager.complaints], []);
  await newcomer.close();
  await manager.close();
});

tests.run();
