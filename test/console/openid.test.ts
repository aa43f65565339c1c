/** OpenID Connect in the console: sign-in at a provider, the identities of a user, and the check of providers. */
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import type { Json } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { OidcFixture } from '../support/oidc-fixture.ts';
import { enrol } from '../support/second-factors.ts';

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
      second_factor_for_sso: true,
      login_second_factor_url: `${url}/#/second-factor/{token}?next={next}`,
    },
    { post_logout_redirect_uris: [`${url}/`] },
  );
  await oidc.provider.next({ accountId: 'c-1', claims: { preferred_username: 'carol', name: 'Carol Jones' } });
  const me = (await oidc.fixture.staff.get('/api/users/?current')).body[0];
  await oidc.fixture.staff.post(`${me.url}password/`, { password });
});
tests.after(async () => {
  if (!chromium) return;
  await chromium.close();
  await oidc.close();
});

/** Signs out of the console, then of the provider, which redirects back. */
async function signOutAtProvider(visitor: Console): Promise<void> {
  await visitor.signOut();
  await visitor.page.waitForURL(`${oidc.provider.issuer}/session/end**`);
  assert.match(visitor.page.url(), /id_token_hint=/);
  await visitor.page.evaluate(`(() => {
    const [form] = document.forms;
    form.append(Object.assign(document.createElement('input'), { name: 'logout', value: 'yes' }));
    form.submit();
  })()`);
  await visitor.link(button).waitFor();
}

const sessionCount = async (username: string): Promise<number> =>
  (await oidc.fixture.as(username).get('/api/sessions/')).body.filter(({ method }: Json) => method === 'oidc').length;

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
  assert.is(await sessionCount('carol'), 1);
  await signOutAtProvider(visitor);
  assert.is(await sessionCount('carol'), 0);
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('asks for the second factor of such a login, and says when a login cannot continue', async () => {
  const carol = oidc.fixture.as('carol');
  const { app } = await enrol(oidc.fixture, carol);
  oidc.fixture.clock.advance(60);
  const visitor = await Console.open(started(), `${url}/#/projects/`);
  await visitor.link(button).click();
  await visitor.heading('Second factor').waitFor();
  await visitor.page.getByLabel('Code from your authenticator app').fill(app.code());
  await visitor.button('Continue').click();
  await visitor.heading('Projects').waitFor();
  await signOutAtProvider(visitor);
  await visitor.page.route('**/api-auth/oidc/**', (route) =>
    route.fulfill({
      status: 302,
      headers: { Location: `${url}/#/second-factor/${'0'.repeat(40)}?next=%2Fprojects%2F` },
    }),
  );
  await visitor.link(button).click();
  await visitor.page.getByText('This login has been completed or has taken too long. Sign in again.').waitFor();
  assert.is(new URL(visitor.page.url()).hash, '#/projects/');
  assert.equal(await findFaults(visitor), []);
  await visitor.link(button).waitFor();
  await visitor.close();
  const stranger = await Console.open(started(), `${url}/#/second-factor/${'0'.repeat(40)}`);
  await stranger.heading('This sign-in was not started in this tab').waitFor();
  await stranger.close();
  for (const { url: factor } of (await carol.get('/api/second-factors/')).body) await carol.delete(factor);
});

