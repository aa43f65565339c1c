/** The one-file build, alone in an empty folder: no node_modules, and no environment but PATH. `npm test` builds it first. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as assert from 'uvu/assert';
import { builtProgram } from '../support/program.ts';
import { suiteOfBuild } from '../support/unchanged.ts';

interface Started {
  readonly url: string;
  readonly process: ChildProcess;
  /** Sends SIGTERM; returns the exit code and the time until the process ended, in milliseconds. */
  readonly stop: () => Promise<{ code: number | null; milliseconds: number }>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const bundle = suiteOfBuild('one-file build', {
  files: ['dist/tenantry.mjs', 'test/package/bundle.test.ts', 'test/support/program.ts'],
});
let folder: string;
const running = new Set<ChildProcess>();

bundle.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-bundle-'));
  copyFileSync(builtProgram, join(folder, 'tenantry.mjs'));
});

bundle.after.each(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true });
});

/** Starts Node in the folder with only PATH and `env` in the environment. */
function node(words: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, words, { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

async function serve(env: Record<string, string> = {}): Promise<Started> {
  const child = node(['tenantry.mjs', 'serve', '--port', '0', '--data', './d'], env);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  assert.ok(child.stdout);
  const first = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'close')]);
  assert.type(first[0], 'string', `the server ended before it listened: ${errors}`);
  const { event, url } = JSON.parse(first[0] as string) as { event: string; url: string };
  assert.is(event, 'listening');
  return {
    url: url.replace(/\/$/, ''),
    process: child,
    async stop() {
      const begun = performance.now();
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, milliseconds: performance.now() - begun };
    },
  };
}

function end(words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return outcome(node(words, env));
}

async function outcome(child: ChildProcess): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (chunk: Buffer) => (texts[stream] += chunk.toString()));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

interface Call {
  readonly method?: string;
  readonly token?: string;
  readonly body?: unknown;
}

