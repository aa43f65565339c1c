/**
 * Unpacks the native addons of the one-file build into a private folder and loads them from there. In development, this has no
 * effect, because the packages load their addons themselves. See src/decisions/bundle.md.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { runAs } from '../files.ts';
import { codeOf } from '../present.ts';
import { type AddonName, builtFor, type EmbeddedAddon, embeddedAddon } from './embedded.ts';
import { NativeAddonError } from './platform.ts';
import { folderOfUser, foreignWriter, makePrivateFolder, writeAtomically } from './private-folder.ts';

/** A loaded addon of the one-file build, and its file for threads that load it again. */
export interface Addon {
  readonly exports: object;
  readonly file: string;
  readonly inode: number;
  /** Descriptor that stays open as long as the process runs, to reach the file after its folder was deleted. */
  readonly descriptor: number;
}

/** The functions of `@node-rs/argon2` that the bundle keeps. */
type Argon2 = Pick<typeof import('@node-rs/argon2'), 'hash' | 'verify'>;

// Load each addon once per process, from the folder of the last opened server.
let folderOfThisProcess: string | undefined;
let isInDataFolder = false;
const loaded = new Map<AddonName, Addon>();

/**
 * Returns the SQLite addon for better-sqlite3's `nativeBinding`; undefined in development. `cacheFolder` is the setting
 * `native_cache` or, with `isData`, a part of the data folder. Default: a folder of the user in the temporary folder. Throws
 * NativeAddonError.
 */
export function sqliteAddon(cacheFolder?: string, isData = false): Addon | undefined {
  if (!builtFor) return undefined;
  if (cacheFolder) {
    folderOfThisProcess = resolve(cacheFolder);
    isInDataFolder = isData;
  }
  return load('better_sqlite3');
}

/** Returns the argon2 addon, for the replacement of `@node-rs/argon2` in the bundle. Throws NativeAddonError. */
export function argon2Addon(): Argon2 {
  // The name of an addon determines its type.
  return load('argon2').exports as Argon2;
}

function load(name: AddonName): Addon {
  const known = loaded.get(name);
  if (known) return known;
  const addon = embeddedAddon(name);
  if (!addon) throw new NativeAddonError(`the native addon ${name} is not part of this program`);

  const folder = currentFolder();
  const file = unpack(name, addon, folder);
  const holder: { exports: object } = { exports: {} };
  try {
    process.dlopen(holder, file);
  } catch (error) {
    // Messages of the dynamic loaders of glibc and musl for a file system mounted noexec.
    const noexec = /failed to map segment|operation not permitted/i.test(String(error));
    throw noexec ? unusable(`${folder} forbids execution (noexec)`) : unusable(`cannot load ${file}`, error);
  }
  const descriptor = openSync(file, 'r');
  const result = { exports: holder.exports, file, inode: fstatSync(descriptor).ino, descriptor };
  loaded.set(name, result);
  return result;
}

/** Returns the folder to unpack into. Does not recreate a deleted data folder. */
function currentFolder(): string {
  if (folderOfThisProcess === undefined) return folderOfUser();
  return isInDataFolder && !existsSync(dirname(folderOfThisProcess)) ? folderOfUser() : folderOfThisProcess;
}

/**
 * Writes the addon to `<folder>/<digest>/<name>.node` unless exactly these bytes already exist. Returns the path. Several
 * processes may do so concurrently: each renames a complete file with the same bytes.
 */
function unpack(name: string, addon: EmbeddedAddon, folder: string): string {
  const home = join(folder, addon.sha256.slice(0, 16));
  const file = join(home, `${name}.node`);
  try {
    makePrivateFolder(home);
    for (const path of [folder, home]) rejectForeignFolder(path);
    if (sha256OfFile(file) !== addon.sha256) writeAtomically(file, addon.bytes());
  } catch (error) {
    if (error instanceof NativeAddonError) throw error;
    throw unusable(`cannot unpack native code into ${home}`, error);
  }
  return file;
}

function sha256OfFile(file: string): string | undefined {
  try {
    // Hash in pieces, because allocating memory for the entire file takes longer than the digest.
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafeSlow(1 << 16);
    const descriptor = openSync(file, 'r');
    try {
      for (let length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece))
        hash.update(piece.subarray(0, length));
    } finally {
      closeSync(descriptor);
    }
    return hash.digest('hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

// A user with write access to the folder could swap the file between check and load.
function rejectForeignFolder(path: string): void {
  const writer = foreignWriter(path);
  if (writer === 'others') throw unusable(`the folder ${path} for native code can be written by other users`);
  if (writer === undefined) return;
  const foreign = `the folder ${path} for native code belongs to another user`;
  // A separate folder for native code would work, but leave files that the owner's server cannot open.
  throw isInDataFolder ? new NativeAddonError(`${foreign}: ${runAs(writer.uid)}`) : unusable(foreign);
}

function unusable(what: string, cause?: unknown): NativeAddonError {
  const reason = cause instanceof Error ? ` (${cause.message.split('\n')[0]})` : '';
  const advice = 'set native_cache (TENANTRY_NATIVE_CACHE) to a private folder that allows execution';
  return new NativeAddonError(`${what}${reason}: ${advice}`, { cause });
}
