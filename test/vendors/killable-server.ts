import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as assert from 'uvu/assert';
import { compiled } from '../support/compiled.ts';
import type { Json } from '../support/fixture.ts';
import { fastClock } from './fast-clock.ts';

const program = compiled(new URL('fast-server.ts', import.meta.url));

/** The output of the process when it listens. */
interface Served {
  readonly url: string;
  readonly token: string;
  /** The start of its clock. */
  readonly start: number;
}

/** The program as a separate process on a fast clock. Its data folder survives the process. */
export class KillableServer {
  readonly #data = mkdtempSync(join(tmpdir(), 'tenantry-kill-'));
  /** The start of its clock; while it does not run, the time at which it stopped. */
  #begun = Date.now();
  #stopped: number | undefined = this.#begun;
  #child: ChildProcess | undefined;
  #server: Served | undefined;

  /** The time in milliseconds by the clock of the process, which stops between two processes. */
  now = (): number => this.#stopped ?? fastClock(this.#begun);

  async start(): Promise<void> {
    const words = [program, this.#data, String(this.now())];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'close')]);
    const server: Served = JSON.parse(line as string);
    this.#server = server;
    this.#begun = server.start;
    this.#stopped = undefined;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.#stopped = this.now();
    child.kill('SIGKILL');
    await once(child, 'close');
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true });
  }

  /** Sends a request as staff, as JSON or a form; returns the body. */
  async ask(method: string, path: string, body?: unknown): Promise<Json> {
    assert.ok(this.#server);
    const { token, url } = this.#server;
    // Links contain the earlier address.
    const response = await fetch(url + path.replace(/^https?:.*?(?=\/api\/)/, ''), {
      method,
      redirect: 'manual',
      headers: {
        Authorization: `Token ${token}`,
        ...(!(body instanceof FormData) && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${response.ok ? '' : await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }

  /** Creates a customer with a project and this many services of a type on the same account; returns their links. */
  async connect(prefix: string, count: number, credentials: object): Promise<Json[]> {
    await this.ask('PATCH', (await this.ask('GET', '/api/users/?current'))[0].url, { agree_with_policy: true });
    const customer = await this.ask('POST', '/api/customers/', { name: 'Alice' });
    const project = await this.ask('POST', '/api/projects/', { name: 'Rocket', customer: customer.url });
    for (let n = 0; n < count; n++) {
      const service = { name: `Account ${n}`, customer: customer.url, project: project.url, ...credentials };
      await this.ask('POST', `/api/${prefix}/`, service);
    }
    await until('synchronisation', async () =>
      (await this.ask('GET', `/api/${prefix}/?page_size=50`)).every(({ state }: Json) => state === 'In Sync'),
    );
    return this.ask('GET', `/api/${prefix}-service-project-link/?page_size=50`);
  }

  /** Counts the events of a type. */
  countEvents = async (type: string): Promise<number> =>
    (await this.ask('GET', `/api/events/?page_size=200&event_type=${type}`)).length;
}

/** Waits until a condition holds. */
export async function until(what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await ask())) {
    assert.ok(Date.now() < deadline, `${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
