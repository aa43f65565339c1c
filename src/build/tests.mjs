/** Compiles the tests into dist/test, which mirrors test/, once for all test processes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listedParts } from './parts.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist/test');
const fileUrl = (path) => pathToFileURL(join(root, path)).href;

/** Modules that compiled code loads at run time, one instance per process. */
const loaded = {
  // Tests use the same file as users.
  tenantry: fileUrl('dist/tenantry.mjs'),
  // Reports failures that uvu ignores.
  uvu: fileUrl('dist/test/support/runner/uvu.js'),
};

/** Returns the compiled file of a TypeScript file in a test folder. */
export const compiledFile = (file, folder = join(root, 'test'), to = compiled) =>
  join(to, relative(folder, file)).replace(/\.tsx?$/, '.js');

/** Compiles the TypeScript files of a folder. Rejects if one has a syntax error or a missing import. */
export async function compileTests(folder = join(root, 'test'), to = compiled) {
  const { build } = await import('esbuild');
  const entryPoints = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !file.split(sep).includes('node_modules'))
    .map((file) => join(folder, file));
  const options = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    write: false,
    logLevel: 'warning',
    plugins: [sources],
  };
  const { outputFiles } = await build({
    ...options,
    entryPoints,
    outbase: folder,
    outdir: to,
    splitting: true,
    format: 'esm',
  });
  if (to === compiled) outputFiles.push(...(await threadFiles(build, options)));
  const written = new Set();
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
    written.add(path);
  }
  // Removes the output of deleted sources.
  for (const file of existsSync(to) ? readdirSync(to, { recursive: true, encoding: 'utf8' }) : []) {
    const path = join(to, file);
    if (/\.c?js(\.map)?$/.test(file) && !file.includes('node_modules') && !written.has(path)) rmSync(path);
  }
}

/** Compiles the programs of threads, for tests of internals that start them from source. */
async function threadFiles(build, options) {
  const { threads } = await listedParts();
  const { outputFiles } = await build({
    ...options,
    entryPoints: Object.keys(threads).map((name) => join(root, `src/${name}.ts`)),
    outbase: join(root, 'src'),
    outdir: join(compiled, 'threads'),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
  });
  return outputFiles;
}

/** Sets `import.meta.url` to the URL of the source, because data files are beside it. Resolves the modules above at run time. */
export const sources = {
  name: 'sources',
  setup({ onLoad, onResolve }) {
    const own = join(root, 'test/support/runner/uvu.ts');
    onResolve({ filter: /^(tenantry|uvu)$/ }, ({ path, importer }) =>
      path === 'uvu' && importer === own ? undefined : { path: loaded[path], external: true },
    );
    onLoad({ filter: /\.(tsx?|mjs)$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const url = JSON.stringify(pathToFileURL(path).href);
      return {
        contents: text.replaceAll('import.meta.url', url),
        loader: path.endsWith('x') ? 'tsx' : path.endsWith('mjs') ? 'js' : 'ts',
        resolveDir: dirname(path),
      };
    });
  },
};
