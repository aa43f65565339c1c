/** Builds dist/tenantry: one executable with Node.js, the program and its data. It needs no installed software. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { moduleFor, pinnedNodes } from './nodes.mjs';

/** The marker by which Node.js detects an embedded application, as documented for single executable applications. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Builds the executable with the newest pinned version of Node.js. */
export async function buildExecutable(tools) {
  const { bundled, fail, reportBuilt, root } = tools;
  const started = performance.now();
  const node = (await pinnedNodes(tools)).at(-1);
  if (!node) fail('The executable can only be built on Linux on x64 with glibc.');
  const nodeLicence = readFileSync(join(node.folder, 'LICENSE'), 'utf8').trim();
  const { start, parts } = await bundled(
    'cjs',
    [await moduleFor(tools, node)],
    [`Node.js ${node.version}\n\n${nodeLicence}`],
  );

  const folder = join(root, 'dist/executable');
  mkdirSync(folder, { recursive: true });
  const [main, asset, config, blob, program] = ['main.cjs', 'parts', 'sea.json', 'blob', 'tenantry'].map((name) =>
    join(folder, name),
  );
  writeFileSync(main, start);
  // Each part starts on a new line, as in the other builds.
  writeFileSync(asset, `\n${parts}`);
  const application = { main, output: blob, assets: { parts: asset }, disableExperimentalSEAWarning: true };
  writeFileSync(config, JSON.stringify(application));
  copyFileSync(join(node.folder, 'bin/node'), program);
  try {
    execFileSync(program, ['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 2] });
    // Strip first: stripping later would remove the application.
    execFileSync('strip', [program], { stdio: ['ignore', 'ignore', 2] });
  } catch (error) {
    fail(error.code === 'ENOENT' ? 'The program strip of GNU binutils is missing.' : error.message);
  }
  const { inject } = await import('postject');
  await inject(program, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse });
  const file = join(root, 'dist/tenantry');
  renameSync(program, file);
  rmSync(folder, { recursive: true });
  reportBuilt(file, statSync(file).size, started);
}
