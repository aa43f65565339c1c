/** Drives the console in a real browser. Finds elements by their roles and labels, as users do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import type { Fixture } from './fixture.ts';

/** The common password of users who sign in. */
export const password = 'correct-horse-7';

/** The heading of the home page, which depends on the time of day. */
export const greeting = /^Good (morning|afternoon|evening)/;

/** Timeout of an action of the page, in milliseconds: the machine may be busy. */
export const defaultTimeoutMs = 30_000;

/** Returns a script that stores a token as the sign-in does, when the tab opens but not when it reloads. */
const beginSession = (url: string, token: string): string =>
  `if (name === '') { name = 'begun'; sessionStorage.setItem('tenantry ${new URL(url).pathname}', '${token}'); }`;

/** Resolves with true after three frames. */
const threeFrames = `(async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return true;
})()`;

/** Disables transitions, so that the checks see only final colours. */
const transitionsEnd = `Promise.allSettled(document.getAnimations().filter((each) => each instanceof CSSTransition)
  .map(({ finished }) => finished)).then(() => undefined)`;
/** Disables axe rules whose violations are not serious. */
const graveOnly = `Object.fromEntries(axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate').map(({ id }) => [id, { enabled: false }]))`;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the console, with the browser's errors and requests. */
export class Console {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];
  readonly #pending = new Set<Request>();
  /** Number of requests that have started or finished. */
  #changes = 0;

  private constructor(
    readonly page: Page,
    readonly url: string,
  ) {
    page.setDefaultTimeout(defaultTimeoutMs);
    page.on('request', (request) => {
      this.requests.push(`${request.method()} ${request.url()}`);
      // The event stream never finishes.
      if (request.url().includes('/api/events/stream/')) return;
      this.#pending.add(request);
      this.#changes += 1;
    });
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => {
        if (this.#pending.delete(request)) this.#changes += 1;
      });
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }

  /** Opens the console at a URL, without a login or with the session of a token. Each call has its own session. */
  static async open(browser: Browser, url: string, width = 1300, locale = 'en-GB', token?: string): Promise<Console> {
    // Animations cost CPU time: no GPU paints the frames.
    const context = await browser.newContext({ viewport: { width, height: 900 }, locale, reducedMotion: 'reduce' });
    const opened = new Console(await context.newPage(), url);
    if (token) await opened.page.addInitScript(beginSession(url, token));
    await opened.page.goto(url);
    return opened;
  }

  /** Opens the home page of a user with an existing session. Other tests cover the sign-in. */
  static async as(browser: Browser, { server }: Fixture, username: string, width?: number): Promise<Console> {
    const opened = await Console.open(browser, `${server.url}/`, width, undefined, server.issueToken(username));
    await opened.heading(greeting).waitFor();
    return opened;
  }

  /** Opens the home page by signing in with the form and the common password. */
  static async signedIn(browser: Browser, fixture: Fixture, username: string): Promise<Console> {
    const opened = await Console.open(browser, `${fixture.url}/`);
    await opened.signIn(username);
    return opened;
  }

  async signIn(username: string, secret = password): Promise<void> {
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password').fill(secret);
    await this.button('Sign in').click();
    await this.heading(greeting).waitFor();
  }

  /** Opens a page of the console, such as `/customers/`, and waits for its heading. */
  async go(place: string, heading: string | RegExp): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await this.heading(heading).waitFor();
    await this.settled();
  }

  /** Waits until no request is pending and the page has rendered the responses. */
  async settled(): Promise<void> {
    const deadline = performance.now() + defaultTimeoutMs;
    let before: number;
    do {
      before = this.#changes;
      // `evaluate` has no timeout: it would wait forever for a page that draws no frames.
      await this.page.waitForFunction(threeFrames);
      if (performance.now() > deadline) throw new Error(`The page keeps sending requests, or waits: ${this.#latest()}`);
    } while (this.#pending.size > 0 || this.#changes !== before);
  }

  /** Describes the pending and the latest requests of the page. */
  #latest(): string {
    const pending = [...this.#pending].map((request) => request.url());
    return JSON.stringify({ pending, latest: this.requests.slice(-20) });
  }

  /**
   * Returns the accessibility violations that axe finds on the page, or in the elements of a selector: rules with the violating
   * elements. `rule` limits the check to one rule.
   */
  async findings(within = 'html', rule?: string): Promise<readonly string[]> {
    await this.settled();
    const rules = rule === undefined ? `rules: ${graveOnly}` : `runOnly: ${JSON.stringify([rule])}`;
    // Omit the elements that pass a rule: there are many.
    const options = `{ resultTypes: ['violations'], selectors: false, ${rules} }`;
    const run = `${transitionsEnd}.then(() => axe.run('${within}', ${options})).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
    const found = await this.page.evaluate<readonly string[] | undefined>(
      `typeof axe === 'object' ? ${run} : undefined`,
    );
    return found ?? (await this.page.evaluate<readonly string[]>(`${axe}; ${run}`));
  }

  heading = (name: string | RegExp) => this.page.getByRole('heading', { level: 1, name });
  button = (name: string) => this.page.getByRole('button', { name, exact: true });
  link = (name: string) => this.page.getByRole('link', { name, exact: true });
  dialog = () => this.page.getByRole('dialog');

  /** Presses a button in the page header, or an item of its menu "…". */
  async act(name: string): Promise<void> {
    const acts = this.page.locator('main .head .acts');
    const button = acts.getByRole('button', { name, exact: true });
    const more = acts.getByRole('button', { name: /^(More actions|Veel tegevusi)$/ });
    await button.or(more).first().waitFor();
    if ((await button.count()) > 0) return await button.click();
    await more.click();
    await this.page.getByRole('menuitem', { name, exact: true }).click();
  }

  /** Presses an item of the menu "…" in a row. */
  async actOn(row: Locator, name: string): Promise<void> {
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await this.page.getByRole('menuitem', { name, exact: true }).click();
  }

  /** Waits for a status in the page header of an object. */
  status = (word: string): Promise<void> =>
    this.page.locator('main .head .badge').getByText(word, { exact: true }).waitFor();

  /** Returns the titles of the buttons and menu items in the page header, with the reasons of disabled ones. */
  async offered(): Promise<readonly { readonly title: string; readonly reason: string }[]> {
    await this.settled();
    const acts = this.page.locator('main .head .acts');
    const more = acts.getByRole('button', { name: /^(More actions|Veel tegevusi)$/ });
    const actions: { title: string; reason: string }[] = [];
    for (const button of await acts.locator('button:not([aria-haspopup=menu])').all())
      actions.push({ title: await button.innerText(), reason: '' });
    if ((await more.count()) === 0) return actions;
    await more.click();
    for (const item of await this.page.getByRole('menuitem').all()) {
      const [title = '', reason = ''] = (await item.innerText()).split('\n');
      actions.push({ title, reason });
    }
    await this.page.keyboard.press('Escape');
    return actions;
  }

  /** Chooses an item of the user menu. */
  async chooseInUserMenu(name: RegExp): Promise<void> {
    await this.page.locator('header .user').click();
    await this.page.getByRole('menuitem', { name }).click();
  }

  signOut = (): Promise<void> => this.chooseInUserMenu(/^(Sign out|Logi välja)/);

  switchLanguage = (): Promise<void> => this.chooseInUserMenu(/^(Language|Keel)/);

  close = (): Promise<void> => this.page.context().close();
}
