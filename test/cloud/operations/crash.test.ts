import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compiled } from '../../support/compiled.ts';
import type { Json } from '../../support/fixture.ts';

const test = suite('a server that is killed while fifty operations run (services.md 8.3)');
const program = compiled(new URL('served.ts', import.meta.url));
/** Milliseconds to wait for an expected change. */
const timeout = 30_000;
const services = 5;

let folder: string;
let server: ChildProcess | undefined;
let base = '';
let token = '';

test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-crash-'));
});
test.after(async () => {
  await kill();
  rmSync(folder, { recursive: true });
});

async function start(): Promise<void> {
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  server = child;
  const [line] = (await Promise.race([
    once(createInterface(child.stdout as NodeJS.ReadableStream), 'line'),
    once(child, 'close'),
  ])) as [string];
  ({ token, url: base } = JSON.parse(line));
}

async function kill(): Promise<void> {
  if (!server || server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'close');
}

async function ask(method: string, path: string, body?: unknown): Promise<Json> {
  const response = await fetch(base + path.replace(/^https?:.*?(?=\/api\/)/, ''), {
    method,
    redirect: 'manual',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Resolves when the condition holds. Polls every few milliseconds. */
async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + timeout;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} never happened`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const droplets = (): Promise<Json[]> =>
  ask(
    'GET',
    '/api/digitalocean-droplets/?page_size=300&field=name&field=state&field=url&field=uuid&field=backend_id&field=runtime_state',
  );
const count = async (...states: string[]): Promise<number> =>
  (await droplets()).filter(({ state }) => states.includes(state)).length;

/** Reads the database from this process. */
function rows(query: string): Json[] {
  const db = new SQLite(join(folder, 'tenantry.db'), { readonly: true });
  try {
    return db.prepare(query).all();
  } finally {
    db.close();
  }
}

test('a crash neither loses nor repeats an operation', async () => {
  await start();
  const customer = await ask('POST', '/api/customers/', { name: 'Alice' });
  const project = await ask('POST', '/api/projects/', { name: 'Rocket', customer: customer.url });
  for (let n = 0; n < services; n++) {
    await ask('POST', '/api/digitalocean/', {
      name: `Cloud ${n}`,
      customer: customer.url,
      project: project.url,
      simulator_seed: n,
      simulator_latency: 'sync=0,ping=0,*=20',
    });
  }
  await until('synchronisation', async () => (await ask('GET', '/api/services/?state=In+Sync')).length === services);
  const links: Json[] = await ask('GET', '/api/digitalocean-service-project-link/');
  const first = async (path: string): Promise<string> => (await ask('GET', `/api/digitalocean-${path}`))[0].url;
  const [image, region, size] = [
    await first('images/?distribution=Debian'),
    await first('regions/'),
    await first('sizes/?name_exact=s-1vcpu-1gb'),
  ];
  const create = async (name: string): Promise<string[]> =>
    Promise.all(
      links.map(
        async ({ url }, n) =>
          (
            await ask('POST', '/api/digitalocean-droplets/', {
              name: `${name}-${n}`,
              service_project_link: url,
              image,
              region,
              size,
            })
          ).uuid,
      ),
    );

  // Wait until each service has six droplets, then start fifty operations that are slow enough to run all at once.
  for (const name of ['stop-a', 'stop-b', 'restart-a', 'restart-b', 'delete-a', 'delete-b']) await create(name);
  await until('readiness', async () => (await count('OK')) === 6 * services);
  for (const { settings } of await ask('GET', '/api/services/'))
    await ask('PATCH', settings, { simulator_latency: 'sync=0,ping=0,*=5000' });
  const before = await droplets();
  const [{ last }] = rows('SELECT max(id) AS last FROM event') as [Json];
  for (const { name, url } of before) {
    const [operation] = name.split('-');
    if (operation === 'delete') await ask('DELETE', url);
    else await ask('POST', `${url}${operation}/`);
  }
  const created = (await Promise.all(['new-a', 'new-b', 'new-c', 'new-d'].map(create))).flat();
  await until('the middle', async () => (await count('Creating', 'Updating', 'Deleting')) === 50);
  await kill();
  assert.is(rows('SELECT count(*) AS n FROM job')[0].n, 50, 'all fifty are still to be done');

  // Kill it again when only some are done.
  await start();
  await until('the first end', async () => rows('SELECT count(*) AS n FROM job')[0].n < 50);
  await kill();
  const left = rows('SELECT count(*) AS n FROM job')[0].n;
  assert.ok(left > 0 && left < 50, `${left} are left`);

  await start();
  await until('the end', async () => rows('SELECT count(*) AS n FROM job')[0].n === 0);
  const after = await droplets();
  await kill();

  const named = (prefix: string): Json[] => after.filter(({ name }) => name.startsWith(prefix));
  const outcome = (prefix: string): string[] => [
    ...new Set(named(prefix).map(({ runtime_state, state }) => `${state} ${runtime_state}`)),
  ];
  assert.equal([after.length, named('delete').length], [40, 0]);
  assert.equal([outcome('stop'), outcome('restart'), outcome('new')], [['OK offline'], ['OK online'], ['OK online']]);
  assert.equal(
    named('new')
      .map(({ uuid }) => uuid)
      .sort(),
    [...created].sort(),
    'every accepted creation is there',
  );

  const known = after.map(({ backend_id }) => backend_id).sort();
  assert.equal(
    rows('SELECT backend_id FROM simulated_object')
      .map(({ backend_id }) => backend_id)
      .sort(),
    known,
    'the provider has what we have, and no more',
  );
  assert.equal(
    rows("SELECT value FROM simulated_counter WHERE name = 'objects Droplet'").map(({ value }) => value),
    Array(services).fill(10),
    'it has made none twice',
  );
  const runs = rows(
    "SELECT value FROM simulated_counter WHERE name LIKE 'runs % stop' OR name LIKE 'runs % restart' OR name LIKE 'runs % delete' OR name LIKE 'runs % create'",
  );
  assert.equal(
    [runs.length, new Set(runs.map(({ value }) => value)).size],
    [50 + 30, 1],
    'and has run every operation once',
  );

  const reports = rows(
    `SELECT type, count(*) AS n, count(DISTINCT context ->> '$.resource_uuid') AS objects FROM event WHERE id > ${last} GROUP BY type ORDER BY type`,
  );
  const each = (type: string, n: number): Json => ({ type, n, objects: n });
  assert.equal(
    reports.filter(({ type }) => type.startsWith('resource_')),
    [
      each('resource_creation_scheduled', 20),
      each('resource_creation_succeeded', 20),
      each('resource_deletion_scheduled', 10),
      each('resource_deletion_succeeded', 10),
      each('resource_restart_scheduled', 10),
      each('resource_restart_succeeded', 10),
      each('resource_stop_scheduled', 10),
      each('resource_stop_succeeded', 10),
    ],
  );
  const usages = rows(
    "SELECT name, sum(usage) AS usage FROM quota WHERE name IN ('droplet_count', 'vcpu') GROUP BY name ORDER BY name",
  );
  assert.equal(usages, [
    { name: 'droplet_count', usage: 40 },
    { name: 'vcpu', usage: 40 },
  ]);
});

test.run();
