/** Sign-in without a known password: the link of the first start, single sign-on, mailed links. */
import type { Browser } from 'playwright-core';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeInitialLink } from '../../src/accounts/session/initial-link.ts';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import { eventually } from '../support/eventually.ts';
import type { Client } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { Mailbox } from '../support/mailbox.ts';
import { SamlFixture } from '../support/saml-fixture.ts';
import { secretIn } from '../support/sent-mails.ts';

const chromium = await startBrowser();
const tests = suite('signing in to the console');
const browser = chromium ? tests : tests.skip;
let mailbox: Mailbox;
let saml: SamlFixture;
let url: string;

const started = (): Browser => chromium as Browser;

tests.before(async () => {
  if (!chromium) return;
  mailbox = await Mailbox.start();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  saml = await SamlFixture.start({
    port,
    ...mailbox.settings,
    base_url: url,
    password_reset_url: `${url}/#/reset/{secret}`,
    login_completed_url: `${url}/#/signed-in/{token}/{method}`,
    login_failed_url: `${url}/`,
  });
});
tests.after(async () => {
  if (!chromium) return;
  await chromium.close();
  await saml.close();
  await mailbox.close();
});

/** Sends the pending mails and returns the secret in the newest one. */
async function mailedSecret(): Promise<string> {
  await saml.fixture.server.settled();
  const [mail] = mailbox.take().slice(-1);
  assert.ok(mail);
  return secretIn(mail);
}

browser('the link of the first start sets the name and password once', async () => {
  const { fixture } = saml;
  const place = `${url}/#/first/${makeInitialLink(fixture.server.app)}`;
  const visitor = await Console.open(started(), place);
  const { page } = visitor;
  await page.getByText('You sign in as admin').waitFor();
  assert.equal(await findFaults(visitor), []);
  await page.getByLabel('Full name').fill('Alice Adams');
  await page.getByLabel('Password *').fill('short');
  await visitor.button('Get started').click();
  await page.getByText('Ensure this field has at least one digit.').waitFor();
  await page.getByLabel('Password *').fill(password);
  await visitor.button('Get started').click();
  await visitor.heading(greeting).waitFor();
  assert.is(new URL(page.url()).hash, '#/');
  assert.not(visitor.requests.some((asked) => /\/first\//.test(asked)));
  await visitor.close();

  const late = await Console.open(started(), place);
  await late.page.getByLabel('Password *').fill(password);
  await late.button('Get started').click();
  await late.page.getByText('This link has expired. Sign in, or restart the server').waitFor();
  assert.equal(await findFaults(late), []);
  await late.link('Sign in').click();
  await late.signIn('admin');
  await late.close();
});

browser('single sign-on redirects to the identity provider and back to the console', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'carol', cn: 'Carol Jones', mail: 'carol@example.com' } } });
  const visitor = await Console.open(started(), `${url}/`);
  const policy = (await fetch(url, { headers: { Accept: 'text/html' } })).headers.get('content-security-policy');
  const origins = [url, new URL(saml.idp.url).origin].sort();
  assert.match(String(policy), `form-action 'self' ${origins.join(' ')};`);
  await visitor.button('Continue with Example University').click();
  // The page of the identity provider submits its form automatically.
  await visitor.heading(greeting).waitFor();
  assert.is(new URL(visitor.page.url()).hash, '#/');
  await visitor.signOut();
  await visitor.button('Continue with Example University').waitFor();
  assert.equal(await findFaults(visitor), []);
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

/** Clicks a button that leads to the identity provider, whose page is blocked. */
async function depart(visitor: Console): Promise<void> {
  await visitor.page.route('**/api-auth/saml2/login/', (route) => route.abort());
  const failed = visitor.page.waitForEvent('requestfailed');
  await visitor.button('Continue with Example University').click();
  await failed;
  await visitor.page.unroute('**/api-auth/saml2/login/');
}

/** Opens the link that completes a login, as if from another page. */
async function follow(visitor: Console, link: string): Promise<void> {
  await visitor.page.goto('about:blank');
  await visitor.page.goto(link);
}

const foreign = 'This sign-in was not started in this tab';

