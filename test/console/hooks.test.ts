/** Hooks in the console: creation and test, deliveries and their repetition, secrets. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { createPersonas } from '../support/personas.ts';
import { Receiver } from '../support/receiver.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('notifications in the console', {
  hooks_allowed_networks: ['127.0.0.0/8'],
});
const browser = chromium ? tests : tests.skip;
let receiver: Receiver;
let owner: Console;

const started = (): Browser => chromium as Browser;

const deliver = (): Promise<void> => fixture.advance(1);

tests.before(async () => {
  if (!chromium) return;
  const { users } = await createPersonas(fixture);
  for (const { url } of [users.owner, users.support]) await fixture.staff.post(`${url}password/`, { password });
  receiver = await Receiver.start();
  owner = await Console.as(started(), fixture, 'owner');
});
tests.after(async () => {
  await chromium?.close();
  await receiver?.close();
});

browser('creates a webhook with a form that shows errors beside the field, and shows the secret once', async () => {
  await owner.go('/hooks/', 'Notifications');
  await owner.button('New notification').click();
  await owner.page.getByRole('menuitem', { name: 'Webhook' }).click();
  const form = owner.page.getByRole('dialog', { name: 'New notification' });
  assert.ok(await form.getByLabel('Enabled').isChecked(), 'a form starts with the default values');
  await form.getByLabel('Endpoint URL').fill('http://10.0.0.1/');
  await form.getByRole('radio', { name: /^Custom/ }).check();
  assert.is(
    await form.getByLabel('Endpoint URL').inputValue(),
    'http://10.0.0.1/',
    'the choice of events keeps the rest',
  );
  const groups = await form.locator('label:has([type=checkbox])').allInnerTexts();
  assert.equal(groups.slice(0, 5).sort(), ['Customers', 'People', 'Projects', 'Resources', 'SSH']);
  await form.getByLabel('Projects', { exact: true }).check();
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('Destination address is not allowed by hooks_allowed_networks.').waitFor();
  owner.complaints.splice(0);
  await form.getByLabel('Endpoint URL').fill(`${receiver.url}/in`);
  await form.getByRole('button', { name: 'Create' }).click();
  const once = owner.dialog();
  assert.match(await once.getByLabel('Secret').inputValue(), /^whsec_/);
  await once.getByRole('button', { name: 'I have saved it' }).click();
  await owner.heading(`${new URL(receiver.url).host}/in`).waitFor();
  assert.is(await owner.page.locator('main .head .badge').innerText(), 'Enabled');
  await owner.button('Edit').waitFor();
  assert.equal(await owner.page.locator('main .head .acts .btn:not(.icon-only)').allInnerTexts(), [
    'Send test',
    'Edit',
  ]);
  assert.match(await owner.page.locator('main .head .about').innerText(), /^Webhook\s.*http:.*\/in\s.*Projects$/s);
  assert.is(await owner.page.getByText('whsec_').count(), 0);
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  assert.equal([hook.destination_url, hook.event_groups], [`${receiver.url}/in`, ['projects']]);
});

browser('the tabs of a webhook are its deliveries, the events that it gets, and its settings', async () => {
  const { page } = owner;
  const tabs = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  const count = hook.event_types.length;
  assert.ok(count > 1);
  assert.equal(
    (await tabs.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
    ['Deliveries', `Subscribed events ${count}`, 'Settings'],
  );
  await tabs.nth(1).click();
  const events = page.getByRole('region', { name: 'Subscribed events' });
  await events.getByText('Project creation succeeded', { exact: true }).waitFor();
  assert.is(await events.getByRole('listitem').count(), count);
  assert.equal(await owner.findings(), []);
  await tabs.nth(2).click();
  await page.getByRole('region', { name: 'Raw' }).waitFor();
  // The API has only the uuid of the author.
  await page.getByRole('region', { name: 'Identity' }).getByRole('link', { name: 'owner' }).waitFor();
  await tabs.first().click();
  await page.getByRole('region', { name: 'Deliveries' }).waitFor();
});

browser('counts the notification types of a webhook beside its events', async () => {
  const { page } = owner;
  const add = async (more: Json): Promise<Json> =>
    (await fixture.as('owner').post('/api/hooks-web/', { destination_url: `${receiver.url}/counted`, ...more })).body;
  const both = await add({ event_groups: ['projects'], notification_types: ['quota_nearly_used', 'resource_failed'] });
  const alone = await add({ notification_types: ['resource_failed'] });
  const events = page.getByRole('region', { name: 'Subscribed events' });
  for (const [{ uuid }, count, text] of [
    [both, both.event_types.length + 2, 'Projects · 2 notification types'],
    [alone, 1, '1 notification type'],
  ]) {
    await owner.go(`/hooks-web/${uuid}/?tab=events`, `${new URL(receiver.url).host}/counted`);
    assert.is(await events.locator('.note').innerText(), text);
    assert.is(await events.getByRole('listitem').count(), count);
    await owner.link(`Subscribed events ${count}`).waitFor();
  }
  for (const { url } of [both, alone]) await fixture.as('owner').delete(url);
  await owner.go(`/hooks-web/${(await fixture.as('owner').get('/api/hooks-web/')).body[0].uuid}/`, /\/in$/);
});

browser('reads the deliveries of a webhook once', async () => {
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  await owner.go('/hooks/', 'Notifications');
  owner.requests.splice(0);
  await owner.go(`/hooks-web/${hook.uuid}/`, /\/in$/);
  const lists = owner.requests.filter((request) => request.includes(`/${hook.uuid}/deliveries/`));
  assert.is(new Set(lists).size, 1, lists.join('\n'));
});

browser('follows a test delivery until the receiver has responded', async () => {
  const { page } = owner;
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText(/Nothing has been delivered yet/).waitFor();
  receiver.behaviour = 500;
  await owner.act('Send test');
  await deliveries.getByRole('cell', { name: '500', exact: true }).waitFor();
  await deliveries.getByText('Pending').waitFor();
  receiver.behaviour = 410;
  fixture.clock.advance(60);
  await deliver();
  await deliveries.getByText('Failed', { exact: true }).waitFor();
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Deliveries 1' }).waitFor();
  const payloads = receiver.takeJson();
  assert.equal(
    payloads.map(({ message, type }) => [message, type]),
    Array(2).fill(['Test delivery of the hook.', 'custom_notification']),
  );
});

browser('delivers a failed delivery again', async () => {
  const { page } = owner;
  receiver.behaviour = 200;
  // A 410 response disables the hook until a user enables it.
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  assert.is(hook.is_active, false);
  await page.getByText('This notification is disabled.').waitFor();
  await page.getByRole('button', { name: /^Redeliver/ }).click();
  await page.getByRole('status').getByText('Hook is not active.').waitFor();
  assert.equal(owner.complaints.splice(0).length, 1);
  await owner.act('Edit');
  await owner.dialog().getByLabel('Enabled').check();
  await owner.dialog().getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('status')
    .getByText(/ saved$/)
    .waitFor();
  await page.getByRole('button', { name: /^Redeliver/ }).press('Enter');
  await page.getByRole('region', { name: 'Deliveries' }).getByText('Delivered', { exact: true }).waitFor();
  assert.is(receiver.take().length, 1);
});

browser('shows the request and response of a delivery, and repeats it from its page', async () => {
  const { page } = owner;
  await page.getByRole('region', { name: 'Deliveries' }).getByRole('row').nth(1).getByRole('link').click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Delivered', { exact: true }).first().waitFor();
  await drawer.getByText('"message": "Test delivery of the hook."').first().waitFor();
  await drawer.locator('summary').filter({ hasText: 'Response' }).press('Enter');
  await drawer.getByText(/^200 after \d+ ms$/).waitFor();
  assert.equal(await owner.findings(), []);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  assert.match(page.url(), /\?delivery=[0-9a-f]{32}$/);
  await drawer.getByRole('link', { name: 'Open page' }).click();
  await owner.status('Delivered');
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  const [delivery] = (await fixture.as('owner').get(`${hook.url}deliveries/`)).body;
  const request = page.getByRole('region', { name: 'Request' });
  await request.getByText(`POST ${receiver.url}/in`).waitFor();
  await request.getByText(delivery.uuid).waitFor();
  await request.getByText('"message": "Test delivery of the hook."').waitFor();
  await page
    .getByRole('region', { name: 'Response' })
    .getByText(/^200 after \d+ ms$/)
    .waitFor();
  assert.equal(await owner.findings(), []);
  receiver.behaviour = { status: 400, headers: { 'Content-Type': 'text/plain' }, body: 'Inside is <img onerror=x>' };
  await page.getByRole('button', { name: /^Redeliver/ }).click();
  await page
    .getByRole('region', { name: 'Response' })
    .getByText(/^400 after \d+ ms$/)
    .waitFor();
  assert.is(await page.getByText('Inside is').count(), 0, 'hides response bodies from the local network');
  await page.getByText('The receiver responded with 400.').waitFor();
  receiver.behaviour = 200;
  fixture.clock.advance(60);
  await deliver();
  await page.goBack();
  await drawer.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Deliveries' }).getByText('Delivered', { exact: true }).waitFor();
});

browser('replaces a secret and shows the new one once', async () => {
  await owner.act('Rotate secret');
  const once = owner.dialog();
  assert.match(await once.getByLabel('Secret').inputValue(), /^whsec_/);
  await owner.page.keyboard.press('Escape');
  await once.getByRole('button', { name: 'I have saved it' }).click();
  await once.waitFor({ state: 'detached' });
  assert.equal(owner.complaints, []);
  assert.equal(await owner.findings(), []);
});

browser('shows the deliveries to users who can only read a hook, without buttons', async () => {
  const support = await Console.as(started(), fixture, 'support');
  await support.go('/hooks/', 'Notifications');
  await support.link(new URL(receiver.url).host).click();
  await support.heading(`${new URL(receiver.url).host}/in`).waitFor();
  const deliveries = support.page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText('Delivered', { exact: true }).waitFor();
  await support.settled();
  assert.equal(await support.offered(), []);
  assert.is(await deliveries.getByRole('button').count(), 0);
  await deliveries.getByRole('row').nth(1).getByRole('link').click();
  await support.link('Open page').click();
  await support.page.getByRole('region', { name: 'Request' }).getByText(`POST ${receiver.url}/in`).waitFor();
  await support.settled();
  assert.is(await support.page.getByRole('button', { name: /^Redeliver/ }).count(), 0);
  assert.equal(support.complaints, []);
  await support.close();
});

/** Returns the cells of a destination's row in the list of notifications. */
const cellsOf = (destination: string): Promise<string[]> =>
  owner.page.getByRole('row').filter({ hasText: destination }).getByRole('cell').allInnerTexts();