browser('offers the provider when the session has ended, which returns to the page', async () => {
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.link(button).click();
  await visitor.heading(greeting).waitFor();
  await oidc.fixture.as('carol').post('/api/sessions/end_others/');
  await visitor.page.evaluate('location.hash = "/projects/"');
  const dialog = visitor.page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByText('A sign-in at a provider returns to this page without its input.').waitFor();
  assert.equal(await visitor.findings(), []);
  await dialog.getByRole('link', { name: button }).click();
  await dialog.waitFor({ state: 'detached' });
  await visitor.heading('Projects').waitFor();
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

browser('shows once why a login that this tab has not started has failed', async () => {
  await oidc.provider.next({ accountId: 'c-1', error: 'access_denied' });
  const visitor = await Console.open(started(), `${url}/api-auth/oidc/company/login/`);
  const message = visitor.page.getByText('The identity provider refused the login.');
  await message.waitFor();
  assert.is(visitor.page.url(), `${url}/#/`);
  assert.equal(await findFaults(visitor), []);
  await visitor.page.reload();
  await visitor.link(button).waitFor();
  assert.is(await message.count(), 0);
  await visitor.close();
});

browser('shows no text of a link to the page of a failed login', async () => {
  const visitor = await Console.open(started(), `${url}/#/sign-in-failed/?message=Call%20555%20now`);
  await visitor.page.getByText('The sign-in at the identity provider failed.').waitFor();
  assert.is(await visitor.page.getByText('Call 555 now').count(), 0);
  await visitor.close();
});

browser('shows a signed-in user no failed login, also after the sign-out', async () => {
  await oidc.provider.next({ accountId: 'c-1' });
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.link(button).click();
  await visitor.heading(greeting).waitFor();
  await visitor.page.evaluate('location.hash = "/sign-in-failed/"');
  await visitor.page.waitForURL(`${url}/#/`);
  await visitor.page.goto('about:blank');
  await visitor.page.goto(`${url}/#/sign-in-failed/`);
  await visitor.page.waitForURL(`${url}/#/`);
  await visitor.heading(greeting).waitFor();
  await signOutAtProvider(visitor);
  assert.is(await visitor.page.getByText('The sign-in at the identity provider failed.').count(), 0);
  await visitor.close();
});

browser('opens the start page after a sign-in by password that follows a failed login', async () => {
  await oidc.provider.next({ accountId: 'c-1', error: 'access_denied' });
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.link(button).click();
  await visitor.page.getByText('The identity provider refused the login.').waitFor();
  await visitor.signIn('admin');
  assert.is(visitor.page.url(), `${url}/#/`);
  await visitor.close();
});

browser('starts the sign-in automatically if the provider is configured so, but not after a sign-out', async () => {
  await oidc.provider.next({ accountId: 'c-1' });
  const visitor = await Console.open(started(), 'about:blank');
  await visitor.page.route('**/api/configuration/', async (route) => {
    // The page may navigate away before the response.
    const response = await route.fetch().catch(() => undefined);
    const body = await response?.json().catch(() => undefined);
    if (!response || !body) return;
    for (const provider of body.TENANTRY_AUTH_OIDC.PROVIDERS) provider.AUTO_REDIRECT = true;
    await route.fulfill({ response, json: body });
  });
  await visitor.page.goto(`${url}/`);
  await visitor.heading(greeting).waitFor();
  await signOutAtProvider(visitor);
  await visitor.settled();
  assert.is(visitor.page.url(), `${url}/`);
  await visitor.close();
});

browser('staff add and remove the identities of a user', async () => {
  const { url: own } = await oidc.fixture.user('dave');
  const place = new URL(own).pathname.slice('/api'.length);
  const staff = await Console.as(started(), oidc.fixture, 'admin');
  await staff.go(place, /dave/);
  const card = staff.page.getByRole('region', { name: 'Identities' });
  await card.getByRole('button', { name: 'Add identity' }).click();
  await staff.dialog().getByLabel('Subject').fill('c-1');
  assert.equal(await staff.findings(), []);
  await staff.dialog().getByRole('button', { name: 'Add identity' }).click();
  await staff.dialog().getByText('This identity belongs to another user.').waitFor();
  await staff.dialog().getByLabel('Subject').fill('d-1');
  await staff.dialog().getByRole('button', { name: 'Add identity' }).click();
  await card.getByText('d-1').waitFor();
  const identities = async (): Promise<Json> => (await oidc.fixture.staff.get(own)).body.identities;
  assert.equal(await identities(), [{ provider: 'company', subject: 'd-1' }]);
  assert.equal(await findFaults(staff), []);
  await card.getByRole('button', { name: 'Remove: company d-1' }).click();
  await card.getByText('No identities: the user cannot sign in with an identity provider.').waitFor();
  assert.equal(await identities(), []);
  await staff.close();
  const dave = await Console.open(started(), `${url}/`);
  await oidc.fixture.staff.patch(own, { identities: [{ provider: 'company', subject: 'd-1' }] });
  await oidc.fixture.staff.post(`${own}password/`, { password });
  await dave.signIn('dave');
  await dave.go(place, /dave/);
  await dave.page.getByRole('region', { name: 'Identities' }).getByText('d-1').waitFor();
  assert.is(await dave.page.getByRole('region', { name: 'Identities' }).getByRole('button').count(), 0);
  await dave.close();
});

browser('staff check the providers on the page of the operation', async () => {
  oidc.fixture.clock.set(new Date());
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

browser('a provider that fails is on the page of the operation, and users sign in by password', async () => {
  await oidc.provider.close();
  oidc.fixture.clock.advance(3601);
  await fetch(oidc.loginAddress(), { redirect: 'manual' });
  const staff = await Console.as(started(), oidc.fixture, 'admin');
  await staff.go('/operation/', /./);
  await staff.page.getByText(/^identity provider company has failed since /).waitFor();
  assert.equal(await findFaults(staff), []);
  await staff.close();
});

tests.run();
