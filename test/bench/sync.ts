/**
 * The synchronisation of a large account: 2,000 machines, 4,000 volumes and 500 images at a vendor that responds in 20 ms. The
 * server is the built program, the vendor a separate process.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { compiled } from '../support/compiled.ts';
import { ask } from './ask.ts';
import { seeded } from './databases.ts';
import { dataFolder } from './processes.ts';
import { footprintTable } from './report.ts';
import { small, tokenOf } from './seed.ts';
import { machines, otherVolumes, ownImages, pace } from './sync-size.ts';

interface Held {
  /** Milliseconds. */
  readonly heldAtMost: number;
  readonly megabytes: number;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const maxSeconds = 120;

/** The measured vendors: names, and segments of their services. */
const vendors = { amazon: ['Amazon', 'aws'], openstack: ['OpenStack', 'openstack'] } as const;
type Vendor = keyof typeof vendors;

/** Measures the first synchronisation of an account at each vendor, with everything new, and the next, without changes. */
export async function run(folder: string, bundle: string, report: (text: string) => void): Promise<string> {
  const seed = await seeded(folder, small, report);
  const rows: Figure[] = [];
  for (const vendor of Object.keys(vendors) as Vendor[]) {
    const data = dataFolder(join(folder, 'sync'), seed);
    try {
      report(
        `An account of ${machines} machines, ${machines + otherVolumes} volumes and ${ownImages} images: ${vendor} …`,
      );
      rows.push(...(await measured(vendor, data, bundle)));
    } finally {
      rmSync(data, { recursive: true });
    }
  }
  return footprintTable(rows);
}

type Figure = Parameters<typeof footprintTable>[0][number];

async function measured(name: Vendor, data: string, bundle: string): Promise<Figure[]> {
  const [title, prefix] = vendors[name];
  const vendor = fork(compiled(new URL('sync-vendor.ts', import.meta.url)), [name]);
  const [credentials] = (await once(vendor, 'message')) as [object];
  const server = fork(bundle, ['serve', '--port', '0', '--data', data, '--log-level', 'warn'], {
    execArgv: ['--require', here('sync-meter.cjs')],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    env: { ...process.env, TENANTRY_PROVIDER_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
  try {
    const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString().split('\n')[0] ?? '') as { url: string };
    const api = new Api(url);
    const [customer] = (await api.get('/api/customers/')) as [{ url: string }];
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const idle = await metered(server, 'begin');
    const first = await timed(async () => {
      const body = { name: 'Large', customer: customer.url, ...credentials };
      const created = (await api.post(`/api/${prefix}/`, body)) as { settings: string };
      await api.inSync(created.settings);
      return created.settings;
    });
    const one = await metered(server, 'begin');
    const second = await timed(async () => {
      await api.post(`${new URL(first.result).pathname}pull/`, {});
      await api.inSync(first.result);
    });
    const two = await metered(server, 'end');
    return [
      {
        what: `${title}: first synchronisation, responses after ${pace} ms`,
        value: first.seconds,
        unit: 's',
        atMost: 60,
      },
      { what: '… event loop blocked at most', value: one.heldAtMost, unit: 'ms', atMost: 20 },
      { what: '… memory above idle at most', value: one.megabytes - idle.megabytes, unit: 'MB', atMost: 60 },
      { what: 'Next synchronisation', value: second.seconds, unit: 's', atMost: 60 },
      { what: '… event loop blocked at most', value: two.heldAtMost, unit: 'ms', atMost: 20 },
      { what: '… memory above idle at most', value: two.megabytes - idle.megabytes, unit: 'MB', atMost: 60 },
    ];
  } finally {
    for (const child of [server, vendor]) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
  }
}

async function metered(server: ChildProcess, word: 'begin' | 'end'): Promise<Held> {
  server.send(word);
  const [held] = (await once(server, 'message')) as [Held];
  return held;
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

/** Requests by staff. */
class Api {
  constructor(private readonly url: string) {}

  get = (target: string): Promise<unknown> => this.#ask({ method: 'GET', target });

  post = (target: string, body: object): Promise<unknown> =>
    this.#ask({ method: 'POST', target, body: JSON.stringify(body) });

  /** Resolves when settings are OK; rejects when they are erred. */
  async inSync(settings: string): Promise<void> {
    const end = performance.now() + maxSeconds * 1000;
    for (;;) {
      const { error_message: text, state } = (await this.get(new URL(settings).pathname)) as Record<string, string>;
      if (state === 'In Sync') return;
      if (state === 'Erred' || performance.now() > end) throw new Error(`The account is ${state}: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #ask(request: { method: 'GET' | 'POST'; target: string; body?: string }): Promise<unknown> {
    const { body, status } = await ask(this.url, { ...request, token: tokenOf('staff') });
    if (status >= 300) throw new Error(`${request.target} returned ${status}: ${body}`);
    return JSON.parse(body);
  }
}
