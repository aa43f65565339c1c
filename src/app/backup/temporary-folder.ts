import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { day } from '../../kernel/clock.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';

/** Creates a folder named by a prefix and random characters. Throws a readable error that names its parent folder. */
export function makeTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(prefix);
  } catch (error) {
    const { path }: NodeJS.ErrnoException = errorOf(error);
    throw new Error(`cannot write to ${dirname(prefix)}: ${plainReason(error, path)}`, { cause: error });
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The cleanups of the work in progress. */
const cleanups: (() => void)[] = [];

function stop(signal: NodeJS.Signals): void {
  for (const clean of cleanups.splice(0).reverse()) {
    try {
      clean();
    } catch {
      // The others still run.
    }
  }
  process.stderr.write(`tenantry: stopped by ${signal}; partial files are removed\n`);
  for (const one of signals) process.off(one, stop);
  process.kill(process.pid, signal);
}

/** Runs work and then its cleanup, even if a signal ends the command. Nested work is cleaned up first. */
export async function withCleanup<T>(clean: () => void, work: () => Promise<T>): Promise<T> {
  // Add the handlers before the work creates files: a signal in between would leave them behind.
  if (cleanups.push(clean) === 1) for (const signal of signals) process.on(signal, stop);
  try {
    return await work();
  } finally {
    try {
      clean();
    } finally {
      const index = cleanups.lastIndexOf(clean);
      if (index >= 0) cleanups.splice(index, 1);
      if (cleanups.length === 0) for (const signal of signals) process.off(signal, stop);
    }
  }
}

/** Runs work in a temporary folder and removes it afterwards, even if a signal ends the command. */
export function withTemporaryFolder<T>(make: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined;
  const discard = (): void => {
    // Retry: a copying thread may still create a file in it.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
  };
  return withCleanup(discard, async () => {
    folder = make();
    return await work(folder);
  });
}

/** Removes folders with this prefix that killed commands of this user left behind more than a day ago. */
export function removeOldFolders(prefix: string): void {
  const [parent, start] = [dirname(prefix), basename(prefix)];
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(start)) continue;
    const folder = join(parent, name);
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (!stats?.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) continue;
    if (Date.now() - stats.mtimeMs > day / 1000) rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws a readable error unless the folder's disk has this many free bytes. */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= bytes) return;
  const megabytes = (size: number): string => `${Math.ceil(size / 1e6)} MB`;
  throw new Error(`${folder} has ${megabytes(bavail * bsize)} of free space, and ${megabytes(bytes)} are needed`);
}
