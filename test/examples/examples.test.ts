/** The examples for test authors run unchanged, against the built program, with their test runners. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtProgram } from '../support/program.ts';

const examples = suite('examples');
const project = fileURLToPath(new URL('../..', import.meta.url));
/** A copy of the examples, with the built program installed as the package they import. */
const copy = join(project, 'dist/examples');
const at = (path: string): string => join(copy, path);

interface Run {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

examples.before(() => {
  rmSync(copy, { recursive: true, force: true });
  cpSync(fileURLToPath(new URL('.', import.meta.url)), copy, { recursive: true });
  const installed = at('node_modules/tenantry');
  mkdirSync(installed, { recursive: true });
  // Otherwise the package around it would set the name.
  writeFileSync(at('package.json'), '{ "type": "module" }');
  writeFileSync(
    join(installed, 'package.json'),
    '{ "name": "tenantry", "type": "module", "exports": "./tenantry.mjs" }',
  );
  writeFileSync(
    join(installed, 'tenantry.mjs'),
    `export * from ${JSON.stringify(pathToFileURL(builtProgram).href)};\n`,
  );
});

/** Returns the output of a runner. Throws if it fails. */
async function output(command: string, words: readonly string[], { cwd = project, env }: Run = {}): Promise<string> {
  const child = spawn(command, words, { cwd, env: { PATH: process.env.PATH, NO_COLOR: '1', ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = await once(child, 'close');
  assert.is(code, 0, text);
  return text;
}

examples('runs the example for node:test, with a server per test', async () => {
  const text = await output(process.execPath, ['--test', at('node/onboarding.spec.mjs')]);
  assert.match(text, /pass 4\n/);
});

examples('runs the example for vitest, with a server per file', async () => {
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--root', at('vitest')];
  assert.match(await output(process.execPath, words), /Tests +4 passed \(4\)/);
});

examples('runs the example for jest, with a server per file and snapshots within it', async () => {
  const words = ['node_modules/jest/bin/jest.js', '--rootDir', at('jest'), '--testMatch', '**/*.spec.mjs'];
  const env = { NODE_OPTIONS: '--experimental-vm-modules' };
  assert.match(await output(process.execPath, words, { env }), /Tests: +4 passed, 4 total/);
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
const withPython = hasPython ? examples : examples.skip;
if (!hasPython) console.log('There is no python3: skips the example for unittest.');

withPython('runs the example for unittest, with a server in a separate process', async () => {
  const env = { TENANTRY: builtProgram, PYTHONDONTWRITEBYTECODE: '1' };
  assert.match(
    await output('python3', ['-W', 'error', '-m', 'unittest'], { cwd: at('python'), env }),
    /Ran 6 tests.*\n\nOK/,
  );
});

examples.run();