browser('rejects a login that this tab has not started, and ends its session', async () => {
  await staff().post('/api/users/', { username: 'mallory', full_name: 'Mallory Moss' });
  const { token } = saml.fixture.as('mallory');
  const link = `${url}/#/signed-in/${token}/saml2?next=%2Fprojects%2F`;
  const visitor = await Console.open(started(), link);
  await visitor.heading(foreign).waitFor();
  assert.is(new URL(visitor.page.url()).hash, '#/projects/', 'the address has no token');
  assert.equal(await findFaults(visitor), []);
  assert.is(await visitor.page.evaluate('sessionStorage.length'), 0);
  await visitor.settled();
  assert.is((await fetch(`${url}/api/users/?current`, { headers: { Authorization: `Token ${token}` } })).status, 401);
  await visitor.button('Sign in').click();
  await visitor.button('Continue with Example University').waitFor();
  await visitor.close();
});

browser('keeps the session of the tab when a link brings another login', async () => {
  await saml.idp.next({ user: { attributes: { uid: 'carol', cn: 'Carol Jones', mail: 'carol@example.com' } } });
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.button('Continue with Example University').click();
  await visitor.heading(greeting).waitFor();
  // The tab is already signed in and ignores a second login.
  await follow(visitor, `${url}/#/signed-in/${saml.fixture.as('mallory').token}/saml2`);
  await visitor.heading(foreign).waitFor();
  await visitor.button('Continue').click();
  await visitor.heading(/Carol$/).waitFor();
  await visitor.close();
});

browser('accepts a login up to 15 minutes after its start, unless the console was opened since', async () => {
  for (const [minutes, isOpened, heading] of [
    [14, false, greeting],
    [16, false, foreign],
    [1, true, foreign],
  ] as const) {
    const visitor = await Console.open(started(), 'about:blank');
    await visitor.page.clock.install({ time: Date.now() - minutes * 60_000 });
    await visitor.page.goto(`${url}/`);
    await depart(visitor);
    await visitor.page.clock.setSystemTime(Date.now());
    if (isOpened) {
      await visitor.page.reload();
      const isForgotten = (): Promise<boolean> =>
        visitor.page
          .evaluate<boolean>('!Object.keys(sessionStorage).some((key) => /departure/.test(key))')
          // The page may be loading.
          .catch(() => false);
      await eventually('the departure is forgotten', isForgotten, 30);
    }
    await follow(visitor, `${url}/#/signed-in/${saml.fixture.as('mallory').token}/saml2`);
    await visitor.heading(heading).waitFor();
    await visitor.close();
  }
});

browser('no form of the console submits to another site', async () => {
  const stranger = await Console.open(started(), `${url}/`);
  const elsewhere = await stranger.page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
        const form = document.createElement('form');
        form.action = 'https://evil.example.com/';
        document.body.append(form);
        form.submit();
      }),
  );
  assert.is(elsewhere, 'form-action', 'no form leads elsewhere');
  await stranger.close();
});

