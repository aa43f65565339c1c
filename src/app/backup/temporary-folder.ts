import { mkdtempSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { plainReason } from '../../kernel/plain-reason.ts';
import { errorOf } from '../../kernel/present.ts';

/** Creates a folder with a random name after a prefix. Throws with a sentence that names its parent folder. */
export function makeTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(prefix);
  } catch (error) {
    const { path }: NodeJS.ErrnoException = errorOf(error);
    throw new Error(`cannot write to ${dirname(prefix)}: ${plainReason(error, path)}`, { cause: error });
  }
}

/** Runs work in a temporary folder, which is removed afterwards, also if a signal ends the command. */
export async function withTemporaryFolder<T>(make: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined;
  const discard = (): void => {
    // Retry: a thread that copies can still create a file in it.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
  };
  const stop = (signal: NodeJS.Signals): void => {
    discard();
    process.stderr.write(`tenantry: stopped by ${signal}; partial files are removed\n`);
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Before the folder is created: a signal right after that would leave it behind.
  for (const signal of signals) process.once(signal, stop);
  try {
    folder = make();
    return await work(folder);
  } finally {
    // In this order: in between, a signal would end the command and leave the folder behind.
    discard();
    for (const signal of signals) process.off(signal, stop);
  }
}
