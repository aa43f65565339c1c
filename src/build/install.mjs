/** Installs the packages that a command needs. Reports progress even in logs, where npm prints nothing for minutes. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Groups of packages: the folders of their manifests, the options of npm, and the purpose. */
const groups = {
  program: { manifests: [''], options: ['--workspaces=false'], purpose: 'build and run Tenantry' },
  packing: {
    manifests: ['', 'src/build'],
    options: ['--workspace=src/build', '--include-workspace-root'],
    purpose: 'make the package and the executable',
  },
  tests: { manifests: ['', 'src/build', 'test'], options: [], purpose: 'check and test Tenantry' },
};

/** Installs the missing packages of a group, with a SQLite module that this Node.js can load. */
export async function installGroup(tools, name) {
  const { fail, npm, root } = tools;
  const { manifests, options, purpose } = groups[name];
  if (missing(root, manifests).length > 0) {
    await reporting(`Installing the packages to ${purpose}`, () =>
      npm(['install', '--no-save', '--include=dev', '--ignore-scripts', ...options]),
    );
    const left = missing(root, manifests);
    if (left.length > 0)
      fail(`npm has not installed ${left.join(', ')}: package-lock.json and the manifests differ, run npm install.`);
  }
  await prepareSqlite(tools);
}

/** Returns the folders of packages of these manifests that are not installed in the version of package-lock.json. */
function missing(root, manifests) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  // npm writes this file last. It lists the installed packages, without those of other platforms.
  const written = join(root, 'node_modules/.package-lock.json');
  const present = existsSync(written) ? JSON.parse(readFileSync(written, 'utf8')).packages : {};
  return [...needed(packages, manifests)].filter((path) => {
    const { integrity, link, optional, version } = packages[path];
    // Packages of this project, which npm links, have the version of the project.
    if (link) return !existsSync(join(root, path));
    const installed = present[path];
    return installed ? installed.version !== version || installed.integrity !== integrity : optional !== true;
  });
}

/** Returns the folders of direct and indirect dependencies of these manifests. */
function needed(packages, manifests) {
  const paths = new Set();
  const add = (from) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      packages[from];
    const isRequired = (name) => peerDependenciesMeta?.[name]?.optional !== true;
    for (const name of [
      ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
      ...Object.keys({ ...peerDependencies }).filter(isRequired),
    ]) {
      const path = lookUp(packages, from, name);
      if (path === undefined || paths.has(path)) continue;
      paths.add(path);
      add(path);
    }
  };
  for (const manifest of manifests) add(manifest);
  return paths;
}

/** Returns the folder where Node.js finds a package that a file in a folder requires. */
function lookUp(packages, from, name) {
  const path = posix.join(from, 'node_modules', name);
  if (packages[path]) return path;
  return from === '' ? undefined : lookUp(packages, posix.join(from, '..').replace(/^\.$/, ''), name);
}

/** Fetches or compiles the SQLite module, unless this Node.js can load the installed one. */
async function prepareSqlite({ fail, npm, packageFile, root, run }) {
  const opens = (stdio) => run(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:')"], { stdio });
  if ((await opens('ignore')) === 0) return;
  const headers = headersHere(root);
  await reporting(
    `Fetching SQLite for Node.js ${process.versions.node}, or compiling it, which takes one to three minutes`,
    () =>
      npm(['rebuild', 'better-sqlite3'], {
        ...process.env,
        JOBS: 'max',
        ...(headers && { npm_config_nodedir: headers }),
      }),
  );
  if ((await opens('inherit')) !== 0) fail('better-sqlite3 does not run here.');
  // The compiler's intermediate files are six times as large as the module.
  const built = packageFile('better-sqlite3', 'build/Release');
  for (const entry of readdirSync(built))
    if (entry !== 'better_sqlite3.node') rmSync(join(built, entry), { recursive: true });
}

/**
 * Returns the folder of this Node.js if it has headers and npm is not configured with others. Modules then compile against them
 * without a download.
 */
function headersHere(root) {
  const folder = dirname(dirname(realpathSync(process.execPath)));
  const file = join(folder, 'include/node/node_version.h');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const version = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
  );
  if (version.join('.') !== process.versions.node) return undefined;
  const configured = execFileSync('npm', ['config', 'get', 'nodedir'], { cwd: root, encoding: 'utf8' }).trim();
  return ['', 'undefined', 'null'].includes(configured) ? folder : undefined;
}

const heartbeatSeconds = 10;

/** Prints the start of work and its duration, and in a log also heartbeats, because npm shows progress only on a terminal. */
async function reporting(what, work) {
  const started = performance.now();
  const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;
  console.error(`${what} …`);
  const heartbeat = process.stderr.isTTY
    ? undefined
    : setInterval(() => console.error(`… still running after ${seconds()}`), heartbeatSeconds * 1000);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
  }
  console.error(`… done in ${seconds()}.`);
}
