/**
 * Installs, builds and starts the program. Before the installation it uses only modules of Node.js.
 *
 *   node build.mjs              install missing packages, build dist/tenantry.mjs
 *   node build.mjs start …      … build when stale, then `tenantry serve …` in this process
 *   node build.mjs test …       … build when stale, then check types and style, and run the tests, all or those whose path has …
 *   node build.mjs bench …      … build when stale, then run the benchmarks
 *   node build.mjs chaos …      … build when stale, then kill the program, fail its disk and damage its files
 *   node build.mjs live …       … build when stale, then run tests that need vendors' clients and Debian packages
 *   node build.mjs pictures …   … build when stale, then take pictures of the console into a folder
 *   node build.mjs upgrade-data … build when stale, then store a database of this version for the tests of upgrades
 *   node build.mjs package      … build dist/package for `npm pack`, for each supported version of Node.js
 *   node build.mjs binary       … build dist/tenantry, an executable that contains Node.js
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const bundle = join(root, 'dist/tenantry.mjs');
const require = createRequire(import.meta.url);
const [command = 'build', ...options] = process.argv.slice(2);

const commands = {
  async build() {
    await install('program');
    await build();
  },
  async start() {
    // The bundle has no dependencies: if it is up to date, the start needs nothing else.
    if (isStale()) {
      await install('program');
      await build();
    }
    // The server runs in this process, so it receives the signals and sets the exit code.
    process.argv = [process.execPath, bundle, 'serve', ...options];
    await import(pathToFileURL(bundle).href);
  },
  async test() {
    await install('tests');
    const mistake = new AbortController();
    const check = async (file, ...words) => {
      if ((await run(process.execPath, [file, ...words])) !== 0) mistake.abort();
    };
    // Several checkers would compute the same types again and take CPU time from the tests.
    const typeCheck = (project) =>
      check(packageFile('typescript-7', 'bin/tsc'), '--checkers', '1', '--project', project);
    const built = (async () => {
      if (isStale()) await build();
    })();
    const checks = Promise.all([
      typeCheck(root),
      check(packageFile('@biomejs/biome', 'bin/biome'), 'check', '--error-on-warnings', root),
      built.then(makeTypes).then(() => typeCheck(join(root, 'src/console'))),
    ]);
    // Runs beside the checks, which stop the tests when they fail.
    const tests = built.then(() => runCompiled('run', mistake.signal));
    const failed = (error) => {
      if (!mistake.signal.aborted) console.error(error.message);
      mistake.abort();
    };
    await Promise.all([checks.catch(failed), tests.then((code) => (process.exitCode = code)).catch(failed)]);
    if (!mistake.signal.aborted) return;
    console.error('The program does not compile, or its code is not in order: its tests count for nothing.');
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
  },
  async bench() {
    await install('tests');
    if (isStale()) await build();
    process.exitCode = await runCompiled('bench/run');
  },
  async chaos() {
    await install('tests');
    if (isStale()) await build();
    process.exitCode = await runCompiled('chaos/run');
  },
  async live() {
    await install('tests');
    if (isStale()) await build();
    process.exitCode = await runCompiled('live/run');
  },
  async pictures() {
    await install('tests');
    if (isStale()) await build();
    process.exitCode = await runCompiled('console/pictures');
  },
  async 'upgrade-data'() {
    await install('tests');
    if (isStale()) await build();
    process.exitCode = await runCompiled('upgrades/make');
  },
  async package() {
    await install('packing');
    if (isStale()) await build();
    const { buildPackage } = await import('./src/build/package.mjs');
    await buildPackage(tools, options.includes('--here'));
  },
  async binary() {
    await install('packing');
    const { buildExecutable } = await import('./src/build/executable.mjs');
    await buildExecutable(tools);
  },
};

/** Compiles the tests and runs one of their programs with the options of the command line. Resolves with its exit code. */
async function runCompiled(program, stopSignal) {
  const { compileTests } = await import('./src/build/tests.mjs');
  await compileTests();
  return run(process.execPath, [join(root, `dist/test/${program}.js`), ...options], { stopSignal });
}

async function makeTypes() {
  const { writeTypes } = await import('./src/build/types.mjs');
  await writeTypes(tools);
}

async function install(group) {
  const { installGroup } = await import('./src/build/install.mjs');
  await installGroup(tools, group);
}

