/** Counts the clicks of the first day in the console, from the first sign-in to the statistics. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Locator } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { Receiver } from '../support/receiver.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the whole first day in the console', {
  hooks_allowed_networks: ['127.0.0.0/8'],
});
const browser = chromium ? tests : tests.skip;

const maxClicks = 45;

/** A user who only types and clicks what a page shows. A choice from a list counts as two clicks. */
class Walker {
  readonly clicks: Record<string, number> = {};
  readonly rejected: string[] = [];
  #step = '';

  constructor(readonly visitor: Console) {
    visitor.page.on('response', (response) => {
      const method = response.request().method();
      if (method !== 'GET' && response.status() >= 400)
        this.rejected.push(`${this.#step}: ${method} ${response.url()} ${response.status()}`);
    });
  }

  step(name: string): void {
    this.#step = name;
  }

  async press(locator: Locator): Promise<void> {
    this.#count(1);
    await locator.click();
  }

  button = (name: string, within: Locator = this.#top()): Promise<void> =>
    this.press(within.getByRole('button', { name, exact: true }));

  link = (name: string, within: Locator = this.#top()): Promise<void> =>
    this.press(within.getByRole('link', { name, exact: true }).first());

  radio = (name: RegExp): Promise<void> => this.press(this.#top().getByRole('radio', { name }).first());

  async choose(label: string, option: string | number): Promise<void> {
    const select = this.#top().getByLabel(label, { exact: true });
    await select.locator('option').nth(1).waitFor({ state: 'attached' });
    this.#count(2);
    await select.selectOption(typeof option === 'number' ? { index: option } : option);
  }

  type = (label: string, text: string): Promise<void> => this.#top().getByLabel(label, { exact: true }).fill(text);

  get total(): number {
    return Object.values(this.clicks).reduce((sum, count) => sum + count, 0);
  }

  /** Returns the open dialog, or else the page. */
  #top = (): Locator => this.visitor.page.locator('dialog[open], body:not(:has(dialog[open]))');

  #count(clicks: number): void {
    this.clicks[this.#step] = (this.clicks[this.#step] ?? 0) + clicks;
  }
}

tests.before(async () => {
  if (!chromium) return;
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  await fixture.staff.post(`${me.url}password/`, { password });
});
tests.after(() => chromium?.close());

browser('takes at most 45 clicks and no rejected form', async () => {
  const receiver = await Receiver.start();
  const visitor = await Console.open(chromium as Browser, `${fixture.url}/`);
  const { page } = visitor;
  const walker = new Walker(visitor);
  const menu = page.getByRole('navigation', { name: 'Main' });

  walker.step('sign in');
  await walker.type('Username', 'admin');
  await walker.type('Password', password);
  await walker.button('Sign in');
  await visitor.heading(greeting).waitFor();

  walker.step('customer');
  await walker.button('Create customer');
  await walker.type('Name *', 'Acme');
  await walker.button('Create');
  await visitor.heading('Acme').waitFor();

  walker.step('project');
  await walker.button('New project');
  await walker.type('Name *', 'Webshop');
  await walker.button('Create');
  await visitor.heading('Webshop').waitFor();

  walker.step('invite a colleague');
  await walker.button('Invite');
  await walker.type('Email *', 'dora@example.com');
  await walker.choose('Project role *', 'manager');
  await walker.button('Create');
  const link = await visitor.dialog().getByLabel('Invitation link').inputValue();
  await walker.button('Done');

  const colleague = await Console.open(chromium as Browser, link);
  const guest = new Walker(colleague);
  guest.step('the colleague signs up');
  await guest.type('Username *', 'dora');
  await guest.type('Password *', password);
  await guest.button('Create account');
  await colleague.heading(greeting).waitFor();
  await colleague.page.getByRole('link', { name: 'Webshop' }).first().waitFor();

  walker.step('provider account');
  await walker.link('Connect');
  await walker.link('OpenStack Private clouds, instances, volumes');
  await walker.radio(/^Simulator/);
  await walker.type('Name *', 'Private cloud');
  await walker.button('Add account');
  await visitor.heading('Private cloud').waitFor();
  await work(fixture);
  await visitor.status('In sync');

  walker.step('private cloud');
  await walker.link('Create');
  // A slow list of connections must not cost a second click.
  await visitor.page.route('**/api/openstack-service-project-link/?*', async (route) => {
    await pause(1000);
    await route.continue();
  });
  await walker.link('OpenStack private clouds');
  await walker.type('Name *', 'acme');
  await walker.button('Create OpenStack private cloud');
  await visitor.heading('acme').waitFor();
  await work(fixture);
  await visitor.status('Ready');

  walker.step('machine');
  await walker.link('Create virtual machine');
  await walker.type('Name *', 'web-1');
  await walker.radio(/m1\.small/);
  await walker.radio(/^CirrOS/);
  await walker.type('System volume *', '20');
  await walker.button('Create OpenStack instance');
  await visitor.heading('web-1').waitFor();
  await work(fixture);
  await visitor.status('Running');

  walker.step('volume');
  await walker.link('Resources', menu);
  await walker.link('Create');
  await walker.link('OpenStack volumes');
  await walker.type('Name *', 'data-1');
  await walker.type('Size *', '10');
  await walker.button('Create OpenStack volume');
  await visitor.heading('data-1').waitFor();
  await work(fixture);
  await visitor.status('Available');

  walker.step('stop');
  await walker.link('Resources', menu);
  await walker.link('web-1');
  await walker.button('Stop');
  await page.getByText('web-1 is stopping').waitFor();
  await work(fixture);
  await visitor.status('Stopped');

  walker.step('alert');
  // Another client of the provider deletes the machine.
  await walker.button('Change at the provider');
  await walker.choose('Change *', 'vanish');
  await walker.button('Change at the provider');
  await visitor.dialog().waitFor({ state: 'detached' });
  await walker.press(page.locator('main .head').getByRole('button', { name: 'More actions' }));
  await walker.press(page.getByRole('menuitem', { name: 'Refresh from provider' }));
  await visitor.status('Updating');
  await work(fixture);
  await visitor.status('Missing at provider');
  // The link shows the number of open alerts.
  await walker.press(menu.getByRole('link', { name: /^Alerts 1/ }));
  await page.getByText(/web-1 is missing from/).waitFor();

  walker.step('notification');
  await walker.link('Notifications', menu);
  await walker.button('New notification');
  await walker.press(page.getByRole('menuitem', { name: 'Webhook' }));
  await walker.type('Endpoint URL *', `${receiver.url}/in`);
  await walker.button('Create');
  await walker.button('I have saved it');
  await walker.button('Send test');
  await fixture.advance(1);
  await page.getByRole('region', { name: 'Deliveries' }).getByText('Delivered', { exact: true }).waitFor();

  walker.step('statistics');
  await walker.link('Statistics', menu);
  await visitor.heading('Statistics').waitFor();
  assert.equal([...walker.rejected, ...guest.rejected], []);
  const clicks = { ...walker.clicks, ...guest.clicks };
  assert.ok(walker.total + guest.total <= maxClicks, JSON.stringify(clicks));
  assert.equal([...visitor.complaints, ...colleague.complaints], []);
  await Promise.all([receiver.close(), visitor.close(), colleague.close()]);
});

tests.run();
