/** The console in a real browser. Elements are found by their roles and labels, as users find them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page, Request } from 'playwright-core';
import type { Fixture } from './fixture.ts';

/** The password of all users. */
export const password = 'correct-horse-7';

/** The heading of the home page, by the time of day. */
export const greeting = /^Good (morning|afternoon|evening)/;

/** Timeout of an action of the page, in milliseconds: the machine may be busy. */
export const defaultTimeoutMs = 30_000;

/** Disables transitions, so that only final colours are checked. */
const transitionsEnd = `Promise.allSettled(document.getAnimations().filter((each) => each instanceof CSSTransition)
  .map(({ finished }) => finished)).then(() => undefined)`;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the console, with the errors and the requests of the browser. */
export class Console {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];
  readonly #pending = new Set<Request>();

  private constructor(
    readonly page: Page,
    readonly url: string,
  ) {
    page.setDefaultTimeout(defaultTimeoutMs);
    page.on('request', (request) => {
      this.requests.push(`${request.method()} ${request.url()}`);
      // The stream of events does not end.
      if (!request.url().includes('/api/events/stream/')) this.#pending.add(request);
    });
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => this.#pending.delete(request));
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }

  /** Opens the console at a URL without a login; each has its own session. */
  static async open(browser: Browser, url: string, width = 1300, locale = 'en-GB'): Promise<Console> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, locale });
    const opened = new Console(await context.newPage(), url);
    await opened.page.goto(url);
    return opened;
  }

  /** The same with a login of a user by the common password. */
  static async as(browser: Browser, fixture: Fixture, username: string, width?: number): Promise<Console> {
    const opened = await Console.open(browser, `${fixture.url}/`, width);
    await opened.signIn(username);
    return opened;
  }

  async signIn(username: string, secret = password): Promise<void> {
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password').fill(secret);
    await this.button('Sign in').click();
    await this.heading(greeting).waitFor();
  }

  /** Goes to a place of the console, such as `/customers/`, and waits for its heading. */
  async go(place: string, heading: string | RegExp): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await this.heading(heading).waitFor();
    await this.settled();
  }

  /** Waits until all requests of the page have responses, and these are rendered. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#pending.size === 0 ? quiet + 1 : 0)
      await this.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  }

  /**
   * The accessibility faults of the page, or of the elements of a selector, as found by axe: rules with the elements that
   * violate them. `rule` limits the check to one.
   */
  async findings(within = 'html', rule?: string): Promise<readonly string[]> {
    await this.settled();
    await this.page.evaluate(transitionsEnd);
    if (!(await this.page.evaluate('typeof axe === "object"'))) await this.page.evaluate(`${axe}; undefined`);
    const options = JSON.stringify(rule === undefined ? {} : { runOnly: [rule] });
    return await this.page.evaluate<readonly string[]>(
      `axe.run('${within}', ${options}).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
    );
  }

  heading = (name: string | RegExp) => this.page.getByRole('heading', { level: 1, name });
  button = (name: string) => this.page.getByRole('button', { name, exact: true });
  link = (name: string) => this.page.getByRole('link', { name, exact: true });
  dialog = () => this.page.getByRole('dialog');

  close = (): Promise<void> => this.page.context().close();
}
