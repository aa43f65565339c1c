/** The program as a process that is killed while its operations run at the vendor. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DigitalOcean } from '../../../support/digitalocean/stand-in.ts';
import type { Json } from '../../../support/fixture.ts';
import { fastClock } from './fast-clock.ts';

const test = suite('kill -9');
const program = fileURLToPath(new URL('fast-server.ts', import.meta.url));
const begun = Date.now();
let data: string;
let vendor: DigitalOcean;
let child: ChildProcess;
let server: { readonly url: string; readonly token: string };

test.before(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-kill-'));
  vendor = await DigitalOcean.start(() => fastClock(begun));
  await serve();
});

test.after(async () => {
  await kill();
  await vendor.close();
  rmSync(data, { recursive: true });
});

async function serve(): Promise<void> {
  child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program, data, String(begun)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([
    once(createInterface(child.stdout as NonNullable<typeof child.stdout>), 'line'),
    once(child, 'close'),
  ]);
  server = JSON.parse(line as string);
}

async function kill(): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}

/** A request of staff; answers the body. */
async function ask(method: string, path: string, body?: unknown): Promise<Json> {
  const response = await fetch(path.startsWith('http') ? path : server.url + path, {
    method,
    headers: { Authorization: `Token ${server.token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}

/** All droplets, as the API shows them. */
async function droplets(): Promise<Json[]> {
  return ask(
    'GET',
    '/api/digitalocean-droplets/?page_size=200&o=name&field=name&field=state&field=runtime_state&field=backend_id&field=error_message&field=url',
  );
}

/** Waits for what is asked to become true. */
async function until(what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await ask())) {
    assert.ok(Date.now() < deadline, `${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

const inState = async (...states: string[]): Promise<number> =>
  (await droplets()).filter(({ state }) => states.includes(state)).length;

/** Thirteen accounts, so that four operations of each make fifty at once. */
async function connect(): Promise<Json[]> {
  await ask('PATCH', (await ask('GET', '/api/users/?current'))[0].url, { agree_with_policy: true });
  const customer = await ask('POST', '/api/customers/', { name: 'Alice' });
  const project = await ask('POST', '/api/projects/', { name: 'Rocket', customer: customer.url });
  for (let n = 0; n < 13; n++) {
    await ask('POST', '/api/digitalocean/', {
      name: `Account ${n}`,
      customer: customer.url,
      project: project.url,
      backend_url: vendor.url,
      token: 'full-access',
    });
  }
  await until('synchronisation', async () =>
    (await ask('GET', '/api/digitalocean/?page_size=50')).every(({ state }: Json) => state === 'In Sync'),
  );
  return ask('GET', '/api/digitalocean-service-project-link/?page_size=50');
}

/** The link of what an account offers, by its name. */
const find = async (path: string, name: string, settings: string): Promise<string> =>
  (await ask('GET', `/api/digitalocean-${path}/?settings_uuid=${settings}&name_exact=${encodeURIComponent(name)}`))[0]
    .url;

const posts = (): number =>
  posted.push(
    ...vendor
      .take()
      .map(({ line }) => line)
      .filter((line) => line.startsWith('POST')),
  );
const posted: string[] = [];

test('in the middle of fifty running operations loses none and doubles none', async () => {
  const links = await connect();
  const places = await Promise.all(
    links.map(async ({ service, url }) => {
      const { settings_uuid: settings } = await ask('GET', service);
      return {
        service_project_link: url,
        region: await find('regions', 'New York 3', settings),
        image: await find('images', 'Debian 9.2 x64', settings),
        size: await find('sizes', 's-1vcpu-1gb', settings),
      };
    }),
  );
  const order = (n: number): Promise<Json> =>
    ask('POST', '/api/digitalocean-droplets/', { name: `web-${n}`, ...places[n % 13] });

  const running = [];
  for (let n = 0; n < 14; n++) running.push(await order(n));
  await until('creation of the first', async () => (await inState('OK')) === 14);
  vendor.take();

  // A third of the calls is done and not answered, a third not even done, a third answered and followed.
  vendor.actionTime = 1e9;
  vendor.mishap('POST /droplets', 'silence', 12);
  vendor.mishap('POST /droplets', 'swallowed', 12);
  vendor.mishap('POST /droplets/:id/actions', 'silence', 5);
  vendor.mishap('POST /droplets/:id/actions', 'swallowed', 5);
  for (let n = 14; n < 50; n++) await order(n);
  for (const [n, { url }] of running.entries()) await ask('POST', `${url}${n % 2 ? 'stop' : 'restart'}/`);
  await until('every call', () => posts() === 50);
  assert.equal([await inState('Creating'), await inState('Updating')], [36, 14]);

  await kill();
  vendor.actionTime = 8000;
  await serve();
  await until('every operation', async () => (await inState('OK', 'Erred')) === 50);

  const present = await droplets();
  assert.equal(
    present.filter(({ state }) => state === 'Erred').map(({ error_message: text }) => text),
    [],
  );
  // Every droplet is exactly once at the vendor.
  const ofVendor = [...vendor.droplets.values()].map(({ id, name }) => `${name} ${id}`).sort();
  assert.equal(ofVendor, present.map(({ backend_id: id, name }) => `${name} ${id}`).sort());
  assert.is(ofVendor.length, 50);
  // Every action was begun exactly once.
  const types = [...vendor.actions.values()]
    .filter(({ droplet }) => vendor.droplets.has(droplet))
    .map(({ type }) => type);
  assert.equal(
    ['create', 'shutdown', 'reboot'].map((wanted) => types.filter((type) => type === wanted).length),
    [50, 7, 7],
  );
  assert.equal(present.map(({ runtime_state: state }) => state).sort(), [
    ...Array(7).fill('offline'),
    ...Array(43).fill('online'),
  ]);
  // And everything was told exactly once.
  const told = async (type: string): Promise<number> =>
    (await ask('GET', `/api/events/?page_size=200&event_type=${type}`)).length;
  assert.equal(
    [
      await told('resource_creation_succeeded'),
      await told('resource_stop_succeeded'),
      await told('resource_restart_succeeded'),
    ],
    [50, 7, 7],
  );
  assert.equal(
    [await told('resource_creation_failed'), await told('resource_stop_failed'), await told('resource_restart_failed')],
    [0, 0, 0],
  );
});

test.run();
