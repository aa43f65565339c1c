import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Removes the folder when the work in it has ended, also when a signal ends the command. */
export async function withScratch<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  const stop = (signal: NodeJS.Signals): void => {
    discard();
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, stop);
    discard();
  }
}

/** Gives a finished file its name. Its content is on disk before the name is, and the name is when this returns. */
export function place(draft: string, file: string): void {
  sync(draft, 'r+');
  renameSync(draft, file);
  sync(dirname(file), 'r');
}

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