browser('recovers what the receiver missed in a period, and says how much', async () => {
  const { page } = owner;
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  await fixture.as('owner').patch(hook.url, { is_active: false });
  const [project] = (await fixture.as('owner').get('/api/projects/')).body;
  await fixture.as('owner').patch(project.url, { description: 'Changed while the hook was disabled' });
  await fixture.as('owner').patch(hook.url, { is_active: true });
  await owner.go(`/hooks-web/${hook.uuid}/`, `${new URL(receiver.url).host}/in`);
  receiver.take();
  await owner.act('Recover');
  const since = owner.dialog().getByLabel('Since');
  assert.match(await since.inputValue(), /^\d{4}-\d\d-\d\dT/, 'the form starts with a period');
  await since.fill(new Date(fixture.clock.now() / 1000 - 60_000).toISOString().slice(0, 16));
  await owner.dialog().getByRole('button', { name: 'Recover' }).click();
  await page
    .getByRole('status')
    .getByText(/^1 delivery is queued until /)
    .waitFor();
  await deliver();
  assert.equal(
    receiver.takeJson().map(({ type }) => type),
    ['project_update_succeeded'],
  );
});

browser('lists the destination, events, last delivery and delivered share of each hook', async () => {
  const { page } = owner;
  await fixture
    .as('owner')
    .post('/api/hooks-email/', { email: 'team@example.com', event_types: ['user_creation_succeeded'] });
  const gone = await fixture
    .as('owner')
    .post('/api/hooks-web/', { destination_url: `${receiver.url}/gone`, event_groups: ['projects', 'users'] });
  receiver.behaviour = 410;
  await fixture.as('owner').post(`${gone.body.url}test/`);
  await deliver();
  await owner.go('/hooks/', 'Notifications');
  await page.getByText('100%').waitFor();
  const { host } = new URL(receiver.url);
  assert.is(await page.getByRole('searchbox').count(), 0, 'a search by email would find no webhook');
  const [name, events, last = '', share] = await cellsOf('/in');
  assert.equal([name, events, share], [`${host}\nWebhook · /in`, 'Projects', '100%']);
  assert.match(last, /^Delivered\n/);
  assert.equal((await cellsOf('/gone')).slice(0, 4), [
    `${host}\nWebhook · /gone`,
    'Projects, People',
    'Disabled\nNothing delivered in 7 days',
    '0%',
  ]);
  assert.equal((await cellsOf('team@example.com')).slice(0, 4), [
    'team@example.com\nEmail',
    '1 event type',
    'Not confirmed\nNothing delivered in 7 days',
    '–',
  ]);
  await fixture.as('owner').delete(gone.body.url);
  await page.setViewportSize({ width: 390, height: 900 });
  assert.equal(await owner.findings(), []);
  await page.setViewportSize({ width: 1300, height: 900 });
});

