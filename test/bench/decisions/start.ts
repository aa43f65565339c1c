/** Measures the decisions about the one-file build: parts in comments, late modules, unpacked addons, cached code. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually.ts';
import { startTenantry } from '../processes.ts';
import { alternate, type Comparison, type Measure } from './comparison.ts';

const bundle = fileURLToPath(new URL('../../../dist/tenantry.mjs', import.meta.url));
const require = createRequire(import.meta.url);
const rounds = 15;
/** Parts that are packages, read on first use; the others are addons, pages and licences. */
const isModule = (name: string): boolean => name !== 'rapidoc' && packageNamed(name) !== undefined;

export const start: Measure = async (folder) => {
  const text = readFileSync(bundle, 'latin1');
  const parts = [...text.matchAll(/^\/\/([@\w/-]+):[0-9a-f]{64}:([A-Za-z0-9+/=]{1000,})$/gm)].map(([, name, part]) => ({
    name: name as string,
    part: part as string,
  }));
  if (parts.length < 5) throw new Error('The parts of the bundle were not found');
  return [
    ...(await comments(folder, text)),
    size(text, parts),
    await lateModules(folder, parts),
    await addons(folder),
    await cachedCode(folder),
  ];
};

/** Code that writes the resources used by the process to file descriptor 3 when it exits. */
const meter = `process.on('exit', () => {
  const { system, user } = process.cpuUsage();
  const used = { milliseconds: (user + system) / 1000, megabytes: process.memoryUsage().rss / 1e6 };
  require('node:fs').writeSync(3, JSON.stringify(used));
});`;

/** Milliseconds of CPU time from start to exit, independent of other load, and resident memory at exit. */
interface Used {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** Runs a program and returns the resources that it used. */
async function run(folder: string, words: readonly string[], cache = join(folder, 'cache')): Promise<Used> {
  const preloaded = join(folder, 'meter.cjs');
  writeFileSync(preloaded, meter);
  const child = spawn(process.execPath, ['--require', preloaded, ...words], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: { ...process.env, TENANTRY_NATIVE_CACHE: cache },
  });
  let output = '';
  for await (const chunk of child.stdio[3] as Readable) output += chunk;
  return JSON.parse(output) as Used;
}

/** Runs a program and returns its CPU time. */
const timeOf = async (folder: string, words: readonly string[]): Promise<number> =>
  (await run(folder, words)).milliseconds;

/** Writes a program that starts a server of a bundle with its addons in a folder, and stops it. */
function serverProgram(folder: string, name: string, file: string, native: string): string {
  const script = join(folder, `${name}.mjs`);
  const options = { ephemeral: true, port: 0, log_level: 'silent', native_cache: native };
  writeFileSync(
    script,
    `const { createServer } = await import(${JSON.stringify(pathToFileURL(file).href)});
     await (await createServer(${JSON.stringify(options)})).close();`,
  );
  return script;
}

/** The bundle as built, and with the same parts as strings in its code. */
async function comments(folder: string, text: string): Promise<Comparison[]> {
  const strings = join(folder, 'strings.mjs');
  let number = 0;
  writeFileSync(
    strings,
    text.replaceAll(
      // Read the program text before its code.
      /^\/\/(?!program:)[@\w/-]+:[0-9a-f]{64}:([A-Za-z0-9+/=]{1000,})$/gm,
      (_, part) => `export const part${number++} = '${part}';`,
    ),
    'latin1',
  );
  const version = await alternate(
    rounds,
    () => timeOf(folder, [bundle, '--version']),
    () => timeOf(folder, [strings, '--version']),
  );
  const native = join(folder, 'addons');
  mkdirSync(native, { mode: 0o700 });
  const programs = [bundle, strings].map((file, i) => serverProgram(folder, `serve${i}`, file, native));
  const memory = async (program: string | undefined): Promise<number> =>
    (await run(folder, [program as string])).megabytes;
  const resident = await alternate(
    rounds,
    () => memory(programs[0]),
    () => memory(programs[1]),
  );
  const what = 'against parts as strings';
  return [
    { page: 'bundle', what: `Resident memory of a server, ${what}`, unit: 'MB', ...resident },
    { page: 'bundle', what: `From the start to the version, ${what}`, unit: 'ms', ...version },
  ];
}

/** Megabytes of the bundle, and its size with gzip. */
function size(text: string, parts: readonly { readonly part: string }[]): Comparison {
  const base64 = (bytes: number): number => Math.ceil(bytes / 3) * 4;
  const zipped = parts.map(({ part }) =>
    base64(gzipSync(brotliDecompressSync(Buffer.from(part, 'base64')), { level: 9 }).length),
  );
  const packed = parts.reduce((sum, { part }) => sum + part.length, 0);
  const without = text.length - packed + zipped.reduce((sum, length) => sum + length, 0);
  return {
    page: 'bundle',
    what: 'Size, against gzip',
    unit: 'MB',
    decision: text.length / 1e6,
    without: without / 1e6,
  };
}

/** A program that does nothing, and one that reads the late modules, as every start would without the decision. */
async function lateModules(
  folder: string,
  parts: readonly { readonly name: string; readonly part: string }[],
): Promise<Comparison> {
  const none = join(folder, 'none.cjs');
  const all = join(folder, 'all.cjs');
  writeFileSync(none, '');
  const modules = parts.filter(({ name }) => isModule(name));
  const files = modules.map(({ part }, i) => {
    const file = join(folder, `module${i}.cjs`);
    writeFileSync(file, brotliDecompressSync(Buffer.from(part, 'base64')));
    return file;
  });
  writeFileSync(all, files.map((file) => `require(${JSON.stringify(file)});`).join('\n'));
  const { decision, without } = await alternate(
    rounds,
    () => timeOf(folder, [none]),
    () => timeOf(folder, [all]),
  );
  return {
    page: 'bundle',
    what: `Node alone, against Node with the ${modules.length} late modules`,
    unit: 'ms',
    decision,
    without,
  };
}

function packageNamed(name: string): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** Opening a database with unpacked addons, and with addons that are unpacked first. */
async function addons(folder: string): Promise<Comparison> {
  const cache = join(folder, 'native');
  const script = serverProgram(folder, 'open', bundle, cache);
  const open = (): Promise<number> => timeOf(folder, [script]);
  mkdirSync(cache, { mode: 0o700 });
  const figures = await alternate(rounds, open, () => {
    rmSync(cache, { recursive: true });
    return open();
  });
  return { page: 'bundle', what: 'Start and stop of a server, against unpacking each time', unit: 'ms', ...figures };
}

/** A start with the code cached by an earlier one, and one without a cache. */
async function cachedCode(folder: string): Promise<Comparison> {
  const cache = join(folder, 'code');
  const server = await startTenantry(bundle, join(folder, 'data'), { TENANTRY_NATIVE_CACHE: cache });
  await eventually('the code is cached', () => readdirSync(cache).some((name) => name.endsWith('.code')));
  await server.stop();
  const version = async (from: string): Promise<number> => (await run(folder, [bundle, 'version'], from)).milliseconds;
  const figures = await alternate(
    rounds,
    () => version(cache),
    () => version(join(folder, 'none')),
  );
  return { page: 'bundle', what: 'From the start to the version, against compiling each time', unit: 'ms', ...figures };
}
