/** The console's sentences about events, alerts and notifications: one for each type, in both languages. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { automaticAlerts } from '../../src/activity/alerts/catalogue.ts';
import { catalogue } from '../../src/activity/events/catalogue.ts';
import { notificationKinds } from '../../src/activity/notifications/catalogue.ts';
import estonian from '../../src/console/i18n/et.json' with { type: 'json' };
import { partsOf, type Words } from '../../src/console/i18n/lookup.ts';
import sentences from '../../src/console/i18n/sentences.json' with { type: 'json' };
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('sentences of the console');
const chromium = await startBrowser();
const browser = chromium ? test : test.skip;
const translations: Words = estonian;
const document = 'events';
const specification = readFileSync(new URL(`../../src/spec/${document}.md`, import.meta.url), 'utf8');

test.after(() => chromium?.close());

/** Staff write the text of these events. */
const isWrittenByUsers = (type: string): boolean => type === 'custom_notification';

test('has a sentence for every type of event and alert of the specification', () => {
  const [, table = ''] = /^### 4\.2(.*)^### 4\.3/ms.exec(specification) ?? [];
  const types = [...table.matchAll(/^\| \d+ \| (\w+) \|/gm)].map(([, type = '']) => type);
  assert.ok(types.length >= 45);
  assert.equal(Object.keys(sentences.events).sort(), types.filter((type) => !isWrittenByUsers(type)).sort());
  assert.equal(Object.keys(sentences.alerts).sort(), Object.keys(automaticAlerts).sort());
  const unknown = Object.keys(sentences.notifications).filter((kind) => !Object.hasOwn(notificationKinds, kind));
  assert.equal(unknown, []);
});

test('translates every sentence, with the same values', () => {
  const valuesOf = (text: string): string => [...new Set(partsOf(text).filter((_, at) => at % 2 === 1))].sort().join();
  const all = Object.values(sentences).flatMap((group) => Object.values(group));
  const faults = all.filter((text) => {
    const translation = translations[text];
    return translation === undefined || valuesOf(translation) !== valuesOf(text);
  });
  assert.equal(faults, []);
});

const uuid = 'a1'.repeat(16);

/** Context values with a special format. */
const special: Readonly<Record<string, string>> = {
  structure_type: 'project',
  role_name: 'Manager',
  resource_type: 'OpenStack.Instance',
  quota_name: 'nc_volume_size',
  percent: '80',
  expiration_time: '2026-12-01T10:00:00.000Z',
  affected_user_token_lifetime: '3600',
};

const sampleOf = (key: string): string => special[key] ?? (key.endsWith('_uuid') ? uuid : `‹${key}›`);

/** Returns a context with every key of its type. */
const contextOf = ({ optional, required }: { optional: readonly string[]; required: readonly string[] }): Json =>
  Object.fromEntries([...required, ...optional].map((key) => [key, sampleOf(key)]));

/** Returns one event of each type. */
const eventsNow = (): Json[] =>
  Object.entries(catalogue).map(([type, { context, level, message }], index) => ({
    ...contextOf(context),
    '@timestamp': new Date(fixture.clock.now() / 1000 - index * 1000).toISOString(),
    '@version': 1,
    uuid: index.toString(16).padStart(32, '0'),
    message: message === '{message}' ? 'A message that staff wrote.' : `the server says ${type}`,
    level,
    event_type: type,
  }));

/** Opens a list with a replaced response. Returns the visible text of the page. */
async function textWith(page: Page, place: string, pattern: RegExp, body: Json): Promise<string> {
  await page.route(pattern, (route) =>
    route.fulfill({ status: 200, headers: { 'X-Result-Count': String(body.length) }, json: body }),
  );
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  await page.getByRole('main').getByText('‹', { exact: false }).first().waitFor();
  const text = await page.getByRole('main').innerText();
  await page.unroute(pattern);
  return text;
}

const titlesOf = (group: Readonly<Record<string, string>>, translate: (text: string) => string): string[] =>
  Object.values(group).flatMap((sentence) =>
    partsOf(translate(sentence))
      .filter((part, at) => at % 2 === 0 && part.trim().length > 3)
      .map((part) => part.trim()),
  );

for (const language of ['en', 'et'] as const)
  browser(
    `says what happened in ${language}, with the names of the objects and without the text of the server`,
    async () => {
      const { url } = await fixture.user(`reader-${language}`, { is_staff: true, preferred_language: language });
      await fixture.staff.post(`${url}password/`, { password });
      const visitor = await Console.open(chromium as Browser, `${fixture.url}/`);
      await visitor.page.locator('[name=username]').fill(`reader-${language}`);
      await visitor.page.locator('[name=password]').fill(password);
      await visitor.page.locator('[type=submit]').click();
      await visitor.page.locator('nav#places').waitFor();
      const translate = (text: string): string => (language === 'et' ? (translations[text] ?? text) : text);

      const text = await textWith(visitor.page, '/events/', /\/api\/events\/\?/, eventsNow());
      assert.not.match(text, /the server says|\{\w+\}/);
      assert.match(text, 'A message that staff wrote.');
      const missing = titlesOf(sentences.events, translate).filter((words) => !text.includes(words));
      assert.equal(missing, []);

      const alerts = Object.keys(automaticAlerts).map((type, index) => ({
        url: `${fixture.url}/api/alerts/${index.toString(16).padStart(32, '0')}/`,
        uuid: index.toString(16).padStart(32, '0'),
        alert_type: type,
        message: `the server says ${type}`,
        severity: 'Warning',
        scope: `${fixture.url}/api/projects/${uuid}/`,
        created: new Date(fixture.clock.now() / 1000).toISOString(),
        closed: null,
        acknowledged: false,
        context: {
          ...contextOf(catalogue.resource_creation_failed.context),
          ...contextOf(catalogue.custom_notification.context),
        },
      }));
      const said = await textWith(visitor.page, '/alerts/', /\/api\/alerts\/\?/, alerts);
      assert.not.match(said, /the server says|\{\w+\}/);
      assert.equal(
        titlesOf(sentences.alerts, translate).filter((words) => !said.includes(words)),
        [],
      );
      assert.equal(visitor.complaints, []);
      await visitor.close();
    },
  );

browser('offers the page on which the cause of an alert is fixed', async () => {
  const customer = await fixture.customer('Helios');
  const { url: quota } = (await fixture.staff.get('/api/quotas/?name=nc_project_count')).body.find(
    ({ scope }: Json) => scope === customer.url,
  );
  await fixture.staff.patch(quota, { threshold: 1 });
  await fixture.staff.post('/api/projects/', { name: 'Rocket', customer: customer.url });
  const visitor = await Console.as(chromium as Browser, fixture, 'reader-en');
  await visitor.go('/alerts/', 'Alerts');
  const row = visitor.page.getByRole('listitem').filter({ hasText: 'Helios is over its alert threshold for Projects' });
  await row.getByRole('link', { name: /^View quota/ }).click();
  await visitor.heading(/Projects/).waitFor();
  assert.match(visitor.page.url(), new RegExp(`#/quotas/${quota.split('/').at(-2)}/$`));
  await visitor.close();
});

test.run();
