/** Sessions in the console, which their user and staff can see and end. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createPersonas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('sessions in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
let owner: Console;
let place = '';

tests.before(async () => {
  if (!chromium) return;
  const { users } = await createPersonas(fixture);
  for (const { url } of [users.owner, users.stranger]) await fixture.staff.post(`${url}password/`, { password });
  await fixture.staff.post('/api/users/', { username: 'boss', is_staff: true });
  const [boss] = (await fixture.staff.get('/api/users/?username=boss')).body;
  await fixture.staff.post(`${boss.url}password/`, { password });
  place = `/users/${users.owner.uuid}/`;
  owner = await Console.signedIn(started(), fixture, 'owner');
});
tests.after(() => chromium?.close());

const sessionsIn = (opened: Console) => opened.page.getByRole('region', { name: 'Sessions' });

browser('marks the current session, and offers a button only for the others', async () => {
  const script = { username: 'owner', password };
  await fixture.anonymous.send('POST', '/api-auth/password/', script, { 'User-Agent': 'nightly/2 <b>(x)</b>' });
  await owner.go(place, /owner/);
  const rows = sessionsIn(owner).getByRole('listitem');
  const own = rows.filter({ hasText: 'This session' });
  assert.match(await own.innerText(), /Chrome on Linux/);
  assert.is(await own.getByRole('button').count(), 0);
  assert.equal(await owner.findings(), []);
  await rows.filter({ hasText: 'nightly/2' }).getByRole('button', { name: 'End session: nightly/2' }).click();
  await rows.filter({ hasText: 'nightly/2' }).waitFor({ state: 'detached' });
  assert.ok((await own.count()) === 1);
});

browser('one button ends all other sessions, and disappears without any', async () => {
  const other = await Console.signedIn(started(), fixture, 'owner');
  for (let i = 0; i < 2; i++) await fixture.anonymous.post('/api-auth/password/', { username: 'owner', password });
  await owner.page.reload();
  await sessionsIn(owner).getByRole('button', { name: 'End all others: Sessions' }).click();
  await sessionsIn(owner).getByRole('button').first().waitFor({ state: 'detached' });
  assert.is(await sessionsIn(owner).getByRole('listitem').count(), 1);
  await other.page.evaluate('location.hash = "/customers/"');
  await other.page.getByRole('dialog').waitFor();
  await other.close();
  assert.equal(owner.complaints, []);
});

browser('signing out during a read logs no error', async () => {
  const leaving = await Console.signedIn(started(), fixture, 'owner');
  const { page } = leaving;
  let held = 0;
  // Hold reads back until the token has been revoked.
  let release = (): void => undefined;
  const revoked = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/(?!events\/stream)/, async (route) => {
    if (route.request().method() === 'GET') {
      held += 1;
      await revoked;
    }
    await route.continue().catch(() => undefined);
  });
  await page.evaluate('location.hash = "/customers/"');
  await leaving.heading('Customers').waitFor();
  while (held === 0) await page.evaluate('new Promise(requestAnimationFrame)');
  const revocation = page.waitForResponse(/\/api-auth\/logout\//);
  await leaving.signOut();
  await revocation;
  release();
  await leaving.heading(/^Sign in/).waitFor();
  await leaving.settled();
  assert.equal(leaving.complaints, []);
  await page.unrouteAll({ behavior: 'wait' });
  await leaving.signIn('owner');
  await leaving.settled();
  await leaving.signOut();
  await leaving.heading(/^Sign in/).waitFor();
  assert.equal(leaving.complaints, []);
  await leaving.close();
});

browser('staff end the sessions of other users, who see only their own', async () => {
  const stranger = await Console.signedIn(started(), fixture, 'stranger');
  await stranger.go(place, /owner/);
  assert.is(await sessionsIn(stranger).count(), 0);
  await stranger.close();
  const boss = await Console.signedIn(started(), fixture, 'boss');
  await boss.go(place, /owner/);
  await sessionsIn(boss)
    .getByRole('button', { name: /^End session/ })
    .click();
  await sessionsIn(boss).getByText('No sessions.').waitFor();
  assert.is(
    await sessionsIn(boss)
      .getByRole('button', { name: /^End all/ })
      .count(),
    0,
  );
  assert.equal(boss.complaints, []);
  await boss.close();
});

tests.run();
