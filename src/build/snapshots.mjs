/**
 * Creates the snapshots in the program: the empty database and the sample data, whose history runs once per version of the
 * source.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sources } from './tests.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'dist/demo');

/** Returns the bytes of an empty database of this version. */
export async function emptyDatabase(esbuild) {
  const { emptyDatabase } = await loaded(await compiled(esbuild, 'src/kernel/db/migrate.ts'));
  return emptyDatabase();
}

/** Returns the sample data, from dist/demo if it is up to date. */
export async function demoSnapshot(esbuild) {
  const program = await compiled(esbuild, 'src/app/demo/packing.ts');
  const hash = createHash('sha256').update(program);
  for (const name of readdirSync(join(root, 'migrations')).sort())
    hash.update(readFileSync(join(root, 'migrations', name)));
  const file = join(folder, `${hash.digest('hex').slice(0, 16)}.image`);
  if (existsSync(file)) return readFileSync(file);
  const { packedDemo } = await loaded(program);
  const image = await packedDemo();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, image);
  return image;
}

/** Compiles a module of the source with its imports; returns the code. */
async function compiled(esbuild, entryPoint) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    bundle: true,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    format: 'esm',
    write: false,
    logLevel: 'silent',
    plugins: [sources],
  });
  return outputFiles[0].contents;
}

/** Imports code that uses the packages of the project. */
async function loaded(code) {
  const name = createHash('sha256').update(code).digest('hex').slice(0, 16);
  const file = join(root, `dist/${name}.${process.pid}.mjs`);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(file, code);
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file);
  }
}