browser('resets a forgotten password with the mailed link', async () => {
  await staff().post('/api/users/', { username: 'dora', full_name: 'Dora Dean', email: 'dora@example.com' });
  const visitor = await Console.open(started(), `${url}/`);
  const { page } = visitor;
  await visitor.link('Forgot your password?').click();
  await page.getByLabel('Email').fill('dora@example.com');
  await visitor.button('Send a link').click();
  await page.getByText('If the address is known, a link has been sent.').waitFor();
  assert.equal(await findFaults(visitor), []);
  await page.goto(`${url}/#/reset/${await mailedSecret()}`);
  await page.getByLabel('New password').fill(password);
  assert.equal(await findFaults(visitor), []);
  await visitor.button('Set the password').click();
  await visitor.heading(greeting).waitFor();
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

browser('a revoked token leads to the sign-in when the page opens', async () => {
  const visitor = await Console.as(started(), saml.fixture, 'dora');
  const [{ url: dora }] = (await staff().get('/api/users/?username=dora')).body;
  await staff().post(`${dora}password/`, { password: 'another-horse-1' });
  await visitor.page.reload();
  await visitor.page.getByLabel('Username').waitFor();
  await visitor.signIn('dora', 'another-horse-1');
  await visitor.close();
});

browser('confirms and ends the mails of a hook on pages in the style of the console', async () => {
  const { fixture } = saml;
  const hook = await fixture
    .as('dora')
    .post('/api/hooks-email/', { email: 'team@example.com', event_types: ['customer_creation_succeeded'] });
  assert.is(hook.status, 201);
  const visitor = await Console.open(started(), `${url}/hooks/confirm/${await mailedSecret()}/`);
  const { page } = visitor;
  await page.getByText('Shall notifications be sent to your email address?').waitFor();
  assert.equal(await findFaults(visitor), []);
  const looks = `JSON.stringify(['font', 'width', 'background'].map((name) => getComputedStyle(document.querySelector('main .panel'))[name]))`;
  const entrance = await Console.open(started(), `${url}/`);
  await entrance.button('Sign in').waitFor();
  assert.is(await page.evaluate(looks), await entrance.page.evaluate(looks));
  await entrance.close();
  await visitor.button('Yes, send notifications').click();
  await page.getByText('Notifications will be sent to your email address.').waitFor();
  assert.is((await fixture.as('dora').get(hook.body.url)).body.is_confirmed, true);

  await fixture.as('dora').patch(hook.body.url, { event_types: ['role_granted'] });
  const [{ url: dora }] = (await staff().get('/api/users/?username=dora')).body;
  const customer = await staff().post('/api/customers/', { name: 'Alice' });
  await staff().post('/api/customer-permissions/', { customer: customer.body.url, user: dora, role: 'owner' });
  await fixture.server.settled();
  const mail = mailbox.take().find(({ recipient }) => recipient === 'team@example.com');
  const [, link] = /<(http[^>]*)>/.exec(mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '') ?? [];
  await page.goto(link ?? '');
  assert.equal(await findFaults(visitor), []);
  await visitor.button('Unsubscribe').click();
  await page.getByText('These notifications will no longer be sent to your email address.').waitFor();
  assert.is((await fixture.as('dora').get(hook.body.url)).body.is_active, false);
  assert.equal(await findFaults(visitor), []);
  assert.equal(visitor.complaints, []);
  await page.goto(`${url}/hooks/confirm/unknown/`);
  await page.getByText('This link is unknown, or does not work any more.').waitFor();
  assert.equal(await findFaults(visitor), []);
  await visitor.close();
});

browser('pages of hooks use the language of the browser', async () => {
  const visitor = await Console.open(started(), `${url}/hooks/unsubscribe/unknown/`, 360, 'et-EE');
  const { page } = visitor;
  await page.getByText('Seda linki ei tunta või see enam ei kehti.').waitFor();
  assert.is(await page.evaluate('document.documentElement.lang'), 'et');
  assert.equal(await findFaults(visitor), []);
  await visitor.close();
  for (const [wanted, language] of [
    ['et', 'et'],
    ['et-EE,et;q=0.9,en;q=0.8', 'et'],
    ['en-GB,et;q=0.9', 'en'],
    ['de, ET;q=0.5, en;q=0.4', 'et'],
    ['et;q=0, en', 'en'],
    ['*', 'en'],
    ['eesti', 'en'],
  ] as const) {
    const headers = { Accept: 'text/html', 'Accept-Language': wanted };
    const response = await fetch(`${url}/hooks/confirm/unknown/`, { headers });
    assert.is(/<html lang="(..)">/.exec(await response.text())?.[1], language, wanted);
    assert.is(response.headers.get('vary'), 'Accept, Accept-Language');
  }
});

browser('offers the logins of the sample data, and signs in with one press', async () => {
  const { url: demo, close } = await createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo' });
  for (const width of [390, 1280]) {
    const visitor = await Console.open(started(), `${demo}/`, width);
    const sample = visitor.page.getByRole('region', { name: 'Sample data' });
    await sample.getByText('staff: sees and does everything').waitFor();
    await visitor.page.getByText(/^Tenantry \d+\.\d+\.\d+$/).waitFor();
    assert.equal(await findFaults(visitor), []);
    await sample.getByText(/\d+ more users/).click();
    assert.equal(await findFaults(visitor), []);
    await sample.getByRole('button', { name: 'Sign in as emeka.obi' }).click();
    await visitor.heading('Good').waitFor();
    await visitor.page.getByText('You have no access yet').waitFor();
    assert.equal(visitor.complaints, []);
    await visitor.close();
  }
  const visitor = await Console.open(started(), `${url}/`);
  await visitor.button('Sign in').waitFor();
  assert.is(await visitor.page.getByRole('region', { name: 'Sample data' }).count(), 0, 'not elsewhere');
  await visitor.close();
  await close();
});

/** Returns a client of the first user, whose token the first link replaced. */
const staff = (): Client => saml.fixture.as('admin');

tests.run();
