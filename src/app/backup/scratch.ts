import { rmSync } from 'node:fs';

/** Works in a folder that is made for it and removed afterwards, also when a signal ends the command. */
export async function withScratch<T>(make: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined;
  const discard = (): void => {
    // A thread that copies may make a file in it meanwhile, until it has gone.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
  };
  const stop = (signal: NodeJS.Signals): void => {
    discard();
    process.stderr.write(`tenantry: stopped by ${signal}, nothing is left of it\n`);
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
