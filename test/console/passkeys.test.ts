/** Passkeys in the console, with the browser's virtual authenticator. */
import type { Browser, CDPSession, Locator } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, greeting, password } from '../support/console.ts';
import { findFaults } from '../support/console-faults.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('passkeys in the console');
const browser = chromium ? tests : tests.skip;
const started = (): Browser => chromium as Browser;
/** Passkeys need a host name: browsers reject them at IP addresses. */
const url = (): string => `http://localhost:${new URL(fixture.url).port}/`;
let alice: Json;
let own: Console;
let device: Authenticator;
let codes: readonly string[] = [];

tests.before(async () => {
  if (!chromium) return;
  alice = await fixture.user('alice', { full_name: 'Alice Adams' });
  await fixture.staff.post(`${alice.url}password/`, { password });
  await fixture.as('alice').patch(alice.url, { agree_with_policy: true });
});
tests.after(() => chromium?.close());

/** A virtual authenticator that verifies its user and responds without interaction. */
class Authenticator {
  private constructor(
    private readonly session: CDPSession,
    private readonly id: string,
  ) {}

  static async plugInto({ page }: Console): Promise<Authenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(session, authenticatorId);
  }

  async credentials() {
    return (await this.session.send('WebAuthn.getCredentials', { authenticatorId: this.id })).credentials;
  }

  async copyTo({ id, session }: Authenticator, signCount: number): Promise<void> {
    for (const credential of await this.credentials())
      await session.send('WebAuthn.addCredential', { authenticatorId: id, credential: { ...credential, signCount } });
  }

  /** Replaces all credentials by this one. */
  async replace(credential: Awaited<ReturnType<Authenticator['credentials']>>[number] | undefined): Promise<void> {
    await this.session.send('WebAuthn.clearCredentials', { authenticatorId: this.id });
    if (credential) await this.session.send('WebAuthn.addCredential', { authenticatorId: this.id, credential });
  }

  recognizeUser = (isUserVerified: boolean): Promise<unknown> =>
    this.session.send('WebAuthn.setUserVerified', { authenticatorId: this.id, isUserVerified });
}

const region = ({ page }: Console): Locator => page.getByRole('region', { name: 'Second factors' });
const goToFactors = (opened: Console): Promise<void> => opened.go(`/users/${alice.uuid}/`, /Alice/);

async function signOut(opened: Console): Promise<void> {
  await opened.chooseInUserMenu(/^Sign out/);
  await opened.heading('Sign in').waitFor();
}

async function enterPassword(opened: Console): Promise<void> {
  await opened.page.getByLabel('Username').fill('alice');
  await opened.page.getByLabel('Password').fill(password);
  await opened.button('Sign in').click();
  await opened.heading('Second factor').waitFor();
}

browser('adds a passkey, and shows recovery codes once', async () => {
  own = await Console.open(started(), url());
  device = await Authenticator.plugInto(own);
  await own.signIn('alice');
  await goToFactors(own);
  await region(own).getByRole('button', { name: 'Add passkey' }).click();
  const dialog = own.dialog();
  await dialog.getByLabel('Name').fill('Laptop');
  assert.equal(await own.findings(), []);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await own.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
  codes = await dialog.getByRole('listitem').allInnerTexts();
  assert.is(codes.length, 10);
  await dialog.getByRole('button', { name: 'I have saved them' }).click();
  await region(own).getByText('Laptop', { exact: true }).waitFor();
  const [stored] = await device.credentials();
  assert.equal([stored?.rpId, stored?.userHandle], ['localhost', Buffer.from(alice.uuid, 'hex').toString('base64')]);
});

browser('says that a device already has a passkey, and adds no second one', async () => {
  await region(own).getByRole('button', { name: 'Add passkey' }).click();
  await own.dialog().getByRole('button', { name: 'Add', exact: true }).click();
  await own.dialog().getByText('You already have a passkey on this device.').waitFor();
  await own.page.keyboard.press('Escape');
  assert.is((await device.credentials()).length, 1);
});

browser('signs in with the password and the passkey', async () => {
  await signOut(own);
  await enterPassword(own);
  await own.button('Use a passkey').click();
  await own.heading(greeting).waitFor();
});

