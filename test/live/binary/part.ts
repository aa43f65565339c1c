import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import packageJson from '../../../package.json' with { type: 'json' };
import { demoPassword } from '../../../src/app/demo/demo.ts';
import { eventually } from '../../support/eventually.ts';
import { printed, useEverything } from '../../support/packed.ts';
import { Program, type Serving } from '../../support/program.ts';
import { SamlProvider } from '../../support/saml-login.ts';
import type { Steps } from '../steps.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const largest = 120_000_000;
/** How long the one-file build takes to start, in Node.js of the same version. */
const slowest = 1.3;
const rounds = 9;

/** The executable, in an empty folder with an empty environment: its size and all of its functions. */
export async function binary(steps: Steps): Promise<void> {
  for (const what of ['package', 'binary'])
    await steps.step(`build:${what}`, () => printed(project, process.execPath, ['build.mjs', what]));
  const built = join(project, 'dist/tenantry');
  const { size } = statSync(built);
  await steps.step(`its size is ${(size / 1e6).toFixed(1)} MB`, async () => assert.ok(size <= largest));

  const program = new Program(undefined, ['./tenantry']);
  const { folder } = program;
  copyFileSync(built, join(folder, 'tenantry'));
  const say = async (words: readonly string[], input?: string): Promise<string> => {
    const { code, stderr, stdout } = await program.run(words, { ...(input !== undefined && { input }) });
    assert.equal([code, stderr], [0, ''], words.join(' '));
    return stdout;
  };
  try {
    await steps.step('commands without data', async () => {
      assert.is(await say(['version']), `${packageJson.version}\n`);
      assert.match(await say(['licenses']), /\nNode\.js 24\.\d+\.\d+\n\nNode\.js is licensed/);
      for (const words of [['help'], ['config'], ['openapi']]) assert.ok((await say(words)).length > 1000);
    });
    await steps.step('serve, log in, user add, token, backup, kill -9, serve, restore, doctor', () =>
      live(program, say),
    );
    await steps.step('serve --demo, rotate-key', async () => {
      const server = await program.serve(['--demo', '--data', 'demo']);
      await logIn(server, 'helena.kask', demoPassword);
      assert.match(
        await (await fetch(`${server.url}/docs/`, { headers: { Accept: 'text/html' } })).text(),
        /<rapi-doc/,
      );
      assert.equal([await server.stop(), server.errors()], [0, '']);
      assert.match(await say(['rotate-key', '--data', 'demo']), /secrets encrypted with the new key/);
    });
    await steps.step('serve with a login at an identity provider', () => serveWithSingleSignOn(program));
    await steps.step('everything in test/package/everything.test.ts', () => useEverything(built));
    // Some addons crash Node.js when their objects are garbage-collected: src/decisions/bundle.md.
    await steps.step('twenty commands that open the database exit normally', async () => {
      for (let i = 0; i < 20; i++) assert.match(await say(['token', 'admin']), /^\w{40}\n$/);
    });
    await steps.step('reports errors in one line', () => rejections(program));
    const ratio = await steps.step('starts of the executable and of the one-file build', () => startRatio(program));
    await steps.step(`its start takes ${ratio.toFixed(2)} times as long`, async () => assert.ok(ratio <= slowest));
  } finally {
    await program.end();
  }
}

async function logIn({ url }: Serving, username: string, password: string): Promise<Record<string, string>> {
  const login = new URLSearchParams({ username, password });
  const response = await fetch(`${url}/api-auth/password/`, { method: 'POST', body: login });
  assert.is(response.status, 200);
  const { token } = (await response.json()) as { token: string };
  return { Authorization: `Token ${token}` };
}

/** Serves users who log in at an identity provider. */
async function serveWithSingleSignOn(program: Program): Promise<void> {
  const saml = await SamlProvider.start();
  try {
    const server = await program.serve(['--data', 'federated', ...saml.words]);
    const { registration_method: method, username } = await saml.logIn(server.url, 'mari');
    assert.equal([username, method, await server.stop()], ['mari', 'saml2', 0]);
  } finally {
    await saml.close();
  }
}

