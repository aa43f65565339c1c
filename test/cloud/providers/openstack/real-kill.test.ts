/** The program as a process that is killed in the middle of a flow, over and over. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { OpenStack } from '../../../support/openstack/stand-in.ts';
import { fastClock } from '../digitalocean/fast-clock.ts';
import { credentials } from './real-cloud.ts';

const test = suite('OpenStack: kill -9 in the middle of a flow');
const program = fileURLToPath(new URL('../digitalocean/fast-server.ts', import.meta.url));
const begun = Date.now();
let data: string;
let vendor: OpenStack;
let child: ChildProcess;
let server: { readonly url: string; readonly token: string };

test.before(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-kill-'));
  vendor = await OpenStack.start(() => fastClock(begun));
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
  const [line] = await once(createInterface(child.stdout as NonNullable<typeof child.stdout>), 'line');
  server = JSON.parse(line as string);
}

async function kill(): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

/** A request of staff; answers the body. */
async function ask(method: string, path: string, body?: unknown): Promise<Json> {
  const response = await fetch(server.url + path.replace(/^https?:.*?(?=\/api\/)/, ''), {
    method,
    headers: { Authorization: `Token ${server.token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.json();
}

/** Waits for what is asked to become true. */
async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await look())) {
    assert.ok(Date.now() < deadline, `${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a tenant is made once with all its parts, wherever its creation was cut off', async () => {
  await ask('PATCH', (await ask('GET', '/api/users/?current'))[0].url, { agree_with_policy: true });
  const customer = await ask('POST', '/api/customers/', { name: 'Alice' });
  const project = await ask('POST', '/api/projects/', { name: 'Rocket', customer: customer.url });
  await ask('POST', '/api/openstack/', { ...credentials(vendor), customer: customer.url, project: project.url });
  await until('synchronisation', async () => (await ask('GET', '/api/service-settings/'))[0].state === 'In Sync');
  const [link] = await ask('GET', '/api/openstack-service-project-link/');
  const tenant = await ask('POST', '/api/openstack-tenants/', { service_project_link: link.url, name: 'Lab' });
  const lists = ['identity/projects', 'network/subnets', 'network/security-groups'];
  for (const list of lists) {
    vendor.take();
    // It is done, and nobody is told.
    vendor.mishap(`POST ${list}`, 'silence');
    await until(list, () => vendor.take().includes(`POST ${list}`));
    await kill();
    await serve();
  }
  await until('creation', async () => ['OK', 'Erred'].includes((await ask('GET', tenant.url)).state));
  const made = await ask('GET', tenant.url);
  assert.is(made.state, 'OK', made.error_message);
  const names = (list: string): string[] => vendor.all(list).map(({ name }) => name);
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
  assert.equal(vendor.all('identity/projects').at(-1).id, made.backend_id);
  assert.equal(
    ['identity/users', 'network/networks', 'network/subnets', 'network/routers'].map((list) => names(list).length),
    [1, 1, 1, 1],
  );
  assert.equal(names('network/security-groups'), ['allow-all', 'ssh', 'ping', 'rdp', 'web']);
});

test.run();
