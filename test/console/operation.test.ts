/** The operation page for staff, and live updates. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { sql } from '../../src/kernel/db/sql.ts';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { dropletService } from '../support/droplets.ts';
import { eventually } from '../support/eventually.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the service itself, and what happens, in the console', {
  resolve: (_, callback) => callback(new Error('There is no such host.'), []),
  product_name: 'Cloud',
});
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let staff: Console;
let owner: Console;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  for (const { url } of [me, ...Object.values(cast.users)]) await fixture.staff.post(`${url}password/`, { password });
  staff = await Console.as(started(), fixture, 'admin');
  owner = await Console.as(started(), fixture, 'owner');
});
tests.after(() => chromium?.close());

const part = (visitor: Console, name: string) => visitor.page.getByRole('region', { name, exact: true });

browser('shows a new event without a reload', async () => {
  await owner.go('/', greeting);
  await fixture.staff.patch(cast.project.url, { name: 'Saturn' });
  await owner.page.getByText('Saturn was updated').waitFor();
  // The server's clock is years behind that of the browser.
  await owner.go('/events/?all=true', 'Events');
  await fixture.staff.patch(cast.project.url, { name: 'Rocket' });
  await owner.button('Show 1 new event').click();
  await owner.page.getByText("Name has been changed from 'Saturn' to 'Rocket'").first().waitFor();
});

browser('refreshes an object, but not below an open form', async () => {
  await owner.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await fixture.staff.patch(cast.project.url, { name: 'Apollo' });
  await owner.heading('Apollo').waitFor();
  await owner.act('Edit');
  const name = owner.dialog().getByLabel('Name *', { exact: true });
  await name.fill('Typed');
  // When it opens, the form reads the choices of its links.
  await eventually('the choices are read', () =>
    owner.requests.some((line) => line.includes('/api/customers/?page_size=100')),
  );
  const requestCount = owner.requests.length;
  await fixture.staff.patch(cast.project.url, { name: 'Gemini' });
  // The page must not read again after the stream reports a change.
  await eventually('the stream is followed', () => fixture.server.app.eventStreams.size === 2);
  await owner.page.waitForTimeout(1500);
  assert.equal(owner.requests.slice(requestCount), []);
  assert.is(await name.inputValue(), 'Typed');
  await owner.dialog().getByRole('button', { name: 'Save' }).click();
  await owner.dialog().getByText('The object has been changed since you read it.').waitFor();
  await owner.dialog().getByRole('button', { name: 'Cancel' }).click();
  await owner.heading('Gemini').waitFor();
  owner.complaints.splice(0);
});

browser('reads the first page once, and again after five seconds', async () => {
  const visitor = await Console.open(started(), `${fixture.url}/`);
  const { page } = visitor;
  await page.clock.install();
  // Time before the sign-in must not count.
  await page.clock.fastForward(10_000);
  await visitor.signIn('owner');
  await visitor.settled();
  const readings = (): number => visitor.requests.filter((line) => line.includes('/api/events/?')).length;
  assert.is(readings(), 1);
  await page.clock.fastForward(2_000);
  await visitor.settled();
  assert.is(readings(), 1);
  await page.clock.fastForward(5_000);
  await eventually('the page is read again', () => readings() === 2);
  await visitor.close();
});

browser('reads nothing in a hidden tab', async () => {
  const { page } = owner;
  const hide = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} }); dispatchEvent(new Event('visibilitychange'))`,
    );
  await owner.go('/events/?all=true', 'Events');
  await hide(true);
  await eventually('the stream is closed', () => fixture.server.app.eventStreams.size === 1);
  const requestCount = owner.requests.length;
  await fixture.staff.patch(cast.project.url, { name: 'Hidden' });
  await page.waitForTimeout(1500);
  assert.equal(owner.requests.slice(requestCount), []);
  await hide(false);
  await owner.button('Show 1 new event').click();
  await page.getByText('Hidden was updated').waitFor();
  assert.equal(owner.complaints, []);
});

browser('hides the operation pages from users other than staff and support', async () => {
  assert.is(await owner.page.getByRole('link', { name: 'Operations', exact: true }).count(), 0);
  await owner.go('/all/', 'API explorer');
  await owner.link('Customers').first().waitFor();
  for (const name of ['Backups', 'Jobs', 'Message queue', 'Settings in force'])
    assert.is(await owner.link(name).count(), 0, name);
  await owner.go('/operation/', 'Operations');
  assert.is(await owner.page.getByRole('alert').innerText(), 'You do not have permission to perform this action.');
  owner.complaints.splice(0);
});

browser('staff see the outboxes and send their messages', async () => {
  const hook = { destination_url: 'https://hooks.test/', event_types: ['customer_creation_succeeded'] };
  const { url } = (await fixture.staff.post('/api/hooks-web/', hook)).body;
  const { uuid } = (await fixture.staff.post(`${url}test/`)).body;
  await fixture.server.settled();
  await staff.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Operations' }).click();
  await staff.heading('Operations').waitFor();
  await staff.page.getByText('No problems found.').waitFor();
  assert.equal(await staff.findings(), []);
  await part(staff, 'Checks')
    .getByRole('listitem')
    .filter({ hasText: /1 message waits\s*Notifications 1/ })
    .waitFor();
  await part(staff, 'Checks').getByRole('link', { name: 'Notifications', exact: true }).click();
  await staff.heading('Message queue').waitFor();
  await staff.page.getByRole('row', { name: /hooks\.test.* 1 Destination is not allowed\./ }).waitFor();
  assert.equal(await staff.findings(), []);
  await staff.go(`/outbox/${uuid}/`, /./);
  await staff.act('Retry');
  await staff.page.getByText('Retry: started.').waitFor();
  await fixture.server.settled();
  assert.is((await fixture.staff.get(`/api/outbox/${uuid}/`)).body.attempts, 2);
});

browser('global quotas link to the pages where staff change their limits', async () => {
  await staff.go('/operation/', 'Operations');
  await part(staff, 'Global quotas')
    .getByRole('link', { name: /^Customers/ })
    .click();
  await staff.act('Edit');
  await staff.dialog().getByLabel('Limit').fill('50');
  await staff.dialog().getByRole('button', { name: 'Save' }).click();
  await staff.go('/operation/', 'Operations');
  await part(staff, 'Global quotas').getByText('1 of 50').waitFor();
});

browser('the doctor reports its findings', async () => {
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE quota SET usage = 7 WHERE name = 'nc_global_project_count'`));
  await staff.go('/operation/', 'Operations');
  await part(staff, 'Checks').getByText('No health check has run yet').waitFor();
  await staff.button('Run health check: Health check').click();
  await part(staff, 'Checks')
    .getByText(/nc_global_project_count .* usage 7, counted 1/)
    .waitFor();
  await part(staff, 'Checks').getByText('The health check has 1 finding').waitFor();
});

browser('a failed provider account is a check with a link to the account', async () => {
  const { db } = fixture.server.app;
  await part(staff, 'Checks').getByText('No job is failing').waitFor();
  await part(staff, 'Checks').getByText('Data in memory is not backed up.').waitFor();
  assert.is(await staff.page.getByRole('button', { name: /^Back up now/ }).count(), 0);
  const customer = (await fixture.staff.get('/api/customers/')).body[0];
  const settings = { type: 'DigitalOcean', name: 'Far away', customer: customer.url, token: 'secret' };
  const { uuid } = (await fixture.staff.post('/api/service-settings/', settings)).body;
  db.write(() =>
    db.run(sql`UPDATE service_settings SET state = 'Erred', error_message = 'Timed out.' WHERE name = 'Far away'`),
  );
  await staff.go('/', greeting);
  await staff.go('/operation/', 'Operations');
  const check = part(staff, 'Checks').getByRole('listitem').filter({ hasText: 'Far away is unreachable' });
  const [{ operation }] = (await fixture.staff.get('/api/jobs/')).body;
  assert.is(operation, 'sync');
  await part(staff, 'Jobs').getByRole('link', { name: 'Sync', exact: true }).waitFor();
  assert.match(await check.innerText(), /DigitalOcean · Alice · Timed out\./);
  assert.is(await part(staff, 'Checks').getByText('is Erred').count(), 0, 'each problem is shown once');
  assert.equal(await staff.findings(), []);
  await check.getByRole('link', { name: 'Open account' }).click();
  await staff.heading('Far away').waitFor();
  assert.match(staff.page.url(), new RegExp(uuid));
  db.write(() => db.run(sql`UPDATE service_settings SET state = 'OK', error_message = '' WHERE name = 'Far away'`));
});

browser('makes the simulator fail, and advances the clock of a server in memory', async () => {
  await staff.go('/operation/', 'Operations');
  await part(staff, 'Simulator').getByRole('button', { name: 'Fail the next operation' }).click();
  await staff.dialog().getByLabel('Type *').fill('Moon');
  await staff.dialog().getByLabel('Job *').fill('create');
  await staff.dialog().getByRole('button', { name: 'Fail the next operation' }).click();
  await staff
    .dialog()
    .getByText(/there is no "Moon"/)
    .waitFor();
  await staff.dialog().getByLabel('Type *').fill('DigitalOcean.Droplet');
  await staff.dialog().getByRole('button', { name: 'Fail the next operation' }).click();
  await staff.page.getByText('Fail the next operation: done.').waitFor();
  const before = fixture.clock.now();
  await part(staff, 'Simulator').getByRole('button', { name: 'Advance the clock' }).click();
  await staff.dialog().getByLabel('Seconds *').fill('60');
  await staff.dialog().getByRole('button', { name: 'Advance the clock' }).click();
  await staff.page.getByText('Advance the clock: done.').waitFor();
  assert.is(fixture.clock.now(), before + 60_000_000);
  staff.complaints.splice(0);
});

browser('a button changes a simulated resource at its provider', async () => {
  const customer = (await fixture.staff.get('/api/customers/')).body[0];
  const place = { customer, project: await fixture.project('Drifting', customer) };
  const service = await dropletService(fixture, place);
  // The failure requested above affects this operation.
  await service.make({ name: 'failing' });
  const droplet = await service.make();
  await staff.go(`/digitalocean-droplets/${droplet.uuid}/`, /^web/);
  await staff.button('Change at the provider').click();
  assert.is(await staff.dialog().getByLabel('Resource *').inputValue(), droplet.url);
  await staff.dialog().getByLabel('Change *').selectOption('vanish');
  await staff.dialog().getByRole('button', { name: 'Change at the provider' }).click();
  await staff.page.getByText('Change at the provider: done.').waitFor();
  await fixture.staff.post(`${droplet.service_settings}pull/`);
  await work(fixture);
  await staff.status('Missing at provider');
  assert.equal(await staff.findings(), []);
  await staff.go('/operation/', 'Operations');
});

browser('shows the active settings with their sources', async () => {
  await staff.link('Settings in force').click();
  await staff.heading('Settings in force').waitFor();
  await staff.page.getByRole('row', { name: /product_name.*Cloud.*createServer/ }).waitFor();
  assert.equal(staff.complaints, []);
});

tests.run();