async function call<Body>(url: string, { method = 'GET', token, body }: Call = {}): Promise<Body> {
  const response = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Token ${token}` } : {}) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text) as Body;
}

async function logIn(url: string): Promise<string> {
  const password = readFileSync(join(folder, 'd/initial-password'), 'utf8').trim();
  const body = { username: 'admin', password };
  return (await call<{ token: string }>(`${url}/api-auth/password/`, { method: 'POST', body })).token;
}

/** Lists the unpacked addons below a folder, by file name. */
function addonsIn(path: string): Record<string, string> {
  const files = existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
  const addons = files.filter((file) => file.endsWith('.node'));
  return Object.fromEntries(addons.map((file) => [basename(file), join(path, file)]));
}

bundle('serves from an empty folder: log in, create a customer, change it, read it, stop', async () => {
  const server = await serve();
  const token = await logIn(server.url);

  const created = await call<{ url: string; uuid: string; name: string }>(`${server.url}/api/customers/`, {
    method: 'POST',
    token,
    body: { name: 'Ground Control' },
  });
  assert.is(created.name, 'Ground Control');
  await call(created.url, { method: 'PATCH', token, body: { abbreviation: 'GC' } });
  const read = await call<{ uuid: string; name: string; abbreviation: string }>(created.url, { token });
  assert.equal([read.uuid, read.name, read.abbreviation], [created.uuid, 'Ground Control', 'GC']);

  const { code, milliseconds } = await server.stop();
  assert.is(code, 0);
  assert.ok(milliseconds < 10_000, `took ${milliseconds} ms to stop`);
});

bundle('stores writes across a restart', async () => {
  const first = await serve();
  const token = await logIn(first.url);
  const body = { name: 'Stored' };
  const { uuid } = await call<{ uuid: string }>(`${first.url}/api/customers/`, { method: 'POST', token, body });
  assert.is((await first.stop()).code, 0);

  const second = await serve();
  assert.is((await call<{ name: string }>(`${second.url}/api/customers/${uuid}/`, { token })).name, 'Stored');
  assert.is((await second.stop()).code, 0);
});

bundle('is executable, and starts through a symbolic link', async () => {
  assert.is(statSync(builtProgram).mode & 0o777, 0o755);
  symlinkSync('tenantry.mjs', join(folder, 'tenantry'));
  const { code, stdout } = await end(['tenantry', 'config', '--data', './d']);
  assert.is(code, 0);
  assert.match(stdout, 'TENANTRY_PORT=8080');
});

bundle('is a library too: importing it starts nothing, createServer does', async () => {
  writeFileSync(
    join(folder, 'embedding.mjs'),
    `import { createServer } from './tenantry.mjs';
     if (process.argv[2]) {
       const server = await createServer({ data: './d', port: 0, log_level: 'silent' });
       const response = await fetch(server.url + '/api/version/');
       console.log(response.status);
       await server.close();
     } else console.log(typeof createServer);`,
  );
  assert.equal(await end(['embedding.mjs']), { code: 0, stdout: 'function\n', stderr: '' });
  assert.not(existsSync(join(folder, 'd')));
  assert.equal(await end(['embedding.mjs', 'listen']), { code: 0, stdout: '200\n', stderr: '' });
});

bundle('checkpoints its database in a thread, which is part of the file', async () => {
  writeFileSync(
    join(folder, 'embedding.mjs'),
    `import { createServer } from './tenantry.mjs';
     const server = await createServer({ data: './d', port: 0, log_level: 'silent' });
     const { db } = server.app;
     db.write(() => {
       for (let i = 0; i < 3000; i++) db.insert('address_failure', { address: i + 'x'.repeat(4000), at: Date.now() * 1000 });
     });
     db.commit();
     await db.checkpointed();
     // The timer may have begun a change.
     db.commit();
     const { checkpointed, log } = db.get({ text: 'PRAGMA wal_checkpoint(NOOP)', values: [] });
     console.log(log > 0 && checkpointed === log, db.pragma('wal_autocheckpoint'));
     await server.close();`,
  );
  assert.equal(await end(['embedding.mjs']), { code: 0, stdout: 'true 0\n', stderr: '' });
  assert.equal(
    readdirSync(join(folder, 'd')).filter((file) => file.startsWith('tenantry.db')),
    ['tenantry.db'],
  );
});

bundle('keeps its threads and logins working after the first data folder of the process is deleted', async () => {
  writeFileSync(
    join(folder, 'embedding.mjs'),
    `import { existsSync, readFileSync, rmSync } from 'node:fs';
     import { createServer, settableClock } from './tenantry.mjs';
     const first = await createServer({ data: './first', port: 0, log_level: 'silent' });
     await first.close();
     rmSync('./first', { recursive: true });
     // While its clock is stopped, later ticks write nothing beside the checkpoint.
     const second = await createServer({ data: './second', port: 0, log_level: 'silent', clock: settableClock() });
     second.tick();
     await second.settled();
     const { db } = second.app;
     db.write(() => {
       for (let i = 0; i < 3000; i++) db.insert('address_failure', { address: i + 'x'.repeat(4000), at: Date.now() * 1000 });
     });
     db.commit();
     await db.checkpointed();
     const { checkpointed, log } = db.get({ text: 'PRAGMA wal_checkpoint(NOOP)', values: [] });
     const password = readFileSync('./second/initial-password', 'utf8').trim();
     const login = await fetch(second.url + '/api-auth/password/', {
       method: 'POST',
       headers: { 'Content-Type': 'application/json' },
       body: JSON.stringify({ username: 'admin', password }),
     });
     await second.close();
     console.log(log > 0 && checkpointed === log, login.status, existsSync('./first'));`,
  );
  assert.equal(await end(['embedding.mjs']), { code: 0, stdout: 'true 200 false\n', stderr: '' });
});

bundle('unpacks its addons into a private folder inside the data folder', async () => {
  const server = await serve();
  await logIn(server.url);
  await server.stop();

  const addons = addonsIn(join(folder, 'd/native'));
  assert.equal(Object.keys(addons).sort(), ['argon2.node', 'better_sqlite3.node']);
  for (const file of Object.values(addons)) {
    assert.is(statSync(file).mode & 0o777, 0o600);
    assert.is(statSync(join(file, '..')).mode & 0o777, 0o700);
  }
  assert.is(statSync(join(folder, 'd/native')).mode & 0o777, 0o700);
});

bundle('replaces an addon that was tampered with before it loads it', async () => {
  await (await serve()).stop();
  const file = addonsIn(join(folder, 'd/native'))['better_sqlite3.node'] ?? '';
  const original = readFileSync(file);
  writeFileSync(file, 'something else');

  const { code } = await (await serve()).stop();
  assert.is(code, 0);
  assert.ok(readFileSync(file).equals(original));
});

bundle('unpacks its addons into TENANTRY_NATIVE_CACHE', async () => {
  const { code } = await (await serve({ TENANTRY_NATIVE_CACHE: './elsewhere' })).stop();
  assert.is(code, 0);
  assert.ok(addonsIn(join(folder, 'elsewhere'))['better_sqlite3.node']);
  assert.not(existsSync(join(folder, 'd/native')));
});

bundle('survives several processes that unpack at once', async () => {
  const cache = { TENANTRY_NATIVE_CACHE: './shared' };
  const words = ['tenantry.mjs', 'user', 'add', 'alice', '--data'];
  const starts = ['./a', './b', './c', './d'].map((data) => end([...words, data], cache));
  for (const { code, stderr } of await Promise.all(starts)) assert.is(code, 0, stderr);
  const files = readdirSync(join(folder, 'shared'), { recursive: true, encoding: 'utf8' });
  assert.equal(
    files.filter((file) => /\.node./.test(file)),
    [],
  );
});

bundle('rejects a cache folder that others can write to, in one line that names the setting', async () => {
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o777);
  const words = ['tenantry.mjs', 'serve', '--port', '0', '--data', './d'];
  const { code, stdout, stderr } = await end(words, { TENANTRY_NATIVE_CACHE: './open' });
  assert.is(code, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^tenantry: the folder .*open for native code can be written by other users: set native_cache /);
  assert.is(stderr.match(/\n/g)?.length, 1);
});

// A file system without execution needs a mount, which a separate namespace allows without leaving traces.
const canMount = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', '-o', 'noexec', 'tmpfs', tmpdir()]).status === 0;

(canMount ? bundle : bundle.skip)('names the setting when the file system of the cache forbids execution', async () => {
  mkdirSync(join(folder, 'noexec'));
  const script = 'mount -t tmpfs -o noexec tmpfs noexec && exec "$0" tenantry.mjs serve --port 0 --data ./d';
  const child = spawn('unshare', ['-Urm', 'sh', '-c', script, process.execPath], {
    cwd: folder,
    env: { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: './noexec/cache' },
  });
  const { code, stdout, stderr } = await outcome(child);
  assert.is(code, 1);
  assert.is(stdout, '');
  assert.match(
    stderr,
    /^tenantry: .*noexec\/cache forbids execution \(noexec\): set native_cache \(TENANTRY_NATIVE_CACHE\) /,
  );
  assert.is(stderr.match(/\n/g)?.length, 1);
});

/** Builds a bundle for another platform: replaces one of the compared facts. */
function writeBundleFor(fact: 'nodes' | 'os' | 'arch' | 'libc', value: string): void {
  const text = readFileSync(builtProgram, 'latin1');
  const pattern = new RegExp(`(builtFor = \\{.*?\\b${fact}: )("\\w*"|\\{.*?\\})`);
  assert.match(text, pattern);
  writeFileSync(join(folder, 'tenantry.mjs'), text.replace(pattern, `$1${value}`), 'latin1');
}

const others = [
  [
    'other ABIs of Node.js',
    'nodes',
    '{ 1: "0.1.0", 2: "0.2.0" }',
    /was built for Node\.js 0\.1\.0 \(ABI 1\), 0\.2\.0 \(ABI 2\) on /,
  ],
  ['another operating system', 'os', '"plan9"', /was built for .* on plan9-/],
  ['another processor', 'arch', '"vax"', /was built for .*-vax/],
  ['another libc', 'libc', '"newlib"', /was built for .*-newlib /],
] as const;

for (const [title, fact, value, message] of others) {
  bundle(`rejects the platform when built for ${title}, in one line and before anything else`, async () => {
    writeBundleFor(fact, value);
    const { code, stdout, stderr } = await end(['tenantry.mjs', 'serve', '--port', '0', '--data', './d']);
    assert.is(code, 1);
    assert.is(stdout, '');
    assert.match(stderr, message);
    assert.match(stderr, /^tenantry: this file was built for .* and cannot run on .*\n$/);
    assert.equal(readdirSync(folder), ['tenantry.mjs']);
  });
}

bundle('throws an error on another platform as a library', async () => {
  writeBundleFor('nodes', '{ 1: "0.1.0" }');
  writeFileSync(
    join(folder, 'embedding.mjs'),
    "await import('./tenantry.mjs').catch((error) => console.log(error.name));",
  );
  assert.equal(await end(['embedding.mjs']), { code: 0, stdout: 'NativeAddonError\n', stderr: '' });
});

/** Changes one letter of a part of the bundle. */
function writeDamaged(part: string): void {
  const text = readFileSync(builtProgram, 'latin1');
  const at = text.lastIndexOf(`\n//${part}:`) + 1000;
  writeFileSync(
    join(folder, 'tenantry.mjs'),
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`,
    'latin1',
  );
}

bundle('reports in one line that it is damaged, for a change in any part', async () => {
  const rejection = (part: string) => ({
    code: 1,
    stdout: '',
    stderr: `tenantry: the program file is damaged (${part}): copy or build it again\n`,
  });
  writeDamaged('program');
  assert.equal(await end(['tenantry.mjs', 'version'], { TENANTRY_NATIVE_CACHE: './cache' }), rejection('program'));
  writeDamaged('licenses');
  assert.equal(await end(['tenantry.mjs', 'licenses']), rejection('licenses'));
});

bundle('is smaller than 4.6 million bytes', () => {
  assert.ok(statSync(builtProgram).size < 4_600_000, `${statSync(builtProgram).size} bytes`);
});

bundle.run();
