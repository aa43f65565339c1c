/**
 * `npm start` in a fresh clone. The packages are really installed. The SQLite module, which takes a minute to compile, the sample
 * data and the compressed packages are copied from this project.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { suiteOfBuild } from '../support/unchanged.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const addon = join(project, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node');
const maxPackages = 120;
const maxMegabytes = 120;

const test = suiteOfBuild('fresh clone', {
  files: [
    ...['.npmrc', 'package.json', 'package-lock.json', 'build.mjs', 'src/build', 'test/package.json'],
    ...['test/package/fresh-clone.test.ts', 'test/support/unchanged.ts'],
  ],
});

let folder: string;
let clone: string;
let server: ChildProcess | undefined;
let url: string;
let errors = '';

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-clone-'));
  clone = join(folder, 'clone');
  const omitted = new Set(['.git', 'data', 'dist', 'node_modules'].map((name) => join(project, name)));
  cpSync(project, clone, { recursive: true, filter: (path) => !omitted.has(path) });
  for (const made of ['dist/demo', 'node_modules/.cache/tenantry/compressed'])
    if (existsSync(join(project, made))) cpSync(join(project, made), join(clone, made), { recursive: true });
  server = spawn('npm', ['start', '--', '--ephemeral', '--port', '0'], {
    cwd: clone,
    env: environment(),
    // A separate process group: npm does not forward every signal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const lines = createInterface(server.stdout as NodeJS.ReadableStream);
  const closed = once(server, 'close');
  url = await new Promise((resolve, reject) => {
    // npm first prints the command.
    lines.on('line', (line) => line.startsWith('{') && resolve((JSON.parse(line) as { url: string }).url));
    void closed.then(() => reject(new Error(`it ended before it served: ${errors}`)));
  });
});

test.after(async () => {
  if (server?.pid !== undefined && server.exitCode === null) {
    const closed = once(server, 'close');
    process.kill(-server.pid, 'SIGTERM');
    await closed;
  }
  rmSync(folder, { recursive: true });
});

/** npm is configured without headers. A fake npm records the call that compiles SQLite. */
function environment(): NodeJS.ProcessEnv {
  const npm = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
  const userConfig = execFileSync('npm', ['config', 'get', 'userconfig'], { cwd: project, encoding: 'utf8' }).trim();
  const settings = existsSync(userConfig) ? readFileSync(userConfig, 'utf8') : '';
  writeFileSync(join(folder, 'npmrc'), settings.replace(/^nodedir\b.*$/gm, ''));
  writeFileSync(
    join(folder, 'npm'),
    `#!/bin/sh
if [ "$1" = rebuild ]; then
  echo "$*, headers: $npm_config_nodedir" >>'${join(folder, 'compiled')}'
  mkdir -p node_modules/better-sqlite3/build/Release/obj.target
  exec cp '${addon}' node_modules/better-sqlite3/build/Release/
fi
exec '${npm}' "$@"
`,
  );
  chmodSync(join(folder, 'npm'), 0o755);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|TENANTRY_|INIT_CWD)/.test(name)),
  );
  return {
    ...env,
    PATH: `${folder}${delimiter}${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    npm_config_userconfig: join(folder, 'npmrc'),
    npm_config_prefer_offline: 'true',
  };
}

test('serves', async () => {
  assert.is((await fetch(`${url}/api/version/`)).status, 200);
});

test('installs packages to build and run, and no tools for tests or packages', () => {
  const modules = join(clone, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const count = Object.keys(packages).length;
  const megabytes = bytesOf(modules) / 1e6;
  console.log(`${count} packages, ${megabytes.toFixed(1)} MB`);
  assert.ok(count <= maxPackages, `${count} packages`);
  assert.ok(megabytes <= maxMegabytes, `${megabytes} MB`);
  for (const name of ['uvu', 'playwright-core', 'lucide', 'typescript-7', 'dts-bundle-generator'])
    assert.not(existsSync(join(modules, name)), name);
});

test('logs its progress', () => {
  const steps = errors.split('\n').filter((line) => /^(Installing|Fetching|…|Built)/.test(line));
  const texts = steps
    .filter((line) => !line.includes('still running'))
    .map((line) => line.replace(/\d+(\.\d+)* (s|ms|MB)|Node\.js [\d.]+/g, '#').replace(/\d+\.\d+/g, '#'));
  assert.equal(texts, [
    'Installing the packages to build and run Tenantry …',
    '… done in #.',
    'Fetching SQLite for #, or compiling it, which takes one to three minutes …',
    '… done in #.',
    'Built dist/tenantry.mjs: # in #',
  ]);
});

test('compiles against the headers of this Node.js where npm is configured with none, and stores the module alone', () => {
  const home = dirname(dirname(realpathSync(process.execPath)));
  const headers = existsSync(join(home, 'include/node/node_version.h')) ? home : '';
  assert.is(readFileSync(join(folder, 'compiled'), 'utf8'), `rebuild better-sqlite3, headers: ${headers}\n`);
  assert.equal(readdirSync(join(clone, 'node_modules/better-sqlite3/build/Release')), ['better_sqlite3.node']);
});

/** Returns the size of a folder on disk. */
function bytesOf(path: string): number {
  const entry = lstatSync(path);
  const own = entry.blocks * 512;
  return entry.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), own) : own;
}

test.run();
