/** The npm package, built for the running Node.js. `npm run live -- package` tests every supported version. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import packageJson from '../../package.json' with { type: 'json' };
import { settingNames } from '../../src/app/settings.ts';
import { install, logIn, pack, printed, use } from '../support/packed.ts';
import { suiteOfBuild } from '../support/unchanged.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(project, 'node_modules');
let folder: string;
let file: string;
let home: string;

const test = suiteOfBuild('npm package', {
  files: [
    ...['package.json', 'package-lock.json', 'build.mjs', 'README.md', 'LICENSE', 'src', 'migrations'],
    ...['test/package/package.test.ts', 'test/support/packed.ts'],
  ],
});
test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-package-'));
  await printed(project, process.execPath, ['build.mjs', 'package', '--here']);
  file = await pack(folder, true);
  home = join(folder, 'home');
  await install(home, file);
});
test.after(() => rmSync(folder, { recursive: true }));

test('contains the program, its types and the licences, needs no other package, and runs nothing on installation', async () => {
  assert.is(file, join(folder, `tenantry-${packageJson.version}.tgz`));
  assert.equal((await printed(folder, 'tar', ['tzf', file])).trim().split('\n').sort(), [
    'package/LICENSE',
    'package/README.md',
    'package/dist/package/LICENSES.txt',
    'package/dist/package/tenantry.cjs',
    'package/dist/package/tenantry.d.cts',
    'package/dist/package/tenantry.d.mts',
    'package/dist/package/tenantry.mjs',
    'package/package.json',
  ]);
  const manifest = JSON.parse(readFileSync(join(home, 'node_modules/tenantry/package.json'), 'utf8'));
  for (const member of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies'])
    assert.is(manifest[member], undefined, member);
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
    assert.is(manifest.scripts[script], undefined, script);
  const licences = readFileSync(join(home, 'node_modules/tenantry/dist/package/LICENSES.txt'), 'utf8');
  assert.is(await printed(home, join(home, 'node_modules/.bin/tenantry'), ['licenses']), licences);
});

test('passes publint and attw', async () => {
  assert.match(await printed(folder, process.execPath, [join(modules, 'publint/src/cli.js'), file]), 'All good!');
  const attw = join(modules, '@arethetypeswrong/cli/dist/index.js');
  const { analysis } = JSON.parse(await printed(folder, process.execPath, [attw, '--format', 'json', file]));
  assert.equal([analysis.types.kind, analysis.problems], ['included', []]);
});

test('works in an empty folder by require and by import, which share one module, and as a command', async () => {
  assert.equal(await use(home), ['admin true\n', 'admin\n', `${packageJson.version}\n`]);
});

test('logs a user in at an identity provider by require, by import and as a command', async () => {
  assert.equal(await logIn(home), ['mari saml2 0', 'mari saml2 0', 'mari saml2 0']);
});

test('has types of every setting, of the other options of createServer, and of its result', async () => {
  const program = `
    const clock: SettableClock = settableClock('2026-01-05T09:00:00Z');
    const options: ServerOptions = { ephemeral: true, port: 0, log_level: 'silent', hooks_per_user: '3', clock };
    // @ts-expect-error There is no such setting.
    const unknown: ServerOptions = { prot: 0 };
    // @ts-expect-error A port is a number, or its text.
    const wrong: ServerOptions = { port: true };
    const names: Record<${settingNames.map((name) => `'${name}'`).join(' | ')}, unknown> = null! as Required<ServerOptions>;
    export async function use(): Promise<string> {
      const server: Server = await createServer({ ...options, providers: providerTypes.filter(({ name }) => name !== 'Oracle') });
      clock.advance(60);
      server.tick();
      await server.settled();
      const token: string = server.issueToken('admin');
      await server.close();
      return server.url + token;
    }
    export const failure = (error: unknown): boolean => error instanceof ConfigError;
    export { names, unknown, wrong };`;
  const imported = `import { ConfigError, createServer, providerTypes, type Server, type ServerOptions, type SettableClock, settableClock } from 'tenantry';`;
  for (const name of ['imported.mts', 'required.cts']) writeFileSync(join(home, name), `${imported}\n${program}`);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipDefaultLibCheck: true,
    types: ['node'],
    typeRoots: [join(modules, '@types')],
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [compiler, ...words] of [['typescript-7', '--checkers', '1'], ['typescript']] as const)
    assert.is(
      await printed(home, process.execPath, [join(modules, compiler, 'bin/tsc'), ...words]).catch(
        ({ stdout }) => stdout,
      ),
      '',
    );
});

test.run();
