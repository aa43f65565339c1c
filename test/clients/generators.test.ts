/** Client generators create code from the OpenAPI document that compiles in strict mode and has readable function names. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as assert from 'uvu/assert';
import { openApi } from '../../src/app/docs/openapi.ts';
import { catalogue, endpoints } from '../support/catalogue.ts';
import { suiteOfBuild } from '../support/unchanged.ts';

const document = JSON.stringify(openApi(endpoints, catalogue));
const generators = suiteOfBuild('generators of clients', {
  files: ['package-lock.json', 'test/clients/generators.test.ts'],
  texts: [document],
});
const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(project, 'dist/generated');

/** Runs a program of a package in the folder of the generated code. */
async function runs(name: string, program: string, words: readonly string[]): Promise<void> {
  const env = { ...process.env, DO_NOT_TRACK: '1', SCARF_ANALYTICS: 'false', CI: 'true' };
  await promisify(execFile)(process.execPath, [join(project, 'node_modules', name, program), ...words], {
    cwd: folder,
    env,
    timeout: 240_000,
    maxBuffer: 1e8,
  }).catch(({ message, stderr, stdout }) => {
    throw new Error(`${name}: ${message}\n${stdout}\n${stderr}`);
  });
}

generators.before(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'openapi.json'), document);
});

generators('generates clients with orval, openapi-typescript and hey-api that compile', async () => {
  await runs('orval', 'dist/bin/orval.js', [
    '--input',
    './openapi.json',
    '--output',
    './orval.ts',
    '--client',
    'fetch',
  ]);
  await runs('@hey-api/openapi-ts', 'bin/run.js', [
    '-i',
    'openapi.json',
    '-o',
    'hey-api',
    '-c',
    '@hey-api/client-fetch',
  ]);
  await runs('openapi-typescript', 'bin/cli.js', ['openapi.json', '-o', 'openapi-typescript.d.ts']);
  writeFileSync(
    join(folder, 'use.ts'),
    `import * as hey from './hey-api/index.ts';
import * as orval from './orval.ts';
import type { components, operations } from './openapi-typescript.d.ts';

export const functions = [hey.listCustomers, hey.createCustomer, orval.listCustomers, orval.createCustomer] as const;
export type Parameters = operations['listCustomers']['parameters'];
// Enumerations are types: another word does not compile.
export const state: components['schemas']['OpenStackInstance']['state'] = 'Creation Scheduled';
// @ts-expect-error no such state
export const wrong: hey.OpenStackInstance['state'] = 'Created';
// @ts-expect-error no such state
export const wrongToo: orval.OpenStackInstance['state'] = 'Created';
// An error has a list for each field, and may have a detail.
export const errors: components['schemas']['Errors'] = { name: ['This field is required.'], detail: 'Not found.' };
`,
  );
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        allowImportingTsExtensions: true,
      },
      include: ['**/*.ts'],
    }),
  );
  await runs('typescript-7', 'bin/tsc', ['--checkers', '1', '--project', folder]);
  assert.ok(readFileSync(join(folder, 'orval.ts'), 'utf8').includes('export const changeOpenStackInstanceFlavor'));
});

generators.run();