browser('reports an active hook whose deliveries fail, until one is delivered', async () => {
  const { page } = owner;
  const { host } = new URL(receiver.url);
  receiver.behaviour = 500;
  const [hook] = (await fixture.as('owner').get('/api/hooks-web/')).body;
  await fixture.as('owner').post(`${hook.url}test/`);
  await deliver();
  await owner.go('/hooks/', 'Notifications');
  await page.getByText(`Deliveries to ${host} are failing`).waitFor();
  await page
    .getByText(
      /The receiver responded with 500\. 1 delivery is pending and will be retried\. The notification is disabled/,
    )
    .waitFor();
  assert.match((await cellsOf('/in'))[2] ?? '', /^Failing\n/);
  assert.equal(await owner.findings(), []);
  await page.getByRole('link', { name: 'View deliveries' }).click();
  await owner.status('Failing');
  receiver.behaviour = 200;
  fixture.clock.advance(60);
  await deliver();
  await owner.status('Enabled');
  await owner.go('/hooks/', 'Notifications');
  await page.getByText(`Deliveries to ${host} are failing`).waitFor({ state: 'detached' });
  assert.match((await cellsOf('/in'))[2] ?? '', /^Delivered\n/);
});

browser('disables a hook immediately, and enables it again if the server rejects the change', async () => {
  const { page } = owner;
  const hook = await fixture
    .as('owner')
    .post('/api/hooks-web/', { destination_url: `${receiver.url}/switched`, event_groups: ['projects'] });
  await owner.go('/hooks/', 'Notifications');
  const toggle = page.getByRole('switch', { name: `Enable ${new URL(receiver.url).host}/switched` });
  assert.ok(await toggle.isChecked());
  const pending: (() => Promise<void>)[] = [];
  const address = `**${new URL(hook.body.url).pathname}`;
  await page.route(address, (route) => {
    pending.push(() => route.fallback());
  });
  const showsState = (isOn: boolean) => page.getByRole('switch', { name: /switched$/, checked: isOn }).waitFor();
  await toggle.click();
  await showsState(false);
  assert.is((await fixture.as('owner').get(hook.body.url)).body.is_active, true, 'the request is still pending');
  await pending[0]?.();
  await owner.settled();
  await showsState(false);
  assert.is((await fixture.as('owner').get(hook.body.url)).body.is_active, false);
  await toggle.click();
  await showsState(true);
  await fixture.as('owner').delete(hook.body.url);
  await pending[1]?.();
  await page.getByRole('status').getByText('Not found.').waitFor();
  await toggle.waitFor({ state: 'detached' });
  owner.complaints.splice(0);
});

tests.run();
