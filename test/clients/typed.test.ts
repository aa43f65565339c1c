/** Types from the OpenAPI document, as front-end developers generate them: sample programs for every collection compile and run. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { compiledFile } from '../../src/build/tests.mjs';
import type { Resolver } from '../../src/kernel/net/resolver.ts';
import { blocksOf } from '../support/documented.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const programs = join(project, 'test/clients/typed');
const folder = join(project, 'dist/clients');
const require = createRequire(import.meta.url);
const bin = (name: string, path: string): string => join(dirname(require.resolve(`${name}/package.json`)), path);

// Names do not resolve, so the hooks of the samples send nothing.
const resolve: Resolver = (_, callback) => callback(new Error('There is no such host.'), []);
const { test: typed, fixture } = suiteWithServer('a typed client', { resolve });

/** Runs Node and returns its output. Throws if it fails. */
async function node(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, words, {
    cwd: project,
    env: { ...process.env, ...env },
    timeout: 240_000,
  });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => (texts[stream] += chunk.toString()));
  const [code] = await once(child, 'close');
  assert.is(code, 0, `${texts.stdout}${texts.stderr}`);
  return texts.stdout;
}

const runs = async (program: string): Promise<Json> =>
  JSON.parse(
    await node([compiledFile(join(programs, program))], {
      TENANTRY_URL: fixture.url,
      TENANTRY_TOKEN: fixture.server.issueToken(),
    }),
  );

typed.before(async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'openapi.json'), await node(['dist/tenantry.mjs', 'openapi']));
  await node([
    bin('openapi-typescript', 'bin/cli.js'),
    join(folder, 'openapi.json'),
    '-o',
    join(folder, 'tenantry.d.ts'),
  ]);
});

typed('prints the same document with tenantry openapi as in /docs/', async () => {
  assert.equal(
    JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')),
    (await fixture.anonymous.get('/docs/?format=openapi')).body,
  );
});

typed('compiles the sample programs, and rejects names that are missing in the document', async () => {
  assert.is(await node([bin('typescript-7', 'bin/tsc'), '--checkers', '1', '--project', programs]), '');
});

typed('uses every collection in the sample programs', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/?format=openapi')).body;
  const text = readdirSync(programs)
    .map((file) => readFileSync(join(programs, file), 'utf8'))
    .join('\n');
  const lists = Object.entries<Json>(paths)
    .filter(([path, { get }]) => get && /^\/api\/[^/]+\/$/.test(path))
    .map(([path]) => path);
  assert.ok(lists.length > 60);
  assert.equal(
    lists.filter((path) => !text.includes(`api.GET('${path}'`)),
    [],
  );
});

typed('runs the sample of organisations', async () => {
  const { version, ...rest } = await runs('organisations.ts');
  assert.equal(version, (await fixture.anonymous.get('/api/version/')).body.version);
  assert.equal(rest, {
    abbreviation: 'AAP',
    country: 'Estonia',
    matches: ['Alice and Partners'],
    owners: 1,
    members: ['bob'],
    projects: 1,
    lists: [1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, true],
    invitations: true,
  });
});

typed('runs the sample of providers', async () => {
  const { connections, types, ...rest } = await runs('providers.ts');
  assert.equal(types, ['Amazon', 'DigitalOcean', 'GitLab', 'JIRA', 'OpenStack', 'Oracle']);
  assert.equal(connections, [1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  assert.equal(rest, {
    certification: 'ISO 27001',
    state: 'Creation Scheduled',
    catalogue: 13,
    resources: 0,
    summaries: [],
    rules: 0,
  });
});

typed('runs the sample of events', async () => {
  assert.equal(await runs('happenings.ts'), {
    events: [
      'Customer Alice has been created.',
      'Customer Alice has been created.',
      'Customer Alice and Partners has been created.',
    ],
    counted: true,
    groups: true,
    hooks: ['webhook', 'pushhook', 'email'],
    lists: [1, 1, 1, 0, 1, 3],
    unread: 0,
    preference: 'daily',
    history: 1,
    warnings: 1,
    created: true,
  });
});

typed('runs the sample of the service itself', async () => {
  assert.equal(await runs('service.ts'), {
    is_in_memory: true,
    failing: 0,
    lists: [0, 0, 0],
    setting: 'base_url',
    is_enabled: true,
  });
});

typed('runs the example of the manual as a sample program', async () => {
  const page = readFileSync(join(project, 'src/manual/clients.md'), 'utf8');
  const [example] = blocksOf(page).filter(({ language }) => language === 'ts');
  assert.is(example?.code.replace("'./tenantry'", "'tenantry'"), readFileSync(join(programs, 'manual.ts'), 'utf8'));
  const { country, names } = await runs('manual.ts');
  assert.equal([country, names.includes('Alice Ltd')], ['Estonia', true]);
});

typed.run();