/** Runs npm with its output on stderr, because stdout belongs to the program. */
async function npm(words, env = process.env) {
  const code = await run('npm', words, { env, stdio: ['ignore', 2, 2] });
  if (code !== 0) fail(`npm ${words.join(' ')} failed.`);
}

/** Runs a program in the project's folder, forwards signals and returns its exit code. Stops it at the abort signal. */
function run(program, words, { stopSignal, ...spawnOptions } = {}) {
  return new Promise((resolve, reject) => {
    if (stopSignal?.aborted) return resolve(1);
    const child = spawn(program, words, { cwd: root, stdio: 'inherit', ...spawnOptions });
    const pass = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, pass);
    stopSignal?.addEventListener('abort', () => child.kill());
    child.on('error', reject);
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, pass);
      if (stopSignal?.aborted) return resolve(1);
      // The signal was for this process, too.
      if (signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP') process.kill(process.pid, signal);
      else resolve(code ?? 1);
    });
  });
}

/** Returns a digest of all inputs of the bundle, including the platform. */
function inputs() {
  // A new patch release of Node.js can run the same bundle.
  const hash = createHash('sha256').update(JSON.stringify({ ...platformHere(), node: undefined }));
  const files = ['package.json', 'package-lock.json', 'build.mjs'];
  for (const folder of ['src', 'migrations']) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(relative(root, join(entry.parentPath, entry.name)));
    }
  }
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function isStale() {
  if (!existsSync(bundle)) return true;
  const start = Buffer.alloc(200);
  const file = openSync(bundle, 'r');
  readSync(file, start);
  closeSync(file);
  return !start.includes(inputs());
}

async function build() {
  const digest = inputs();
  const started = performance.now();
  const { start, parts } = await bundled('esm', [await moduleHere()]);
  const text = `#!/usr/bin/env node\n// Built from ${digest}\n${start}${parts}`;
  writeAtomically(bundle, text);
  reportBuilt(bundle, text.length, started);
}

/** Reports the size of a built file, and the time since `started`. */
function reportBuilt(file, size, started) {
  const milliseconds = Math.round(performance.now() - started);
  console.error(`Built ${relative(root, file)}: ${(size / 1e6).toFixed(2)} MB in ${milliseconds} ms`);
}

/**
 * Builds the program: `start`, a module in a format of esbuild that starts it; `parts`, comments that contain the program and its
 * data; its `licences`, and the `names` of its exports. `modules` are the SQLite modules, one for each supported ABI:
 * `{ abi, node, file }`, where `node` is the version. `notices` are texts to add to the licences.
 */
async function bundled(format, modules, notices = []) {
  const esbuild = await import('esbuild');
  const { listedParts } = await import('./src/build/parts.mjs');
  const listed = await listedParts();
  const program = await esbuild.build({
    ...common,
    // Keep names and lines for the stacks in the operator's log.
    stdin: { contents: "export * from './src/app/main.ts';", resolveDir: root },
    banner: { js: `(function (module, require, ${urlOfFile}) {` },
    footer: { js: '})' },
    define: { 'import.meta.url': urlOfFile },
    plugins: [replacements(modules, listed)],
    format: 'cjs',
  });
  const names = await exportedNames(esbuild);
  const digest = createHash('sha256').update(program.outputFiles[0].contents).digest('hex');
  const start = await esbuild.build({
    ...common,
    stdin: {
      contents: `
        import { runProgram } from './src/kernel/native/program.ts';
        export const { ${names.join(', ')} } = runProgram(import.meta.url, '${digest}');`,
      resolveDir: root,
    },
    ...(format === 'cjs'
      ? {
          banner: { js: `const ${urlOfFile} = require('node:url').pathToFileURL(__filename).href;` },
          define: { 'import.meta.url': urlOfFile },
        }
      : {
          banner: {
            js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
          },
        }),
    plugins: [replacements(modules, listed), requiredModules],
    format,
  });
  rejectWarnings([start]);
  rejectOtherThanAscii(program.outputFiles[0]);
  const { parts, licences } = await partComments(esbuild, program, modules, listed, notices);
  await esbuild.stop();
  return { start: start.outputFiles[0].text, parts, licences, names };
}

/** The variable with the URL of the program file, for the program and its threads. */
const urlOfFile = 'tenantryUrl';

