/** The inbox of the signed-in user: unread notifications in the top bar, the list, and mails about them. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('notices for a user in the console');
const browser = chromium ? tests : tests.skip;
let people: Personas;
let owner: Console;

tests.before(async () => {
  if (!chromium) return;
  people = await createPersonas(fixture);
  await fixture.staff.post(`${people.users.owner.url}password/`, { password });
  for (const [severity, message] of [
    ['Error', 'The disk is full.'],
    ['Warning', 'The disk is nearly full.'],
  ])
    await fixture.staff.post('/api/alerts/', { scope: people.customer.url, alert_type: message, severity, message });
  owner = await Console.as(chromium as Browser, fixture, 'owner');
});
tests.after(() => chromium?.close());

browser('shows the number of unread notices in the top bar, which leads to them', async () => {
  await owner.page.getByRole('link', { name: '2 unread notices' }).click();
  await owner.heading('For you').waitFor();
  const notices = owner.page.getByRole('region', { name: 'Notices' }).getByRole('listitem');
  await notices.first().waitFor();
  const texts = await notices.allInnerTexts();
  assert.equal(
    texts.map((text) => text.split('\n').slice(0, 2)),
    [
      ['The disk is nearly full.', 'Alert opened'],
      ['The disk is full.', 'Alert opened'],
    ],
  );
  assert.equal(await owner.findings(), []);
  await notices.first().getByRole('link').click();
  await owner.heading(people.customer.name).waitFor();
});

browser('marks all notices as read', async () => {
  await owner.go('/notifications/?unread=true', 'For you');
  await owner.button('Mark all as read: For you').click();
  await owner.page.getByText('Nothing needs your attention.').waitFor();
  await owner.page.getByRole('link', { name: 'For you' }).waitFor();
  assert.equal((await fixture.as('owner').get('/api/notifications/?unread')).body, []);
});

browser('stores when mails are sent, by the kind of notice', async () => {
  await owner.go('/notifications/', 'For you');
  await owner.page.getByLabel('Alert opened').selectOption({ label: 'At once' });
  await owner.page.getByText('Saved.').waitFor();
  assert.is((await fixture.as('owner').get('/api/notification-preferences/')).body.alert_opened, 'immediate');
  await owner.page.reload();
  await owner.heading('For you').waitFor();
  await owner.settled();
  assert.is(await owner.page.getByLabel('Alert opened').inputValue(), 'immediate');
  assert.equal(owner.complaints, []);
});

tests.run();
