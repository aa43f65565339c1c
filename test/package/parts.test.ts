/** The list of parts in the program file, compared with late imports and threads in the source. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lateModules, threads } from '../../src/kernel/native/parts.ts';

const test = suite('parts of the one-file build');
const root = fileURLToPath(new URL('../..', import.meta.url));
/** build.mjs replaces it. Its late imports are only for development. */
const replaced = 'src/kernel/native/embedded.ts';

/** Returns the modules of the program and its threads by path, each with its imported packages. */
let inputs: [path: string, { readonly imports: readonly Import[] }][];

interface Import {
  readonly path: string;
  readonly kind: string;
}

test.before(async () => {
  const entryPoints = ['src/app/main.ts', ...Object.keys(threads).map((name) => `src/${name}.ts`)];
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
    outdir: 'dist',
    logLevel: 'silent',
  });
  inputs = Object.entries(metafile.inputs).filter(([path]) => path !== replaced);
});

const importsOf = (isMeant: (item: Import) => boolean): string[] =>
  inputs.flatMap(([, { imports }]) => imports.filter(isMeant).map(({ path }) => path));
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
const isLate = ({ kind }: Import): boolean => kind === 'dynamic-import';

/** Returns the matches of a pattern in the source of the modules, each with the path of its module. */
const matches = (pattern: RegExp): { readonly path: string; readonly text: string }[] =>
  inputs.flatMap(([path]) =>
    [...readFileSync(`${root}/${path}`, 'utf8').matchAll(pattern)].map(([all, first]) => ({
      path,
      text: first ?? all,
    })),
  );

test('lists every package that is imported late, and no other', () => {
  assert.equal(sorted(importsOf(isLate)), sorted(Object.keys(lateModules)));
});

test('imports no late module at start, where every server would read it', () => {
  assert.equal(sorted(importsOf((item) => !isLate(item) && Object.hasOwn(lateModules, item.path))), []);
});

test('imports nothing late by a computed name, which the build cannot include', () => {
  assert.equal(matches(/(?<!typeof )\bimport\(\s*(?!')[^\n]*/g), []);
});

test('lists the program of every thread, and no other', () => {
  assert.equal(sorted(matches(/\bembeddedThread\('([^']+)'\)/g).map(({ text }) => text)), sorted(Object.keys(threads)));
});

test('starts threads from listed programs only', () => {
  const programs = matches(/\bnew (?:Task)?(?:Thread|Worker)\(\s*((?:\(\) => )?[\w.]+\()/g);
  assert.ok(programs.length >= Object.keys(threads).length);
  for (const { path, text } of programs)
    assert.ok(/^(\(\) => )?embeddedThread\($/.test(text) || text === 'this.program(', `${path}: ${text}`);
  // Its arguments are also programs in the list.
  assert.equal(
    programs.filter(({ text }) => text === 'this.program(').map(({ path }) => path),
    ['src/kernel/threads/task-thread.ts'],
  );
  const starts = matches(/\bnew (?:Worker|TaskThread)\(/g);
  assert.is(starts.length, programs.length, 'each has its program as its first argument');
});

test('reads no file beside itself, as the one-file build has none', () => {
  const allowed = new Set(['src/app/main.ts', 'src/kernel/native/platform.ts', 'src/kernel/native/program.ts']);
  const places = matches(/\bimport\.meta\b|\b__dirname\b|\b__filename\b|\bcreateRequire\(/g);
  assert.equal(
    sorted(places.map(({ path }) => path)).filter((path) => !allowed.has(path)),
    [],
  );
});

test.run();