/** The exports of src/app/main.ts. */
async function exportedNames(esbuild) {
  const { metafile } = await esbuild.build({
    ...common,
    entryPoints: ['src/app/main.ts'],
    bundle: false,
    format: 'esm',
    outdir: 'dist',
  });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

// A server that is starting reads either the old file or the new one.
function writeAtomically(file, contents) {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, contents);
  chmodSync(temporary, 0o755);
  renameSync(temporary, file);
}

/** How every part is built. */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'silent',
};

/** Replaces modules that load files from their folder with ones that load embedded data. */
const replacements = (modules, { lateModules }) => ({
  name: 'replacements',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[/\\]kernel[/\\]native[/\\]embedded\.ts$/ }, () => ({
      contents: embedded(modules),
      loader: 'js',
      resolveDir: root,
    }));

    const replaced = {
      // It would load its addon from node_modules.
      '@node-rs/argon2': [
        "import { argon2Addon } from './src/kernel/native/native.ts';",
        'export const Algorithm = { Argon2d: 0, Argon2i: 1, Argon2id: 2 };',
        'export const hash = (...values) => argon2Addon().hash(...values);',
        'export const verify = (...values) => argon2Addon().verify(...values);',
      ].join('\n'),
      // better-sqlite3 finds its addon with it, unless the program passes one.
      bindings: "throw new Error('The SQLite addon must be given as nativeBinding.');",
      // pino's transports start a worker from a separate file.
      'thread-stream': "module.exports = () => { throw new Error('Log transports are not part of this build.'); };",
    };
    for (const name of Object.keys(lateModules))
      replaced[name] =
        `module.exports = require('./src/kernel/native/embedded.ts').embeddedModule(${JSON.stringify(name)});`;
    const filter = new RegExp(`^(${Object.keys(replaced).join('|')})$`);
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'replaced' }));
    onLoad({ filter: /.*/, namespace: 'replaced' }, ({ path }) => ({ contents: replaced[path], resolveDir: root }));
  },
});

/** Requires Node.js modules: an import would read all of their exports, some of which load further modules. */
const requiredModules = {
  name: 'required modules',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      kind === 'require-call' ? { path, external: true } : { path, namespace: 'required' },
    );
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** The module that replaces src/kernel/native/embedded.ts. */
function embedded(modules) {
  const folder = join(root, 'migrations');
  const migrations = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(join(folder, file), 'utf8') }));
  const digest = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
  const { os, arch, libc } = platformHere();
  const platform = { os, arch, libc, nodes: Object.fromEntries(modules.map(({ abi, node }) => [abi, node])) };
  const digests = Object.entries(addonFiles(modules)).map(([name, file]) => [name, digest(file)]);
  return `
    import { createRequire } from 'node:module';
    import { compileFunction } from 'node:vm';
    import { unpackInThread, unpackPart } from './src/kernel/native/packed-parts.ts';
    const partOf = (name) => unpackPart(import.meta.url, name);
    export const builtFor = ${JSON.stringify(platform)};
    export const embeddedMigrations = () => (${JSON.stringify(migrations)});
    const digests = ${JSON.stringify(Object.fromEntries(digests))};
    export function embeddedAddon(name) {
      const part = name === 'better_sqlite3' ? '${sqlitePart('')}' + process.versions.modules : name;
      return { sha256: digests[part], bytes: () => partOf(part) };
    }
    // A thread is run from its text and has no file: it is given that of the program, to read parts from.
    export const embeddedThread = (name) => 'const ${urlOfFile} = ' + JSON.stringify(import.meta.url) + ';' + partOf(name);
    export const embeddedScript = (name) => partOf(name).toString();
    export const embeddedManual = async () => JSON.parse(partOf('manual').toString());
    export const embeddedConsole = (name) => partOf(name).toString();
    export const embeddedDatabase = () => partOf('database');
    export const embeddedDemo = () => unpackInThread(import.meta.url, 'demo');
    export const embeddedLicenses = () => partOf('licenses').toString();
    export function embeddedModule(name) {
      const module = { exports: {} };
      compileFunction(partOf(name).toString(), ['module', 'exports', 'require'], { filename: 'tenantry:' + name })(module, module.exports, createRequire(import.meta.url));
      return module.exports;
    }`;
}