/** The life cycle of a deployment: no acknowledged write is lost when the server is killed. */
async function live(
  program: Program,
  say: (words: readonly string[], input?: string) => Promise<string>,
): Promise<void> {
  const first = await program.serve();
  const password = readFileSync(join(program.folder, 'data/initial-password'), 'utf8').trim();
  const headers = await logIn(first, 'admin', password);
  assert.is(
    await say(['user', 'add', 'bob', '--staff', '--password-stdin'], 'correct-horse-7\n'),
    'Created user bob.\n',
  );
  await logIn(first, 'bob', 'correct-horse-7');
  const created = await fetch(`${first.url}/api/customers/`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ name: 'Stored' }),
  });
  assert.is(created.status, 201);
  assert.match(await say(['backup', 'one.backup']), /Backup of .* written to /);
  await first.kill();

  const second = await program.serve();
  const names = async ({ url }: Serving): Promise<unknown> =>
    (await fetch(`${url}/api/customers/?field=name`, { headers })).json();
  assert.equal(await names(second), [{ name: 'Stored' }]);
  assert.is(await second.stop(), 0);
  assert.match(await say(['restore', 'one.backup', '--data', 'restored']), /is restored in /);
  const third = await program.serve(['--data', 'restored']);
  assert.equal(await names(third), [{ name: 'Stored' }]);
  assert.is(await third.stop(), 0);
  for (const data of ['data', 'restored']) assert.is(await say(['doctor', '--data', data]), 'no problems\n');
}

/** A damaged file, and folders in which no file can be created. */
async function rejections(program: Program): Promise<void> {
  const bytes = readFileSync(join(program.folder, 'tenantry'));
  const at = bytes.lastIndexOf('\n//licenses:') + 1000;
  bytes[at] = bytes[at] === 65 ? 66 : 65;
  writeFileSync(join(program.folder, 'damaged'), bytes);
  chmodSync(join(program.folder, 'damaged'), 0o755);
  const result = execute(program.folder, ['./damaged', 'licenses']);
  assert.equal(result, [1, 'tenantry: the program file is damaged (licenses): copy or build it again\n']);

  // A folder cannot exist below a file, not even for root.
  const nowhere = join(program.folder, 'tenantry/below');
  for (const words of [
    ['serve', '--port', '0', '--data', nowhere],
    ['serve', '--port', '0', '--ephemeral'],
  ]) {
    const [code, line] = execute(program.folder, ['./tenantry', ...words], { TMPDIR: nowhere });
    assert.is(code, 1, words.join(' '));
    assert.match(line, /^tenantry: [^\n]*\/tenantry\/below[^\n]*\n$/);
  }
  mkdirSync(join(program.folder, 'a-file-is-here'));
  writeFileSync(join(program.folder, 'a-file-is-here/data'), '');
  const [code, line] = execute(join(program.folder, 'a-file-is-here'), ['../tenantry', 'serve', '--port', '0']);
  assert.is(code, 1);
  assert.match(line, /^tenantry: [^\n]+\n$/);
  assert.equal(readdirSync(join(program.folder, 'a-file-is-here')), ['data']);
}

function execute(cwd: string, [command = '', ...words]: string[], env = {}): [code: number, stderr: string] {
  try {
    execFileSync(command, words, { cwd, env, stdio: 'pipe', timeout: 30_000 });
    return [0, ''];
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return [status, stderr.toString()];
  }
}

/** The ratio of the executable's time to its first response to that of the one-file build, each the fastest of several starts. */
async function startRatio(program: Program): Promise<number> {
  const node = join(project, 'dist/nodes/node_modules/node-24/bin/node');
  const file = new Program(undefined, [node, join(project, 'dist/package/tenantry.cjs')]);
  const times = { program: [] as number[], file: [] as number[] };
  try {
    // The first start of each stores V8's compiled code a second later.
    for (let i = -1; i < rounds; i++)
      for (const [name, started] of [['program', program] as const, ['file', file] as const]) {
        const cache = join(program.folder, `cache of ${name}`);
        const begun = performance.now();
        const server = await started.serve(['--data', 'measured'], { env: { TENANTRY_NATIVE_CACHE: cache } });
        assert.is((await fetch(`${server.url}/api/version/`)).status, 200);
        if (i >= 0) times[name].push(performance.now() - begun);
        // A second after the first start the compiled code is cached for the others.
        else await eventually('code is cached', () => readdirSync(cache).some((entry) => entry.endsWith('.code')));
        await server.stop();
      }
  } finally {
    await file.end();
  }
  const [mine, others] = [Math.min(...times.program), Math.min(...times.file)];
  process.stdout.write(`          ${Math.round(mine)} ms, ${Math.round(others)} ms\n`);
  return mine / others;
}
