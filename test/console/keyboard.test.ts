/** The first day with only a keyboard, from the printed link to the statistics. The focus is always visible. */
import type { Browser, Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { makeInitialLink } from '../../src/accounts/session/initial-link.ts';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { Receiver } from '../support/receiver.ts';
import { newestSecret } from '../support/sent-mails.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the keyboard alone in the console', {
  hooks_allowed_networks: ['127.0.0.0/8'],
});
const browser = chromium ? tests : tests.skip;
let receiver: Receiver;
let person: Keyboard;

/** A keyboard that counts key presses. */
class Keyboard {
  actions = 0;

  constructor(readonly console: Console) {}

  get page(): Page {
    return this.console.page;
  }

  async press(key: string): Promise<void> {
    this.actions += 1;
    await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    this.actions += 1;
    await this.page.keyboard.type(text);
  }

  /** Presses Tab until the target has the focus. Asserts that the focus is visible on each element on the way. */
  async reach(target: Locator): Promise<void> {
    await target.first().waitFor();
    for (let steps = 0; steps < 120; steps += 1) {
      if ((await target.and(this.page.locator(':focus')).count()) > 0) return;
      await this.page.keyboard.press('Tab');
      const seen = await this.page.evaluate<string>(
        `(({ activeElement: e }) => {
          const rings = [e, e.parentElement].map((one) => getComputedStyle(one));
          return e === document.body || rings.some((ring) => ring.outlineStyle !== 'none' || ring.boxShadow !== 'none') ? '' : e.outerHTML;
        })(document)`,
      );
      assert.is(seen, '', 'the focus is not seen');
    }
    throw new Error(`the keyboard does not get to ${target}`);
  }

  async activate(name: string | RegExp, role: 'button' | 'link' = 'button'): Promise<void> {
    await this.reach(this.page.getByRole(role, { name, exact: true }));
    await this.press('Enter');
  }

  async fill(label: string, text: string): Promise<void> {
    await this.reach(this.page.getByLabel(label, { exact: true }));
    await this.type(text);
  }

  /** Selects the first choice of a field. */
  async choose(label: string): Promise<void> {
    const select = this.page.getByLabel(label, { exact: true });
    // Choices can depend on previous fields.
    await this.console.settled();
    await select.locator('option').nth(1).waitFor({ state: 'attached' });
    await this.reach(select);
    await this.press('ArrowDown');
  }

  /** Opens a page with the palette. */
  async goTo(title: string, heading: string | RegExp = title): Promise<void> {
    await this.press('Control+k');
    await this.type(title);
    const option = this.page.getByRole('option', { name: title }).first();
    await option.and(this.page.locator('[aria-selected=true]')).waitFor();
    await this.press('Enter');
    await this.arrived(heading);
  }

  /** Waits until the heading of a page has the focus. */
  async arrived(heading: string | RegExp): Promise<void> {
    await this.console.heading(heading).and(this.page.locator(':focus')).waitFor();
    await this.console.settled();
  }

  problems = (): Promise<readonly string[]> => this.page.locator('main :is(.error, .callout.bad)').allInnerTexts();
}

const open = async (place: string): Promise<Keyboard> =>
  new Keyboard(await Console.open(chromium as Browser, `${fixture.url}/${place}`));

const deliver = (): Promise<void> => fixture.advance(1);

tests.before(async () => {
  if (!chromium) return;
  receiver = await Receiver.start();
  person = await open(`#/first/${makeInitialLink(fixture.server.app)}`);
});
tests.after(async () => {
  await chromium?.close();
  await receiver?.close();
});

browser('the first user signs in, skips to the content, and creates a customer and a project', async () => {
  await person.fill('Full name', 'Alice Adams');
  await person.fill('Password *', password);
  await person.press('Enter');
  await person.arrived(greeting);
  await person.page.reload();
  // After loading, the heading gets the focus.
  await person.arrived(greeting);
  await person.press('Tab');
  await person.activate('Skip to content');
  assert.is(await person.page.evaluate('document.activeElement.id'), 'content');
  await person.goTo('Customers');
  await person.activate('New customer');
  await person.fill('Name *', 'Acme');
  await person.press('Enter');
  await person.arrived('Acme');
  await person.activate('New project');
  await person.fill('Name *', 'Rocket');
  await person.press('Enter');
  await person.arrived('Rocket');
  await person.page.getByRole('status').getByText('Rocket was created.').waitFor();
});

browser('an invited colleague signs up', async () => {
  await person.activate('Invite');
  await person.fill('Email *', 'bob@example.com');
  await person.choose('Project role *');
  await person.activate('Create');
  await person.activate('Done');
  await person.console.dialog().waitFor({ state: 'detached' });
  const guest = await open(`#/invitation/${await newestSecret(fixture)}/`);
  await guest.fill('Username *', 'bob');
  await guest.fill('Password *', password);
  await guest.activate('Create account');
  await guest.arrived(greeting);
  person.actions += guest.actions;
  await guest.console.close();
});

