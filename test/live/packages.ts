import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const cache = fileURLToPath(new URL('../../node_modules/.cache/live', import.meta.url));

/** Timeout of a package manager in milliseconds. */
const installTimeoutMs = 300_000;
/** Timeout for a Go program, which is compiled with all of its modules. */
const goTimeoutMs = 900_000;

/**
 * Returns a folder that `install` fills once per `inputs`, such as the lines of a lock file. Fills it again if an interrupted run
 * left it incomplete.
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

/** Installs exactly this version of an npm package; returns the folder to import it from. */
export function nodePackage(name: string, version: string): Promise<string> {
  return installedOnce(name, version, async (target) => {
    writeFileSync(join(target, 'package.json'), '{ "private": true }');
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', `${name}@${version}`];
    await run('npm', words, { cwd: target, timeout: installTimeoutMs });
  });
}

/** Builds the Go program in a folder beside this file from the modules in its go.sum; returns its path. */
export async function goProgram(path: string): Promise<string> {
  const source = fileURLToPath(new URL(path, import.meta.url));
  const inputs = ['go.mod', 'go.sum', 'main.go'].map((file) => readFileSync(join(source, file), 'utf8')).join('\0');
  const folder = await installedOnce(path.replaceAll('/', '-'), inputs, async (target) => {
    await goBuild(source, target);
  });
  return join(folder, 'program');
}

/** Installs exactly this version of a Go program; returns its path. */
export async function goInstalled(path: string, version: string): Promise<string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const folder = await installedOnce(name, `${path}@${version}`, async (target) => {
    const env = { ...goEnvironment(target), GOBIN: target };
    await run('go', ['install', `${path}@${version}`], { env, timeout: goTimeoutMs });
  });
  return join(folder, name);
}

/** Builds a Go program from its source folder; returns its path, in that folder or in `target`. */
export async function goBuild(source: string, target = source): Promise<string> {
  const program = join(target, 'program');
  await run('go', ['build', '-o', program, '.'], { cwd: source, env: goEnvironment(target), timeout: goTimeoutMs });
  return program;
}

const goEnvironment = (target: string): NodeJS.ProcessEnv => ({
  ...process.env,
  GOPATH: join(target, 'path'),
  GOTOOLCHAIN: 'local',
  // Otherwise modules are read-only, and npm could not remove them.
  GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false',
});
