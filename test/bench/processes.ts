import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { ask, type RecordedResponse } from './ask.ts';
import type { Burst, Measured } from './load.ts';

/** A measured server. */
export interface Running {
  readonly url: string;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

/** A new folder with a copy of a database, completely on disk, so that a sync of the server does not wait for it. */
export function dataFolder(folder: string, database: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, 'tenantry.db');
  copyFileSync(database, copy);
  const file = openSync(copy, 'r+');
  fsyncSync(file);
  closeSync(file);
  return folder;
}

/** The built program, as an operator runs it; its log is discarded. */
export const startTenantry = (bundle: string, data: string, env?: Readonly<Record<string, string>>): Promise<Running> =>
  startProgram([bundle, 'serve', '--port', '0', '--data', data, '--log-level', 'info'], env);

/** The peer on a database file. */
export const startPeer = (program: string, data: string): Promise<Running> =>
  startProgram([program, join(data, 'tenantry.db')]);

/** Starts a program that prints a line of JSON with its url when it listens. */
async function startProgram(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { url: (JSON.parse(line) as { url: string }).url, process: child, stop: () => end(child) };
  }
  throw new Error(`${words.join(' ')} ended with exit code ${child.exitCode}`);
}

/** Starts the server with prepared responses. `teach` sends it those of a case, by method and target. */
export interface Bare extends Running {
  readonly teach: (responses: ReadonlyMap<string, RecordedResponse>) => Promise<void>;
}

export async function startBare(program: string): Promise<Bare> {
  const child = fork(program);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const teach = async (responses: ReadonlyMap<string, RecordedResponse>): Promise<void> => {
    child.send([...responses]);
    await once(child, 'message');
  };
  return { url, process: child, stop: () => end(child), teach };
}

/** The load generator. */
export interface Load {
  readonly run: (burst: Burst) => Promise<Measured>;
  readonly stop: () => Promise<void>;
}

export function startLoad(program: string): Load {
  const child = fork(program);
  return {
    run: (burst) =>
      new Promise((resolve, reject) => {
        const giveUp = (): void => reject(new Error('The load generator gave up'));
        child.once('exit', giveUp);
        child.once('message', (measured: Measured) => {
          child.off('exit', giveUp);
          resolve(measured);
        });
        child.send(burst);
      }),
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Returns how long Node.js takes to start and exit without a program, in milliseconds. */
export async function measureNode(): Promise<number> {
  const started = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - started;
}

/**
 * Returns the milliseconds from the start of the program until it prints that it is ready, also as CPU time if the kernel has
 * /proc.
 */
export async function measureReady(
  bundle: string,
  words: readonly string[],
): Promise<{ milliseconds: number; processorMilliseconds: number | undefined }> {
  const started = performance.now();
  const child = spawn(process.execPath, [bundle, 'serve', '--port', '0', '--admin-listen', 'off', ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const isReady = await Promise.race([
    once(child.stdout, 'data').then(() => true),
    once(child, 'exit').then(() => false),
  ]);
  const milliseconds = performance.now() - started;
  if (!isReady) throw new Error(`serve ${words.join(' ')} ended with exit code ${child.exitCode}`);
  const seconds = processorSeconds(child.pid as number);
  child.stdout.resume();
  await end(child);
  return { milliseconds, processorMilliseconds: seconds && seconds * 1000 };
}

/** Returns the milliseconds from the start of the program to its first 200, and its resident memory (MB) a second later. */
export async function measureStart(
  bundle: string,
  data: string,
  token: string,
): Promise<{ milliseconds: number; megabytes: number | undefined }> {
  const started = performance.now();
  const server = await startTenantry(bundle, data);
  const { status } = await ask(server.url, { method: 'GET', target: '/api/', token });
  const milliseconds = performance.now() - started;
  if (status !== 200) throw new Error(`The first response was ${status}`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const megabytes = residentMegabytes(server.process.pid as number);
  await server.stop();
  return { milliseconds, megabytes };
}

/** Returns the CPU time of all threads of a process in seconds, if the kernel has /proc. */
export function processorSeconds(pid: number): number | undefined {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = tasks.map((task) =>
      Number(/^\d+/.exec(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'))),
    );
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9;
  } catch {
    return undefined;
  }
}

/** Available if the kernel has /proc. */
function residentMegabytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
