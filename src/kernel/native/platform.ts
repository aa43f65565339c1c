import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type { Platform, Target } from './embedded.ts';

/** Thrown if native code cannot run here. The message is one line for the operator, who needs no stack. */
export class NativeAddonError extends Error {
  override readonly name = 'NativeAddonError';
}

/** Whether the module with this `import.meta.url` is the main program of Node, following symbolic links. */
export function isProgram(moduleUrl: string): boolean {
  const program = process.argv[1];
  if (program === undefined || !isMainThread) return false;
  try {
    return realpathSync(program) === realpathSync(fileURLToPath(moduleUrl));
  } catch {
    return false;
  }
}

/** Stops on an unsupported platform: throws NativeAddonError to an importing program, or prints one line and exits. */
export function reject(message: string, moduleUrl: string): never {
  if (!isProgram(moduleUrl)) throw new NativeAddonError(message);
  process.stderr.write(`tenantry: ${message}\n`);
  process.exit(1);
}

/** Stops where addons of this platform cannot run. */
export function requirePlatform(built: Target, moduleUrl: string): void {
  const mismatch = platformMismatch(built, platformHere());
  if (mismatch !== undefined) reject(mismatch, moduleUrl);
}

/** Explains why addons for one platform cannot run on another; undefined if they can. */
function platformMismatch(built: Target, here: Platform): string | undefined {
  const { [here.abi]: node } = built.nodes;
  if (node !== undefined && built.os === here.os && built.arch === here.arch && built.libc === here.libc)
    return undefined;
  return (
    `this file was built for ${describe(built)} and cannot run on ${describe({ ...here, nodes: { [here.abi]: here.node } })}; ` +
    'start it with a matching Node.js or build it on this machine'
  );
}

function describe({ nodes, os, arch, libc }: Target): string {
  const names = Object.entries(nodes).map(([abi, node]) => `${node} (ABI ${abi})`);
  return `Node.js ${names.join(', ')} on ${[os, arch, libc].filter(Boolean).join('-')}`;
}

export function platformHere(): Platform {
  const { platform, arch, version, versions } = process;
  return {
    node: version.slice(1),
    abi: versions.modules,
    os: platform,
    arch,
    libc: platform === 'linux' ? libc() : '',
  };
}

/** Detects the C library of this Node.js by the loader name near the start of its file. Its report would take 10 ms. */
function libc(): string {
  const start = Buffer.alloc(4096);
  const file = openSync(process.execPath, 'r');
  readSync(file, start);
  closeSync(file);
  return start.includes('/ld-musl-') ? 'musl' : 'glibc';
}
