import { rmSync } from 'node:fs';

/** Works in a folder that is made for it and removed afterwards, also when a signal ends the command. */
export async function withScratch<T>(make: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined;
  const discard = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  const stop = (signal: NodeJS.Signals): void => {
    discard();
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Before there is a folder: a signal that comes right after it is made would leave it behind.
  for (const signal of signals) process.once(signal, stop);
  try {
    folder = make();
    return await work(folder);
  } finally {
    // In this order: between the two a signal would end the command and leave the folder.
    discard();
    for (const signal of signals) process.off(signal, stop);
  }
}
