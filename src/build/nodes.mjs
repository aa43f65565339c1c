/** The versions of Node.js for the package and the executable, pinned by src/build/nodes/package-lock.json. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Fetches the pinned versions into dist/nodes if they are missing. Returns `{ version, abi, folder, headers }`, oldest first.
 * `folder` contains bin/node, and `headers` is the include folder for compiling modules. Empty on platforms without pinned
 * versions.
 */
export async function pinnedNodes({ npm, platformHere, root }) {
  const { arch, libc, os } = platformHere();
  if (`${os}-${arch}-${libc}` !== 'linux-x64-glibc') return [];
  const pinned = join(root, 'src/build/nodes');
  const home = join(root, 'dist/nodes');
  const lock = readFileSync(join(pinned, 'package-lock.json'), 'utf8');
  const installed = join(home, 'installed');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
    mkdirSync(home, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(pinned, file), join(home, file));
    await npm(['ci', '--prefix', home, '--ignore-scripts']);
    writeFileSync(installed, lock);
  }
  const { packages } = JSON.parse(lock);
  return Object.entries(packages)
    .filter(([path]) => path.startsWith('node_modules/node-'))
    .map(([path, { version }]) => {
      const folder = join(home, path);
      // A module compiled against the headers of Node.js 24.19 or later crashes on garbage collection: src/decisions/bundle.md.
      const others = path.replace('node-', 'headers-');
      const headers = packages[others] ? join(home, others) : folder;
      const header = readFileSync(join(headers, 'include/node/node_version.h'), 'utf8');
      return { version, abi: /#define NODE_MODULE_VERSION (\d+)/.exec(header)[1], folder, headers };
    });
}

/** Returns the SQLite module for a version, `{ abi, node, file }`. Compiles it if it is missing. */
export async function moduleFor({ fail, packageFile, run }, { abi, headers, version }) {
  const source = packageFile('better-sqlite3', '');
  const { allowScripts, name, version: sqlite } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const file = join(headers, `${name}-${sqlite}.node`);
  if (!existsSync(file)) {
    // A separate project, so that the module for tests and benchmarks does not change.
    const project = join(headers, 'compile');
    const copy = join(project, 'node_modules', name);
    rmSync(project, { recursive: true, force: true });
    cpSync(source, copy, { recursive: true, filter: (path) => path !== join(source, 'build') });
    const manifest = {
      private: true,
      dependencies: { [name]: sqlite },
      allowScripts: { [name]: true, ...allowScripts },
    };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    console.error(`Compiling ${name} for Node.js ${version} (ABI ${abi}), a minute or two`);
    const code = await run('npm', ['rebuild', '--prefix', project], {
      env: { ...process.env, npm_config_nodedir: headers, npm_config_build_from_source: 'true' },
      stdio: ['ignore', 2, 2],
    });
    if (code !== 0) fail(`${name} cannot be compiled for Node.js ${version}; a C++ compiler is needed.`);
    renameSync(join(copy, 'build/Release/better_sqlite3.node'), file);
    rmSync(project, { recursive: true });
  }
  return { abi, node: version, file };
}