browser('signs in with the passkey alone, unless the device does not recognize the user', async () => {
  await signOut(own);
  await device.recognizeUser(false);
  await own.button('Sign in with a passkey').click();
  await own.page.getByText('No passkey was used. Try again.').waitFor();
  await device.recognizeUser(true);
  await own.button('Sign in with a passkey').click();
  await own.heading(greeting).waitFor();
  const methods = (await fixture.as('alice').get('/api/sessions/')).body.map(({ method }: Json) => method);
  assert.ok(methods.includes('passkey'));
});

browser('confirms the identity with the passkey', async () => {
  await goToFactors(own);
  fixture.clock.advance(1000);
  await region(own).getByRole('button', { name: 'New recovery codes' }).click();
  const question = own.page.getByRole('dialog', { name: 'Confirm your identity' });
  await question.waitFor();
  assert.equal(await own.findings(), []);
  await question.getByRole('button', { name: 'Use a passkey' }).click();
  await own.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
  codes = await own.dialog().getByRole('listitem').allInnerTexts();
  await own.dialog().getByRole('button', { name: 'I have saved them' }).click();
});

browser('an ended session continues with a passkey of the same user only', async () => {
  const bob = await fixture.user('bob');
  await fixture.staff.post(`${bob.url}password/`, { password });
  const other = await Console.open(started(), url());
  const key = await Authenticator.plugInto(other);
  await other.signIn('bob');
  await other.go(`/users/${bob.uuid}/`, /bob/);
  await region(other).getByRole('button', { name: 'Add passkey' }).click();
  await other.dialog().getByLabel('Name').fill('Key');
  await other.dialog().getByRole('button', { name: 'Add', exact: true }).click();
  await other.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
  const [mine] = await device.credentials();
  const [foreign] = await key.credentials();
  await fixture.as('alice').post('/api/sessions/end_others/');
  const dialog = own.page.getByRole('dialog', { name: 'Your session has ended' });
  await own.page.evaluate('location.hash = "/projects/"');
  await dialog.waitFor();
  assert.equal(await own.findings(), []);
  const use = dialog.getByRole('button', { name: 'Sign in with a passkey' });
  await device.replace(foreign);
  await use.click();
  await dialog.getByText('This passkey belongs to another user.').waitFor();
  const sessions = (await fixture.as('bob').get('/api/sessions/')).body;
  assert.is(sessions.filter(({ method }: Json) => method === 'passkey').length, 0, 'its session has ended');
  await device.replace(mine);
  await use.click();
  await dialog.waitFor({ state: 'detached' });
  await own.heading('Projects').waitFor();
  await other.close();
});

browser('rejects a copy of the authenticator, whose counter is behind', async () => {
  const [original] = await device.credentials();
  assert.ok((original?.signCount ?? 0) > 2);
  const thief = await Console.open(started(), url());
  const copy = await Authenticator.plugInto(thief);
  await device.copyTo(copy, 1);
  await thief.button('Sign in with a passkey').click();
  await thief.page.getByText('Invalid passkey.').waitFor();
  await enterPassword(thief);
  await thief.button('Use a passkey').click();
  await thief.page.getByText('Invalid second factor.').waitFor();
  await thief.close();
});

browser('a recovery code replaces a lost authenticator, which the user then removes', async () => {
  const visitor = await Console.open(started(), url());
  await visitor.button('Sign in with a passkey').waitFor();
  assert.equal(await findFaults(visitor), []);
  await enterPassword(visitor);
  assert.equal(await findFaults(visitor), []);
  await visitor.button('Use a recovery code').click();
  await visitor.page.getByLabel('Recovery code').fill(codes[0] ?? '');
  await visitor.button('Continue').click();
  await visitor.heading(greeting).waitFor();
  await goToFactors(visitor);
  await region(visitor).getByRole('button', { name: 'Remove: Laptop' }).click();
  await region(visitor).getByText('Signing in requires only the password.').waitFor();
  await visitor.close();
  await signOut(own);
  await own.button('Sign in with a passkey').click();
  await own.page.getByText('Invalid passkey.').waitFor();
  await own.close();
});

browser('offers passkeys in Estonian, and not where browsers reject them', async () => {
  const estonian = await Console.open(started(), url(), undefined, 'et-EE');
  await estonian.button('Logi sisse pääsuvõtmega').waitFor();
  await estonian.close();
  const byAddress = await Console.open(started(), `${url().replace('localhost', '127.0.0.1')}`);
  await byAddress.button('Sign in').waitFor();
  assert.is(await byAddress.button('Sign in with a passkey').count(), 0);
  await byAddress.close();
});

tests.run();
