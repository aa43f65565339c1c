/**
 * Makes writes and syncs fail with EIO while clients write, all of them for a while or single ones. The server logs the reason
 * and exits with 1, and the next start has all acknowledged writes. Commands on such a disk report the reason and exit with 1.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ended, nativeCache, Program } from '../support/program.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { Observer, requireHealthy } from './observer.ts';
import type { Given, Part } from './part.ts';
import { serveOn, unlessEnded } from './power.ts';

export interface EioFigures {
  /** Periods of failing calls. */
  readonly windows: number;
  readonly writes: number;
  /** Writes that returned 5xx. */
  readonly rejected: number;
  /** Servers that logged why they stopped. */
  readonly ended: number;
  /** Starts and commands that reported why they failed, and those that succeeded. */
  readonly failedCommands: number;
  readonly doneCommands: number;
}

/** Length of a period of failing calls in milliseconds. */
const shortest = 50;
const longest = 600;

/** Milliseconds within which a server must stop after a failed write. */
const maxEndMs = 1500;

/** Makes calls fail for a while, `rounds` times. */
export async function failCalls(rounds: number, program: Given['program']): Promise<EioFigures> {
  const disk = new FaultyDisk();
  const healthy = new Program(nativeCache);
  const count = { windows: 0, ended: 0, failedCommands: 0, doneCommands: 0 };
  let server = await serveOn(disk, program);
  let gone = closed(server.child);
  const observer = new Observer(server.token);
  const restartIfEnded = async (): Promise<void> => {
    await Promise.race([pause(maxEndMs), gone]);
    if (server.child.exitCode === null) return;
    await gone;
    requireReason({ code: server.child.exitCode, stdout: '', stderr: server.errors() });
    count.ended++;
    server = await serveOn(disk, program);
    gone = closed(server.child);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      const over = new AbortController();
      const writing = Promise.all(Array.from({ length: 3 }, () => write(observer, server, over.signal)));
      // The error surfaces where it is awaited, below.
      writing.catch(() => undefined);
      await pause(200);
      set(disk, pick([1, 2, 5, 20]));
      await Promise.race([pause(shortest + (longest - shortest) * Math.random()), gone]);
      set(disk, 0);
      count.windows++;
      await restartIfEnded();
      over.abort();
      await writing;
      await observer.requireAll(server.url);
      await command(disk, program, round, count);
      await restartIfEnded();
    }
    server.child.kill('SIGTERM');
    await gone;
    await requireHealthy(healthy, disk.folder);
    const rejected = [...observer.rejected.values()].reduce((sum, number) => sum + number, 0);
    return { ...count, writes: observer.acknowledged.size, rejected };
  } finally {
    if (server.child.exitCode === null) server.child.kill('SIGKILL');
    await healthy.end();
    disk.remove();
  }
}

type Serving = Awaited<ReturnType<typeof serveOn>>;

async function write(observer: Observer, { child, url }: Serving, over: AbortSignal): Promise<void> {
  while (!over.aborted && child.exitCode === null) {
    const response = await unlessEnded(observer.write(url));
    if (response && response.status !== 201 && response.status < 500)
      throw new Error(`A write on a failing disk returned ${response.status}`);
  }
}

/** Runs a command while calls fail: the first start in a new folder, or a backup of this folder and its restore. */
async function command(
  disk: FaultyDisk,
  program: Given['program'],
  round: number,
  count: { failedCommands: number; doneCommands: number },
): Promise<void> {
  const other = join(disk.folder, 'other');
  const file = join(disk.folder, 'backup');
  const words = pick([
    ['user', 'add', `user${round}`, '--data', other],
    ['backup', file, '--data', disk.folder],
  ]);
  set(disk, pick([2, 5, 20, 100]));
  const child = spawn(process.execPath, [...program, ...words, '--native-cache', nativeCache], {
    env: { PATH: process.env.PATH, ...disk.environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
  await closed(child);
  set(disk, 0);
  if (child.exitCode === 0) count.doneCommands++;
  else {
    requireReason({ code: child.exitCode, stdout: '', stderr });
    if (existsSync(file)) throw new Error('A failed backup has its final name');
    count.failedCommands++;
  }
  rmSync(other, { recursive: true, force: true });
  rmSync(file, { force: true });
}

/** Throws unless a process has exited with 1 and a line with the reason. */
function requireReason({ code, stderr }: Ended): void {
  if (code !== 1 || !/the server stops: |^tenantry: [^\n]+\n$/m.test(stderr))
    throw new Error(`A process on a failing disk ended with ${code}: ${stderr}`);
}

function set(disk: FaultyDisk, calls: number): void {
  const fault = pick<('sync' | 'write')[]>([['sync'], ['write'], ['sync', 'write']]);
  for (const each of ['sync', 'write'] as const) disk.set(each, fault.includes(each) ? calls : 0);
}

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(choices.length * Math.random())] as T;

async function closed(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

/** The part of `npm run chaos`. */
export const eio: Part = ({ program, rounds }) => failCalls(rounds, program);
