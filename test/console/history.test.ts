/** History and problems in the console: charts and their tables, filtered events, alerts. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createDroplet, type Droplets } from '../support/droplets.ts';
import type { Json } from '../support/fixture.ts';
import type { Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('history and problems in the console');
const browser = chromium ? tests : tests.skip;
let setup: { people: Personas; cloud: Droplets; droplet: Json };
let owner: Console;

const started = (): Browser => chromium as Browser;

/** Opens the console as a user, with the browser on the clock of the server. */
async function visit(username: string, width?: number): Promise<Console> {
  const visitor = await Console.open(started(), 'about:blank', width);
  await visitor.page.clock.setFixedTime(new Date(fixture.clock.now() / 1000));
  await visitor.page.goto(`${fixture.url}/`);
  await visitor.signIn(username);
  return visitor;
}

tests.before(async () => {
  if (!chromium) return;
  setup = await createDroplet(fixture);
  const { users } = setup.people;
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  for (const { url } of [me, ...Object.values(users)]) await fixture.staff.post(`${url}password/`, { password });
  for (const [period, value] of [
    ['2017-12', 99.1],
    ['2018-01', 99.7],
  ])
    await fixture.staff.put('/api/resource-sla/', { scope: setup.droplet.url, period, value, agreed_value: 99.5 });
  await fixture.staff.put('/api/monitoring-items/', { scope: setup.droplet.url, name: 'cpu_usage', value: 64.8 });
  for (const [severity, alert_type] of [
    ['Error', 'disk_full'],
    ['Warning', 'slow'],
  ])
    await fixture.staff.post('/api/alerts/', {
      severity,
      alert_type,
      message: `It is ${alert_type}.`,
      scope: setup.people.project.url,
    });
  fixture.clock.advance(2 * 24 * 3600);
  owner = await visit('owner');
});
tests.after(() => chromium?.close());

browser('shows the history of a quota as a chart with a table', async () => {
  const { page } = owner;
  await owner.go(`/projects/${setup.people.project.uuid}/`, 'Rocket');
  await page
    .getByRole('region', { name: 'Usage over time' })
    .getByRole('img', { name: /^vCPUs, up to 1/ })
    .waitFor();
  await page
    .getByRole('region', { name: 'Limits', exact: true })
    .getByRole('link', { name: /^Virtual machines/ })
    .click();
  await owner.heading('Virtual machines').waitFor();
  await page.getByRole('img', { name: 'Virtual machines, up to 1' }).waitFor();
  await owner.link('7 days').click();
  await page.getByRole('link', { name: '7 days', exact: true }).and(page.locator('[aria-current=true]')).waitFor();
  assert.match(new URL(page.url()).hash, /\?days=7$/);
  await page.getByText('View as table').press('Enter');
  const values = await page.getByRole('row').last().getByRole('cell').allInnerTexts();
  assert.equal(values, ['1']);
  assert.equal(await owner.findings(), []);
});