browser(
  'an account is added on the simulator; a machine and a volume are made there, and the machine is stopped',
  async () => {
    await person.goTo('Provider accounts');
    await person.activate('Add provider account', 'link');
    await person.activate(/^Amazon/, 'link');
    await person.arrived('Add an account at Amazon');
    await person.reach(person.page.getByRole('radio', { name: /^Amazon/ }));
    await person.press('ArrowDown');
    await person.fill('Name *', 'Cloud');
    await person.choose('Customer *');
    await person.activate('Add account');
    await person.arrived(/^Cloud/);
    await work(fixture);
    for (const [kind, fields, groups] of [
      ['EC2 instances', ['Project connection *', 'Region *'], ['Image', 'Size']],
      ['EBS volumes', ['Project connection *', 'Region *'], []],
    ] as const) {
      await person.goTo('Resources');
      await person.activate('Create', 'link');
      await person.activate(kind, 'link');
      await person.arrived(/^New /);
      await person.fill('Name *', 'web');
      for (const field of fields) await person.choose(field);
      for (const group of groups) {
        await person.console.settled();
        await person.reach(person.page.getByRole('group', { name: group }).getByRole('radio').first());
        await person.press('Space');
      }
      if (kind === 'EBS volumes') {
        await person.fill('Size *', '1');
        await person.choose('Type *');
      }
      await person.reach(person.page.locator('main form [type=submit]'));
      await person.press('Enter');
      await person.console.settled();
      assert.equal(await person.problems(), []);
      await person.arrived(/^web/);
      await work(fixture);
      await person.page.locator('main .head .badge').first().waitFor();
    }
    await person.goTo('EC2 instances');
    await person.activate('web', 'link');
    await person.arrived(/^web/);
    await person.activate('Stop');
    await person.page.getByRole('status').getByText('web is stopping').waitFor();
    await work(fixture);
    await person.console.button('Start').waitFor();
    const [machine] = (await fixture.as('admin').get('/api/aws-instances/')).body;
    assert.is(machine.runtime_state, 'stopped');
  },
);

browser('acknowledges an alert, delivers a notification, and opens the statistics', async () => {
  const admin = fixture.as('admin');
  const [{ url: scope }] = (await admin.get('/api/projects/')).body;
  await admin.post('/api/alerts/', {
    scope,
    alert_type: 'disk_full',
    severity: 'Warning',
    message: 'The disk is full.',
  });
  await person.goTo('Alerts');
  await person.activate('Acknowledge: The disk is full.');
  await person.page.getByRole('button', { name: 'Cancel acknowledgment: The disk is full.' }).waitFor();
  await person.page.locator('main :focus').waitFor();
  await person.goTo('Notifications');
  await person.activate('New notification');
  await person.page.getByRole('menuitem', { name: 'Webhook' }).and(person.page.locator(':focus')).waitFor();
  await person.press('Enter');
  await person.fill('Endpoint URL *', `${receiver.url}/in`);
  await person.activate('Create');
  await person.activate('I have saved it');
  await person.arrived(`${new URL(receiver.url).host}/in`);
  await person.activate('Send test');
  await deliver();
  await person.page.getByRole('region', { name: 'Deliveries' }).getByText('Delivered').waitFor();
  await person.goTo('Statistics');
  await person.reach(person.page.getByText('View as table').first());
  await person.press('Enter');
  await person.page.getByRole('row').filter({ visible: true }).first().waitFor();
  assert.equal(person.console.complaints, []);
  assert.ok(person.actions < 120, `${person.actions} actions`);
});

browser('moves the focus from a deleted element to a remaining one', async () => {
  const admin = fixture.as('admin');
  const [customer] = (await admin.get('/api/customers/')).body;
  const [bob] = (await admin.get('/api/users/?username=bob')).body;
  await admin.post('/api/customer-permissions/', { customer: customer.url, user: bob.url, role: 'owner' });
  await person.goTo('Customers');
  await person.activate('Acme', 'link');
  await person.arrived('Acme');
  await person.page.evaluate(`location.hash += '?tab=team'`);
  const roles = person.page.getByRole('region', { name: 'Roles' });
  const row = roles.getByRole('row').filter({ hasText: 'Entire customer' });
  await person.reach(row.getByRole('button', { name: /^Actions for/ }));
  await person.press('Enter');
  await person.page.getByRole('menuitem', { name: 'Revoke role' }).waitFor();
  await person.press('End');
  await person.press('Enter');
  await person.reach(person.console.dialog().getByRole('button', { name: 'Revoke role' }));
  await person.press('Enter');
  await row.waitFor({ state: 'detached' });
  await person.page.locator('main :focus').waitFor();
  assert.equal((await admin.get('/api/customer-permissions/')).body as Json, []);
});

browser('keeps the focus outside the page when its content changes', async () => {
  const focused = (): Promise<string> => person.page.evaluate('document.activeElement.tagName');
  await person.goTo('Customers');
  for (let steps = 0; steps < 120 && (await focused()) !== 'BODY'; steps += 1) await person.page.keyboard.press('Tab');
  assert.is(await focused(), 'BODY');
  await fixture.as('admin').post('/api/customers/', { name: 'Zebra' });
  await person.console.link('Zebra').waitFor();
  // The page checks the focus shortly after each change.
  await person.page.evaluate('new Promise((done) => setTimeout(done, 200))');
  assert.is(await focused(), 'BODY');
});

tests.run();
