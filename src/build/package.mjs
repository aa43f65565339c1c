/** Builds dist/package for `npm pack`: the program as CommonJS, an ES module with the same exports, types and licences. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { moduleFor, pinnedNodes } from './nodes.mjs';

/** Builds the package for every supported version of Node.js that is pinned for this platform, or only for the running one. */
export async function buildPackage(tools, isForThisNode) {
  const { bundled, moduleHere, reportBuilt, root, writeAtomically } = tools;
  const started = performance.now();
  const nodes = isForThisNode ? [] : await pinnedNodes(tools);
  const modules = [];
  for (const node of nodes) modules.push(await moduleFor(tools, node));
  if (modules.length === 0) {
    modules.push(await moduleHere());
    console.error(`The package only supports ABI ${modules[0].abi} of Node.js.`);
  }
  const { start, parts, names, licences } = await bundled('cjs', modules);
  const folder = join(root, 'dist/package');
  rmSync(folder, { recursive: true, force: true });
  const program = join(folder, 'tenantry.cjs');
  writeAtomically(program, `#!/usr/bin/env node\n${start}${parts}`);
  writeFileSync(join(folder, 'tenantry.mjs'), `export { ${names.join(', ')} } from './tenantry.cjs';\n`);
  const types = declarations(tools);
  for (const file of ['tenantry.d.mts', 'tenantry.d.cts']) writeFileSync(join(folder, file), types);
  writeFileSync(join(folder, 'LICENSES.txt'), licences);
  reportBuilt(program, readFileSync(program).length, started);
}

/** Returns the types of the exports of src/app/main.ts as one text that imports only from Node.js. */
function declarations({ bundle, packageFile, root }) {
  const folder = join(root, 'dist/types');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const project = (name, options) => {
    writeFileSync(join(folder, name), JSON.stringify({ extends: '../../tsconfig.json', include: [], ...options }));
    return join(folder, name);
  };
  const emit = { noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true };
  // `npm test` checks the types, and test/package/package.test.ts checks the result.
  printed(root, packageFile('typescript-7', 'bin/tsc'), [
    ...['--noCheck', '--project'],
    project('emit.json', {
      compilerOptions: { ...emit, rootDir: '../..', outDir: '.' },
      files: ['../../src/app/main.ts'],
    }),
  ]);
  const main = 'src/app/main.d.ts';
  const file = join(folder, 'tenantry.d.ts');
  printed(root, packageFile('dts-bundle-generator', 'dist/bin/dts-bundle-generator.js'), [
    ...['--silent', '--no-banner', '--no-check', '--export-referenced-types=false'],
    ...['--project', project('bundle.json', { files: [main] }), '--out-file', file, join(folder, main)],
  ]);
  return withHelp(readFileSync(file, 'utf8'), printed(root, bundle, ['config', '--markdown']));
}

/** Adds the description of each setting to the types, from the table of settings. */
function withHelp(types, table) {
  const help = new Map(
    [...table.matchAll(/^\| `(\w+)` \| ([\w ]+) \| (?:`(.*?)`)? \| (.*) \|$/gm)].map(
      ([, name, kind, fallback, meaning]) => [name, `${meaning} (${kind}${fallback ? `, default ${fallback}` : ''})`],
    ),
  );
  return types.replace(/^\t(\w+): Setting</gm, (line, name) => `\t/** ${help.get(name)} */\n${line}`);
}

/** Runs Node.js; returns its output. */
const printed = (root, file, words) =>
  execFileSync(process.execPath, [file, ...words], { cwd: root, env: { PATH: process.env.PATH }, encoding: 'utf8' });
