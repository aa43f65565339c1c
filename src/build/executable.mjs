/** dist/tenantry: Node.js, the program and all of its parts in one executable, which needs nothing installed. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { moduleFor, pinnedNodes } from './nodes.mjs';

/** What Node.js looks for to see that an application is in it; documented with single executable applications. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Builds it with the newest of the pinned versions of Node.js. */
export async function buildExecutable(tools) {
  const { bundled, fail, root, told } = tools;
  const started = performance.now();
  const node = (await pinnedNodes(tools)).at(-1);
  if (!node) fail('An executable is built on Linux on x64 with glibc alone.');
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
  // As in the other builds each part begins on a line.
  writeFileSync(asset, `\n${parts}`);
  const application = { main, output: blob, assets: { parts: asset }, disableExperimentalSEAWarning: true };
  writeFileSync(config, JSON.stringify(application));
  copyFileSync(join(node.folder, 'bin/node'), program);
  try {
    execFileSync(program, ['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 2] });
    // Before the application goes in: what is stripped afterwards has lost it.
    execFileSync('strip', [program], { stdio: ['ignore', 'ignore', 2] });
  } catch (error) {
    fail(error.code === 'ENOENT' ? 'The program strip of GNU binutils is needed.' : error.message);
  }
  const { inject } = await import('postject');
  await inject(program, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse });
  const file = join(root, 'dist/tenantry');
  renameSync(program, file);
  rmSync(folder, { recursive: true });
  told(file, statSync(file).size, started);
}