// Comments at the end of the file: as strings they would stay in memory. See src/decisions/bundle.md.
async function partComments(esbuild, program, modules, listed, notices) {
  const files = Object.entries({ ...addonFiles(modules), rapidoc: packageFile('rapidoc', 'dist/rapidoc-min.js') }).map(
    ([name, file]) => [name, readFileSync(file)],
  );
  const { lateModules, threads } = listed;
  const { reducedPackages } = await import('./src/build/reduced-packages.mjs');
  // Pass the SQLite addon to the threads, too.
  const late = [
    ...Object.keys(lateModules).map((name) => ({ name, ...(reducedPackages(root)[name] ?? { entryPoints: [name] }) })),
    ...Object.keys(threads).map((name) => ({
      name,
      entryPoints: [`src/${name}.ts`],
      define: { 'import.meta.url': urlOfFile },
      plugins: [replacements(modules, listed)],
    })),
  ];
  const built = await Promise.all(
    late.map(({ name, ...options }) =>
      esbuild.build({ ...common, ...options, format: 'cjs', minify: true, keepNames: true }),
    ),
  );
  rejectWarnings([program, ...built]);
  const { bestCompressed, compressed } = await import('./src/build/compression.mjs');
  // The files of the console, for browsers.
  const pages = await esbuild.build(JSON.parse(readFileSync(join(root, 'src/console/esbuild.json'), 'utf8')));
  const forPages = pages.outputFiles.map(({ path, contents }) => [basename(path), contents]);
  reportSizes(forPages, compressed);
  const parts = [['program', program], ...built.map((result, i) => [late[i].name, result])];
  const sources = [...parts.map(([, result]) => result), pages].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const texts = licenses(sources, notices);
  const { manualPages } = await import('./src/build/manual.mjs');
  const { demoSnapshot, emptyDatabase } = await import('./src/build/snapshots.mjs');
  const packed = [
    ...files.map(([name, bytes]) => [name, bestCompressed(bytes)]),
    ['manual', compressed(JSON.stringify(manualPages()))],
    ['demo', compressed(await demoSnapshot(esbuild))],
    ...forPages.map(([name, contents]) => [name, compressed(contents)]),
    ...parts.map(([name, { outputFiles }]) => [
      name,
      (name in lateModules ? bestCompressed : compressed)(outputFiles[0].contents),
    ]),
    ['licenses', compressed(texts)],
    // Every new database needs this part, and the last part is found first.
    ['database', compressed(await emptyDatabase(esbuild))],
  ];
  const comments = await Promise.all(
    packed.map(async ([name, part]) => {
      const text = await part;
      return `//${name}:${createHash('sha256').update(text).digest('hex')}:${text}\n`;
    }),
  );
  return { parts: comments.join(''), licences: texts };
}

/** Fails the build on a warning: esbuild warns of code, such as `import.meta` in CommonJS, that fails only at run time. */
function rejectWarnings(results) {
  const warnings = results.flatMap((result) => result.warnings);
  for (const { location, text } of warnings) console.error(`${location?.file}:${location?.line}: ${text}`);
  if (warnings.length > 0) fail('The bundle is not built: see the warnings above.');
}

/**
 * Fails the build if the program has characters outside ASCII. The program is read as one byte per character, and esbuild escapes
 * others in strings but not in regular expressions.
 */
function rejectOtherThanAscii({ text }) {
  const lines = text.split('\n').filter((line) => /\P{ASCII}/u.test(line));
  for (const line of lines) console.error(line.trim().slice(0, 200));
  if (lines.length > 0) fail('The bundle is not built: write these characters as escapes in regular expressions.');
}

/** Reports the compressed size of the console's first load, and checks its limit. Estonian is loaded separately. */
function reportSizes(files, compressed) {
  const sizeOf = (wanted) =>
    files
      .filter(([name]) => wanted(name === 'et.js'))
      .reduce((sum, [, contents]) => sum + Buffer.from(compressed(contents), 'base64').length, 0);
  const bytes = sizeOf((isEstonian) => !isEstonian);
  const estonian = sizeOf((isEstonian) => isEstonian);
  const kilobytes = (size) => (size / 1000).toFixed(1);
  console.error(`The console: ${kilobytes(bytes)} kB compressed, Estonian: ${kilobytes(estonian)} kB`);
  if (bytes > maxConsoleBytes) fail(`The console is larger than ${maxConsoleBytes / 1000} kB.`);
}

