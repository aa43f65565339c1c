/** Makes the snapshot of the sample data in the program: runs their history once for each version of the source. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sources } from './tests.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'dist/demo');

/** Returns the text of the snapshot, from dist/demo if it is up to date. */
export async function demoSnapshot(esbuild) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['src/app/demo/packing.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    format: 'esm',
    write: false,
    logLevel: 'silent',
    plugins: [sources],
  });
  const hash = createHash('sha256').update(outputFiles[0].contents);
  for (const name of readdirSync(join(root, 'migrations')).sort())
    hash.update(readFileSync(join(root, 'migrations', name)));
  const digest = hash.digest('hex').slice(0, 16);
  const file = join(folder, `${digest}.txt`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const program = join(folder, `${digest}.mjs`);
  writeFileSync(program, outputFiles[0].contents);
  const { packedDemo } = await import(pathToFileURL(program).href);
  const text = await packedDemo();
  rmSync(program);
  writeFileSync(file, text);
  return text;
}
