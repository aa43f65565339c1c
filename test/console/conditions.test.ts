/** The console behind a proxy, offline, after a session has ended, and on a small screen. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { newestSecret } from '../support/sent-mails.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the console under other conditions');
const browser = chromium ? tests : tests.skip;
let cast: Personas;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  for (const { url } of [me, ...Object.values(cast.users)]) await fixture.staff.post(`${url}password/`, { password });
});
tests.after(() => chromium?.close());

browser('works behind a proxy with a path prefix that the server does not know', async () => {
  const prefix = '/cloud/tenantry';
  const proxy = createServer((incoming, response) => {
    const { headers, method, url = '' } = incoming;
    if (!url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const passed = request(fixture.url + url.slice(prefix.length), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(response);
    });
    incoming.pipe(passed);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}${prefix}/`;
  const visitor = await Console.open(started(), base);
  await visitor.signIn('owner');
  await visitor.go('/customers/', 'Customers');
  await visitor.link('Alice').first().click();
  await visitor.heading('Alice').waitFor();
  await visitor.settled();
  assert.equal(
    visitor.requests.filter((asked) => !asked.includes(` ${base}`) && !asked.includes(' data:')),
    [],
  );
  assert.equal(visitor.complaints, []);
  await visitor.close();
  proxy.closeAllConnections();
  proxy.close();
});

browser('an expired session keeps the form, asks for the password, and resumes', async () => {
  await fixture.staff.patch(cast.users.owner.url, { token_lifetime: 3600 });
  const visitor = await Console.as(started(), fixture, 'owner');
  await visitor.go('/projects/', 'Projects');
  await visitor.act('New project');
  await visitor.dialog().getByLabel('Name *', { exact: true }).fill('Later');
  await visitor.dialog().getByLabel('Customer *').selectOption({ label: 'Alice' });
  fixture.clock.advance(3601);
  await visitor.dialog().getByRole('button', { name: 'Create' }).click();
  const ended = visitor.page.getByRole('dialog', { name: 'Your session has ended' });
  await ended.waitFor();
  assert.equal(await findFaults(visitor), []);
  await ended.getByLabel('Password').fill(password);
  await ended.getByRole('button', { name: 'Sign in' }).click();
  await visitor.heading('Later').waitFor();
  assert.is((await fixture.staff.get('/api/projects/?name=Later')).body.length, 1);
  await visitor.close();
});

browser('warns before the end of a session and can extend it', async () => {
  await fixture.staff.patch(cast.users.helper.url, { token_lifetime: 60 });
  const visitor = await Console.open(started(), 'about:blank');
  const { page } = visitor;
  await page.clock.install();
  await page.goto(`${fixture.url}/`);
  await visitor.signIn('helper');
  await visitor.settled();
  assert.is(await page.getByText(/Your session ends/).count(), 0);
  await page.clock.fastForward(50_000);
  await page.getByText('Your session ends in less than 30 seconds.').waitFor();
  assert.equal(await findFaults(visitor), []);
  await visitor.button('Stay signed in').click();
  await page.getByText(/Your session ends/).waitFor({ state: 'detached' });
  await visitor.close();
});

browser('reports a lost connection and keeps the typed input', async () => {
  const visitor = await Console.as(started(), fixture, 'admin');
  await visitor.go('/customers/', 'Customers');
  await visitor.act('New customer');
  await visitor.dialog().getByLabel('Name *', { exact: true }).fill('Dora');
  await visitor.page.context().setOffline(true);
  await visitor.dialog().getByRole('button', { name: 'Create' }).click();
  await visitor.dialog().getByText('The server cannot be reached. Nothing was changed; try again.').waitFor();
  assert.equal(await findFaults(visitor), []);
  await visitor.page.context().setOffline(false);
  await visitor.dialog().getByRole('button', { name: 'Create' }).click();
  await visitor.heading('Dora').waitFor();
  await visitor.close();
});

browser('an invited person signs up with the mailed link and is signed in', async () => {
  const visitor = await Console.as(started(), fixture, 'owner');
  await visitor.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await visitor.button('Invite').click();
  await visitor.dialog().getByLabel('Email *').fill('new@example.com');
  await visitor.dialog().getByLabel('Project role').selectOption('manager');
  await visitor.dialog().getByRole('button', { name: 'Create' }).click();
  await visitor.dialog().getByRole('button', { name: 'Done' }).click();
  await visitor.dialog().waitFor({ state: 'detached' });
  await visitor.close();
  const [invitation] = (await fixture.staff.get('/api/user-invitations/?email=new@example.com')).body;
  assert.is(invitation.link_template, `${fixture.url}/#/invitation/{uuid}/`);
  const guest = await Console.open(started(), `${fixture.url}/#/invitation/${await newestSecret(fixture)}/`);
  await guest.page.getByText('This invitation is for new@example.com.').waitFor();
  assert.equal(await findFaults(guest), []);
  await guest.page.getByLabel('Username *').fill('newcomer');
  await guest.page.getByLabel('Password *').fill('short');
  assert.is(await guest.page.getByRole('checkbox').count(), 0, 'there is no policy');
  await guest.button('Create account').click();
  await guest.page.getByText(/Ensure this field has at least 7 characters/).waitFor();
  await guest.page.getByLabel('Password *').fill(password);
  await guest.button('Create account').click();
  await guest.heading(greeting).waitFor();
  const [role] = (await fixture.staff.get('/api/project-permissions/?username=newcomer')).body;
  assert.equal([role.role, role.project_name], ['manager', 'Rocket']);
  await guest.close();
});

browser('signs in and navigates with the keyboard only', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  const { keyboard } = visitor.page;
  await visitor.page.getByLabel('Username').waitFor();
  await visitor.page.getByLabel('Username').focus();
  await keyboard.type('manager');
  await keyboard.press('Tab');
  await keyboard.type(password);
  await keyboard.press('Enter');
  await visitor.heading(greeting).waitFor();
  const isRead = "document.activeElement.tagName === 'H1'";
  await visitor.page.waitForFunction(isRead);
  await visitor.link('Projects').first().focus();
  await keyboard.press('Enter');
  await visitor.heading('Projects').waitFor();
  await visitor.page.waitForFunction(isRead);
  await visitor.close();
});

browser('fits the screen of a phone, where the menu opens', async () => {
  const visitor = await Console.as(started(), fixture, 'admin', 360);
  const places: readonly [string, string | RegExp][] = [
    ['/', greeting],
    ['/users/', 'People'],
    [`/customers/${cast.customer.uuid}/`, 'Alice'],
    ['/events/', 'Events'],
  ];
  for (const [place, heading] of places) {
    await visitor.go(place, heading);
    assert.is(await visitor.page.evaluate('document.documentElement.scrollWidth'), 360, place);
  }
  assert.not(await visitor.link('Alerts').isVisible());
  await visitor.button('Menu').click();
  await visitor.link('Alerts').click();
  await visitor.heading('Alerts').waitFor();
  await visitor.close();
});

browser('empty pages are accessible', async () => {
  const visitor = await Console.as(started(), fixture, 'stranger');
  const wrong: string[] = [];
  for (const list of [
    '',
    'customers/',
    'projects/',
    'resources/',
    'alerts/',
    'hooks/',
    'statistics/',
    'new-resource/',
  ]) {
    await visitor.go(`/${list}`, /./);
    wrong.push(...(await findFaults(visitor)).map((text) => `${list} ${text}`));
  }
  assert.equal(wrong, []);
  await visitor.close();
});

tests.run();
