/** The console of a server with sample data (objects of nearly every kind), signed in as its administrator. */

import type { Browser } from 'playwright-core';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import { startBrowser } from './browser.ts';
import { Console, password } from './console.ts';
import type { Json } from './fixture.ts';

/** Shared by the consoles in this process: creating the sample data takes seconds, a reset milliseconds. */
let running: Server | undefined;

async function demoServer(): Promise<Server> {
  if (running) await running.reset();
  running ??= await createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo' });
  return running;
}

export class DemoConsole {
  private constructor(
    readonly server: Server,
    readonly staff: Console,
  ) {}

  static async start(browser: Browser): Promise<DemoConsole> {
    const server = await demoServer();
    const demo = new DemoConsole(server, await Console.open(browser, `${server.url}/`));
    const [{ url }] = await demo.ask('/api/users/?current');
    await demo.ask(`${url}password/`, 'POST', { password });
    await demo.staff.signIn('admin');
    return demo;
  }

  /** Sends a request as the administrator. Returns the body. */
  readonly ask = async (path: string, method = 'GET', body?: Json): Promise<Json> => {
    const headers = { Authorization: `Token ${this.server.issueToken()}`, 'Content-Type': 'application/json' };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const address = this.server.url + path.replace(/^https?:.*?(?=\/api\/)/, '');
    return await (await fetch(address, { method, headers, redirect: 'manual', ...payload })).json();
  };

  /** Opens a page without waiting for its heading. */
  async visit(place: string): Promise<void> {
    await this.staff.page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await this.staff.settled();
  }

  /** Closes the console. The server stays for the next one. */
  close(): Promise<void> {
    return this.staff.close();
  }
}

interface SuiteWithDemo {
  readonly run: () => void;
  readonly browser: (title: string, test: (demo: DemoConsole) => Promise<void>) => void;
}

/** Creates a suite that shares one such console. Its tests are skipped if no browser can run. */
export async function suiteWithDemoConsole(name: string): Promise<SuiteWithDemo> {
  const chromium = await startBrowser();
  const tests = suite(name);
  let demo: DemoConsole;
  tests.before(async () => {
    if (chromium) demo = await DemoConsole.start(chromium);
  });
  tests.after(async () => {
    if (!chromium) return;
    await demo.close();
    await chromium.close();
  });
  const add = chromium ? tests : tests.skip;
  return { run: () => tests.run(), browser: (title, test) => add(title, () => test(demo)) };
}
