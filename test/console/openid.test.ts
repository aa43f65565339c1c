/** Sign-in at an OpenID Connect provider in the console, the identities of a user, and the check of providers, in a real browser. */
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-look.ts';
import { freePort } from '../support/free-port.ts';
import { OidcFixture } from '../support/oidc-fixture.ts';

const chromium = await startBrowser();
const tests = suite('OpenID Connect in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
const button = 'Continue with Example Company';
let oidc: OidcFixture;
let url: string;

tests.before(async () => {
  if (!chromium) return;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  oidc = await OidcFixture.start(
    {},
    {
      port,
      base_url: url,
      login_completed_url: `${url}/#/signed-in/{token}/{method}?next={next}`,
      login_failed_url: `${url}/#/sign-in-failed/`,
      logout_completed_url: `${url}/`,
    },
  );
  await oidc.provider.next({ accountId: 'c-1', claims: { preferred_username: 'carol', name: 'Carol Jones' } });
});
tests.after(async () => {
  if (!chromium) return;
  await chromium.close();
  await oidc.close();
});

browser('signs in at the provider, returns to the page, and shows the identity', async () => {
  const visitor = await Console.open(started(), `${url}/#/projects/`);
  await visitor.link(button).waitFor();
  assert.equal(await findFaults(visitor), []);
  await visitor.link(button).click();
  await visitor.heading('Projects').waitFor();
  assert.is(new URL(visitor.page.url()).hash, '#/projects/');
  const { uuid } = (await oidc.fixture.as('carol').get('/api/users/?current')).body[0];
  await visitor.go(`/users/${uuid}/`, /Carol/);
  await visitor.page.getByRole('region', { name: 'Identities' }).getByText('c-1').waitFor();
  await visitor.signOut();
  await visitor.link(button).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('shows why a login at the provider has failed', async () => {
  await oidc.provider.next({ accountId: 'c-1', error: 'access_denied' });
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.link(button).click();
  await visitor.page.getByText('The identity provider refused the login.').waitFor();
  assert.equal(await findFaults(visitor), []);
  await oidc.provider.next({ accountId: 'c-1' });
  await visitor.link(button).click();
  await visitor.heading(greeting).waitFor();
  await visitor.close();
});

browser('begins the sign-in by itself where the provider says so, but not after a sign-out', async () => {
  await oidc.provider.next({ accountId: 'c-1' });
  const visitor = await Console.open(started(), 'about:blank');
  await visitor.page.route('**/api/configuration/', async (route) => {
    // The page may leave before the response.
    const response = await route.fetch().catch(() => undefined);
    const body = await response?.json().catch(() => undefined);
    if (!response || !body) return;
    for (const provider of body.TENANTRY_AUTH_OIDC.PROVIDERS) provider.AUTO_REDIRECT = true;
    await route.fulfill({ response, json: body });
  });
  await visitor.page.goto(`${url}/`);
  await visitor.heading(greeting).waitFor();
  await visitor.signOut();
  await visitor.link(button).waitFor();
  assert.is(new URL(visitor.page.url()).hash, '#/');
  await visitor.close();
});

browser('staff check the providers on the page of the operation', async () => {
  const me = (await oidc.fixture.staff.get('/api/users/?current')).body[0];
  await oidc.fixture.staff.post(`${me.url}password/`, { password });
  const staff = await Console.as(started(), oidc.fixture, 'admin');
  await staff.go('/operation/', /./);
  const card = staff.page.getByRole('region', { name: 'Identity providers' });
  await card.getByRole('button', { name: 'Check the identity providers' }).click();
  for (const title of ['Discovery document', 'Redirect URI', 'Client authentication'])
    await card.getByText(title).waitFor();
  assert.is(await card.locator('li.bad').count(), 0);
  assert.is(await card.locator('li.good').count(), 6);
  assert.equal(await findFaults(staff), []);
  await staff.close();
});

tests.run();