browser(
  'charts are in the colours of the theme, as wide as their place, with gaps where nothing is known',
  async () => {
    const visitor = await visit('owner', 1000);
    const { page } = visitor;
    await page.emulateMedia({ colorScheme: 'light' });
    await visitor.go('/statistics/?days=7', 'Statistics');
    const chart = page.getByRole('img', { name: /^vCPUs, up to 1/ });
    await chart.locator('canvas').waitFor();
    /** Returns the horizontal extent of a token's colour on the canvas, and its width relative to the page. */
    const drawn = (token: string) =>
      chart.evaluate((element, wanted) => {
        const canvas = element.querySelector('canvas') as HTMLCanvasElement;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
        copy?.drawImage(canvas, 0, 0);
        const pixels = copy?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
        const text = getComputedStyle(document.documentElement).getPropertyValue(wanted).trim();
        const colour = [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
        const columns = new Set<number>();
        for (let at = 0; at < pixels.length; at += 4)
          if (colour.every((part, index) => pixels[at + index] === part)) columns.add((at / 4) % canvas.width);
        return {
          text,
          from: Math.min(...columns) / canvas.width,
          isFilled: canvas.clientWidth === element.clientWidth,
        };
      }, token);
    const light = await drawn('--series-1');
    // The usage was 0 before the machine was created, two days ago.
    assert.ok(light.isFilled && light.from > 0.6 && light.from < 1, JSON.stringify(light));
    await page.emulateMedia({ colorScheme: 'dark' });
    await visitor.settled();
    const dark = await drawn('--series-1');
    assert.is.not(dark.text, light.text);
    assert.ok(dark.from > 0.6 && dark.from < 1, JSON.stringify(dark));
    await page.setViewportSize({ width: 400, height: 900 });
    await visitor.settled();
    const narrow = await drawn('--series-1');
    assert.ok(narrow.isFilled && narrow.from < 1, JSON.stringify(narrow));
    const box = await chart.boundingBox();
    await chart.hover({ position: { x: (box?.width ?? 0) - 40, y: 50 } });
    await page.getByText(/^\d+ Jan 2018, .* · Usage 1$/).waitFor();
    assert.equal(visitor.complaints, []);
    await visitor.close();
  },
);

browser('shows the availability and the latest measurements of a resource', async () => {
  const { page } = owner;
  await owner.go(`/digitalocean-droplets/${setup.droplet.uuid}/`, /^web/);
  await page.getByRole('region', { name: 'Availability' }).getByText('99.7%').waitFor();
  await page.getByRole('region', { name: 'Monitoring', exact: true }).getByText('64.8%').waitFor();
  await page.getByRole('link', { name: 'Monitoring' }).click();
  const months = page.getByRole('region', { name: 'Availability by month' });
  await months.getByText('View as table').click();
  const rows = await months.getByRole('row').allInnerTexts();
  assert.equal(
    rows.slice(1).map((row) => row.split('\t').slice(1)),
    [
      ['99.1', '99.5'],
      ['99.7', '99.5'],
    ],
  );
  const watched = page.getByRole('region', { name: 'CPU, the last week' });
  await watched.getByText('View as table').click();
  assert.match(await watched.getByRole('row').last().innerText(), /64\.8/);
  assert.equal(await owner.findings(), []);
});

browser('shows the statistics of the period in the address', async () => {
  const { page } = owner;
  await owner.go('/statistics/?days=7', 'Statistics');
  const growth = page.getByRole('region', { name: 'Customers and projects' });
  await growth.getByText(/^1 project\s+1 customer, \d created in this period$/).waitFor();
  await page.locator('.tile').filter({ hasText: 'Storage' }).getByText('25 GiB').waitFor();
  const availability = page.getByRole('region', { name: 'Availability' });
  const cells = (await availability.getByRole('row').allInnerTexts()).map((row) => row.split(/\s+/));
  assert.equal(cells, [
    ['Resource', 'Reached', 'Agreed'],
    ['web', '99.70%', '99.50%'],
  ]);
  assert.is(
    await availability.getByRole('link', { name: 'Show all' }).getAttribute('href'),
    '#/resources/?o=actual_sla',
  );
  const usage = page.getByRole('region', { name: 'Usage over time' });
  await usage.getByRole('img', { name: /^vCPUs, up to 1/ }).waitFor();
  await usage.getByRole('link', { name: 'Storage' }).click();
  await usage.getByRole('img', { name: /^Storage, up to 25 GiB/ }).waitFor();
  assert.is(await usage.getByRole('img').count(), 1);
  assert.match(page.url(), /days=7&measure=storage$/);
  await page.getByRole('img', { name: /^Events by day/ }).waitFor();
  assert.equal(await owner.findings(), []);
  assert.equal(owner.complaints, []);
});

browser('counts events by day, and filters them by group and by days', async () => {
  const { page } = owner;
  await owner.go('/events/', 'Events');
  const days = page.getByRole('region', { name: 'Events', exact: true });
  await days.getByRole('heading', { level: 2 }).first().waitFor();
  const filters = page.getByRole('search');
  await filters.getByRole('button', { name: 'Period: last 30 days' }).waitFor();
  await filters.getByRole('button', { name: 'Group' }).click();
  await page.getByRole('menuitemradio', { name: 'Resources' }).click();
  await page.waitForURL(/#\/events\/\?feature=resources$/);
  await days.getByText('web was created').waitFor();
  const choosePeriod = async (first: string, last: string): Promise<void> => {
    await filters.getByRole('button', { name: 'Period: last 30 days' }).click();
    await page.getByLabel('First day').fill(first);
    await page.getByLabel('Last day').fill(last);
    await owner.button('Apply').click();
  };
  await choosePeriod('2018-01-06', '2018-01-07');
  await page.getByText('Nothing matches.').waitFor();
  await filters.getByRole('button', { name: 'Period: 6 Jan – 7 Jan, remove' }).click();
  await days.getByText('web was created').waitFor();
  await choosePeriod('2018-01-03', '2018-01-07');
  await days.getByText('web was created').waitFor();
  // In the table of the chart, each day links to its events.
  await page.getByText('View as table').click();
  const table = page.getByRole('row').filter({ has: page.getByRole('link') });
  assert.is(await table.count(), 5);
  const day = table.filter({ has: page.getByRole('cell', { name: /^[1-9]/ }) });
  const [, count = ''] = (await day.innerText()).split('\t');
  await day.getByRole('link').click();
  await filters.getByRole('button', { name: /^Period: \d+ Jan, remove/ }).waitFor();
  await days
    .getByRole('heading', { level: 2 })
    .getByText(new RegExp(`${count} events?`))
    .waitFor();
  assert.is(await days.getByRole('heading', { level: 2 }).count(), 1);
  assert.equal(await owner.findings(), []);
});

browser('shows the events of 30 days, and earlier ones on request', async () => {
  const visitor = await visit('owner');
  const { page } = visitor;
  await page.clock.setFixedTime(new Date(fixture.clock.now() / 1000 + 40 * 24 * 3600 * 1000));
  await visitor.go('/events/', 'Events');
  await page.getByText('Nothing matches.').waitFor();
  await visitor.link('Clear filters').click();
  const list = page.getByRole('region', { name: 'Events', exact: true });
  await list.getByText('web was created').waitFor();
  assert.match(page.url(), /#\/events\/\?all=true$/);
  assert.is(await page.locator('.filters .found').count(), 0, 'all of them');
  await page.getByRole('button', { name: 'Period: all times, remove' }).click();
  await page.getByText('Nothing matches.').waitFor();
  await page.getByRole('button', { name: 'Period: last 30 days' }).click();
  await visitor.link('All times').click();
  await list.getByText('web was created').waitFor();
  await page.getByRole('button', { name: 'User', exact: true }).click();
  await page.getByRole('option', { name: 'owner' }).click();
  await page.waitForURL(/[?&]user_username=owner/);
  await page
    .locator('.filters .found')
    .getByText(/^\d+ of \d+$/)
    .waitFor();
  assert.equal(await visitor.findings(), []);
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('offers new events without moving the list', async () => {
  const { page } = owner;
  await owner.go('/events/', 'Events');
  const list = page.getByRole('region', { name: 'Events', exact: true });
  const rows = list.getByRole('listitem');
  const first = await rows.first().innerText();
  const { url } = setup.people.project;
  for (const description of ['Orbit', 'Landing']) await fixture.staff.patch(url, { description });
  const button = page.getByRole('status').getByRole('button', { name: /^Show 2 new events$/ });
  const top = await rows.first().boundingBox();
  await button.waitFor();
  assert.is(await rows.first().innerText(), first);
  assert.equal(await rows.first().boundingBox(), top);
  const today = list.getByRole('heading', { level: 2 }).first();
  const before = Number.parseInt((await today.innerText()).replace(/^Today\s*/, ''), 10);
  assert.equal(await owner.findings(), []);
  await button.click();
  await rows
    .first()
    .getByText(/Orbit.*Landing/)
    .waitFor();
  await button.waitFor({ state: 'detached' });
  await today.getByText(`${before + 2} events`).waitFor();
  await fixture.staff.patch(url, { description: '' });
  await owner.button('Show 1 new event').waitFor();
  assert.equal(owner.complaints, []);
});

browser('groups alerts by severity and acknowledges them in the list', async () => {
  const { page } = owner;
  await owner.go('/alerts/', 'Alerts');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /^Open/ }).click();
  await page.getByRole('region', { name: 'Error' }).getByText('It is disk_full.').waitFor();
  await page.getByRole('region', { name: 'Warning' }).getByText('It is slow.').waitFor();
  await page.getByRole('searchbox').fill('slow');
  // Enter searches without a delay.
  await page.getByRole('searchbox').press('Enter');
  await page.getByText('It is disk_full.').waitFor({ state: 'detached' });
  // The other filters remain.
  assert.is(new URL(page.url()).hash, '#/alerts/?opened=true&message=slow');
  await page.goBack();
  await page.getByRole('button', { name: 'Severity' }).click();
  await page.getByRole('menuitemradio', { name: 'Error' }).click();
  await page.getByText('It is slow.').waitFor({ state: 'detached' });
  await owner.page.getByRole('button', { name: 'Acknowledge: It is disk_full.' }).press('Enter');
  await page.getByRole('button', { name: 'Cancel acknowledgment: It is disk_full.' }).waitFor();
  assert.is(await page.getByRole('button', { name: /^Close/ }).count(), 0);
  assert.equal(await owner.findings(), []);
  assert.equal(owner.complaints, []);
  const staff = await visit('admin');
  await staff.go('/alerts/?opened=', 'Alerts');
  await staff.page.getByRole('button', { name: 'Actions for It is disk_full.' }).click();
  await staff.page.getByRole('menuitem', { name: 'Close' }).click();
  const closed = staff.page.getByRole('region', { name: 'Closed in the last 7 days' });
  assert.match(await closed.getByRole('listitem').innerText(), /It is disk_full\.\s+.*open for \d+ day/);
  assert.is(await staff.page.getByRole('region', { name: 'Error' }).count(), 0);
  // Both alerts were open two days ago, and one still is.
  await staff.page.reload();
  await staff.settled();
  await staff.page.getByText('View as table').click();
  const days = staff.page.locator('.chart').getByRole('row');
  await days.last().waitFor();
  const counts = (await days.allInnerTexts()).slice(1).map((row) => Number(row.split('\t')[1]));
  assert.equal(counts, [0, 0, 0, 0, 2, 2, 2]);
  await staff.close();
  const open = (await fixture.staff.get('/api/alerts/?opened')).body;
  assert.equal(
    open.map(({ alert_type }: Json) => alert_type),
    ['slow'],
  );
});

browser('acknowledges an alert immediately, and undoes it if the server rejects the change', async () => {
  const { page } = owner;
  await owner.go('/alerts/?opened=true', 'Alerts');
  let respond: (() => Promise<void>) | undefined;
  await page.route('**/acknowledge/', (route) => {
    respond = () => route.fulfill({ status: 409, json: { detail: 'Another user was faster.' } });
  });
  await page.getByRole('button', { name: 'Acknowledge: It is slow.' }).click();
  await page.getByRole('button', { name: 'Cancel acknowledgment: It is slow.' }).waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'It is slow' })
    .getByText('Acknowledged', { exact: true })
    .waitFor();
  await respond?.();
  await page.getByRole('status').getByText('Another user was faster.').waitFor();
  await page.getByRole('button', { name: 'Acknowledge: It is slow.' }).waitFor();
  await page.unroute('**/acknowledge/');
  owner.complaints.splice(0);
});

browser('offers only the actions of an alert that are possible now', async () => {
  const { page } = owner;
  const [alert] = (await fixture.as('owner').get('/api/alerts/?opened')).body;
  await owner.go(new URL(alert.url).pathname.slice('/api'.length), 'It is slow.');
  assert.equal(
    (await owner.offered()).map(({ title }) => title),
    ['Acknowledge'],
  );
  await owner.act('Acknowledge');
  await owner.button('Cancel acknowledgment').waitFor();
  await owner.button('Acknowledge').waitFor({ state: 'detached' });
  await page.locator('main :focus').waitFor();
  // The focus is on the next action, or else on the heading.
  assert.match(await page.locator(':focus').innerText(), /^(Cancel acknowledgment|It is slow\.)$/);
});

browser('shows the roles and keys of a user, who adds a key', async () => {
  const { page } = owner;
  await owner.chooseInUserMenu(/^Profile/);
  await owner.heading('owner').waitFor();
  await page.getByRole('region', { name: 'Customer roles' }).getByRole('link', { name: 'owner of Alice' }).waitFor();
  await owner.button('Add SSH key').click();
  await owner.dialog().getByLabel('Public key').fill('ssh-ed25519 nothing');
  await owner.dialog().getByRole('button', { name: 'Create' }).click();
  await owner.dialog().locator('[aria-invalid=true]').first().waitFor();
  await page.keyboard.press('Escape');
});

browser('fits the screen of a phone', async () => {
  const visitor = await visit('owner', 360);
  for (const [place, heading] of [
    ['/statistics/', 'Statistics'],
    ['/alerts/', 'Alerts'],
    ['/events/', 'Events'],
    [`/digitalocean-droplets/${setup.droplet.uuid}/`, /^web/],
  ] as const) {
    await visitor.go(place, heading);
    assert.is(await visitor.page.evaluate('document.documentElement.scrollWidth'), 360, place);
  }
  await visitor.close();
});

tests.run();
