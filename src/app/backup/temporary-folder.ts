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

/** Runs work in a temporary folder and removes it afterwards, even if a signal ends the command. */
export async function withTemporaryFolder<T>(make: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined;
  const discard = (): void => {
    // Retry: a copying thread may still create a file in it.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
  };
  const stop = (signal: NodeJS.Signals): void => {
    discard();
    process.stderr.write(`tenantry: stopped by ${signal}; partial files are removed\n`);
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Add the handlers before creating the folder: a signal in between would leave it behind.
  for (const signal of signals) process.once(signal, stop);
  try {
    folder = make();
    return await work(folder);
  } finally {
    // Remove the folder before the handlers: a signal in between would leave it behind.
    discard();
    for (const signal of signals) process.off(signal, stop);
  }
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