const maxConsoleBytes = 150_000;

/** Returns the licences of the program and of all packages in the bundle, which the licences require. */
function licenses(sources, notices) {
  const bundled = sources
    .map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0])
    .filter((folder) => folder !== undefined);
  const whole = ['better-sqlite3', '@node-rs/argon2', 'rapidoc'].map((name) => packageFile(name, ''));
  const folders = new Set([...bundled, ...whole].map((folder) => resolve(root, folder)));
  const parts = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    // A file built from several packages has their notices beside it.
    const files = ['.', 'dist'].flatMap((part) =>
      existsSync(join(folder, part)) ? readdirSync(join(folder, part)).map((file) => join(folder, part, file)) : [],
    );
    const texts = files
      .filter((file) => /(^|[/\\])(licen[cs]e|copying|notice)[^/\\]*$|\.LICENSE\.txt$/i.test(file))
      .map((file) => readFileSync(file, 'utf8').trim());
    if (texts.length === 0) fail(`${name} ${version} is bundled and has no file with its licence.`);
    return [`${name} ${version}`, ...texts].join('\n\n');
  });
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  return `${[
    own,
    'This file contains SQLite, which is in the public domain, and what follows.',
    ...[
      ...parts,
      `lucide\n\n${readFileSync(join(root, 'src/console/components/lucide-LICENSE.txt'), 'utf8').trim()}`,
    ].sort(),
    ...notices,
  ].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The native addons by the names of their parts. */
function addonFiles(modules) {
  const { os, arch, libc } = platformHere();
  const scope = join(root, 'node_modules/@node-rs');
  const argon2 = readdirSync(scope)
    .filter((name) => name.startsWith(`argon2-${os}-${arch}`) && (libc === 'musl') === name.endsWith('-musl'))
    .flatMap((name) => readdirSync(join(scope, name)).map((file) => join(scope, name, file)))
    .find((file) => file.endsWith('.node'));
  if (!argon2) fail(`No argon2 addon for ${os}-${arch} ${libc} is installed.`);
  return { ...Object.fromEntries(modules.map(({ abi, file }) => [sqlitePart(abi), file])), argon2 };
}

/** Returns the part with the SQLite module for an ABI; argon2 has one for all. */
const sqlitePart = (abi) => `better_sqlite3-${abi}`;

/**
 * Returns the SQLite module for this Node.js: the installed one, unless it would crash the process; see
 * src/decisions/bundle.md.
 */
async function moduleHere() {
  const { node, abi } = platformHere();
  const file = packageFile('better-sqlite3', 'build/Release/better_sqlite3.node');
  if (abi !== '137' || !readFileSync(file).includes('RemoveEnvironmentCleanupHook')) return { abi, node, file };
  const { moduleFor, pinnedNodes } = await import('./src/build/nodes.mjs');
  const pinned = (await pinnedNodes(tools)).find((other) => other.abi === abi);
  if (pinned) return { ...(await moduleFor(tools, pinned)), node };
  console.error('This build may end by itself: build with Node.js 22, or let better-sqlite3 be compiled by 24.18.');
  return { abi, node, file };
}

function packageFile(name, path) {
  return join(dirname(require.resolve(`${name}/package.json`)), path);
}

/** The facts that src/kernel/native/platform.ts compares when the bundle starts. */
function platformHere() {
  const { platform, arch, version, versions } = process;
  return {
    node: version.slice(1),
    abi: versions.modules,
    os: platform,
    arch,
    libc: platform === 'linux' ? libc() : '',
  };
}

function libc() {
  const start = Buffer.alloc(4096);
  const file = openSync(process.execPath, 'r');
  readSync(file, start);
  closeSync(file);
  return start.includes('/ld-musl-') ? 'musl' : 'glibc';
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The tools passed to the modules in src/build/. */
const tools = {
  root,
  bundle,
  run,
  npm,
  fail,
  reportBuilt,
  bundled,
  moduleHere,
  packageFile,
  platformHere,
  writeAtomically,
};

if (!Object.hasOwn(commands, command))
  fail(`Unknown command "${command}"; known: ${Object.keys(commands).join(', ')}.`);
await commands[command]();
