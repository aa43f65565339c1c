import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const cache = fileURLToPath(new URL('../../node_modules/.cache/live', import.meta.url));

/** How long a package manager may take, in milliseconds. */
const installTimeoutMs = 300_000;
/** The same for a Go program, which is compiled with all of its modules. */
const goTimeoutMs = 900_000;

/**
 * Returns a folder that `install` has filled once for these `inputs`, such as the lines of a lock file. A folder that an
 * interrupted run left behind is filled again.
 */
async function installedOnce(
  name: string,
  inputs: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256').update(inputs).digest('hex').slice(0, 12);
  const folder = join(cache, `${name}-${digest}`);
  const mark = join(folder, '.installed');
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(`${mark}.tmp`, '');
  renameSync(`${mark}.tmp`, mark);
  return folder;
}

/** Installs the packages of a part's requirements.txt in a virtual environment; returns the folder of its programs. */
export async function pythonPrograms(part: string): Promise<string> {
  const requirements = fileURLToPath(new URL(`${part}/requirements.txt`, import.meta.url));
  const folder = await installedOnce(part, readFileSync(requirements, 'utf8'), async (target) => {
    await run('python3', ['-m', 'venv', target]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements];
    await run(join(target, 'bin/python'), pip, { timeout: installTimeoutMs });
  });
  return join(folder, 'bin');
}

/** Installs a package of npm with exactly this version; returns the folder to import it from. */
export function nodePackage(name: string, version: string): Promise<string> {
  return installedOnce(name, version, async (target) => {
    writeFileSync(join(target, 'package.json'), '{ "private": true }');
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', `${name}@${version}`];
    await run('npm', words, { cwd: target, timeout: installTimeoutMs });
  });
}

/** Builds the Go program in a folder of this one from the modules of its go.sum; returns its path. */
export async function goProgram(path: string): Promise<string> {
  const source = fileURLToPath(new URL(path, import.meta.url));
  const inputs = ['go.mod', 'go.sum', 'main.go'].map((file) => readFileSync(join(source, file), 'utf8')).join('\0');
  const folder = await installedOnce(path.replaceAll('/', '-'), inputs, async (target) => {
    await goBuild(source, target);
  });
  return join(folder, 'program');
}

/** Installs a Go program of a module, with exactly this version; returns its path. */
export async function goInstalled(path: string, version: string): Promise<string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const folder = await installedOnce(name, `${path}@${version}`, async (target) => {
    const env = { ...goEnvironment(target), GOBIN: target };
    await run('go', ['install', `${path}@${version}`], { env, timeout: goTimeoutMs });
  });
  return join(folder, name);
}

/** Builds the Go program whose source is in a folder; returns its path, in that folder or in `target`. */
export async function goBuild(source: string, target = source): Promise<string> {
  const program = join(target, 'program');
  await run('go', ['build', '-o', program, '.'], { cwd: source, env: goEnvironment(target), timeout: goTimeoutMs });
  return program;
}

const goEnvironment = (target: string): NodeJS.ProcessEnv => ({
  ...process.env,
  GOPATH: join(target, 'path'),
  GOTOOLCHAIN: 'local',
  // Modules are read-only otherwise, and npm could not remove them.
  GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false',
});
