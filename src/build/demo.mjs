/** Makes the snapshot of the sample data that the program carries: the build runs their history, once for each state of the source. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sources } from './tests.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'dist/demo');

/** The text of the snapshot. */
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
