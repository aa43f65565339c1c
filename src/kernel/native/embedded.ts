/**
 * The embedded files of the one-file build. This module is the development version: it reads migrations from their folder, and
 * native addons and scripts from node_modules. build.mjs replaces the module and keeps its exports.
 * See src/decisions/bundle.md.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { present } from '../present.ts';
import type { ThreadName } from './parts.ts';

export interface Migration {
  /** File name without `.sql`, e.g. `0001_users`. */
  readonly name: string;
  readonly sql: string;
}

/** Where native addons can run. `libc` is `glibc` or `musl` on Linux, empty elsewhere. */
export interface Platform {
  readonly node: string;
  readonly abi: string;
  readonly os: string;
  readonly arch: string;
  readonly libc: string;
}

/** Where the one-file build runs: the Node.js version for each ABI with an SQLite module. */
export interface Target extends Pick<Platform, 'os' | 'arch' | 'libc'> {
  readonly nodes: Readonly<Record<string, string>>;
}

export type AddonName = 'better_sqlite3' | 'argon2';

export interface EmbeddedAddon {
  /** Hex digest of the bytes. */
  readonly sha256: string;
  /** Reads and unpacks the bytes, which takes some milliseconds. */
  readonly bytes: () => Uint8Array;
}

/** The target platform of the build; undefined in development. */
export const builtFor: Target | undefined = undefined;

/** The addon inside the one-file build; undefined in development. */
export function embeddedAddon(_name: AddonName): EmbeddedAddon | undefined {
  return undefined;
}

/** The text of the program of a thread, which the tests compile (src/build/tests.mjs). */
export const embeddedThread = (name: ThreadName): string =>
  `require(${JSON.stringify(fileURLToPath(new URL(`../../../dist/test/threads/${name}.cjs`, import.meta.url)))});`;

/** The text of a script that pages of this program include. */
export function embeddedScript(_name: 'rapidoc'): string {
  return readFileSync(createRequire(import.meta.url).resolve('rapidoc'), 'utf8');
}

/** A page of the manual: its URL segment, title, and content as HTML. */
export interface ManualPage {
  readonly name: string;
  readonly title: string;
  readonly html: string;
}

/** Every page of the manual. */
export async function embeddedManual(): Promise<readonly ManualPage[]> {
  const { manualPages } = await import(new URL('../../build/manual.mjs', import.meta.url).href);
  return manualPages();
}

/** The files that the page of the console loads; build.mjs has the same list. */
export type ConsoleFile = 'app.js' | 'style.css' | 'et.js';

/** Returns the text of a console file. In development, it is built on demand. */
export function embeddedConsole(name: ConsoleFile): string {
  const { buildSync } = createRequire(import.meta.url)('esbuild');
  const options = JSON.parse(readFileSync(new URL('../../console/esbuild.json', import.meta.url), 'utf8'));
  const absWorkingDir = fileURLToPath(new URL('../../../', import.meta.url));
  const files: { readonly path: string; readonly text: string }[] = buildSync({
    ...options,
    absWorkingDir,
  }).outputFiles;
  return present(files.find(({ path }) => basename(path) === name)).text;
}

/** The licences of this program and its packages. In development, only of the program, because the packages have theirs. */
export function embeddedLicenses(): string {
  return readFileSync(new URL('../../../LICENSE', import.meta.url), 'utf8');
}

/** The snapshot of the sample data, unpacked in another thread; undefined in development, where the history creates the data. */
export const embeddedDemo = async (): Promise<Buffer | undefined> => undefined;

/** The bytes of an empty database of this version; undefined in development, where the migrations create it. */
export const embeddedDatabase = (): Buffer | undefined => undefined;

/** Every migration in order of application, sorted by file name. */
export function embeddedMigrations(): readonly Migration[] {
  const folder = new URL('../../../migrations/', import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.sql'.length), sql: readFileSync(new URL(file, folder), 'utf8') }));
}
